"""Figures of a report on 4×4 Othello against a plain recomputation: rules, values, games and figures in Python alone."""

import functools
import itertools
import math
import zlib

import numpy as np
import pytest

import yomikiri as ym

PASS = 16
AROUND = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


@functools.cache
def turned(board, own, at):
    """Returns the discs that a move turns over."""
    found = []
    if board[at] != "-":
        return ()
    for dx, dy in AROUND:
        line, x, y = [], at % 4 + dx, at // 4 + dy
        while 0 <= x < 4 and 0 <= y < 4 and board[4 * y + x] not in ("-", own):
            line.append(4 * y + x)
            x, y = x + dx, y + dy
        if line and 0 <= x < 4 and 0 <= y < 4 and board[4 * y + x] == own:
            found += line
    return tuple(found)


def other(side):
    return "O" if side == "X" else "X"


@functools.cache
def moves(state):
    """Returns the positions after each move; none where the game is over."""
    board, side = state
    found = {}
    for at in range(16):
        if over := turned(board, side, at):
            discs = "".join(side if place == at or place in over else disc for place, disc in enumerate(board))
            found[at] = (discs, other(side))
    if not found and any(turned(board, other(side), at) for at in range(16)):
        found[PASS] = (board, other(side))
    return found


@functools.cache
def value(state):
    """Returns the mover's score and the plies to the end: soon if it is not lost, else late."""
    after = [(-value(state)[0], value(state)[1] + 1) for state in moves(state).values()]
    board, side = state
    return max(after, key=rank) if after else (board.count(side) - board.count(other(side)), 0)


def rank(worth):
    score, plies = worth
    return score, -plies if score >= 0 else plies


def sign(score):
    return (score > 0) - (score < 0)


def reached():
    """Returns all positions, each after those with a move to it."""
    order, seen = [], set()

    def visit(state):
        if state not in seen:
            seen.add(state)
            for after in moves(state).values():
                visit(after)
            order.append(state)

    visit(("-----OX--XO-----", "X"))
    return order[::-1]


