"""Code in the pages: every block marked `python` runs, one after the other in an empty directory."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "python/README.md"])
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("YOMIKIRI_TABLES", raising=False)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
