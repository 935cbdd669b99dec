"""Environments: ends by repetition, views of both players, cut games, positions to begin in.

Expected ends and boards come from single positions, which have no history."""

import copy
import pickle

import numpy as np
import pytest

import yomikiri as ym
from yomikiri._gymnasium import GAMES

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

#: Occurrence that ends a game, and outcome for the first player.
REPETITION = {"minishogi": (4, -1), "animal-shogi": (3, 0), "animal-shogi-3x3": (3, 0)}


def swapped(planes, game):
    """Returns planes ``(planes, rows, columns)`` as the mover's opponent sees the board."""
    sides = [name.partition("'")[0] for name in game.planes]
    kinds = [name.partition(" ")[2] for name in game.planes]
    other = {"mover": "opponent", "opponent": "mover"}
    order = [next(at for at, both in enumerate(zip(sides, kinds)) if both == (other[side], kind)) for side, kind in zip(sides, kinds)]
    turned = planes if game.has_scores else planes[:, ::-1, ::-1]  # shogi turns the board
    return turned[order]


def seen_by(position, side):
    planes = position.planes()
    return planes if position.side == side else swapped(planes, position.game)


def shuffled(name, seed):
    """Returns the actions of a game whose players mostly take their last moves back, the position after them, and
    ``True`` if it has occurred too often."""
    random, position, actions, past = np.random.default_rng(seed), ym.game(name).start, [], [None, None]
    occurrences = {position: 1}
    while not position.over and occurrences[position] < REPETITION[name][0]:
        back = past[-2] and past[-2][2:4] + past[-2][:2]
        moves = [move for move in position.moves if not position.play(move).over] or [*position.moves]
        move = back if back in moves and random.random() < 0.97 else str(random.choice(moves))
        actions.append(position.moves[move])
        past.append(move if "*" not in move and len(move) == 4 else None)
        position = position.play(move)
        occurrences[position] = occurrences.get(position, 0) + 1
    return actions, position, not position.over


def ends(name, actions, start="start"):
    """Returns how every environment ends after these actions: the first player's reward and the words."""
    both = ym.aec_env(name)
    both.reset(options={"position": start})
    for action in actions:
        assert not any(both.terminations.values()) and not any("end" in info for info in both.infos.values())
        both.step(action)
    assert all(both.terminations.values()) and both.rewards["player_0"] == -both.rewards["player_1"]
    assert both.infos["player_0"] == both.infos["player_1"]
    all_ends = [(both.rewards["player_0"], both.infos["player_0"]["end"])]
    first = ym.game(name).position(start).side
    for side in (0, 1):
        env = ym.env(name, side=side, opponent=lambda planes: np.full(len(planes), actions[env.plies]))
        _, info = env.reset(options={"position": start})
        own = actions[0 if first == side else 1::2]
        for action in own:
            assert "end" not in info
            _, reward, over, cut, info = env.step(action)
            assert not cut and over == (env.plies == len(actions))
        all_ends.append((reward if side == 0 else -reward, info["end"]))
    assert len({*all_ends}) == 1, all_ends
    return all_ends[0]


@pytest.mark.parametrize("name", REPETITION)
def test_games_end_by_repetition(name):
    repeated = 0
    for seed in range(40):
        actions, last, is_repeated = shuffled(name, seed)
        reward, words = ends(name, actions)
        if not is_repeated:
            assert reward == (last.outcome if last.side == 0 else -last.outcome)
        elif words.startswith("perpetual check by "):
            assert name == "minishogi" and reward == (-1 if f"by {last.game.sides[0]}," in words else 1)
        else:
            ordinal = {3: "third", 4: "fourth"}[REPETITION[name][0]]
            drawn = "it is drawn, " if REPETITION[name][1] == 0 else ""
            assert words == f"{drawn}the position has occurred for the {ordinal} time" and reward == REPETITION[name][1]
            repeated += 1
        if repeated == 12:
            break
    assert repeated >= 10


def perpetual_checks(checker):
    """Yields positions in which a rook chases a king along two files, with its moves, seen from both sides."""
    for far in (5, 4, 3):
        for rank in "cde":
            rows = ["5", "5", "5", "5", "5"]
            rows[0] = {5: "1r2k", 4: "2r1k", 3: "3rk"}[far]
            rows["abcde".index(rank)] = {5: "K4", 4: "1K3", 3: "2K2"}[far]
            near = far - 1
            moves = [f"{near}a{far}a", f"{far}{rank}{near}{rank}", f"{far}a{near}a", f"{near}{rank}{far}{rank}"]
            board = "/".join(rows)
            if checker == 1:
                yield f"{board} w - 1", moves
            else:
                turn = str.maketrans("12345abcde", "54321edcba")
                yield f"{board[::-1].swapcase()} b - 1", [move.translate(turn) for move in moves]


