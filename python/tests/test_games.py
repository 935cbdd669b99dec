"""Rules, compared with other implementations."""

import numpy as np
import pytest

import yomikiri as ym


def test_a_game_is_played_by_names_and_numbers():
    game = ym.game("othello-4x4")
    assert game.actions == 17 and game.shape == (4, 4) and game.symmetries == 8 and game.sides == ["Black", "White"]
    position = game.start
    assert position.mover == "Black" and not position.over and position.score is None
    moves = 0
    while not position.over:
        assert sorted(position.moves.values()) == position.legal
        name = next(iter(position.moves))
        assert position.play(name) == position.play(position.moves[name])
        position, moves = position.play(name), moves + 1
    assert position.score is not None and position.outcome == np.sign(position.score) and not position.legal
    with pytest.raises(ym.PositionError, match="illegal move"):
        game.start.play(0)
    with pytest.raises(ym.PositionError, match="illegal move 'a1'"):
        game.start.play("a1")
    assert "<svg" in game.start._repr_html_() and str(game.start).endswith("\nBlack to move")
    assert {game.start.image(symmetry) for symmetry in range(8)} == {game.start, game.start.image(1)}
    with pytest.raises(ValueError, match="symmetry 8"):
        game.start.image(8)


def test_positions_are_a_sequence(table):
    positions = table.game.positions(["start", "c4", "c4b4"])
    assert len(positions) == 3 and positions[-1] == table.position("c4b4")
    assert positions[1:].notations == [positions[1].notation, positions[2].notation]
    assert positions[np.array([2, 0])].notations[1] == table.game.start.notation
    assert table.game.positions([*positions]).notations == positions.notations
    after = positions.play([positions[at].legal[0] for at in range(3)])
    assert after[0] == positions[0].play(positions[0].legal[0])
    with pytest.raises(ym.PositionError, match="row 1: illegal action 99"):
        positions.play([positions[0].legal[0], 99, 0])
    with pytest.raises(IndexError):
        positions[3]
    with pytest.raises(ValueError, match="invalid positions of"):
        table.lookup(ym.game("othello-6x6").start)


def games_of(count, seed):
    """Yields positions of random games of 8x8 Othello, each with the action played."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        position = ym.game("othello-8x8").start
        while not position.over:
            action = int(random.choice(position.legal))
            yield position, action
            position = position.play(action)


def test_openspiel_plays_by_the_same_rules():
    pyspiel = pytest.importorskip("pyspiel")
    theirs, seen = None, 0
    for ours, action in games_of(20, 1):
        if ours.notation == ours.game.start.notation:
            theirs = pyspiel.load_game("othello").new_initial_state()
        assert theirs.legal_actions() == ours.legal and theirs.current_player() == ours.side
        view = np.array(theirs.observation_tensor(ours.side), np.float32).reshape(3, 8, 8)
        assert (view == ours.planes("openspiel")).all()
        theirs.apply_action(action)
        after = ours.play(action)
        assert theirs.is_terminal() == after.over
        if after.over:
            mine = after.outcome if after.side == 0 else -after.outcome
            assert theirs.returns()[0] == mine
        seen += 1
    assert seen > 1000


def test_pgx_plays_by_the_same_rules():
    pgx = pytest.importorskip("pgx")
    import jax

    env = pgx.make("othello")
    init, step = jax.jit(env.init), jax.jit(env.step)
    theirs, seen = None, 0
    for ours, action in games_of(8, 2):
        if ours.notation == ours.game.start.notation:
            theirs = init(jax.random.PRNGKey(0))
        assert np.flatnonzero(np.asarray(theirs.legal_action_mask)).tolist() == ours.legal
        assert (np.asarray(theirs.observation) == ours.planes("pgx").astype(bool)).all()
        theirs = step(theirs, action)
        after = ours.play(action)
        assert bool(theirs.terminated) == after.over
        seen += 1
    assert seen > 400


def test_the_single_player_environment_is_gymnasiums(table, monkeypatch):
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    for options in ({}, {"opponent": "perfect", "side": None}, {"opponent": "greedy", "side": 1, "reward": "score"}):
        checker.check_env(ym.env(table, **options), skip_render_check=True)
    env = ym.env(table, opponent="perfect", side=0, reward="score")
    for seed in range(20):
        seen, info = env.reset(seed=seed)
        over = False
        while not over:
            action = int(np.random.default_rng(seed).choice(np.flatnonzero(seen["action_mask"])))
            seen, reward, over, cut, info = env.step(action)
            assert not cut
        assert reward <= -8  # Black cannot do better against perfect play
    seen, info = env.reset()
    best = env.position.legal[0]
    assert env.step(16)[2] and env.step(16)[4]["illegal"] and best in np.flatnonzero(seen["action_mask"])
    monkeypatch.setenv("YOMIKIRI_TABLES", str(table.path.parent))
    seen, info = ym.env("othello-4x4", opponent="perfect").reset()
    assert seen["action_mask"].sum() == 4
    with pytest.raises(ym.YomikiriError, match="needs about"):
        ym.env("othello-8x8", opponent="perfect")
    with pytest.raises(ValueError, match="reward"):
        ym.env("animal-shogi", reward="score")


def test_perfect_play_keeps_the_value(table):
    env = ym.env(table, opponent="perfect", side=1)
    env.reset(seed=3)
    over, reward = env.position.over, 0.0
    while not over:
        best = table.lookup(env.position).optimal[0].argmax()
        _, reward, over, _, _ = env.step(best)
    assert reward == 1 and env.position.over  # White wins 4x4


def test_the_two_player_environment_is_pettingzoos():
    test = pytest.importorskip("pettingzoo.test")
    test.api_test(ym.aec_env("othello-4x4"), num_cycles=200)
    test.seed_test(lambda: ym.aec_env("othello-4x4"), num_cycles=50)
    env = ym.aec_env("animal-shogi-3x3", max_plies=30)
    test.api_test(env, num_cycles=200)
    env.reset()
    env.step(next(a for a in range(99) if a not in env.position.legal))
    assert env.terminations == {"player_0": True, "player_1": True} and env.rewards["player_0"] == -1
