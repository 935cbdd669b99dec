"""The package as shipped: its stub, its notebooks, its imports."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import yomikiri as ym
from yomikiri import _core

ROOT = Path(__file__).parents[2]


def test_the_stub_has_every_name():
    stub = ast.parse((Path(ym.__file__).parent / "_core.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert public == set(classes) | functions
    for name, node in classes.items():
        has = {member for member in vars(getattr(_core, name)) if not member.startswith("_")}
        told = {getattr(part, "name", None) or part.target.id for part in node.body
                if isinstance(part, (ast.FunctionDef, ast.AnnAssign))}
        assert {member for member in told if not member.startswith("_")} == has, name


def test_everything_public_says_what_it_is():
    for name in ym.__all__:
        thing = getattr(ym, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        for part, member in vars(thing).items() if isinstance(thing, type) else ():
            if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                assert member.__doc__, f"{name}.{part}"


def test_importing_is_quick_and_needs_numpy_alone():
    blocked = "import sys; [sys.modules.__setitem__(name, None) for name in ('pandas', 'tqdm', 'gymnasium', 'pettingzoo', 'torch', 'jax')]; "
    timed = "import numpy, time; begun = time.perf_counter(); import yomikiri; print(time.perf_counter() - begun)"
    runs = [
        float(subprocess.run([sys.executable, "-c", blocked + timed], check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    ]
    assert min(runs) < 0.1, runs


@pytest.mark.parametrize("notebook", sorted(path.name for path in (ROOT / "examples/notebooks").glob("*.ipynb")))
def test_notebooks_run(notebook, tables):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    book = nbformat.read(ROOT / "examples/notebooks" / notebook, as_version=4)
    kept = [cell.get("outputs") for cell in book.cells if cell.cell_type == "code"]
    assert any(kept), "the notebook is kept with its outputs"
    before = os.environ.get("YOMIKIRI_TABLES")
    os.environ["YOMIKIRI_TABLES"] = str(tables)
    try:
        nbclient.NotebookClient(book, timeout=240, kernel_name="python3").execute()
    finally:
        if before is None:
            del os.environ["YOMIKIRI_TABLES"]
        else:
            os.environ["YOMIKIRI_TABLES"] = before
