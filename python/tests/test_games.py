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
    with pytest.raises(ym.PositionError, match="illegal .*expected one of"):
        game.start.play(0)
    with pytest.raises(ym.PositionError, match="illegal move 'a1'"):
        game.start.play("a1")
    # A notebook shows the pieces of the game: discs on green, shogi's on wood.
    felt, wood = "#2f7d50", "#e3c487"
    shown, animals = game.start._repr_html_(), ym.game("animal-shogi").start._repr_html_()
    assert "<svg" in shown and felt in shown and wood not in shown and str(game.start).endswith("\nBlack to move")
    assert wood in animals and felt not in animals and animals.count("rotate(180") == 4
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
        env = ym.env(table, render_mode="ansi", **options)
        env.spec = None  # The check would make environments of its own.
        checker.check_env(env)
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
    assert (env.action_masks() == seen["action_mask"].astype(bool)).all()
    _, reward, over, _, info = env.step(16)
    assert over and info["illegal"] and reward == -16 and best in np.flatnonzero(seen["action_mask"])
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


def play_on(env, actions):
    """Returns what an environment shows while the player makes these choices among the legal moves."""
    shown = []
    for choice in actions:
        legal = np.flatnonzero(env.unwrapped.action_masks())
        if not len(legal):
            break
        seen, reward, over, cut, info = env.step(legal[choice % len(legal)])
        shown.append((seen["observation"].tolist(), reward, over, cut, info["position"]))
        if over:
            break
    return shown


def test_gymnasium_makes_the_environments_by_id():
    gymnasium = pytest.importorskip("gymnasium")
    names = [name for name in gymnasium.registry if name.startswith("yomikiri/")]
    assert len(names) == 28 and "yomikiri/Othello4x4-v0" in names and "yomikiri/AnimalShogi-v0" in names
    for name in ("yomikiri/Othello6x4-v0", "yomikiri/AnimalShogi3x3-v0", "yomikiri/Minishogi-v0"):
        env = gymnasium.make(name)
        assert env.spec.id == name and env.unwrapped.spec.id == name
        seen, _ = env.reset(seed=1)
        assert (env.get_wrapper_attr("action_masks")() == seen["action_mask"].astype(bool)).all()
    env = gymnasium.make("yomikiri/Othello4x4-v0", opponent="greedy", side=1, render_mode="ansi")
    env.reset(seed=1)
    assert env.unwrapped.player == 1 and env.render().endswith("White to move")
    several = gymnasium.make_vec("yomikiri/Othello4x4-v0", 3, vectorization_mode="sync")
    assert several.reset(seed=1)[0]["observation"].shape == (3, 2, 4, 4)
    assert ym.env("othello-4x4").spec.id == "yomikiri/Othello4x4-v0"


def test_an_environment_is_copied_with_its_game_and_its_chance(table):
    import copy
    import pickle

    gymnasium = pytest.importorskip("gymnasium")

    def opponent(planes):
        return np.zeros((len(planes), 17))

    for env in (ym.env(table, opponent=opponent, side=None), gymnasium.make("yomikiri/Othello4x4-v0", side=None)):
        env.reset(seed=4)
        play_on(env, [0])
        copied = copy.deepcopy(env)
        assert copied.unwrapped.opponent is env.unwrapped.opponent
        assert play_on(copied, [1, 2, 0, 3]) == play_on(env, [1, 2, 0, 3])
    again = pickle.loads(pickle.dumps(gymnasium.make("yomikiri/Othello4x4-v0").unwrapped))
    again.reset(seed=4)
    pair = ym.aec_env("othello-4x4")
    pair.reset()
    copied = copy.deepcopy(pair)
    copied.step(copied.position.legal[0])
    assert pair.plies == 0 and copied.plies == 1


def test_steps_need_a_running_game():
    gymnasium = pytest.importorskip("gymnasium")
    for env in (ym.env("othello-4x4"), ym.aec_env("othello-4x4")):
        with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
            env.step(1)
        env.reset()
        env.step(16)
    env = ym.env("othello-4x4")
    env.reset()
    env.step(16)
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        env.step(1)
    assert env.render() is None
    with pytest.raises(ValueError, match="render_mode 'human'"):
        ym.env("othello-4x4", render_mode="human")
    with pytest.raises(ValueError, match="side 2"):
        ym.env("othello-4x4", side=2)


