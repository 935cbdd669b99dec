"""A gate for pytest: fails if a policy is worse than it must be, or than it was.

    POLICY=onnx:model.onnx pytest examples/recipes/test_policy.py

With BASELINE=FILE the first run writes the figures there, and later runs compare with them.
"""

import json
import os
from pathlib import Path

import pytest

import yomikiri as ym

#: Least figures, by the names of `solver report --metrics`.
LEAST = {"result_kept": 0.55, "own_play_result_kept": 0.3}
#: How much of a figure may be lost between two versions.
SLACK = 0.01


@pytest.fixture(scope="module")
def metrics():
    return ym.evaluate("othello-4x4", os.environ["POLICY"], progress=False).metrics


@pytest.mark.parametrize("figure", LEAST)
def test_the_policy_is_good_enough(metrics, figure):
    assert metrics[figure] >= LEAST[figure], f"{figure} is {metrics[figure]:.3f}"


@pytest.mark.skipif("BASELINE" not in os.environ, reason="no BASELINE=FILE")
def test_the_policy_is_no_worse_than_before(metrics):
    path = Path(os.environ["BASELINE"])
    if not path.exists():
        path.write_text(json.dumps(metrics))
        pytest.skip(f"no earlier figures: written to {path}")
    earlier = json.loads(path.read_text())
    worse = {name: (earlier[name], metrics[name]) for name in LEAST if metrics[name] < earlier[name] - SLACK}
    assert not worse, f"then and now: {worse}"
