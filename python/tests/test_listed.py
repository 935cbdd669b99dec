"""Games that are lists of states: solved as plain solvers solve them, kept with their tables, and used by every command."""

import importlib.util
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import yomikiri as ym

SOLVER = os.environ.get("SOLVER")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class MyTicTacToe:
    """States are boards as texts; the player to move follows from the number of marks."""

    def start(self):
        return "........."

    def moves(self, state):
        return [at for at in range(9) if state[at] == "."]

    def play(self, state, move):
        return state[:move] + "XO"[(9 - state.count(".")) % 2] + state[move + 1:]

    def result(self, state):
        if any(state[a] == state[b] == state[c] != "." for a, b, c in LINES):
            return -1
        return None if "." in state else 0


class Sticks:
    """From a row of sticks one, two or three are taken; who takes the last one loses as many points as were left."""

    scores = True

    def start(self):
        return 10, 0

    def moves(self, state):
        return [take for take in (1, 2, 3) if take <= state[0]]

    def play(self, state, move):
        return state[0] - move, move

    def result(self, state):
        return state[1] if state[0] == 0 else None


class Ring:
    """A walker on a ring of seven places goes one or two on; who comes to place 0 from place 6 wins; else for ever."""

    def start(self):
        return 0, 0

    def moves(self, state):
        return [1, 2, 3] if state[0] else [1, 2]

    def play(self, state, move):
        place = (state[0] + (move if move < 3 else -1)) % 7
        return place, int(state[0] == 6 and place == 0)

    def result(self, state):
        return -1 if state[1] else None


class Coins:
    """A row of coins is taken from its ends; who takes an even coin moves again; the score is what one has more."""

    scores = True

    def start(self):
        return (1, 4, 2, 3, 1, 2), 0, 0

    def to_move(self, state):
        return state[1]

    def moves(self, state):
        return [0, 1][: len(state[0])]

    def play(self, state, move):
        coins, mover, ahead = state
        taken = coins[-move]
        return coins[1:] if move == 0 else coins[:-1], mover if taken % 2 == 0 else 1 - mover, ahead + (taken, -taken)[mover]

    def result(self, state):
        return None if state[0] else state[2] * (1, -1)[state[1]]


class LastCoins(Coins):
    """One game ends while the player who has just moved would move again: its result is still that player's."""

    def start(self):
        return (1, 4), 0, 0


GAMES = [MyTicTacToe(), Sticks(), Ring(), Coins(), LastCoins()]


def name_of(game):
    return {"MyTicTacToe": "my-tic-tac-toe", "LastCoins": "last-coins"}.get(type(game).__name__, type(game).__name__.lower())


def listed(game):
    """Returns the states in the order of discovery, and the arrays of the listing."""
    numbers, states, at = {game.start(): 0}, [game.start()], 0
    pointers, actions, successors, results = [0], [], [], []
    while at < len(states):
        state = states[at]
        result = game.result(state)
        results.append(-128 if result is None else result)
        for move in sorted(game.moves(state)) if result is None else ():
            after = game.play(state, move)
            if after not in numbers:
                numbers[after] = len(states)
                states.append(after)
            actions.append(move)
            successors.append(numbers[after])
        pointers.append(len(actions))
        at += 1
    movers = [game.to_move(state) for state in states] if hasattr(game, "to_move") else None
    return states, {
        "row_pointers": pointers, "actions": actions, "successors": successors, "results": results,
        "states": [str(state) for state in states], "movers": movers,
        "scores": getattr(game, "scores", False),
    }


def plain(game, states):
    """Returns each state's value for its mover by repeated sweeps; what no sweep decides is a draw."""
    values = {state: game.result(state) for state in states}
    sign = lambda state, after: 1 if hasattr(game, "to_move") and game.to_move(state) == game.to_move(after) else -1
    changed = True
    while changed:
        changed = False
        for state in states:
            if values[state] is not None:
                continue
            after = [(sign(state, next), values[next]) for next in (game.play(state, move) for move in game.moves(state))]
            known = [s * value for s, value in after if value is not None]
            if len(known) == len(after) or not getattr(game, "scores", False) and 1 in known:
                values[state], changed = max(known), True
    return {state: 0 if value is None else value for state, value in values.items()}


