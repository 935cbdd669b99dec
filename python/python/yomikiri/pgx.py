"""Games of Pgx solved (`solve`), and animal shogi as Pgx's networks see it: 194 planes in, 132 actions out.

    network = ...                                          # (N, 4, 3, 194) to logits (N, 132), or (logits, values)
    ym.evaluate(table, ym.pgx.policy(network))

Pgx's planes contain eight past boards, repetitions, the colour and the number of plies played. A position of a
table has none of these, so `policy` supplies them, and the report prints first which. Its figures are exact
for that input. Rules differ too: Pgx forbids moves into check, which lose at once in the table; here such
moves get no probability while there are others. In Pgx a third repetition and the 256th ply end a game as a
draw; in the table infinite play is a draw.
"""

from __future__ import annotations

import functools
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from ._games import Positions
from ._measure import _Asked

#: Numbers of planes and of actions.
PLANES, ACTIONS = 194, 132
#: Past boards in the planes.
BOARDS = 8
#: Plies after which Pgx ends a game.
MAX_PLIES = 256
#: Pgx's order of our kinds of pieces: chick, elephant, giraffe, lion, hen.
_KINDS = [1, 2, 3, 0, 4]
#: Steps of Pgx's directions, in columns (counted from the right) and rows.
_DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def _labels() -> NDArray[np.int64]:
    """Returns Pgx's action for each action of ours, -1 for steps that no piece makes."""

    def square(place: int) -> int:
        row, column = divmod(place, 3)
        return (2 - column) * 4 + row

    labels = np.full(324, -1)
    for begin in range(12):
        for end in range(12):
            (x, y), (x_end, y_end) = divmod(square(begin), 4), divmod(square(end), 4)
            if (step := (x_end - x, y_end - y)) in _DIRECTIONS:
                labels[2 * (12 * begin + end) + np.arange(2)] = _DIRECTIONS.index(step) * 12 + square(begin)
    for kind in range(3):
        for end in range(12):
            labels[288 + 12 * kind + end] = (8 + kind) * 12 + square(end)
    return labels


#: Pgx's action for each action of ours, -1 for actions that are never legal.
LABELS: NDArray[np.int64] = _labels()


