"""Compares an export in the layout of another program with that program, position by position.

    python3 packages.py pgx|openspiel DIRECTORY [ACTION...]

DIRECTORY holds arrays of 8x8 Othello: every position, unproven and finished ones too, that follows from the
position after the ACTIONs, played from the start. The program plays there itself, move by move, and its
observation and legal actions of each position must be those that were exported. Says how many were
compared.
"""

import json
import sys
from pathlib import Path

import numpy as np

package, place, opening = sys.argv[1], Path(sys.argv[2]), [int(a) for a in sys.argv[3:]]
card = json.loads((place / "targets.json").read_text())
assert card["parameters"]["layout"] == package
planes, legal, side = (np.load(place / f"{name}.npy") for name in ("planes", "legal", "side"))
# The first player is 0 in either.
exported = {(p.tobytes(), int(s)): i for i, (p, s) in enumerate(zip(planes, side))}
assert len(exported) == len(planes) and planes.shape[1:] == {"pgx": (8, 8, 2), "openspiel": (3, 8, 8)}[package]
compared = set()


def compare(seen, mover, mask):
    """Looks the package's position up; gives whether it is met for the first time, and its actions."""
    key = (np.ascontiguousarray(seen, dtype=np.uint8).tobytes(), mover)
    assert key in exported, f"not exported: {seen}"
    row = exported[key]
    assert np.array_equal(legal[row], mask), (legal[row], mask)
    new = row not in compared
    compared.add(row)
    return new


def openspiel():
    import pyspiel

    game = pyspiel.load_game("othello")
    state = game.new_initial_state()
    for action in opening:
        state.apply_action(action)
    shape = game.observation_tensor_shape()
    stack = [state]
    while stack:
        state = stack.pop()
        if state.is_terminal():
            continue
        mover = state.current_player()
        mask = np.zeros(65, np.uint8)
        mask[state.legal_actions()] = 1
        if compare(np.array(state.observation_tensor(mover)).reshape(shape), mover, mask):
            if depth_of(state) < limit:
                stack.extend(state.child(action) for action in state.legal_actions())


def depth_of(state):
    return len(state.history()) - len(opening)


def pgx():
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make("othello")
    step = jax.jit(jax.vmap(env.step))
    state = env.init(jax.random.PRNGKey(0))
    first = int(state.current_player)
    for action in opening:
        state = env.step(state, action)
    states = jax.tree_util.tree_map(lambda x: jnp.asarray(x)[None], state)
    for depth in range(limit + 1):
        seen, masks = np.asarray(states.observation), np.asarray(states.legal_action_mask)
        over, movers = np.asarray(states.terminated), np.asarray(states.current_player) != first
        children = []
        for i in np.flatnonzero(~over):
            if compare(seen[i], int(movers[i]), masks[i]) and depth < limit:
                children.extend((i, action) for action in np.flatnonzero(masks[i]))
        if not children:
            break
        # Shapes that are compiled once and again used.
        size = 1 << (len(children) - 1).bit_length()
        padded = np.array(children + children[:1] * (size - len(children)))
        chosen = jax.tree_util.tree_map(lambda x: x[padded[:, 0]], states)
        states = step(chosen, jnp.asarray(padded[:, 1]))
        states = jax.tree_util.tree_map(lambda x: x[: len(children)], states)


limit = int((place / "depth").read_text())
{"pgx": pgx, "openspiel": openspiel}[package]()
over = ~legal.any(axis=1)
missed = np.setdiff1d(np.flatnonzero(~over), list(compared))
assert len(missed) == 0, f"{len(missed)} exported positions were not met"
print(f"{len(compared)} positions")
