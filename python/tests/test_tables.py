"""Tables, lookups and states, compared with the files and with each other."""

import multiprocessing
import pathlib
import pickle
import time

import numpy as np
import pytest

import yomikiri as ym


def test_a_table_is_built_once_and_opened_again(table, tables):
    assert len(table) == 12_351 and table.complete and table.has_scores
    again = ym.open("othello-4x4", tables=tables, check=True)
    assert len(again) == len(table) and again.path == table.path
    assert ym.open(table.path).name == "othello-4x4"
    before = (table.path / "manifest.json").stat().st_mtime_ns
    ym.solve("othello-4x4", tables=tables)
    assert (table.path / "manifest.json").stat().st_mtime_ns == before
    assert table.manifest["counts"]["table"]["states"] == 12_351


def test_values_are_those_of_the_files(table):
    keys, score, distance = (np.load(next(table.path.glob(f"{name}*.npy"))) for name in ("keys", "score", "distance"))
    values = table.lookup(keys)
    assert (values.score == score).all() and (values.distance == distance).all()
    assert (values.row == np.arange(len(table))).all() and values.found.all()
    assert (values.outcome == np.sign(score)).all()


def test_every_form_of_a_position_is_looked_up_alike(table, everything):
    boards = np.stack([everything.mover, everything.opponent], axis=1)
    planes = everything.planes
    forms = {
        "bitboards": table.lookup(boards), "planes": table.lookup(planes), "floats": table.lookup(planes.astype("f4")),
        "nhwc": table.lookup(np.moveaxis(planes, 1, -1), layout="nhwc"),
        "signed": table.lookup(planes[:, 0].astype("i1") - planes[:, 1], layout="signed"),
        "openspiel": table.lookup(
            np.stack([1 - planes.sum(1), planes[:, 0], planes[:, 1]], axis=1), layout="openspiel"
        ),
        "texts": table.lookup(everything.board, side=None), "keys": table.lookup(table.game.positions(boards).keys),
    }
    for name, values in forms.items():
        assert (values.score == everything.score).all(), name
        assert (values.distance == everything.distance).all(), name
        if name != "keys":  # keys are of canonical orientations
            assert np.array_equal(values.column("q_score"), everything.q_score, equal_nan=True), name
            assert (values.optimal == everything.optimal.astype(bool)).all(), name
    assert len(everything) == 56_621


def test_values_follow_from_the_moves(table, everything):
    values = table.lookup(everything.planes)
    assert (np.isnan(values.q) == ~values.legal).all()
    assert (np.nanmax(values.q, axis=1) == values.score).all()
    assert (values.optimal == (values.q == values.score[:, None])).all()
    assert np.allclose(values.policy.sum(1), 1) and (values.policy[~values.optimal] == 0).all()
    assert values.proven.all() and (values.bounds[0] == values.bounds[1]).all()


def test_layouts_are_what_positions_give_back(table, everything):
    positions = table.game.positions(everything.planes, side=everything.side)
    assert (positions.planes() == everything.planes).all()
    assert positions.planes("nhwc").shape == (56_621, 4, 4, 2)
    assert (positions.planes("pgx") == positions.planes("nhwc")).all()
    assert (positions.legal == everything.legal.astype(bool)).all()
    assert positions.notations == everything.board
    assert (positions.side == everything.side).all()
    legal = positions[:50].planes(planes="mover+opponent+legal")[:, 2].reshape(50, -1)
    assert (legal == everything.legal[:50, :16]).all()


