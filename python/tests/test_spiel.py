"""Games of OpenSpiel: solved as a plain solver solves them, which walks OpenSpiel's states by itself."""

import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import yomikiri as ym

pyspiel = pytest.importorskip("pyspiel")
SOLVER = os.environ.get("SOLVER")

#: Games whose every state is compared, and those of which the exploitability is.
GAMES = [
    "tic_tac_toe()", "nim(pile_sizes=1;3;5)", "nim(pile_sizes=2;2;2;2;2)", "mnk(m=3,n=3,k=3)",
    "connect_four(rows=3,columns=3,x_in_row=3)", "breakthrough(rows=4,columns=2)", "breakthrough(rows=5,columns=2)",
    "clobber(rows=2,columns=3)", "clobber(rows=3,columns=3)", "hex(board_size=2)", "hex(num_rows=2,num_cols=4)",
    "y(board_size=3)", "havannah(board_size=2,swap=True)", "gomoku(size=3,connect=3,anti=True)",
    "gomoku(size=2,connect=2,dims=3)", "dots_and_boxes(num_rows=1,num_cols=2,utility_margin=True)",
    "dots_and_boxes(num_rows=1,num_cols=3)", "dots_and_boxes(num_rows=2,num_cols=2,utility_margin=True)",
    "quoridor(board_size=3,wall_count=0)", "quoridor(board_size=3,wall_count=1)", "checkers(rows=8,columns=2)",
    "start_at(history=4;0,game=tic_tac_toe())", "lines_of_action(max_game_length=2)",
]
EXPLOITED = [
    "nim(pile_sizes=1;3;5)", "connect_four(rows=3,columns=3,x_in_row=3)", "clobber(rows=3,columns=3)", "hex(board_size=2)",
    "y(board_size=3)", "havannah(board_size=2)", "gomoku(size=2,connect=2,dims=3)", "dots_and_boxes(num_rows=1,num_cols=1)",
    "dots_and_boxes(num_rows=1,num_cols=2,utility_margin=True)", "start_at(history=4;0,game=tic_tac_toe())",
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return tmp_path_factory.mktemp("spiel")


def solve(game, tables, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # remarks, which have a test of their own
        return ym.solve(game, tables=tables, progress=False, **options)


def plain(game):
    """Returns the states of a game, with the value of each for player 0: by sweeps until nothing changes; a draw is left."""
    states, waiting, after, values = {}, [game.new_initial_state()], {}, {}
    key = lambda state: (str(state), state.current_player(), tuple(state.legal_actions()))
    states[key(waiting[0])] = waiting[0]
    for state in waiting:
        own = key(state)
        if state.is_terminal():
            values[own] = state.returns()[0]
            continue
        after[own] = []
        for action in state.legal_actions():
            child = state.child(action)
            after[own].append(key(child))
            if key(child) not in states:
                states[key(child)] = child
                waiting.append(child)
    changed = True
    while changed:
        changed = False
        for own, successors in reversed(after.items()):
            if own not in values:
                sign = 1 if own[1] == 0 else -1
                known = [sign * values[one] for one in successors if one in values]
                if len(known) == len(successors) or known and max(known) >= game.max_utility():
                    values[own], changed = sign * max(known), True
    return states, values


@pytest.mark.parametrize("text", GAMES)
def test_every_state_has_the_value_of_a_plain_solver(text, tables):
    game = pyspiel.load_game(text)
    states, values = plain(game)
    table = solve(text, tables)
    assert table.game.title == str(game)
    with pytest.raises(ValueError, match="max_states=1 is reached"):
        solve(text, tables, max_states=1, force=True)
    # Every listed state, by OpenSpiel's own state that the moves to it give.
    positions = table.game.positions([text for text, *_ in table.game._core.listed_rows(10**7)])
    looked = table.lookup(positions)
    found, seen = (looked.score if table.has_scores else looked.outcome), set()
    from yomikiri._spiel import Root

    for state, value, side in zip(Root(game).states(positions._core), found, positions.side):
        own = (str(state), state.current_player(), tuple(state.legal_actions()))
        seen.add(own)
        wanted = values.get(own, 0)
        assert value == wanted * (1 if side == 0 else -1), own
        assert state.is_terminal() or side == state.current_player()
    assert seen == set(states)
    again = solve(game, tables)
    assert again.path == table.path


@pytest.mark.parametrize("text", EXPLOITED)
def test_exploitability_is_half_of_nash_conv(text, tables):
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability

    game = pyspiel.load_game(text)
    table = solve(text, tables)
    uniform = policy.UniformRandomPolicy(game)
    lost = ym.exploitability(table, "random", progress=False)
    figure = "score_lost" if table.has_scores else "result_lost"
    half = exploitability.nash_conv(game, uniform) / 2
    assert (lost["first"][figure] + lost["second"][figure]) / 2 == pytest.approx(half, abs=1e-9)
    as_policy = ym.exploitability(table, ym.openspiel.policy(uniform), progress=False)
    assert as_policy["first"][figure] == pytest.approx(lost["first"][figure], abs=1e-12)


def test_minimax_of_open_spiel_agrees_at_the_start(tables):
    from open_spiel.python.algorithms import minimax

    for text in ("tic_tac_toe()", "breakthrough(rows=4,columns=2)", "hex(board_size=2)", "y(board_size=3)"):
        value, _ = minimax.alpha_beta_search(pyspiel.load_game(text))
        assert solve(text, tables).lookup("start").outcome[0] == value


def test_bots_and_networks_are_measured(tables):
    from open_spiel.python.algorithms import mcts

    game = pyspiel.load_game("breakthrough(rows=4,columns=3)")
    table = solve(game, tables)
    bot = mcts.MCTSBot(game, 2, 20, mcts.RandomRolloutEvaluator(random_state=np.random.RandomState(0)),
                       random_state=np.random.RandomState(0))
    places = table.game.positions([text for text, *_ in table.game._core.listed_rows(60)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        report = ym.evaluate(table, ym.openspiel.policy(bot), "random", positions=places, progress=False)
    assert report["MCTSBot"]["all_result_kept"] > report["random"]["all_result_kept"]
    state = game.new_initial_state()
    assert (table.game.start.planes().ravel() == state.observation_tensor(0)).all()
    weights = np.random.default_rng(0).normal(size=(36, game.num_distinct_actions()))
    network = lambda planes: planes.reshape(len(planes), -1) @ weights
    assert 0 < ym.evaluate(table, network, progress=False).metrics["result_kept"] < 1
    assert table.game.action_name(state.legal_actions()[0]) == state.action_to_string(0, state.legal_actions()[0])


def test_games_whose_past_matters_and_other_kinds_are_refused(tables):
    refused = {
        "go(board_size=2)": r"after moves \[.*\] and \[.*\], which look alike: the past matters",
        "oware(num_houses_per_player=2,num_seeds_per_house=2)": "the past matters",
        # No two states that the walk meets differ in their next moves; random games do.
        "start_at(history=1;0;2,game=oware(num_houses_per_player=3,num_seeds_per_house=1))": "the past matters",
        "start_at(history=1;0;3;1;2;3;1,game=oware(num_houses_per_player=4,num_seeds_per_house=1))": "the past matters",
        "go(board_size=1)": "OpenSpiel has no start of it|refuses it",
        "add_noise(epsilon=1.0,seed=1,game=tic_tac_toe())": "another result",
        "kuhn_poker()": "has chance", "dark_hex()": "has hidden information", "oshi_zumo()": "players who move at once",
        "quoridor(board_size=3,players=3)": "has 3 players", "restricted_nash_response(game=tic_tac_toe())": "chance",
        "checkers(rows=4,columns=4)": "over at its start", "no_such_game(x=1)": "Unknown game 'no_such_game'",
    }
    for text, message in refused.items():
        with pytest.raises(ValueError, match=message):
            solve(text, tables)
    # The boards alone do not tell who is to move, nor who must go on jumping.
    for text in ("breakthrough(rows=4,columns=2)", "dots_and_boxes(num_rows=1,num_cols=3)"):
        with pytest.raises(ValueError, match="key= must tell more|two states"):
            solve(text, tables, key=lambda state: len(str(state)), force=True)


def test_remarks_say_what_is_solved(tables, tmp_path):
    with pytest.warns(RuntimeWarning, match="counts as a draw for ever, while OpenSpiel ends it after 36 moves"):
        ym.solve("quoridor(board_size=3,wall_count=0)", tables=tables, progress=False, force=True)
    with pytest.warns(RuntimeWarning, match="texts of y.* tell 547 states apart, observations 257"):
        ym.solve("y(board_size=3)", tables=tables, progress=False, force=True)
    by_planes = lambda state: str(state.observation_tensor(0))
    assert len(solve("y(board_size=3)", tmp_path, key=by_planes)) == 257
    with pytest.raises(ym.YomikiriError, match="another game of this name"):
        solve("y(board_size=3)", tables, key=by_planes)  # whose table has 547 states


def test_a_state_is_a_start(tables):
    state = pyspiel.load_game("othello()").new_initial_state()
    while len(state.history()) < 54:
        state.apply_action(state.legal_actions()[0])
    table = solve(state, tables)
    assert table.game.title.startswith("start_at(") and len(table) > 10
    assert str(table.game.start).splitlines()[0] == str(state).splitlines()[0].rstrip()
    assert solve(state, tables).path == table.path
    for text, moves in (("tic_tac_toe()", [0]), ("start_at(history=4;0,game=tic_tac_toe())", [1]), ("breakthrough(rows=4,columns=2)", [10])):
        state = pyspiel.load_game(text).new_initial_state()
        for move in moves:
            state.apply_action(state.legal_actions()[0] if move not in state.legal_actions() else move)
        assert str(solve(state, tables).game.start).splitlines()[0] == str(state).splitlines()[0].rstrip()
    with pytest.raises(ValueError, match="no moves from its start lead to the given state"):
        ym.solve(pyspiel.load_game("chess()").new_initial_state("8/8/8/8/8/5k2/7p/7K w - - 99 60"), tables=tables)


def test_a_name_belongs_to_one_move(tables):
    # OpenSpiel names some moves by the board: those have their numbers.
    for text in ("quoridor(board_size=3,wall_count=1)", "breakthrough(rows=4,columns=3)", "dots_and_boxes(num_rows=1,num_cols=2)"):
        table, numbers = solve(text, tables), 0
        positions = table.game.positions([text for text, *_ in table.game._core.listed_rows(10**5)])
        from yomikiri._spiel import Root

        for state in Root(text).states(positions._core):
            player = state.current_player()
            for action in state.legal_actions():
                name = table.game.action_name(action, side=max(0, player))
                numbers += name == str(action)
                said = "".join(state.action_to_string(player, action).split()).rstrip("*")
                assert name == str(action) or name.split("[")[0] == said, (text, state.history(), action)
        assert (numbers > 0) == (text == "quoridor(board_size=3,wall_count=1)")


@pytest.mark.skipif(not SOLVER, reason="SOLVER is not the program")
def test_commands_find_the_game_by_its_string(tables):
    text = "breakthrough(rows=4,columns=2)"
    table = solve(text, tables)
    assert table.name == "openspiel-breakthrough-columns-2-rows-4"
    def said(*words):
        return subprocess.run([SOLVER, "--tables", tables, *words], capture_output=True, text=True, check=True, timeout=60).stdout

    assert str(pyspiel.load_game(text)) in said("report", text, "-q", "--policy", "random,perfect")
    assert "to move" in said("query", text, "start")
    # Another process finds OpenSpiel's states by the name in the table.
    program = (
        "import sys, yomikiri as ym\n"
        "from open_spiel.python import policy\n"
        "table = ym.open(sys.argv[1], tables=sys.argv[2])\n"
        "import pyspiel\n"
        "uniform = ym.openspiel.policy(policy.UniformRandomPolicy(pyspiel.load_game(table.game.title)))\n"
        "print(ym.evaluate(table, uniform, progress=False).metrics['result_kept'])\n")
    told = subprocess.run([sys.executable, "-c", program, text, tables], capture_output=True, text=True, check=True, timeout=60)
    assert float(told.stdout) == ym.evaluate(table, "random", progress=False).metrics["result_kept"]


def test_the_page_of_games_has_what_is_found(tables):
    path = Path(__file__).parents[1] / "benches/brought.py"
    spec = importlib.util.spec_from_file_location("brought", path)
    brought = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(brought)
    page = (Path(__file__).parents[2] / "docs/games/brought.md").read_text()
    assert page.startswith(brought.HEAD) and page.endswith(brought.TAIL)
    lines = dict(line[2:].split(" | ", 1) for line in page.splitlines() if line.startswith("| `"))
    assert list(lines) == [f"`{text.lstrip('.')}`" for text in brought.GAMES]
    for text in brought.small():
        name, *cells = brought.row(text, tables)
        assert lines[name].rsplit(" | ", 1)[0] == " | ".join(cells), text


def test_algorithms_of_open_spiel_run_on_our_games():
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms import random_agent

    for name in ("othello-4x4", "animal-shogi-3x3"):
        env = rl_environment.Environment(ym.openspiel.game(name))
        agents = [random_agent.RandomAgent(player, env.action_spec()["num_actions"]) for player in (0, 1)]
        step = env.reset()
        while not step.last():
            for player in (0, 1):
                seen = env.get_state.position._core.encode_for("nchw", player).ravel()
                assert (np.array(step.observations["info_state"][player]) == seen).all()
            step = env.step([agents[step.observations["current_player"]].step(step).action])
        assert sum(step.rewards) == 0
