"""Games of Pgx, walked into a list of states: thousands of moves are made at once."""

from __future__ import annotations

import functools
import zlib
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from ._optional import needs

needs("pgx", "games of Pgx")
import jax
import pgx

from ._games import Game
from ._progress import Told
from ._tables import Table, _listed, _solve_list
from ._types import PathLike
from ._walk import GOES_ON

#: Moves made at once; the last ones are filled up, so that the game is compiled once.
_AT_ONCE = 4096
#: Games of two players in turn without chance and hidden information.
GAMES = ("animal_shogi", "chess", "connect_four", "gardner_chess", "go_19x19", "go_9x9", "hex", "othello", "shogi", "tic_tac_toe")
#: States met again that are compared.
_COMPARED = 20_000


class _Batch:
    """States, one under the other, and what is read from them."""

    def __init__(self, states: pgx.State):
        self.states = states
        self.seen = np.asarray(states.observation)
        self.mover = np.asarray(states.current_player).astype(np.uint8)
        self.is_over = np.asarray(states.terminated | states.truncated)
        self.legal = np.asarray(states.legal_action_mask) & ~self.is_over[:, None]
        self.result = np.take_along_axis(np.asarray(states.rewards), self.mover[:, None].astype(int), 1)[:, 0]
        parts = [self.seen, self.legal, self.is_over, self.mover, np.where(self.is_over, self.result, 0)]
        rows = [np.ascontiguousarray(part).reshape(len(self.mover), -1).view(np.uint8) for part in parts]
        #: Bytes that distinguish states: observation, legal moves, end, player to move and result.
        self.keys = [row.tobytes() for row in np.concatenate(rows, axis=1)]

    def take(self, places: NDArray[np.int64]) -> _Batch:
        return _Batch(jax.tree.map(lambda part: part[places], self.states))


@functools.lru_cache(4)
def _step(env: pgx.Env) -> Callable[..., pgx.State]:
    stepped: Callable[..., pgx.State] = jax.jit(jax.vmap(env.step))
    return stepped


def _children(env: pgx.Env, batch: _Batch) -> tuple[NDArray[np.int64], NDArray[np.int64], _Batch]:
    """Returns the parent and the action of each legal move, and the states after them."""
    parents, actions = np.nonzero(batch.legal)
    parts = []
    for begin in range(0, len(parents), _AT_ONCE):
        places, moves = parents[begin:begin + _AT_ONCE], actions[begin:begin + _AT_ONCE]
        fill = _AT_ONCE - len(places)
        # In NumPy, because JAX compiles for each number of states.
        before = jax.tree.map(lambda part: part[np.pad(places, (0, fill))], batch.states)
        after = _step(env)(before, np.pad(moves, (0, fill), constant_values=moves[0]))
        parts.append(jax.tree.map(lambda part: np.asarray(part)[:len(places)], after))
    states = jax.tree.map(lambda *all_parts: np.concatenate(all_parts), *parts)
    return parents, actions, _Batch(states)


def solve(
    env: pgx.Env, start: pgx.State | None = None, *, tables: PathLike | None = None, max_states: int | None = None,
    force: bool = False, progress: bool | None = None,
) -> Table:
    """Walks and solves a game of Pgx from its start, or from a state (not a batch): ``tic_tac_toe``, and endgames of the
    others. Observation, legal moves and player to move distinguish states; 20,000 of those met again are compared by the
    states after their moves, and a game whose past matters is refused. Planes are Pgx's observations, actions Pgx's.
    Raises `ValueError`."""
    if env.id not in GAMES:
        raise ValueError(f"{env.id}: expected a game of two players in turn without chance: {', '.join(GAMES)}")
    begun = env.init(jax.random.PRNGKey(0)) if start is None else start
    batch = _Batch(jax.tree.map(lambda part: np.asarray(part)[None], begun))
    if batch.is_over[0]:
        raise ValueError(f"{env.id}: the game is over in the given state")
    numbers, found = {batch.keys[0]: 0}, [batch]
    edges: dict[int, list[tuple[int, int]]] = {}
    # States to follow with their numbers, and equal ones to compare with them.
    own, doubles, first, compared = [0], list[int](), int(batch.mover[0]), 0
    with Told(progress) as tell:
        while len(own) + len(doubles):
            parents, actions, after = _children(env, batch)
            moves: list[list[tuple[int, int]]] = [[] for _ in range(len(own) + len(doubles))]
            new, again = list[int](), list[int]()
            for at, (parent, action, key) in enumerate(zip(parents.tolist(), actions.tolist(), after.keys)):
                number = numbers.get(key)
                if number is None and parent < len(own):
                    number = numbers[key] = len(numbers)
                    new.append(at)
                elif parent < len(own) and compared < _COMPARED and not after.is_over[at]:
                    compared += 1
                    again.append(at)
                moves[parent].append((action, -1 if number is None else number))
            edges.update(zip(own, moves))
            for double, made in zip(doubles, moves[len(own):]):
                if edges[double] != made:
                    raise ValueError(f"{env.id}: two states look alike, and their moves lead to others: the past matters")
            if max_states is not None and len(numbers) > max_states:
                raise ValueError(f"max_states={max_states} is reached: {len(edges)} states of {env.id} were followed")
            own, doubles = [numbers[after.keys[at]] for at in new], [numbers[after.keys[at]] for at in again]
            if new:
                found.append(after.take(np.array(new)))
            open_new = [at for at, number in zip(new, own) if not after.is_over[at]]
            edges.update({number: [] for at, number in zip(new, own) if after.is_over[at]})
            own = [numbers[after.keys[at]] for at in open_new]
            batch = after.take(np.array(open_new + again, np.int64)) if open_new or again else batch
            if tell is not None:
                tell(f"walking {env.id}", len(edges), len(numbers))
    return _solve_list(_game_of(env, begun, found, edges, first), tables, force, progress)


def _game_of(
    env: pgx.Env, begun: pgx.State, found: list[_Batch], edges: dict[int, list[tuple[int, int]]], first: int,
) -> Game:
    """Returns the listed game of what was found."""
    rows = [edges[number] for number in range(len(edges))]
    seen = np.concatenate([batch.seen for batch in found]).astype(np.float32)
    over = np.concatenate([batch.is_over for batch in found])
    result = np.concatenate([batch.result for batch in found])
    movers = np.concatenate([batch.mover for batch in found])
    return _listed(
        "pgx-" + env.id.replace("_", "-") + ("" if int(begun._step_count) == 0 else f"-{zlib.crc32(found[0].keys[0]):08x}"),
        row_pointers=np.cumsum([0, *map(len, rows)]), actions=[action for row in rows for action, _ in row],
        successors=[after for row in rows for _, after in row], results=np.where(over, result, GOES_ON).astype(np.int8),
        states=None, movers=movers ^ first, move_names=None, planes=np.moveaxis(seen, -1, 1), scores=False, start=0,
        title=f"{env.id} of Pgx", action_count=env.num_actions)
