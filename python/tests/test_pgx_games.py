"""Games of Pgx: walked in batches, solved as a plain solver solves them, which steps Pgx's states one by one."""

import numpy as np
import pytest

import yomikiri as ym

pgx = pytest.importorskip("pgx")
jax = pytest.importorskip("jax")


def plain(env, start):
    """Returns observations of all states with a move, with the value of each for its mover."""
    step, known = jax.jit(env.step), {}

    def value(state):
        seen = np.asarray(state.observation)
        if bool(state.terminated):
            return float(state.rewards[state.current_player])
        if seen.tobytes() not in known:
            moves = np.flatnonzero(np.asarray(state.legal_action_mask))
            known[seen.tobytes()] = seen, max(-value(step(state, int(move))) for move in moves)
        return known[seen.tobytes()][1]

    value(start)
    return map(np.array, zip(*known.values()))


def endgame(env, seed, moves):
    """Returns a state after some random moves, none of which ends the game."""
    step, random, state = jax.jit(env.step), np.random.default_rng(seed), env.init(jax.random.PRNGKey(seed))
    while int(state._step_count) < moves:
        after = step(state, int(random.choice(np.flatnonzero(np.asarray(state.legal_action_mask)))))
        state = state if bool(after.terminated) else after
    return state


@pytest.mark.parametrize("name, moves", [("tic_tac_toe", 1), ("connect_four", 32)])
def test_every_state_has_the_value_of_a_plain_solver(name, moves, tmp_path):
    env = pgx.make(name)
    start = endgame(env, 5, moves)
    table = ym.pgx.solve(env, start, tables=tmp_path, progress=False)
    seen, values = plain(env, start)
    found = table.lookup(np.moveaxis(seen, -1, 1).astype(np.float32))
    assert (found.outcome == values).all() and len(set(values)) > 1
    over = sum(table.game.positions(np.arange(len(table), dtype=np.uint64)).over)
    assert len(table) == len(values) + over
    assert ym.pgx.solve(env, start, tables=tmp_path, progress=False).path == table.path


def test_tic_tac_toe_is_that_of_everybody(tmp_path):
    env = pgx.make("tic_tac_toe")
    table = ym.pgx.solve(env, tables=tmp_path, progress=False)
    assert (len(table), table.lookup(table.game.start).outcome[0]) == (5478, 0)
    weights = np.random.default_rng(0).normal(size=(18, 9))
    network = lambda planes: planes.reshape(len(planes), -1) @ weights
    report = ym.evaluate(table, network, layout="pgx", progress=False)
    assert report.metrics["positions"] == 3191 and 0 < report.metrics["result_kept"] < 1


def test_other_games_are_refused(tmp_path):
    with pytest.raises(ValueError, match="max_states=100 is reached"):
        ym.pgx.solve(pgx.make("tic_tac_toe"), tables=tmp_path, max_states=100)
    with pytest.raises(ValueError, match="backgammon: expected a game of two players in turn"):
        ym.pgx.solve(pgx.make("backgammon"), tables=tmp_path)