@pytest.mark.parametrize("checker", [0, 1])
def test_perpetual_check_loses(checker):
    seen = 0
    for start, moves in perpetual_checks(checker):
        position, actions = ym.game("minishogi").position(start), []
        for move in moves * 3:
            actions.append(position.moves[move])
            position = position.play(move)
        assert position.notation == ym.game("minishogi").position(start).notation
        name = ym.game("minishogi").sides[checker]
        words = f"perpetual check by {name}, the position has occurred for the fourth time"
        assert ends("minishogi", actions, start) == (-1 if checker == 0 else 1, words)
        seen += 1
    assert seen == 9


@pytest.mark.parametrize("name", ["othello-4x4", "othello-6x5", "animal-shogi", "minishogi"])
def test_each_agent_sees_its_own_view(name):
    random, game, ended = np.random.default_rng(5), ym.game(name), 0
    both, first = ym.aec_env(name, max_plies=60), ym.aec_env(name, max_plies=60, view="first")
    while ended < 12:
        both.reset(), first.reset()
        position, is_over = game.start, False
        while True:
            for side, agent in enumerate(both.possible_agents):
                seen = both.observe(agent)
                assert (seen["observation"] == seen_by(position, side)).all()
                assert np.flatnonzero(seen["action_mask"]).tolist() == (position.legal if side == position.side and not is_over else [])
                if game.has_scores:
                    colours = ["black+white", "white+black"][side]
                    assert (seen["observation"] == position.planes("nchw", colours)).all()
                fixed = first.observe(agent)
                assert (fixed["observation"] == seen_by(position, 0)).all()
                assert (fixed["action_mask"] == seen["action_mask"]).all()
            if is_over or both.plies == 60:
                break
            assert both.agent_selection == f"player_{position.side}"
            action = int(random.choice(position.legal))
            both.step(action), first.step(action)
            position = position.play(action)
            is_over = any(both.terminations.values())
            assert is_over or not position.over
        assert is_over != any(both.truncations.values()) and both.infos == first.infos
        ended += is_over


@pytest.mark.parametrize("layout", ["nhwc", "pgx", "flat", "signed", "openspiel", "openspiel-nhwc"])
def test_views_are_given_in_every_layout(layout):
    both = ym.aec_env("othello-6x6", layout=layout)
    both.reset()
    for _ in range(20):
        bitboards = both.game.positions(both.position).bitboards
        for side, agent in enumerate(both.agents):
            [position] = both.game.positions(bitboards if side == both.position.side else bitboards[:, ::-1])
            seen = both.observe(agent)["observation"]
            assert (seen == position.planes(layout)).all() and both.observation_space(agent)["observation"].contains(seen)
        both.step(both.position.legal[-1])


@pytest.mark.parametrize("side", [0, 1, None])
@pytest.mark.parametrize("name", ["othello-4x4", "animal-shogi"])
def test_the_last_observation_is_the_players(name, side):
    random, env = np.random.default_rng(7), ym.env(name, side=side)
    sides, enders = set(), set()
    for seed in range(40):
        seen, info = env.reset(seed=seed)
        over = False
        while not over:
            assert (seen["observation"] == seen_by(env.position, env.player)).all() and "end" not in info
            assert np.flatnonzero(seen["action_mask"]).tolist() == env.position.legal and env.position.side == env.player
            seen, reward, over, cut, info = env.step(random.choice(env.position.legal))
            assert not cut
        assert (seen["observation"] == seen_by(env.position, env.player)).all()
        assert not seen["action_mask"].any() and not env.action_masks().any()
        assert isinstance(info["end"], str) and info["end"] and "illegal" not in info
        if env.position.over:
            assert reward == (env.position.outcome if env.position.side == env.player else -env.position.outcome)
        sides.add(env.player), enders.add(env.position.side == env.player)
    assert sides == ({0, 1} if side is None else {side}) and enders == {False, True}


@pytest.mark.parametrize("view", ["agent", "first"])
@pytest.mark.parametrize("side", [0, 1])
def test_games_are_cut_at_a_turn_of_the_player(side, view):
    random, cuts = np.random.default_rng(8), 0
    for seed in range(60):
        env = ym.env("minishogi", side=side, max_plies=5 + seed % 6, view=view)
        env.reset(seed=seed)
        over = cut = False
        while not over and not cut:
            assert env.plies < env.max_plies
            seen, reward, over, cut, info = env.step(random.choice(env.position.legal))
        if cut:
            assert env.position.side == side and env.plies - env.max_plies in (0, 1) and reward == 0 and "end" not in info
            assert np.flatnonzero(seen["action_mask"]).tolist() == env.position.legal != []
            assert (seen["observation"] == seen_by(env.position, side if view == "agent" else 0)).all()
            cuts += 1
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
    assert cuts >= 10


