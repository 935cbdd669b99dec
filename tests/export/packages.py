"""Compares an export in the layout of another program with that program, position by position.

    python3 packages.py pgx|openspiel DIRECTORY [ACTION...]

DIRECTORY holds arrays of 8x8 Othello: every position, unproven and finished ones too, that follows from the
position after the ACTIONs, played from the start. The program plays there itself, move by move, and its
observation and legal actions of each position must equal the exported ones. Prints the number of
positions compared.
"""

import json
import sys
from pathlib import Path

import numpy as np

package, place, opening = sys.argv[1], Path(sys.argv[2]), [int(a) for a in sys.argv[3:]]
card = json.loads((place / "targets.json").read_text())
assert card["parameters"]["layout"] == {"pgx": "nhwc"}.get(package, package)
planes, legal, side = (np.load(place / f"{name}.npy") for name in ("planes", "legal", "side"))
# The first player is 0 in both programs.
exported = {(p.tobytes(), int(s)): i for i, (p, s) in enumerate(zip(planes, side))}
assert len(exported) == len(planes) and planes.shape[1:] == {"pgx": (8, 8, 2), "openspiel": (3, 8, 8)}[package]
compared = set()


def compare(seen, mover, mask):
    """Looks up the package's position; returns whether it is new, and its actions."""
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
    import pgx

    env = pgx.make("othello")
    # A fixed number of positions at a time, so that the step is compiled once.
    width = 1024
    stepped = jax.jit(jax.vmap(env.step))

    def step(states, parents, actions):
        parts = []
        for begin in range(0, len(parents), width):
            some = slice(begin, begin + width)
            count = len(parents[some])
            chosen = np.resize(parents[some], width)
            after = stepped(
                jax.tree_util.tree_map(lambda x: np.asarray(x)[chosen], states), np.resize(actions[some], width)
            )
            parts.append(jax.tree_util.tree_map(lambda x: np.asarray(x)[:count], after))
        return jax.tree_util.tree_map(lambda *x: np.concatenate(x), *parts)

    state = env.init(jax.random.PRNGKey(0))
    first = int(state.current_player)
    states = jax.tree_util.tree_map(lambda x: np.asarray(x)[None], state)
    for action in opening:
        states = step(states, np.array([0]), np.array([action]))
    for depth in range(limit + 1):
        seen, masks = np.asarray(states.observation), np.asarray(states.legal_action_mask)
        over, movers = np.asarray(states.terminated), np.asarray(states.current_player) != first
        children = []
        for i in np.flatnonzero(~over):
            if compare(seen[i], int(movers[i]), masks[i]) and depth < limit:
                children.extend((i, action) for action in np.flatnonzero(masks[i]))
        if not children:
            break
        parents, actions = np.array(children).T
        states = step(states, parents, actions)


limit = int((place / "depth").read_text())
{"pgx": pgx, "openspiel": openspiel}[package]()
over = ~legal.any(axis=1)
missed = np.setdiff1d(np.flatnonzero(~over), list(compared))
assert len(missed) == 0, f"{len(missed)} exported positions were not met"
print(f"{len(compared)} positions")
