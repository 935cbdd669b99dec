"""The recipes of examples/recipes, as their readers run them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples/recipes"
NETWORK = ROOT / "tables/policies/supervised-othello-4x4.onnx"


@pytest.fixture(scope="module")
def place(tmp_path_factory, table):
    """A directory with a solved table."""
    place = tmp_path_factory.mktemp("recipes")
    shutil.copytree(table.path.parent, place / "tables")
    return place


def run(place, *command, **environment):
    import os

    said = subprocess.run(
        [sys.executable, *map(str, command)], cwd=place, capture_output=True, text=True, timeout=200,
        env=os.environ | {"YOMIKIRI_TABLES": str(place / "tables")} | environment,
    )
    return said.returncode, said.stdout, said.stderr


def kept(text, name):
    """Returns the share of results kept that a report prints for a policy."""
    line = next(line for line in text.splitlines() if name in line and "%" in line)
    return float(line.split(name)[1].split("%")[0])


def test_a_search_of_ones_own_helps_a_network(place):
    code, said, error = run(place, RECIPES / "own_mcts.py", "--simulations", 40, "--positions", 200)
    assert code == 0, error
    assert kept(said, "with search") > kept(said, "alone") + 10, said


def test_a_program_answers_in_words(place):
    # It names an illegal move first, plays the last legal one, and sometimes says nothing.
    program = place / "model.py"
    program.write_text(
        "import sys\nquestion = sys.stdin.read()\nmoves = question.rsplit('one of: ', 1)[1].rstrip('.').split(', ')\n"
        "print('Hm.' if len(moves) == 3 else f'Not z9, but {moves[-1].upper()}!')\n"
    )
    command = f"{sys.executable} {program}"
    code, said, error = run(place, RECIPES / "language_model.py", command, "--positions", 30)
    assert code == 0, error
    without, asked = (int(said.splitlines()[-1].split()[at]) for at in (0, 2))
    assert 0 < without < asked <= 30 and "random" in said


def test_a_gate_opens_and_shuts(place):
    gate = ("-m", "pytest", "-q", "-p", "no:cacheprovider", RECIPES / "test_policy.py")
    baseline = str(place / "baseline.json")
    good = f"onnx:{NETWORK}"
    code, said, _ = run(place, *gate, POLICY=good, BASELINE=baseline)
    assert code == 0 and "2 passed, 1 skipped" in said, said
    code, said, _ = run(place, *gate, POLICY=good, BASELINE=baseline)
    assert code == 0 and "3 passed" in said, said
    code, said, _ = run(place, *gate, POLICY="n-most:1", BASELINE=baseline)
    assert code == 1 and "then and now" in said and "1 failed" in said, said
    code, said, _ = run(place, *gate, POLICY="random", BASELINE=baseline)
    assert code == 1 and "result_kept is 0.494" in said, said


def test_checkpoints_are_logged_by_their_steps(place):
    for step, name in ((20, "dqn"), (100, "supervised")):
        for ending in ("onnx", "json"):
            shutil.copy(NETWORK.parent / f"{name}-othello-4x4.{ending}", place / f"ckpt-{step}.{ending}")
    code, said, error = run(place, RECIPES / "checkpoints.py", "ckpt-*.onnx")
    assert code == 0, error
    first, second = map(json.loads, said.splitlines())
    assert (first["step"], second["step"]) == (20, 100)
    assert 0.5 < first["exact/result_kept"] < 0.7 < second["exact/result_kept"]
    assert run(place, RECIPES / "checkpoints.py", "none-*.onnx")[0] == 1