@pytest.fixture(scope="module", params=GAMES, ids=name_of)
def solved(request, tmp_path_factory):
    game = request.param
    states, arrays = listed(game)
    tables = tmp_path_factory.mktemp(name_of(game))
    return game, states, arrays, ym.solve_listed(name_of(game), **arrays, tables=tables, progress=False)


def test_every_state_has_the_value_of_a_plain_solver(solved):
    game, states, arrays, table = solved
    wanted = plain(game, states)
    found = table.lookup(arrays["states"])
    values = found.score if table.has_scores else found.outcome
    over = np.array([game.result(state) is not None for state in states])
    for text, value, state in zip(arrays["states"], values, states):
        assert value == wanted[state], (text, value, wanted[state])
    assert over.any() and not over.all() and len(set(values)) > 1
    assert table.game.has_scores == arrays["scores"]


def test_a_table_is_found_again_with_its_game(solved):
    game, states, arrays, table = solved
    again = ym.open(name_of(game), tables=table.path.parent)
    assert str(again.game.start) == arrays["states"][0] + "\nFirst to move" or arrays["states"][0] in str(again.game.start)
    same = ym.solve_listed(name_of(game), **arrays, tables=table.path.parent, progress=False)
    assert same.path == table.path
    other = arrays | {"results": [-result if result not in (0, -128) else result for result in arrays["results"]]}
    with pytest.raises(ym.YomikiriError, match=name_of(game)):
        ym.solve_listed(name_of(game), **other, tables=table.path.parent, progress=False)


def test_policies_are_measured(solved):
    game, states, arrays, table = solved
    report = ym.evaluate(table, "random", "perfect", "minimax:2", progress=False)
    assert report["perfect"]["all_result_kept"] == 1 and report["random"]["all_result_kept"] < 1
    assert report["minimax:2"]["all_result_kept"] >= report["random"]["all_result_kept"]


@pytest.mark.skipif(not SOLVER, reason="SOLVER is not the program")
def test_every_command_opens_the_game_from_its_table(solved, tmp_path):
    game, states, arrays, table = solved
    def said(*words, stdin=""):
        told = subprocess.run(
            [SOLVER, "--tables", table.path.parent, *words], capture_output=True, text=True, input=stdin, timeout=60)
        assert told.returncode == 0, told.stderr
        return told.stdout

    assert "random" in said("report", name_of(game), "-q", "--policy", "random,perfect")
    assert arrays["states"][0] in said("query", name_of(game), "start")
    said("verify", name_of(game), "-q")
    assert json.loads(said("match", name_of(game), "random", "perfect", "--json", "-q"))
    assert name_of(game) in said("list")
    said("export", name_of(game), "--out", str(tmp_path / "values.csv"), "-q")
    assert len((tmp_path / "values.csv").read_text().splitlines()) > 2
    said("play", name_of(game), stdin="quit\n")
    assert name_of(game) in said("info", name_of(game))


