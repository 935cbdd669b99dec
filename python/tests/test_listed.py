"""Games that are lists of states: solved as plain solvers solve them, kept with their tables, and used by every command."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import yomikiri as ym

SOLVER = os.environ.get("SOLVER")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe:
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


GAMES = [TicTacToe(), Sticks(), Ring(), Coins(), LastCoins()]


def name_of(game):
    return {"TicTacToe": "tic-tac-toe", "LastCoins": "last-coins"}.get(type(game).__name__, type(game).__name__.lower())


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
    game = bench.ConnectFour()
    states, values = bench.bare(game)["states"], {}
    for state in reversed(states):  # later states have more marks
        result = game.result(state)
        values[state] = max(-values[game.play(state, move)] for move in game.moves(state)) if result is None else result
    table = ym.solve(game, tables=tmp_path, progress=False)
    assert table.name == "connect-four" and len(table) == len(states) == 161_029
    assert values[game.start()] == 0
    assert (table.lookup(states).outcome == [values[state] for state in states]).all()


def test_what_is_no_game_is_refused_in_a_line():
    states, arrays = listed(TicTacToe())
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
    assert set(ym.open("letters", tables=tmp_path / "1").game.start.moves) == {f"take {letter}" for letter in "abcd"}


def test_a_class_that_breaks_a_promise_is_told_so():
    def changed(**methods):
        return type("Broken", (TicTacToe,), methods)()

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
    ]
    for methods, message in wrong:
        with pytest.raises(ValueError, match=message):
            ym.solve(changed(**methods), progress=False)
    turns = iter(range(10**9))
    with pytest.raises(ValueError, match="another result"):
        ym.solve(changed(result=lambda self, state: "loss" if state.count(".") < 8 else None if next(turns) < 5 else "draw"))
    with pytest.raises(ValueError, match="max_states=100 is reached"):
        ym.solve(TicTacToe(), max_states=100)
    with pytest.raises(TypeError, match="start, moves, play, result"):
        ym.solve(object())


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
