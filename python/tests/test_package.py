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
    if "pgx" in notebook and "pgx" not in os.environ.get("YOMIKIRI_FRAMEWORKS", ""):
        pytest.skip("solves animal shogi: by .ci/frameworks")
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
        nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    finally:
        if before is None:
            del os.environ["YOMIKIRI_TABLES"]
        else:
            os.environ["YOMIKIRI_TABLES"] = before


def test_the_wheel_brings_the_command(tmp_path):
    solver = Path(sys.executable).with_name("solver")
    if not solver.exists():
        pytest.skip("not installed from a wheel")

    def run(*words, **options):
        return subprocess.run([solver, "--tables", tmp_path, *words], capture_output=True, text=True, timeout=60, **options)

    said = run("solve", "4x4", "-q")
    assert said.returncode == 0 and "loses by 8" in said.stdout, said
    listed = run("list", "--json")
    assert "othello-4x4" in listed.stdout or listed.returncode == 0
    assert len(ym.open_or_solve("othello-4x4", tables=tmp_path)) == 12_351
    wrong = run("query", "othello-4x4", "z9")
    assert wrong.returncode == 2 and wrong.stderr.startswith("solver: ")
    assert run("open", "nothing").returncode != 0
    assert run("--version").stdout.split()[-1] == ym.__version__


def test_the_sources_are_not_found_instead_of_the_package(tmp_path):
    seen = subprocess.run([sys.executable, "-c", "import yomikiri; print(yomikiri.__file__)"], cwd=ROOT / "python",
                          check=True, capture_output=True, text=True)
    assert Path(seen.stdout.strip()) == Path(ym.__file__)
    # Where somebody insists on them, the message names what is needed.
    seen = subprocess.run([sys.executable, "-c", "import yomikiri"], cwd=ROOT / "python/python", capture_output=True, text=True)
    assert "pip install ./python" in seen.stderr and "Rust" in seen.stderr, seen.stderr


#: What somebody writes who checks types: every `assert_type` names the type that an editor shows.
USER = '''
from typing import assert_type

import numpy as np
from numpy.typing import NDArray
import yomikiri as ym


def network(planes: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float32]:
    return planes.reshape(len(planes), -1)[:, :17]


table = ym.solve("othello-4x4", tables="tables", progress=False)
assert_type(table, ym.Table)
values = table.lookup(["start", "c4b4"])
assert_type(values.score, NDArray[np.int8])
assert_type(values.q, NDArray[np.float32])
assert_type(values.legal, NDArray[np.bool_])
for batch in table.states("train", columns=["planes", "policy"], dtype=np.float16):
    assert_type(batch.policy, NDArray[np.float32])
    assert_type(table.lookup(batch.planes).distance, NDArray[np.uint16])
assert_type(table.dataset().planes, NDArray[np.float32])
report = ym.evaluate("othello-4x4", network, "greedy", names=["mine", None], positions=["start"], move="best")
assert_type(report.metrics["result_kept"], float | None)
assert_type(report["greedy"]["score_lost"], float | None)
assert_type(report.scalars(), dict[str, float])
assert_type(ym.exploitability(table, network)["first"]["result_lost"], float)
assert_type(ym.match(table, network, "perfect").results["first"]["win"], float)
print(ym.compare(table, network, "greedy"), ym.open_or_solve("othello-4x4").game.actions)
position = ym.game("othello-4x4").start
assert_type(position.play("c4").legal, list[int])
assert_type(position.planes(), NDArray[np.float32])
assert_type([one.notation for one in ym.game("othello-8x8").sample(3)], list[str])
env = ym.env("othello-4x4", opponent=network, side=None)
observation, info = env.reset(seed=0)
reward = env.step(int(env.action_masks().argmax()))[1]
assert_type(observation["action_mask"], NDArray[np.generic])
assert_type(reward, float)
'''


def test_types_are_known_to_users(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    # `assert_type` came with 3.11.
    words = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11", "user.py"]
    checked = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_the_package_type_checks():
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy", "--config-file", ROOT / "python/pyproject.toml", ROOT / "python/python/yomikiri"]
    checked = subprocess.run(words, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_only_documents_have_any():
    for path in Path(ym.__file__).parent.glob("*.py*"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert "Any" not in names or path.name == "_types.py", path


def test_everything_public_is_typed():
    def functions(node, inside=False):
        for part in getattr(node, "body", []):
            if isinstance(part, ast.ClassDef) and not part.name.startswith("_"):
                yield from functions(part, True)
            elif isinstance(part, ast.FunctionDef) and (not part.name.startswith("_") or inside and part.name == "__init__"):
                yield part

    for path in Path(ym.__file__).parent.glob("*.py"):
        for function in functions(ast.parse(path.read_text())):
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            untyped = [one.arg for one in arguments if one.annotation is None and one.arg not in ("self", "cls")]
            assert not untyped, f"{path.name}: {function.name}: {untyped}"
            assert function.returns is not None or function.name == "__init__", f"{path.name}: {function.name}"


def test_the_columns_of_a_batch_are_typed(tables):
    table = ym.open_or_solve("othello-4x4", tables=tables)
    stub = ast.parse(Path(ym.__file__).with_name("_tables.py").read_text())
    batch = next(node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == "Batch")
    typed = {node.target.id for node in ast.walk(batch) if isinstance(node, ast.AnnAssign)}
    assert set(table.columns) <= typed, set(table.columns) - typed
