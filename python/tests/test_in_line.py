"""Connect Four and tic-tac-toe, beside the games of other libraries: the same positions, numbers and results."""

import json
from pathlib import Path

import numpy as np
import pytest

import yomikiri as ym

SHAPES = [(6, 7), (4, 5), (5, 4)]


def name(rows, columns):
    return "connect-four" if (rows, columns) == (6, 7) else f"connect-four-{rows}x{columns}"


@pytest.mark.parametrize("rows, columns", SHAPES)
def test_layouts_are_read_as_they_are_written(rows, columns):
    game = ym.game(name(rows, columns))
    positions = random_positions(game, 30)
    for layout in ("nchw", "nhwc", "pgx", "flat", "interleaved", "signed", "openspiel", "openspiel-nhwc", "colours"):
        planes = positions.planes(layout)
        again = game.positions(planes, layout=layout)
        assert [str(one) for one in again] == [str(one) for one in positions], layout
        assert (again.side == positions.side).all()
    with pytest.raises(ym.PositionError, match="row 0"):
        game.positions(np.ones((1, 2, rows, columns), np.float32))


def random_positions(game, count, seed=0):
    """Returns positions of random games."""
    rng, texts = np.random.default_rng(seed), []
    while len(texts) < count:
        position = game.start
        while position.moves and len(texts) < count:
            texts.append(position.notation)
            position = position.play(str(rng.choice(list(position.moves))))
    return game.positions(texts)


@pytest.mark.parametrize("ours, theirs", [
    *((name(rows, columns), f"connect_four(rows={rows},columns={columns})") for rows, columns in SHAPES),
    ("tic-tac-toe", "tic_tac_toe()"), ("tic-tac-toe-3x4-3", "mnk(m=4,n=3,k=3)"),
])
def test_open_spiel_plays_and_sees_the_same(ours, theirs):
    pyspiel = pytest.importorskip("pyspiel")
    game, spiel, rng = ym.game(ours), pyspiel.load_game(theirs), np.random.default_rng(0)
    for _ in range(30):
        state, position, said = spiel.new_initial_state(), game.start, []
        while not state.is_terminal():
            legal = [position.game.action_name(action, side=position.side) for action in state.legal_actions()]
            assert legal == list(position.moves)
            assert game.position(str(state)) == position
            if ours.startswith("connect-four") and said:
                assert game.position(" ".join(said)) == position
            planes = game.positions([position]).planes("openspiel").ravel()
            assert (planes == state.observation_tensor(state.current_player())).all()
            action = rng.choice(state.legal_actions())
            said.append(state.action_to_string(state.current_player(), action))
            state.apply_action(action)
            position = position.play(game.action_name(action, side=position.side))
        mover = position.side
        assert not position.moves and position.outcome == state.returns()[mover]


@pytest.mark.parametrize("ours, theirs", [("connect-four", "connect_four"), ("tic-tac-toe", "tic_tac_toe")])
def test_pgx_plays_and_sees_the_same(ours, theirs):
    pgx, jax = pytest.importorskip("pgx"), pytest.importorskip("jax")
    game, env, rng = ym.game(ours), pgx.make(theirs), np.random.default_rng(0)
    step = jax.jit(env.step)
    for _ in range(5):
        state, position = env.init(jax.random.PRNGKey(0)), game.start
        while not state.terminated:
            legal = np.flatnonzero(state.legal_action_mask)
            assert [game.action_name(action, side=position.side) for action in legal] == list(position.moves)
            assert (game.positions([position]).planes("pgx")[0] == np.asarray(state.observation)).all()
            action = int(rng.choice(legal))
            state, position = step(state, action), position.play(game.action_name(action, side=position.side))
        assert position.outcome == state.rewards[state.current_player]


def test_pettingzoo_plays_and_sees_the_same():
    pytest.importorskip("pygame")
    from pettingzoo.classic import connect_four_v3

    game, env, rng = ym.game("connect-four"), connect_four_v3.env(), np.random.default_rng(0)
    for seed in range(10):
        env.reset(seed=seed)
        position = game.start
        for agent in env.agent_iter():
            seen, _, is_over, _, _ = env.last()
            if is_over:
                assert not position.moves
                won = [player for player, reward in env.rewards.items() if reward > 0]
                assert won == ([] if position.outcome == 0 else [env.possible_agents[1 - position.side]])
                break
            assert env.possible_agents.index(agent) == position.side
            assert (game.positions([position]).planes("nhwc")[0] == seen["observation"]).all()
            assert game.position(str(np.array(env.unwrapped.board).reshape(6, 7))) == position
            legal = np.flatnonzero(seen["action_mask"])
            assert [str(action + 1) for action in legal] == list(position.moves)
            action = int(rng.choice(legal))
            env.step(action)
            position = position.play(str(action + 1))


def test_a_network_of_connect_four_is_measured(tmp_path):
    table = ym.solve("connect-four-4x4", tables=tmp_path, progress=False)
    assert len(table) == 80_541 and table.lookup("start").outcome[0] == 0
    seen = set()

    def network(planes):
        seen.add(planes.shape[1:])
        return np.tile([4.0, 3.0, 2.0, 1.0], (len(planes), 1))

    report = ym.evaluate(table, network, "tactician", "random", progress=False)
    assert seen == {(2, 4, 4)} and 0 < report.metrics["result_kept"] < report["tactician"]["result_kept"] < 1
    assert report["tactician"]["result_kept"] == ym.evaluate(table, "alphabeta:2", progress=False).metrics["result_kept"]
    with pytest.raises(ValueError, match="'greedy' needs a game with material; expected for connect-four-4x4: random, tactician"):
        ym.evaluate(table, "greedy")
    env = ym.env(table, opponent="random")
    observation, _ = env.reset(seed=1)
    assert env.action_space.n == 4 and observation["action_mask"].sum() == 4


def known_scores():
    """Returns transcripts with the scores that a plain solver found: 22 less the winner's discs at the end."""
    return [tuple(one) for group in json.loads((Path(__file__).parents[2] / "tests/data/connect-four.json").read_text()) for one in group]


def test_positions_of_7x6_are_solved_by_search():
    moves, scores = zip(*known_scores()[::5])
    found, q_scores = ym.game("connect-four").positions(list(moves)).solve(progress=False)
    assert (found == np.sign(scores)).all() and (np.nanmax(q_scores, axis=1) == found).all()


def test_bitbully_has_the_same_scores():
    bitbully = pytest.importorskip("bitbully")
    solver = bitbully.BitBully(opening_book=None)
    for moves, score in known_scores():
        board = bitbully.Board()
        assert all(board.play(int(column) - 1) for column in moves)
        assert solver.mtdf(board) == score, moves