def played_out(name, count):
    """Yields positions that end games, each with the position before it."""
    random = np.random.default_rng(9)
    for _ in range(count):
        position = before = ym.game(name).start
        while not position.over:
            before, position = position, position.play(int(random.choice(position.legal)))
        yield before, position


@pytest.mark.parametrize("name", ["othello-4x4", "animal-shogi", "minishogi"])
def test_finished_positions_begin_no_game(name):
    single, both = ym.env(name, side=None), ym.aec_env(name)
    single.reset(seed=1), both.reset()
    for before, after in played_out(name, 12):
        for env in (single, both):
            running = env.position
            with pytest.raises(ValueError, match="invalid position '.*': the game is over"):
                env.reset(options={"position": after})
            assert env.position == running
            env.step(env.position.legal[0])  # the game goes on
            env.reset()
        move = next(action for action in before.legal if before.play(action).over)
        env = ym.env(name, side=1 - before.side, opponent=lambda planes: np.full(len(planes), move))
        with pytest.raises(ValueError, match=f"invalid position '.*' for player {env.side}: the opponent's first move ends the game"):
            env.reset(options={"position": before})
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
        env = ym.env(name, side=before.side)
        env.reset(options={"position": before})
        assert env.step(move)[2]


@pytest.mark.parametrize("make", [ym.env, ym.aec_env])
def test_views_have_two_names(make):
    with pytest.raises(ValueError, match="invalid view 'white': expected agent or first"):
        make("othello-4x4", view="white")
    env = make("othello-4x4", view="first")
    env.reset(seed=1)
    if make is ym.env:
        assert gymnasium.make(env.spec).unwrapped.view == "first"


def test_illegal_actions_end_games_with_words():
    env = ym.env("othello-4x4", side=1, reward="score")
    env.reset(seed=1)
    seen, reward, over, _, info = env.step(99)
    assert over and reward == -16 and info["illegal"] and info["end"] == "illegal action 99 by White"
    assert not seen["action_mask"].any()
    both = ym.aec_env("othello-4x4")
    both.reset()
    both.step(99)
    assert both.infos == {"player_0": {"end": "illegal action 99 by Black", "illegal": True}, "player_1": {"end": "illegal action 99 by Black"}}
    assert not any(both.observe(agent)["action_mask"].any() for agent in both.agents) and both.rewards == {"player_0": -1, "player_1": 1}


class Script:
    """An opponent that makes given moves; it pickles."""

    def __init__(self, actions):
        self.actions = [*actions]

    def __call__(self, planes):
        return np.full(len(planes), self.actions.pop(0))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("name", REPETITION)
def test_copies_remember_the_history(name, copied):
    games = 0
    for seed in range(20):
        actions, _, is_repeated = shuffled(name, seed)
        if not is_repeated:
            continue
        games += 1
        both, single = ym.aec_env(name), ym.env(name, opponent=Script(actions[1::2]))
        both.reset(), single.reset()
        for action in actions[:-1]:
            both.step(action)
        again = copied(both)
        again.step(actions[-1])
        assert all(again.terminations.values()) and "end" in again.infos["player_0"]
        assert not any(both.terminations.values()) and both.plies == len(actions) - 1
        *own, last = actions[::2]
        for action in own:
            single.step(action)
        again, before = copied(single), single.plies
        _, _, over, _, info = again.step(last)
        assert over and "occurred" in info["end"]
        assert again.plies == len(actions) and single.plies == before and single.action_masks().any()
    assert games >= 10


@pytest.mark.parametrize("name", REPETITION)
def test_openspiels_games_end_by_repetition(name):
    pyspiel = pytest.importorskip("pyspiel")
    game, repeated = ym.openspiel.game(name), 0
    for seed in range(30):
        actions, last, is_repeated = shuffled(name, seed)
        state = game.new_initial_state()
        for action in actions:
            assert not state.is_terminal() and action in state.legal_actions() and state.returns() == [0, 0]
            copied = state.clone()
            state.apply_action(action)
        copied.apply_action(actions[-1])
        for end in (state, copied):
            assert end.is_terminal() and end.current_player() == pyspiel.PlayerId.TERMINAL and end.legal_actions() == []
            assert end.position == last and end.returns() == [(first := ends(name, actions)[0]), -first]
        repeated += is_repeated
    assert repeated >= 10
    # The same position without its history goes on.
    assert last.over or not game.state(last).is_terminal()
    for _, after in played_out(name, 3):
        assert game.state(after).is_terminal() and sorted(game.state(after).returns()) == sorted([after.outcome, -after.outcome])


def test_every_registered_game_begins_with_any_seed():
    for name in GAMES:
        env = gymnasium.make(name, side=1)
        for seed in range(60):
            _, info = env.reset(seed=seed)
            assert "end" not in info and info["player"] == 1