def _boards(positions: Positions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns boards ``(N, 12)`` and hands ``(N, 6)`` in Pgx's numbers, as the mover sees them."""
    planes = positions._core.encode("nchw", None)
    # Columns are counted from the right, and squares column by column.
    squares = planes[:, :, :, ::-1].transpose(0, 1, 3, 2).reshape(len(planes), 16, 12)
    board = np.full((len(planes), 12), -1)
    for number, kind in enumerate([*_KINDS, *(5 + kind for kind in _KINDS)]):
        board[squares[:, kind] > 0] = number
    return board, squares[:, 10:16, 0].astype(np.int64)


def _turned(boards: NDArray[np.int64]) -> NDArray[np.int64]:
    turned: NDArray[np.int64] = np.where(boards < 0, -1, (boards + 5) % 10)
    return turned[..., ::-1]


def observations(
    positions: Positions,
    *,
    past: list[Positions] | tuple[Positions, ...] = (),
    history: str = "start",
    repetitions: NDArray[np.int64] | None = None,
    colour: int | NDArray[np.int64] | None = None,
    step: int | NDArray[np.int64] = 0,
) -> NDArray[np.float32]:
    """Returns Pgx's observations of positions, ``float32`` of shape ``(N, 4, 3, 194)``.

    ``history`` is ``start`` (the game began at the position, or before it with the positions of ``past``, the
    latest first) or ``repeat`` (all eight boards are the current one). ``repetitions``, ``(N, 8)``, counts
    earlier occurrences of each board, the current one first (default: none). ``colour`` is 0 for the first
    player, 1 for the second (default: the side to move), ``step`` the plies played."""
    if positions.game.name != "animal-shogi":
        raise ValueError(f"invalid positions of {positions.game.name}: expected animal-shogi")
    if history not in ("start", "repeat"):
        raise ValueError(f"invalid history {history!r}: expected start or repeat")
    count = len(positions)
    board, hand = _boards(positions)
    boards, hands = np.full((count, BOARDS, 12), -1), np.zeros((count, BOARDS, 6), np.int64)
    if history == "repeat":
        boards[:], hands[:] = board[:, None], hand[:, None]
    for at, (now, held) in enumerate([*map(_boards, reversed(past)), (board, hand)]):
        if at:
            # Pgx rolls both histories by eight numbers, and not by a board.
            boards = _turned(np.roll(boards.reshape(count, -1), 8, axis=1).reshape(boards.shape))
            hands = np.roll(np.roll(hands.reshape(count, -1), 8, axis=1).reshape(hands.shape), 3, axis=2)
        boards[:, 0], hands[:, 0] = now, held
    if repetitions is None:
        repetitions = np.zeros((count, BOARDS), np.int64)
    pieces = boards[:, :, None] == np.arange(10)[:, None]  # (N, 8, 10, 12)
    some = hands[:, :, :, None] >= np.array([1, 2])  # (N, 8, 6, 2)
    some = np.broadcast_to(some.reshape(count, BOARDS, 12, 1), (count, BOARDS, 12, 12))
    repeated = repetitions[:, :, None, None] == np.array([0, 1])[:, None]
    repeated = np.broadcast_to(repeated, (count, BOARDS, 2, 12))
    planes = np.concatenate([pieces, some, repeated], axis=2).reshape(count, BOARDS * 24, 12).astype(np.float32)
    ones = np.ones((count, 1, 12), np.float32)
    side = positions.side if colour is None else np.broadcast_to(colour, (count,))
    plies = np.broadcast_to(step, (count,)).astype(np.float32) / MAX_PLIES
    planes = np.concatenate([planes, ones * side[:, None, None], ones * plies[:, None, None]], axis=1)
    return np.ascontiguousarray(planes.reshape(count, PLANES, 3, 4).transpose(0, 3, 2, 1)[:, :, ::-1], dtype=np.float32)


def legal(positions: Positions) -> NDArray[np.bool_]:
    """Returns the legal actions without moves into check: ``bool``, ``(N, 324)``."""
    mask = positions.legal
    rows, actions = np.nonzero(mask)
    if len(rows):
        # The opponent wins at once by capturing the lion.
        mask[rows, actions] = positions[rows].play(actions)._core.results() != 1
    return mask


class policy:
    """A network for Pgx's animal shogi as a policy: a function or module from observations to logits
    ``(N, 132)``, to ``(logits, values)`` or to a dictionary as `yomikiri.evaluate` takes it. ``history``,
    ``colour`` and ``step`` are those of `observations`; ``name`` is shown in reports."""

    _yomikiri_layout = "positions"

    def __init__(self, network: Callable[..., object], *, history: str = "start", colour: int | None = None, step: int = 0,
                 name: str | None = None):
        self.network = network
        self.see = functools.partial(observations, history=history, colour=colour, step=step)
        self.__name__ = name or getattr(network, "__name__", None) or type(network).__name__
        self.asked = _Asked(network, self.__name__)
        boards = {"start": "the seven past boards are empty", "repeat": "the seven past boards are the current one"}
        side = "the side to move" if colour is None else f"always {colour}"
        self._yomikiri_note = (
            f"{self.__name__} sees Pgx's planes: {boards.get(history, history)}, no repetition, colour is {side}, {step} plies "
            "played; figures are exact for this input and the table's rules")

    def __call__(self, positions: Positions, _legal: object = None) -> dict[str, NDArray[np.generic]]:
        seen = self.see(positions)
        may = legal(positions)
        theirs = np.zeros((len(may), ACTIONS), bool)
        rows, actions = np.nonzero(may)
        theirs[rows, LABELS[actions]] = True
        # Where every move is into check, Pgx's game is over; the moves share the probability.
        lost: NDArray[np.bool_] = np.logical_not(may.any(axis=1))
        may[lost] = positions.legal[lost]
        out: dict[str, NDArray[np.generic]] = {}
        for name, numbers in self.asked(seen, theirs):
            if name not in ("values", "final_scores"):
                if numbers.shape != (len(may), ACTIONS):
                    raise ValueError(f"{self.__name__} returned {name} of shape {numbers.shape}, expected (N, {ACTIONS})")
                numbers = np.where(lost[:, None], 0.0, numbers[:, LABELS])
                numbers = np.where(may, numbers, 0.0 if name == "probabilities" else -np.inf)
                if name == "probabilities":
                    total = numbers.sum(axis=1, keepdims=True)
                    numbers = np.where(total > 0, numbers, may)
                    numbers = numbers / numbers.sum(axis=1, keepdims=True)
            out["logits" if name == "answer" else name] = numbers
        return out


def __getattr__(name: str) -> object:
    if name != "solve":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._pgx import solve  # needs JAX

    return solve