def chosen(state):
    """Returns probabilities that are exact in any precision, with ties and zeros, and a value."""
    drawn = [zlib.crc32(f"{state}{move}".encode()) % 5 for move in moves(state)]
    weights = [drawn[0] + 1, *drawn[1:]]
    shares = [64 * weight // sum(weights) for weight in weights]
    # What rounding leaves goes to the last move, unless that would change an order.
    shares[-1] += 64 - sum(shares)
    return [share / 64 for share in shares], (zlib.crc32(repr(state).encode()) % 65 - 32) / 32


def policy(texts):
    probabilities, values = np.zeros((len(texts), 17)), []
    for at, text in enumerate(texts):
        board, side = text.rstrip(";").split(" ")
        own, expected = chosen((board, side))
        probabilities[at, list(moves((board, side)))] = own
        values.append(expected)
    return probabilities, np.array(values)


class Position:
    """Figures of the policy in one position."""

    def __init__(self, state):
        worths = [(-value(after)[0], value(after)[1] + 1) for after in moves(state).values()]
        self.scores = [score for score, _ in worths]
        self.p, self.expected = chosen(state)
        best = max(self.scores)
        self.best, self.outcome, self.moves = best, sign(best), list(moves(state))
        self.layer = 16 - state[0].count("-")
        self.is_decisive = len({sign(score) for score in self.scores}) > 1
        self.best_moves = [(score == best) / self.scores.count(best) for score in self.scores]

    def under(self, p):
        """Returns what moves of these probabilities keep and lose."""
        of = list(zip(p, self.scores))
        return {
            "result_kept": sum(p for p, score in of if sign(score) == self.outcome),
            "score_kept": sum(p for p, score in of if score == self.best),
            "result_lost": sum(p * (self.outcome - sign(score)) for p, score in of),
            "score_lost": sum(p * (self.best - score) for p, score in of),
        }

    def left(self, best, left):
        return sum(p for p, score in zip(self.p, self.scores) if (self.outcome, sign(score)) == (best, left))

    def likeliest(self):
        most = [float(p == max(self.p)) for p in self.p]
        return [share / sum(most) for share in most]

    def among(self, places):
        """Returns the probability of a best move among the first, over all orders of equal ones."""
        groups = [[score for q, score in zip(self.p, self.scores) if q == p] for p in sorted(set(self.p), reverse=True)]
        left, none = places, 1.0
        for group in groups:
            others = sum(score != self.best for score in group)
            taken = min(left, len(group))
            none *= math.comb(others, taken) / math.comb(len(group), taken)
            left -= taken
        return 1 - none

    def correlation(self):
        ranks = [[sum(b < a for b in row) - sum(b > a for b in row) for a in row] for row in (self.p, self.scores)]
        both, one, two = (sum(a * b for a, b in zip(ranks[i], ranks[j])) for i, j in ((0, 1), (0, 0), (1, 1)))
        return both / math.sqrt(one * two) if one and two else None


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else None


def of_moves(some):
    """Returns the figures of moves in some positions."""
    kept = [one.under(one.p) for one in some]
    likeliest = [one.under(one.likeliest()) for one in some]
    names = ("result_kept", "score_kept", "result_lost", "score_lost")
    figures = {name: mean(one[name] for one in kept) for name in names}
    figures |= {f"argmax_{name}": mean(one[name] for one in likeliest) for name in names}
    correlations = [one.correlation() for one in some]
    best = [one["score_kept"] for one in kept]
    large = [sum(p for p, score in zip(one.p, one.scores) if one.best - score >= 4) for one in some]
    words = {1: "win", 0: "draw", -1: "loss"}
    figures |= {
        f"{words[best]}_to_{words[left]}": mean(one.left(best, left) for one in some)
        for best, left in ((1, 0), (1, -1), (0, -1))
    }
    return figures | {
        "positions": len(some),
        "rank_correlation": mean(number for number in correlations if number is not None),
        "correlation_positions": sum(number is not None for number in correlations),
        "blunders": sum(1 - one["result_kept"] for one in kept),
        "blunder_rate": mean(1 - one["result_kept"] for one in kept),
        "large_losses": sum(large),
        "large_loss_rate": mean(large),
        "nll": mean(-math.log(max(p, 1e-12)) for p in best),
        "no_chance": mean(p < 1e-12 for p in best),
        "entropy": mean(-sum(p * math.log(p) for p in one.p if p) for one in some),
        **{f"top_{k}": mean(one.among(k) for one in some) for k in (1, 2, 3)},
    }


def of_values(some):
    """Returns the figures of predicted outcomes."""
    pairs = [(one.expected, one.outcome) for one in some]
    bins = {}
    for expected, outcome in pairs:
        bins.setdefault(min(int((expected + 1) / 2 * 10), 9), []).append((expected - outcome) / 2)
    return {
        "value_error": mean(abs(a - b) for a, b in pairs),
        "value_rmse": math.sqrt(mean((a - b) ** 2 for a, b in pairs)),
        "value_sign": mean(a * b > 0 for a, b in pairs if b),
        "value_brier": mean((a - b) ** 2 / 4 for a, b in pairs),
        "value_calibration": sum(abs(sum(off)) for off in bins.values()) / len(pairs),
    }, {at: len(off) for at, off in bins.items()}


def visits(order, positions, shares):
    met = dict.fromkeys(order, 0.0)
    met[order[0]] = 1.0
    for state in order:
        for p, after in zip(shares(positions.get(state)), moves(state).values()):
            met[after] += met[state] * p
    return met


def of_play(order, positions):
    """Returns the figures of decisive positions, weighted by how often games meet them."""
    plays = {
        "own": lambda one: one.p if one else [],
        "random": lambda one: [1 / len(one.p)] * len(one.p) if one else [],
        "best": lambda one: one.best_moves if one else [],
    }
    figures = {}
    for play, shares in plays.items():
        met = visits(order, positions, shares)
        decisive = [(met[state], one.under(one.p)) for state, one in positions.items() if one.is_decisive]
        for name in ("result_kept", "score_kept", "result_lost", "score_lost"):
            figures[f"{play}_play_{name}"] = sum(w * one[name] for w, one in decisive) / sum(w for w, _ in decisive)
    return figures


@pytest.fixture(scope="module")
def positions():
    return {state: Position(state) for state in reached() if moves(state)}


@pytest.fixture(scope="module")
def report(table):
    return ym.evaluate(table, policy, layout="notations", names=["mine"], progress=False)


def close(found, wanted, what):
    assert (found is None) == (wanted is None), (what, found, wanted)
    assert found is None or abs(found - wanted) <= 1e-9 * max(1, abs(wanted)), (what, found, wanted)


#: Figures that other tests recompute, or that such a policy does not have.
ELSEWHERE = {
    f"{opponent}_{side}_{what}"
    for opponent, side, what in itertools.product(("random", "perfect"), ("first", "second"), ("points", "score"))
} | {"exploited_result", "exploited_score"}


def test_every_figure_is_that_of_a_plain_recomputation(report, positions):
    every = list(positions.values())
    decisive = [one for one in every if one.is_decisive]
    values, _ = of_values(every)
    wanted = of_moves(decisive) | {f"all_{name}": number for name, number in of_moves(every).items()}
    wanted |= values | of_play(reached(), positions)
    found = {name: number for name, number in report["mine"].items() if number is not None and name not in ELSEWHERE}
    nothing = {name for name in found if name.endswith("plies_positions") or name.startswith("learned_")}
    assert set(found) - nothing == set(wanted)
    for name, number in wanted.items():
        close(found[name], number, name)


def test_groups_and_squares_are_those_of_a_plain_recomputation(report, positions):
    every = list(positions.values())
    for by, key in (("layer", lambda one: one.layer), ("moves", lambda one: len(one.p)), ("value", lambda one: one.best)):
        frame = report.to_pandas(by=by)
        assert set(frame[by]) == {key(one) for one in every}
        for row in frame.to_dict("records"):
            some = [one for one in every if key(one) == row[by]]
            wanted = {f"all_{name}": number for name, number in of_moves(some).items()}
            wanted |= of_values(some)[0] if by == "layer" else {}
            for name, number in wanted.items():
                close(None if row[name] is None or math.isnan(row[name]) else row[name], number, (by, row[by], name))
    squares = report.to_pandas(by="square")
    assert len(squares) == 16
    for row in squares.to_dict("records"):
        at = 4 * (int(row["square"][1]) - 1) + "abcd".index(row["square"][0])
        played = [(one.p[one.moves.index(at)], one, one.scores[one.moves.index(at)]) for one in every if at in one.moves]
        close(row["played"], sum(p for p, _, _ in played), row)
        close(row["score_lost"], sum(p * (one.best - score) for p, one, score in played), row)
        close(row["result_lost"], sum(p * (one.outcome - sign(score)) for p, one, score in played), row)


def test_curves_are_those_of_a_plain_recomputation(report, positions):
    [one] = report.json["policies"]
    _, bins = of_values(positions.values())
    assert [group["positions"] for group in one["values"]["reliability"]] == [bins.get(at, 0) for at in range(10)]
    for lost, share in enumerate(one["losses"]["at_least"]):
        more = [sum(p for p, score in zip(of.p, of.scores) if of.best - score >= lost) for of in positions.values()]
        close(share, mean(more), lost)


@functools.cache
def forced(state, plies):
    """Returns 1 or -1 if the mover wins or loses by force within some plies, else 0."""
    if not moves(state):
        return sign(value(state)[0])
    if plies == 0:
        return 0
    after = [-forced(after, plies - 1) for after in moves(state).values()]
    return 1 if 1 in after else -1 if set(after) == {-1} else 0


def in_front(state, p, plies):
    """Returns the probabilities with a search in front: among proven wins, else among what is no proven loss."""
    proven = [-forced(after, plies - 1) for after in moves(state).values()]
    stays = [result == 1 if 1 in proven else result != -1 for result in proven]
    if not any(stays):
        return p
    kept = [share if stay else 0.0 for share, stay in zip(p, stays)]
    return [share / sum(kept) for share in kept] if sum(kept) else [stay / sum(stays) for stay in stays]


def test_search_in_front_is_that_of_a_plain_recomputation(table, positions):
    searching = ym.policy(policy, "mine", layout="notations", plies=3)
    report = ym.evaluate(table, searching, ym.policy("greedy", plies=2), progress=False)
    assert report.policies == ["mine?plies=3", "greedy?plies=2"]
    every = []
    for state, one in positions.items():
        other = Position(state)
        other.p = in_front(state, one.p, 3)
        every.append(other)
    for some, prefix in ((every, "all_"), ([one for one in every if one.is_decisive], "")):
        for name, number in of_moves(some).items():
            close(report["mine?plies=3"][f"{prefix}{name}"], number, name)
    assert report["mine?plies=3"]["result_kept"] > 0.6
    with pytest.raises(ValueError, match="plies=K"):
        ym.evaluate(table, ym.policy(policy, layout="notations", plies=0))