def test_states_come_in_parts_and_batches(table):
    parts = {split: [*table.states(split, batch=1000, columns=["row", "weight"])] for split in ("train", "validation", "test")}
    rows = np.concatenate([batch.row for part in parts.values() for batch in part])
    assert len(rows) == len(np.unique(rows)) and all(len(batch) == 1000 for batch in parts["train"][:-1])
    whole = [*table.states(columns=["row", "weight"], batch=777)]
    assert sorted(rows) == np.concatenate([batch.row for batch in whole]).tolist()
    assert sum(batch.weight.sum() for batch in whole) == 56_621
    mixed = [*table.states(columns=["row"], batch=777, shuffle=5)]
    same = [*table.states(columns=["row"], batch=777, shuffle=5)]
    order = np.concatenate([batch.row for batch in mixed])
    assert (order == np.concatenate([batch.row for batch in same])).all()
    assert (order != np.sort(order)).any() and (np.sort(order) == np.sort(rows)).all()


def test_a_board_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ym.YomikiriError, match="othello-5x6 needs about .* but .* free; .*max_depth.*force"):
        ym.solve("othello-5x6", tables=tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_dataset_has_what_training_needs(table):
    data = table.dataset("train", images="all")
    planes, policy, value, legal = data[3]
    assert planes.shape == (2, 4, 4) and planes.dtype == np.float32 and policy.shape == legal.shape == (17,)
    assert value in (-1, 0, 1) and abs(policy.sum() - 1) < 1e-6 and (policy[~legal] == 0).all()
    assert len(data) > len(table.dataset("test", images="all")) > 0
    assert data.columns == ["planes", "policy", "value", "legal"] and data.value.dtype == np.float32
    scores = table.dataset("train", columns=["q_score", "row"])
    assert scores[5][0].dtype == np.float32 and scores.row.dtype == np.uint32 and (scores["q_score"] == scores.q_score)[~np.isnan(scores.q_score)].all()
    again = pickle.loads(pickle.dumps(scores))
    assert (again.row == scores.row).all()
    with pytest.raises(ValueError, match="unknown column .q_scores"):
        table.dataset(columns=["q_scores"])
    with pytest.raises(TypeError, match="'image'"):
        table.dataset(image="all")


def test_dtypes_are_the_same_everywhere(table):
    batch = next(table.states(columns=["q_score", "planes", "legal", "optimal", "result_kept", "proven", "score"]))
    assert list(batch) == ["q_score", "planes", "legal", "optimal", "result_kept", "proven", "score"]
    values, data = table.lookup(batch.planes), table.dataset(None)
    for name in ("legal", "optimal", "result_kept", "proven"):
        assert batch[name].dtype == values.column(name).dtype == bool, name
        assert (batch[name] == getattr(values, name)).all(), name
    assert batch.planes.dtype == data.planes.dtype == values.positions.planes().dtype == np.float32
    assert batch.q_score.dtype == values.q.dtype == np.float32 and np.isnan(batch.q[~batch.legal]).all()
    assert np.array_equal(batch.q_score, values.q, equal_nan=True)
    half = next(table.states(columns=["planes"], dtype=np.float16))
    assert half.planes.dtype == np.float16 and (half.planes == batch.planes[: len(half)]).all()
    stored = next(table.states(columns=["planes", "q_score", "legal"], dtype="stored"))
    assert (stored.planes.dtype, stored.q_score.dtype, stored.legal.dtype) == (np.uint8, np.int8, np.uint8)


def test_a_table_is_exported_with_its_card(table, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    card = table.export(tmp_path / "test.parquet", split="test", columns=["board", "q_score", "outcome"])
    frame = pandas.read_parquet(tmp_path / "test.parquet")
    rows = sum(len(batch) for batch in table.states("test"))
    assert len(frame) == card["rows"] == rows and list(frame) == ["board", "outcome", "q_score"]
    assert card["parameters"]["split"] == "test" and (tmp_path / "test.parquet.md").exists()
    cards = table.export(tmp_path / "hub")
    text = (tmp_path / "hub" / "README.md").read_text()
    assert text.startswith("---\n") and "path: data/validation.parquet" in text and "| `q_score` |" in text
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine")
    with pytest.raises(ValueError, match="README.md exists and is no dataset card"):
        table.export(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["README.md"]
    frames = {part: pandas.read_parquet(tmp_path / "hub" / "data" / f"{part}.parquet") for part in cards}
    assert sum(map(len, frames.values())) == sum(len(batch) for batch in table.states())
    with pytest.raises(ValueError, match="x.xls: expected .parquet"):
        table.export(tmp_path / "x.xls")
    with pytest.raises(ValueError, match="no column 'colour'"):
        table.export(tmp_path / "x.parquet", columns=["colour"])


def test_a_table_is_opened_or_solved_by_name(tmp_path, table):
    first = ym.open_or_solve("othello-4x4", tables=tmp_path)
    assert first is ym.open_or_solve("othello-4x4", tables=str(tmp_path)) and ym.open_or_solve(table) is table
    assert len(first) == len(ym.open_or_solve(table.game, tables=tmp_path)) == len(ym.open_or_solve(table.path))
    assert ym.evaluate("othello-4x4", "greedy", tables=tmp_path, games=False).metrics == ym.evaluate(table, "greedy", games=False).metrics
    assert ym.exploitability("othello-4x4", "perfect", tables=tmp_path)["first"]["result_lost"] == pytest.approx(0, abs=1e-9)
    assert ym.match("othello-4x4", "perfect", "greedy", tables=tmp_path).results["second"]["win"] == pytest.approx(1)
    assert "greedy" in str(ym.compare("othello-4x4", "greedy", "random", tables=tmp_path))
    with pytest.raises(ym.TableError, match="othelo-4x4"):
        ym.evaluate("othelo-4x4", "greedy", tables=tmp_path)
    with pytest.raises(TypeError, match="table of type int"):
        ym.evaluate(3, "greedy")


class Tensor:
    """A tensor of another device, with PyTorch's interface."""

    def __init__(self, array, device="cpu"):
        self.array, self.device, self.dtype = array, device, array.dtype

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.array)

    def to(self, device):
        return Tensor(self.array, device)

    def __array__(self, dtype=None, copy=None):
        assert self.device == "cpu", "only tensors of the host are read"
        return self.array


def test_values_go_back_to_the_device_of_the_positions(table, everything):
    given = Tensor(everything.planes[:100], "gpu:1")
    values = table.lookup(given)
    assert (values.score == everything.score[:100]).all()
    for name in ("q", "legal", "outcome"):
        tensor = values.tensor(name)
        assert tensor.device == "gpu:1" and np.array_equal(tensor.array, getattr(values, name), equal_nan=True)
    assert isinstance(table.lookup(everything.planes[:100]).tensor("score"), np.ndarray)


def test_games_with_cycles_and_bounds_say_what_is_known(animal, bounded):
    values = animal.lookup("start")
    assert values.outcome[0] in (-1, 0, 1) and values.legal.sum() == len(animal.roots[0].legal)
    states = next(animal.states(batch=100, columns=["planes", "side", "outcome", "distance"]))
    again = animal.lookup(states.planes, side=states.side)
    assert (again.outcome == states.outcome).all() and (again.distance == states.distance).all()
    start = bounded.lookup("start")
    assert start.outcome[0] == -128 and not start.proven[0] and start.bounds == (-1, 1)
    assert not start.optimal.any() and np.isnan(start.q).all() and not bounded.complete


def test_positions_outside_are_reported(table):
    other = "xxxx-xxxx-xxxx-xxx- X;"
    text = "XXXXXXXXXXXXXXX- X;"
    with pytest.raises(ym.PositionError, match="row 1: .* is not in othello-4x4"):
        table.lookup(["start", text])
    values = table.lookup(["start", text, "c4"], missing="mask")
    assert values.found.tolist() == [True, False, True]
    assert values.score.tolist() == [-8, -128, 8] and values.distance[1] == 65535
    assert not values.legal[1].any() and np.isnan(values.q[1]).all() and values.row[1] == 2**32 - 1
    with pytest.raises(ym.PositionError, match="row 0"):
        table.lookup([other])


def test_positions_outside_are_searched(table, bounded, everything, tables):
    part = ym.solve("othello-4x4", roots="b1a1", tables=tables, progress=False)
    some = slice(None, None, 200)
    values = part.lookup(everything.planes[some], missing="search")
    assert 0 < values.found.sum() < len(values) and values.proven.all()
    assert (values.score == everything.score[some]).all()
    assert np.array_equal(values.column("q_score"), everything.q_score[some], equal_nan=True)
    assert (values.optimal == everything.optimal[some].astype(bool)).all()
    assert (values.distance[~values.found] == 65535).all() and (values.row[~values.found] == 2**32 - 1).all()
    assert (tables / "labels" / "othello-4x4-uncounted.labels").exists()
    over = table.lookup(["start", "XXX------------- X;"], missing="search")
    assert over.score.tolist() == [-8, 3] and over.distance[0] == 10 and not over.legal[1].any()
    # Of minishogi a search finds what can be forced.
    mate = bounded.lookup("2k1S/4p/1gS2/4b/1KR2 b RGPb 1", missing="search")
    assert (mate.outcome[0], mate.distance[0], mate.found[0]) == (1, 3, False)


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        (np.zeros((3, 2, 4, 5)), {}, ValueError, "shape"),
        (np.zeros((3, 2, 4, 4)), {"layout": "nwhc"}, ValueError, "layout"),
        (np.full((3, 2, 4, 4), 0.5), {}, ym.PositionError, "row 0"),
        (np.full((3, 2, 4, 4), np.nan), {}, ym.PositionError, "row 0"),
        (np.ones((3, 2, 4, 4)), {}, ym.PositionError, "row 0"),
        (np.array([[1, 1]], np.uint64), {}, ym.PositionError, "row 0"),
        (np.array([[-1, 2]]), {"form": "bitboards"}, ym.PositionError, "row 0"),
        (np.array([1 << 63], np.uint64), {}, ym.PositionError, "row 0"),
        (np.zeros((2, 3), np.uint64), {}, ValueError, "words"),
        (np.zeros((1, 2, 4, 4)), {"side": 3}, ValueError, "side"),
        (np.zeros((1, 2, 4, 4)), {"form": "boards"}, ValueError, "form"),
        (np.float64(3), {}, ValueError, "shape"),
        (["nonsense"], {}, ym.PositionError, "row 0"),
        ("nonsense", {}, ym.PositionError, "nonsense"),
    ],
)
def test_what_is_no_position_is_one_exception(table, given, options, error, words):
    with pytest.raises(error, match=words):
        table.lookup(given, **options)