def test_connect_four_has_the_value_of_a_plain_solver_in_every_state(tmp_path):
    spec = importlib.util.spec_from_file_location("walk", Path(__file__).parents[1] / "benches/walk.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    game = bench.MyConnectFour()
    states, values = bench.bare(game)["states"], {}
    for state in reversed(states):  # later states have more marks
        result = game.result(state)
        values[state] = max(-values[game.play(state, move)] for move in game.moves(state)) if result is None else result
    table = ym.solve(game, tables=tmp_path, progress=False)
    assert table.name == "my-connect-four" and len(table) == len(states) == 161_029
    assert values[game.start()] == 0
    assert (table.lookup(states).outcome == [values[state] for state in states]).all()


def test_what_is_no_game_is_refused_in_a_line():
    states, arrays = listed(MyTicTacToe())
    wrong = [
        ({"successors": [99_999, *arrays["successors"][1:]]}, r"state 0 .* move 0 leads to state 99999"),
        ({"actions": [1, *arrays["actions"][1:]]}, "move 1 is given twice or out of order"),
        ({"row_pointers": arrays["row_pointers"][:-1]}, "row_pointers"),
        ({"results": [0, *arrays["results"][1:]]}, "moves and the result 0"),
        ({"results": [*arrays["results"][:-1], -128]}, "no move and no result"),
        ({"results": [*arrays["results"][:-1], 7]}, "result 7, expected -1, 0 or 1"),
        ({"results": [*arrays["results"][:-1], 200]}, "out of the range of int8"),
        ({"states": [*arrays["states"][:-1], arrays["states"][0]]}, "have one text"),
        ({"states": [*arrays["states"][:-1], "a\nb"]}, "one line"),
        ({"movers": [3] + [0] * (len(states) - 1)}, "mover 3"),
        ({"start": len(states)}, "start"),
        ({"actions": [0.5] * len(arrays["actions"])}, "whole numbers"),
    ]
    for change, message in wrong:
        with pytest.raises(ValueError, match=message):
            ym.solve_listed("wrong", **(arrays | change))
    ring = listed(Ring())[1]
    with pytest.raises(ValueError, match="scores in which play may repeat"):
        ym.solve_listed("wrong", **(ring | {"scores": True}))
    with pytest.raises(ValueError, match="name"):
        ym.solve_listed("../wrong", **arrays)


def test_a_class_gives_the_same_table(solved, tmp_path):
    game, states, arrays, table = solved
    walked = ym.solve(game, tables=tmp_path, progress=False)
    assert walked.name == table.name == name_of(game)
    for path in table.path.glob("*.npy"):
        assert (walked.path / path.name).read_bytes() == path.read_bytes(), path.name
    again = ym.solve(game, tables=tmp_path)
    assert again.path == walked.path


def test_names_and_numbers_of_moves_do_not_depend_on_the_run(tmp_path):
    program = tmp_path / "walk.py"
    program.write_text(
        "import sys, yomikiri as ym\n"
        "class Letters:\n"
        "    def name(self): return 'letters'\n"
        "    def start(self): return 'abcd'\n"
        "    def moves(self, state): return {('take', letter) for letter in state}\n"
        "    def move_text(self, move): return 'take ' + move[1]\n"
        "    def play(self, state, move): return state.replace(move[1], '', 1)[1:] if move[1] == 'b' else state.replace(move[1], '')\n"
        "    def result(self, state): return 'loss' if not state else None\n"
        "ym.solve(Letters(), tables=sys.argv[1], progress=False)\n"
    )
    files = []
    for seed in ("1", "2"):
        place = tmp_path / seed
        subprocess.run([sys.executable, program, place], check=True, env=os.environ | {"PYTHONHASHSEED": seed}, timeout=60)
        files.append({path.name: path.read_bytes() for path in (place / "letters").iterdir() if path.name != "manifest.json"})
    assert files[0] == files[1] and len(files[0]) > 8
    assert set(ym.open("letters", tables=tmp_path / "1").game.start.moves) == {f"take-{letter}" for letter in "abcd"}


def test_a_class_that_breaks_a_promise_is_told_so():
    def changed(**methods):
        return type("Broken", (MyTicTacToe,), methods)()

    def fails(self, state, move):
        raise KeyError("no such square")

    wrong = [
        ({"play": fails}, r"Broken.play\('\.........', 0\) failed: KeyError: 'no such square'"),
        ({"moves": lambda self, state: [0, 0]}, r"Broken.moves: a move twice in '\.\.\.\.\.\.\.\.\.'"),
        ({"moves": lambda self, state: []}, "Broken.moves: no move in"),
        ({"result": lambda self, state: 0.5}, "Broken.result: 0.5 for"),
        ({"result": lambda self, state: 128 if state[0] == "X" else None}, "expected None, win, draw, loss"),
        ({"play": lambda self, state, move: [state]}, "expected one that is hashable"),
        ({"text": lambda self, state: "one"}, "have one text"),
        ({"text": lambda self, state: state + "\n"}, "one line"),
        ({"to_move": lambda self, state: 2}, "expected 0 or 1"),
        ({"name": lambda self: "a/b"}, "name"),
        ({"name": lambda self: None}, "Broken.name: None, expected a text"),
        ({"start": lambda self: [0]}, "Broken.start: invalid state .* hashable"),
        ({"start": lambda self: MyTicTacToe()}, "MyTicTacToe tells no equal states"),
        ({"result": lambda self, state: False}, "Broken.result: False for"),
        ({"result": lambda self, state: {None: None, 0: 5, -1: "loss"}[MyTicTacToe.result(self, state)]}, "'loss' in a game with scores"),
        ({"result": lambda self, state: "loss"}, "over at its start"),
        ({"move_text": lambda self, move: "m"}, "two moves have one text, 'm': 0 and 1"),
    ]
    for methods, message in wrong:
        with pytest.raises(ValueError, match=message):
            ym.solve(changed(**methods), progress=False)
    turns = iter(range(10**9))
    with pytest.raises(ValueError, match="another result"):
        ym.solve(changed(result=lambda self, state: "loss" if state.count(".") < 8 else None if next(turns) < 5 else "draw"))
    with pytest.raises(ValueError, match="max_states=100 is reached"):
        ym.solve(MyTicTacToe(), max_states=100)
    with pytest.raises(ValueError, match="max_states: 0"):
        ym.solve(MyTicTacToe(), max_states=0)
    with pytest.raises(TypeError, match="start, moves, play, result"):
        ym.solve(object())
    with pytest.raises(TypeError, match=r"give an object of it, MyTicTacToe\(\)"):
        ym.solve(MyTicTacToe)


def test_a_damaged_list_is_noticed(tmp_path):
    _, arrays = listed(Sticks())
    table = ym.solve_listed("sticks", **arrays, tables=tmp_path, progress=False)
    for name in ("game_successors", "game_results", "game_row_pointers", "game_texts"):
        path = table.path / f"{name}.npy"
        whole = path.read_bytes()
        for at in (len(whole) - 1, 128):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            with pytest.raises(ym.TableError, match="listed game|invalid texts"):
                ym.open("sticks", tables=tmp_path)
        path.write_bytes(whole)
    assert len(ym.open("sticks", tables=tmp_path)) == len(arrays["states"])


def planes_of(state):
    return np.array([[mark == own for mark in state] for own in "XO."], np.float32).reshape(3, 3, 3)


class Drawn(MyTicTacToe):
    """Tic-tac-toe whose states have planes, and whose name finds its table."""

    def name(self):
        return "drawn"

    def planes(self, state):
        return planes_of(state)


def test_planes_of_a_class_are_what_networks_receive(tmp_path):
    table = ym.solve(Drawn(), tables=tmp_path, progress=False)
    states, _ = listed(Drawn())
    positions = table.game.positions(states)
    assert table.game.shape == (3, 3) and len(table.game.planes) == 3
    assert (positions.planes() == [planes_of(state) for state in states]).all()
    assert (positions.planes("nhwc") == np.moveaxis(positions.planes(), 1, -1)).all()
    assert (table.lookup(positions.planes()).outcome == table.lookup(states).outcome).all()
    with pytest.raises(ym.PositionError, match="row 0"):
        table.lookup(positions.planes()[:1] + 0.5)
    weights = np.random.default_rng(0).normal(size=(27, 9))
    seen = []

    def network(planes):
        seen.append(planes.shape[1:])
        return planes.reshape(len(planes), -1) @ weights

    report = ym.evaluate(table, network, "random", progress=False)
    assert set(seen) == {(3, 3, 3)}
    # The same by hand: the mean, over positions whose moves differ in result, of the probability of the best ones.
    values = plain(Drawn(), states)
    kept = []
    for state in states:
        moves = Drawn().moves(state) if Drawn().result(state) is None else []
        worth = {move: -values[Drawn().play(state, move)] for move in moves}
        if len(set(worth.values())) > 1:
            logits = planes_of(state).ravel() @ weights
            chances = {move: np.exp(logits[move]) for move in moves}
            kept.append(sum(chances[move] for move in moves if worth[move] == max(worth.values())) / sum(chances.values()))
    assert report.metrics["result_kept"] == pytest.approx(np.mean(kept), rel=1e-6)
    data = table.dataset("train")
    assert data.planes.shape[1:] == (3, 3, 3) and data.planes.dtype == np.float32


def test_numbers_of_planes_are_kept_as_they_are(tmp_path):
    planes = {"2": [[0.25, -3]], "1": [[-0.0, 1e9]], "0": [[0, 0]]}
    game = type("Nim", (), {
        "start": lambda self: "2", "moves": lambda self, state: [1, 2][: int(state)],
        "play": lambda self, state, move: str(int(state) - move), "result": lambda self, state: "loss" if state == "0" else None,
        "planes": lambda self, state: planes[state]})
    table = ym.solve(game(), tables=tmp_path, progress=False)
    assert table.game.positions(["2", "1", "0"]).planes().tolist() == [[planes[state]] for state in ("2", "1", "0")]
    stored = next(table.states(columns=["planes", "board"]))
    assert {board: found.tolist() for board, found in zip(stored["board"], stored["planes"])} == {
        state: [planes[state]] for state in ("2", "1")}
    table.export(tmp_path / "out.npz", columns=["planes", "score" if table.has_scores else "outcome"])
    assert np.load(tmp_path / "out.npz")["planes"].dtype == np.float32
    flat = type("Flat", (game,), {"planes": lambda self, state: planes[state][0]})
    shapes = []
    ym.evaluate(ym.solve(flat(), tables=tmp_path), lambda planes: shapes.append(planes.shape[1:]) or planes[:, :1] * [[1, 2, 3]])
    assert set(shapes) == {(2,)}
    for wrong, message in [(lambda self, state: np.zeros(int(state) + 1), r"planes: shape \(2,\) for '1', \(3,\) before"),
                           (lambda self, state: [[1, 2], [3]], "planes"), (lambda self, state: [np.nan], "not finite")]:
        with pytest.raises(ValueError, match=message):
            ym.solve(type("Wrong", (game,), {"planes": wrong})(), tables=tmp_path, progress=False)


def test_a_callable_receives_the_states_of_the_class(tmp_path):
    """Without planes; of a player who moves again too, whose opponent's pass is not asked for."""
    for game, best in [(Coins(), lambda state: int(bool(state[0]) and state[0][-1] > state[0][0])), (Sticks(), lambda state: 1)]:
        table = ym.solve(game, tables=tmp_path, progress=False)
        states, _ = listed(game)

        def first(batch):
            assert all(state in states for state in batch)
            return [best(state) if best(state) in game.moves(state) else 0 for state in batch]

        def one(batch):
            chances = np.zeros((len(batch), 2 if type(game) is Coins else 4))
            for row, state in zip(chances, batch):
                row[best(state) if best(state) in game.moves(state) else 0] = 1
            return chances

        report = ym.evaluate(table, first, one, progress=False)
        assert report["one"] == {**report["first"], "nll": report["one"]["nll"]}
        values = plain(game, states)

        def valued(batch):
            return np.sign([values[state] for state in batch]).astype(float)

        exact = ym.evaluate(table, valued, progress=False).metrics
        assert exact["value_error"] == 0 and exact["all_result_kept"] == 1
        lost, seen = [], [(game.start(), 0)]
        for state, side in seen:  # a state counts for each side that can be to move
            if game.result(state) is None:
                after = ((game.play(state, move), 1 - side if type(game) is Sticks else 0) for move in game.moves(state))
                seen += [one for one in dict.fromkeys(after) if one not in seen]
                sign = lambda after: 1 if hasattr(game, "to_move") and game.to_move(state) == game.to_move(after) else -1
                worth = {move: sign(game.play(state, move)) * values[game.play(state, move)] for move in game.moves(state)}
                lost.append(max(worth.values()) - worth[best(state)])
        assert report["first"]["all_positions"] == len(lost)
        assert report["first"]["all_score_lost"] * len(lost) == pytest.approx(sum(lost))


def test_a_class_with_a_name_finds_its_table(tmp_path):
    calls = []

    class Counting(Drawn):
        def play(self, state, move):
            calls.append(1)
            return super().play(state, move)

    first = ym.solve(Counting(), tables=tmp_path, progress=False)
    walked = len(calls)
    again = ym.solve(Counting(), tables=tmp_path, progress=False)
    assert again.path == first.path and walked == 16_167 and len(calls) - walked < walked / 4
    # It knows the states of the class, which reads them from their texts.
    assert ym.evaluate(again, lambda states: [min(Drawn().moves(state) or [0]) for state in states], layout="states", progress=False)
    ym.solve(Counting(), tables=tmp_path, progress=False, force=True)
    assert len(calls) - walked > walked

    class Misere(Counting):
        def result(self, state):
            return {None: None, 0: 0, -1: 1}[super().result(state)]

    changed = [
        (Misere(), "another result in"),
        (type("Less", (Counting,), {"moves": lambda self, state: Misere().moves(state)[:2]})(), "another move in"),
        (type("Later", (Counting,), {"start": lambda self: "X...O...."})(), "another start"),
        (type("Again", (Counting,), {"to_move": lambda self, state: 0})(), "players who move in turn"),
        (type("Signed", (Counting,), {"planes": lambda self, state: planes_of(state) * 2})(), "other planes in"),
    ]
    for game, remark in changed:
        with pytest.warns(RuntimeWarning, match=f"are walked, because .*drawn has {remark}"):
            with pytest.raises(ym.YomikiriError, match="another game of this name: force=True replaces it"):
                ym.solve(game, tables=tmp_path, progress=False)
    other = ym.solve(Misere(), tables=tmp_path, progress=False, force=True)
    assert (other.lookup("start").outcome[0], len(other)) == (0, 5478)
    assert other.lookup(["XX.OO...."]).outcome[0] != table_of(tmp_path / "x").lookup(["XX.OO...."]).outcome[0]

    class Tuples(Ring):
        def name(self):
            return "tuples"

    ym.solve(Tuples(), tables=tmp_path, progress=False)
    with pytest.warns(RuntimeWarning, match=r"cannot be read without a method read\(text\)"):
        ym.solve(Tuples(), tables=tmp_path, progress=False)
    readable = type("Readable", (Tuples,), {"read": lambda self, text: tuple(map(int, text[1:-1].split(",")))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ym.solve(readable(), tables=tmp_path, progress=False)) == len(listed(Ring())[0])
    with pytest.warns(RuntimeWarning, match="Unreadable.read.* failed: KeyError"):
        ym.solve(type("Unreadable", (Tuples,), {"read": lambda self, text: {}[text]})(), tables=tmp_path, progress=False)


def table_of(tables):
    return ym.solve(MyTicTacToe(), tables=tables, progress=False)


def test_a_table_of_another_game_is_replaced_only_if_asked(tmp_path):
    table_of(tmp_path)
    other = type("MyTicTacToe", (MyTicTacToe,), {"start": lambda self: "X........"})
    with pytest.raises(ym.YomikiriError, match="another game of this name: force=True replaces it"):
        ym.solve(other(), tables=tmp_path, progress=False)
    assert len(table_of(tmp_path)) == 5478
    assert len(ym.solve(other(), tables=tmp_path, progress=False, force=True)) < 5478
    with pytest.raises(ValueError, match="'othello-4x4' is a game already"):
        ym.solve(type("O", (MyTicTacToe,), {"name": lambda self: "othello-4x4"})(), tables=tmp_path)


def test_games_and_positions_of_lists_pickle(tmp_path):
    table = ym.solve(Coins(), tables=tmp_path, progress=False)
    for thing in (table.game, table.game.start, table.game.positions(table.roots), table):
        same = pickle.loads(pickle.dumps(thing))
        assert type(same) is type(thing)
    assert pickle.loads(pickle.dumps(table.game.start)) == table.game.start
    assert ym.game("coins", tables=tmp_path) == table.game
    with pytest.raises(ValueError, match="unknown game"):
        ym.game("coins", tables=tmp_path / "none")


def test_environments_play_a_listed_game(tmp_path):
    pytest.importorskip("gymnasium")
    table = ym.solve(Drawn(), tables=tmp_path, progress=False)
    for opponent in ("random", "perfect"):
        env = ym.env(table, opponent=opponent, side=None)
        outcomes = []
        for seed in range(20):
            seen, info = env.reset(seed=seed)
            is_over = False
            while not is_over:
                assert (seen["observation"] == planes_of(info["position"])).all() and env.observation_space.contains(seen)
                seen, reward, is_over, _, info = env.step(int(seen["action_mask"].argmax()))
            outcomes.append(reward)
        assert (max(outcomes) <= 0) == (opponent == "perfect") and min(outcomes) == -1
    pytest.importorskip("pettingzoo")
    both = ym.aec_env(table)
    both.reset()
    while not any(both.terminations.values()):
        both.step(int(both.last()[0]["action_mask"].argmax()))
    assert both.rewards == {"player_0": 1, "player_1": -1}


class Traps:
    """Play goes on for ever between A and B; or to R, where a random player loses at once or wins later."""

    after = {"B": "A", "A": "BR", "R": "xy", "y": "w", "w": "v", "v": "l", "x": "", "l": ""}

    def start(self):
        return "B"

    def moves(self, state):
        return list(self.after[state])

    def play(self, state, move):
        return move

    def result(self, state):
        return "loss" if not self.after[state] else None


def test_a_best_response_gains_nothing_by_the_end_of_counting(tmp_path):
    """Second can wait for ever, or go to R: there First, at random, loses at once (half) or wins four plies later."""
    table = ym.solve(Traps(), tables=tmp_path, progress=False)
    lost = ym.exploitability(table, "random")
    # By hand: from B either waits for ever or comes to R, where the even chances of x and y make 0.
    assert lost["first"]["result_lost"] == 0


def test_states_of_a_class_are_looked_up_and_environments_pass_by_themselves(tmp_path):
    game = Coins()
    states, _ = listed(game)
    table = ym.solve(type("Planed", (Coins,), {"planes": lambda self, state: [len(state[0]), *state[1:]]})(), tables=tmp_path)
    assert (table.lookup(states[:9]).score == [plain(game, states)[state] for state in states[:9]]).all()
    assert table.game.positions(states).planes().shape == (len(states), 3)
    assert (table.lookup(table.game.positions(states[:1]).planes()).score == table.lookup(states[:1]).score).all()
    with pytest.raises(ValueError, match="view 'first'"):
        ym.aec_env(table, view="first")
    both = ym.aec_env(table)
    both.reset()
    state = game.start()
    while not any(both.terminations.values()):
        seen, *_ = both.last()
        assert seen["observation"].tolist() == [len(state[0]), *state[1:]] and both.agent_selection == f"player_{state[1]}"
        assert seen["action_mask"].tolist() == [*(move in game.moves(state) for move in (0, 1)), 0]
        both.step(game.moves(state)[0])
        state = game.play(state, game.moves(state)[0])
    sign = np.sign(game.result(state) * (1, -1)[state[1]])
    assert both.rewards == {"player_0": sign, "player_1": -sign}
