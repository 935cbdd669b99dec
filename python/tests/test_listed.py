"""Games that are lists of states: solved as plain solvers solve them, kept with their tables, and used by every command."""

import json
import os
import subprocess

import numpy as np
import pytest

import yomikiri as ym

SOLVER = os.environ.get("SOLVER")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe:
    """States are boards as texts; the player to move follows from the number of marks."""

    name = "tic-tac-toe-listed"
    start = "........."

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

    name = "sticks"
    scores = True
    start = (10, 0)

    def moves(self, state):
        return [take for take in (1, 2, 3) if take <= state[0]]

    def play(self, state, move):
        return state[0] - move, move

    def result(self, state):
        return state[1] if state[0] == 0 else None


class Ring:
    """A walker on a ring of seven places goes one or two on; who comes to place 0 from place 6 wins; else for ever."""

    name = "ring"
    start = (0, 0)

    def moves(self, state):
        return [1, 2, 3] if state[0] else [1, 2]

    def play(self, state, move):
        place = (state[0] + (move if move < 3 else -1)) % 7
        return place, int(state[0] == 6 and place == 0)

    def result(self, state):
        return -1 if state[1] else None


class Coins:
    """A row of coins is taken from its ends; who takes an even coin moves again; the score is what one has more."""

    name = "coins"
    scores = True
    start = ((1, 4, 2, 3, 1, 2), 0, 0)

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


GAMES = [TicTacToe(), Sticks(), Ring(), Coins()]


def listed(game):
    """Returns the states in the order of discovery, and the arrays of the listing."""
    numbers, states, at = {game.start: 0}, [game.start], 0
    pointers, actions, successors, results = [0], [], [], []
    while at < len(states):
        state = states[at]
        result = game.result(state)
        results.append(ym._tables.GOES_ON if result is None else result)
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
        "states": [str(state).replace(" ", "") for state in states], "movers": movers,
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


@pytest.fixture(scope="module", params=GAMES, ids=lambda game: game.name)
def solved(request, tmp_path_factory):
    game = request.param
    states, arrays = listed(game)
    tables = tmp_path_factory.mktemp(game.name)
    return game, states, arrays, ym.solve_listed(game.name, **arrays, tables=tables, progress=False)


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
    again = ym.open(game.name, tables=table.path.parent)
    assert str(again.game.start) == arrays["states"][0] + "\nFirst to move" or arrays["states"][0] in str(again.game.start)
    same = ym.solve_listed(game.name, **arrays, tables=table.path.parent, progress=False)
    assert same.path == table.path
    other = arrays | {"results": [-result if result not in (0, -128) else result for result in arrays["results"]]}
    with pytest.raises(ym.YomikiriError, match=game.name):
        ym.solve_listed(game.name, **other, tables=table.path.parent, progress=False)


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

    assert "random" in said("report", game.name, "-q", "--policy", "random,perfect")
    assert arrays["states"][0] in said("query", game.name, "start")
    said("verify", game.name, "-q")
    assert json.loads(said("match", game.name, "random", "perfect", "--json", "-q"))
    assert game.name in said("list")
    said("export", game.name, "--out", str(tmp_path / "values.csv"), "-q")
    assert len((tmp_path / "values.csv").read_text().splitlines()) > 2
    said("play", game.name, stdin="quit\n")
    assert game.name in said("info", game.name)


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