def test_bad_requests_are_reported(table, tables):
    with pytest.raises(ValueError, match="nogo"):
        ym.solve("nogo", tables=tables)
    with pytest.raises(ym.TableError, match="othello-5x6"):
        ym.open("othello-5x6", tables=tables)
    with pytest.raises(ValueError, match="max_depth"):
        ym.solve("minishogi", tables=tables)
    with pytest.raises(ValueError, match="max_depth"):
        ym.solve("minishogi", max_depth=0, tables=tables)
    with pytest.raises(ValueError, match="split"):
        next(table.states("holdout"))
    with pytest.raises(ValueError, match="shard"):
        next(table.states(shard=(2, 2)))
    with pytest.raises(ValueError, match="column"):
        next(table.states(columns=["colour"]))
    with pytest.raises(AttributeError, match="colour"):
        next(table.states()).colour
    with pytest.raises(ValueError, match="missing"):
        table.lookup("start", missing="skip")


def test_tables_and_positions_go_to_other_processes(table):
    again = pickle.loads(pickle.dumps(table))
    assert len(again) == len(table)
    position = pickle.loads(pickle.dumps(table.roots[0].play("c4")))
    assert position == table.roots[0].play("c4") and again.lookup(position).score[0] == 8


def _scores(planes):
    return _TABLE.lookup(planes).score