def test_pgx_sees_animal_shogi_alike():
    pgx = pytest.importorskip("pgx")
    import jax

    import yomikiri.pgx as layout

    env = pgx.make("animal_shogi")
    init, step = jax.jit(env.init), jax.jit(env.step)
    random, game, seen = np.random.default_rng(3), ym.game("animal-shogi"), 0
    for key in range(6):
        theirs, ours, past, counts = init(jax.random.PRNGKey(key)), game.positions("start"), [], []
        met = {}
        while True:
            plies = len(past)
            counts.insert(0, met.get(name := (ours.notations[0], plies % 2), 0))
            met[name] = counts[0] + 1
            repetitions = np.array([(counts + [0] * 8)[:8]])
            view = layout.observations(ours, past=past[:16], repetitions=repetitions, step=plies)[0]
            assert view.shape == (4, 3, 194) and (np.asarray(theirs.observation) == view).all()
            seen += 1
            if theirs.terminated or plies == 60:  # a third repetition, or the lion cannot escape
                break
            mask = np.zeros(132, bool)
            actions = np.flatnonzero(layout.legal(ours)[0])
            mask[layout.LABELS[actions]] = True
            assert (np.asarray(theirs.legal_action_mask) == mask).all()
            action = int(random.choice(actions))
            theirs = step(theirs, int(layout.LABELS[action]))
            past.insert(0, ours)
            ours = ours.play([action])
            if ours.over[0]:
                assert theirs.terminated and float(theirs.rewards[theirs.current_player]) == ours[0].outcome
                break
    assert seen > 100


def test_a_network_for_pgx_is_measured(tmp_path):
    import yomikiri.pgx as layout

    game = ym.game("animal-shogi")
    table = ym.solve("animal-shogi", max_depth=6, tables=tmp_path, progress=False)
    shapes = set()

    def network(planes):
        shapes.add(planes.shape[1:])
        flat = planes.reshape(len(planes), -1)
        return np.stack([flat[:, at] + at % 7 for at in range(132)], axis=1), flat[:, 0] * 0

    proven = [batch.board for batch in table.states(columns=["board", "proven"])]
    positions = game.positions([text for texts in proven for text in texts])
    if len(positions):
        report = ym.evaluate(table, network, "random", layout="pgx")
        assert shapes == {(4, 3, 194)}
        assert str(report).startswith("Input      network sees Pgx's planes: the seven past boards are empty")
        same = ym.evaluate(table, layout.policy(network), "random")
        assert same.json == report.json and same.notes == report.notes
        other = ym.evaluate(table, layout.policy(network, history="repeat", colour=1, step=40))
        assert "current one, no repetition, colour is always 1, 40 plies" in other.notes[0]
    start = layout.policy(network)(game.positions(["start"]))
    assert start["logits"].shape == (1, 324) and np.isfinite(start["logits"]).sum() == 4
    with pytest.raises(ValueError, match="history 'none'"):
        layout.policy(network, history="none")(game.positions(["start"]))
    with pytest.raises(ValueError, match="expected animal-shogi"):
        layout.observations(ym.game("minishogi").positions(["start"]))


def test_openspiel_measures_the_same_exploitability(table):
    pytest.importorskip("pyspiel")
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import exploitability, mcts

    import yomikiri.openspiel as spiel

    # Endgames of a few plies, because OpenSpiel walks every line.
    game = spiel.game("othello-4x4")
    state = game.new_initial_state()
    assert state.legal_actions() == table.game.start.legal and not state.is_terminal()
    uniform = policies.UniformRandomPolicy(game)
    ours = ym.evaluate(table, "random", games=False).metrics
    theirs = ym.evaluate(table, spiel.policy(uniform), games=False, canonical=True).metrics
    assert theirs["result_kept"] == pytest.approx(ours["result_kept"], abs=1e-12)
    bot = mcts.MCTSBot(game, 2, 60, mcts.RandomRolloutEvaluator(random_state=np.random.RandomState(1)),
                       random_state=np.random.RandomState(2))
    some = [batch.board for batch in table.states(columns=["board"], batch=40, shuffle=1)][0]
    figures = ym.evaluate(table, spiel.policy(bot), positions=some)["MCTSBot"]
    assert figures["all_positions"] <= 40 and figures["all_result_kept"] > 0.5
    with pytest.raises(TypeError, match="type int"):
        spiel.policy(3)
    # The whole of a smaller tree: five empty squares.
    late = next(p for p in table.game.sample(200, empty_squares=(4, 5), seed=1) if len(p.legal) > 1 and p.side == 0)
    part = ym.solve("othello-4x4", roots=late, tables=table.path.parent, progress=False)
    lost = ym.exploitability(part, "random")
    rooted = spiel.SpielGame(table.game, 64)
    rooted.rules = type("Rules", (), {"start": late, "actions": 17})()
    both = [side["result_lost"] for side in lost.values()]
    assert exploitability.nash_conv(rooted, policies.UniformRandomPolicy(rooted)) == pytest.approx(sum(both), abs=1e-9)


GGF = "(;GM[Othello]PB[Ann]PW[Bo]RE[+64.00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]"