def test_a_forked_process_looks_up_too(table, everything):
    global _TABLE
    _TABLE = table
    table.lookup(everything.planes)  # starts the parent's threads
    parts = np.array_split(everything.planes, 4)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        scores = pool.map_async(_scores, parts).get(timeout=60)
    assert (np.concatenate(scores) == everything.score).all()


def test_threads_look_up_together(table, everything):
    from concurrent.futures import ThreadPoolExecutor

    def threads():
        tasks = pathlib.Path("/proc/self/task")
        return len([*tasks.iterdir()]) if tasks.is_dir() else 0

    parts = np.array_split(everything.planes, 16)
    table.lookup(parts[0])
    before = threads()
    with ThreadPoolExecutor(8) as pool:
        scores = [*pool.map(lambda part: table.lookup(part).score, parts)]
    assert (np.concatenate(scores) == everything.score).all()
    for _ in range(100):  # joined threads may be listed for a moment
        if threads() <= before:
            break
        time.sleep(0.05)
    assert threads() <= before  # all threads share one pool


LONG = {
    "sample": 'ym.game("othello-8x8").sample(10_000_000, progress=False)',
    "solve": 'ym.solve("minishogi", max_depth=7, tables=tables, progress=False)',
    "search by playouts": 'ym.evaluate(table, "mcts:20000", progress=False)',
    "deep search": 'ym.match(table, "alphabeta:9", "mcts:20000", progress=False)',
    "comparison": 'ym.compare(table, "mcts:20000", "greedy", progress=False)',
    "labels": 'ym.game("othello-8x8").sample(50, empty_squares=(17, 18)).solve(tables=tables, progress=False)',
    "callable": 'ym.evaluate(table, lambda planes: time.sleep(0.05) or np.zeros((len(planes), 17)), progress=False)',
    "opponent": '[env.step(env.action_masks().argmax()) for env in [ym.env("othello-8x8", opponent="mcts:1000000")] if env.reset()]',
}


@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_ends_the_work_and_leaves_all_well(work, tmp_path, table):
    """Interrupts a process of its own half a second into work that takes many seconds."""
    import subprocess
    import sys
    import textwrap

    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(f"""
            import os, signal, threading, time
            import numpy as np
            import yomikiri as ym
            tables = {str(tmp_path)!r}
            table = ym.open({str(table.path)!r})
            sent = []
            def interrupt():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            threading.Timer(0.5, interrupt).start()
            try:
                {LONG[work]}
            except KeyboardInterrupt:
                print("ended", time.monotonic() - sent[0])
            begun = time.monotonic()
            print(len(ym.solve("animal-shogi-3x3", tables=tables)) > 0)
            print(time.monotonic() - begun)
        """)],
        check=True, capture_output=True, text=True, timeout=100,
    )
    ended, took, solved, next_took = said.stdout.split()
    # 0.3 s on a machine that does nothing else.
    assert ended == "ended" and float(took) < 1 and solved == "True", said.stdout
    # The next call waits at most for the position that is being searched.
    assert work != "sample" or float(next_took) < 10, said.stdout
    with pytest.raises(ym.TableError):
        ym.open("minishogi-depth7", tables=tmp_path)


def test_progress_is_reported(tmp_path, capsys):
    pytest.importorskip("tqdm")
    ym.solve("minishogi", max_depth=5, tables=tmp_path, progress=True)
    assert "states" in capsys.readouterr().err
    table = ym.solve("othello-4x4", tables=tmp_path, progress=False)
    ym.evaluate(table, "mcts:20", progress=True, games=False)
    assert "positions answered" in capsys.readouterr().err
    table.dataset(progress=True)
    assert "reading othello-4x4" in capsys.readouterr().err