def test_games_of_files_are_read_in_their_forms(tmp_path):
    moves = "f5 d6 c5 f4 e7 f6 g5 e6 e3".split()
    ggf = tmp_path / "games.ggf"
    ggf.write_text(GGF + "".join(f"{'BW'[at % 2]}[{move}]" for at, move in enumerate(moves)) + ";)\n")
    (record,) = ym.read_games(ggf, "othello-8x8")
    assert record.players == ("Ann", "Bo") and record.result == "+64" and record.contradiction is None
    assert record.moves == moves and len(record.positions) == 10 and record.positions.over[-1]
    assert record.actions[0] == 4 * 8 + 5 and "f5" not in repr(record)
    # What one form writes another reads.
    for form in ("lines", "ggf", "sgf"):
        written = tmp_path / f"again.{form}"
        written.write_text(record.text(form))
        (again,) = ym.read_games(written, ym.game("othello-8x8"))
        assert again.moves == moves
    with pytest.raises(ValueError, match="games of othello-8x8 are not written as KIF; choose lines, ggf or sgf"):
        record.text("kif")
    # WTHOR is binary; its result is Black's discs.
    base = tmp_path / "games.wtb"
    codes = bytes(10 * int(move[1]) + "abcdefgh".index(move[0]) + 1 for move in moves)
    base.write_bytes(bytes([20, 26, 11, 28, 1, 0, 0, 0, 0, 0, 234, 7, 8, 0, 0, 0, 1, 0, 2, 0, 3, 0, 33, 33]) + codes.ljust(60, b"\0"))
    with pytest.warns(UserWarning, match="1 games end otherwise than they record; the first at game 1: .*\\+2 for Black, the board \\+64"):
        (record,) = ym.read_games(base, "othello-8x8")
    assert record.moves == moves and record.place == "game 1"
    # Shift_JIS, as shogi programs write it.
    kif = tmp_path / "game.kif"
    kif.write_bytes("手合割：５五将棋\r\n   1 ５三歩(54)\r\n   2 投了\r\n".encode("shift_jis"))
    (record,) = ym.read_games(kif, "minishogi")
    assert record.moves == ["5d5c"] and record.result == "1-0" and "   2 投了" in record.text("kif")


def test_errors_in_games_have_their_places(tmp_path):
    file = tmp_path / "games.txt"
    file.write_text("f5d6\nf5a1\n\nf5d6c5 zz\n")
    with pytest.raises(ym.PositionError, match=r"line 2, column 3: illegal move 2 `a1`.*\(and 1 more\); skip_bad"):
        ym.read_games(file, "othello-8x8")
    with pytest.warns(UserWarning, match="2 games left out; the first at line 2, column 3"):
        (record,) = ym.read_games(file, "othello-8x8", skip_bad=True)
    assert record.moves == ["f5", "d6"] and record.result is None
    with pytest.raises(ValueError, match="invalid format \"png\": expected one of lines, boards, ggf"):
        ym.read_games(file, "othello-8x8", format="png")
    file.write_text("3 3\n")
    (record,) = ym.read_games(file, "connect-four", format="from-0")
    assert record.moves == ["4", "4"]


def test_a_review_is_what_the_table_says_move_by_move(table, tmp_path):
    rng = np.random.default_rng(5)
    lines = []
    for _ in range(6):
        position, names = table.game.start, []
        while not position.over:
            action = int(rng.choice(position.legal))
            names.append(table.game.action_name(action))
            position = position.play(action)
        lines.append(" ".join(names))
    file = tmp_path / "games.txt"
    file.write_text("\n".join(lines))
    records = ym.read_games(file, table.game)
    review = ym.review(records, table, worst=3)
    lost = {"Black": [], "White": []}
    for record, game in zip(records, review.games):
        for position, action, move in zip(record.positions, record.actions, game["moves"], strict=False):
            values = table.lookup(position)
            best, own = np.nanmax(values.q), values.q.reshape(-1)[action]
            assert (move["before"]["score"], move["after"]["score"]) == (best, own)
            assert move["score_lost"] == best - own and move["result_lost"] == np.sign(best) - np.sign(own)
            lost[move["side"]].append(best - own)
        assert game["judged"] == len(record.actions)
    for side, player in review.players.items():
        assert player["figures"]["all_score_lost"] == pytest.approx(np.mean(lost[side]), abs=1e-9)
        assert player["figures"]["all_large_losses"] == sum(one >= 4 for one in lost[side])
    assert len(review.json["worst"]) == 3 and "Costliest mistakes" in str(review)
    frame = review.to_pandas()
    assert len(frame) == sum(map(len, lost.values())) and frame["score_lost"].sum() == sum(map(sum, lost.values()))
    page = review.to_html(tmp_path / "review.html")
    assert "<svg" in page and (tmp_path / "review.html").read_text(encoding="utf-8") == page
    # The search finds the same without a table, which one game alone shows.
    alone = ym.review(records[0], time=30, tables=tmp_path)
    assert [move["score_lost"] for move in alone.games[0]["moves"]] == [
        move["score_lost"] for move in review.games[0]["moves"]]
    with pytest.raises(ValueError, match="needs its game"):
        ym.review(file)
    with pytest.raises(ValueError, match="no games"):
        ym.review([])
    with pytest.raises(ValueError, match="invalid time -1"):
        ym.review(records, table, time=-1)
