"""Calls of policies and their answers: in evaluation mode, position by position, equally in measurements and
environments."""

import functools
import warnings

import numpy as np
import pytest

import yomikiri as ym

WEIGHTS = np.random.default_rng(5).normal(size=(32, 17))


class Part:
    """A part of a network with PyTorch's interface."""

    def __init__(self, *parts):
        self.parts, self.training = parts, True

    def modules(self):
        yield self
        for part in self.parts:
            yield from part.modules()

    def train(self, mode=True):
        self.training = mode
        for part in self.parts:
            part.train(mode)
        return self

    def eval(self):
        return self.train(False)


class Network(Part):
    """A network with a normalisation that in training mode depends on the batch and learns from it."""

    def __init__(self):
        self.norm, self.frozen = Part(), Part()
        super().__init__(self.norm, self.frozen)
        self.frozen.eval()
        self.mean, self.fails, self.modes = np.full(17, 0.5), False, set()

    def __call__(self, planes):
        self.modes.add((self.training, self.norm.training, self.frozen.training))
        if self.fails:
            raise KeyError("weights")
        logits = planes.reshape(len(planes), -1) @ WEIGHTS
        mean = self.mean
        if self.norm.training:
            mean = logits.mean(axis=0)
            self.mean = 0.9 * self.mean + 0.1 * mean
        return 3 * (logits - mean)

    @property
    def state(self):
        return self.training, self.norm.training, self.frozen.training, self.mean.tolist()


class Agent:
    def __init__(self, network):
        self.network = network

    def act(self, planes):
        return self.network(planes)


def run(table, policy, **options):
    return ym.evaluate(table, policy, games=False, mistakes=0, names=["it"], **options).metrics


@pytest.fixture
def network():
    return Network()


@pytest.fixture(scope="module")
def expected(table):
    return run(table, Network().eval())


def test_a_network_in_training_mode_is_measured_in_evaluation_mode(table, network, expected):
    before = network.state
    assert before[:3] == (True, True, False)
    with pytest.warns(RuntimeWarning, match="'it' is in training mode") as said:
        assert run(table, network) == expected
    assert len(said) == 1 and said[0].filename == __file__
    assert network.modes == {(False, False, False)} and network.state == before
    # Only one part is in training mode.
    network.eval()
    network.norm.train()
    before = network.state
    with pytest.warns(RuntimeWarning, match="training mode"):
        assert run(table, network) == expected
    assert network.state == before
    network.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(table, network) == expected


def test_it_is_set_back_whatever_happens(table, network):
    before, network.fails = network.state, True
    for measure in (
        lambda: ym.evaluate(table, network),
        lambda: ym.compare(table, "greedy", network),
        lambda: ym.match(table, network, "random"),
        lambda: ym.exploitability(table, network),
        lambda: ym.env(table, opponent=network, side=1).reset(),
    ):
        with pytest.warns(RuntimeWarning, match="training mode"), pytest.raises(KeyError, match="weights"):
            measure()
        assert network.state == before and network.modes == {(False, False, False)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            ym.evaluate(table, network)
    assert network.state == before


def test_networks_that_a_callable_uses_are_found(table, network, expected):
    def decorated(policy):
        return functools.wraps(policy)(lambda *given: policy(*given))

    agent = Agent(network)
    for policy in (
        lambda planes: network(planes) if len(planes) else later,
        lambda planes: agent.network(planes),
        agent.act,
        network.__call__,
        functools.partial(Agent.act, agent),
        functools.partial(lambda net, planes: net(planes), network),
        decorated(lambda planes: network(planes)),
    ):
        before = network.state
        with pytest.warns(RuntimeWarning, match="training mode"):
            assert run(table, policy) == expected
        assert network.state == before
    later = None


def test_a_small_share_of_the_batch_is_found(table):
    def logits(planes):
        return planes.reshape(len(planes), -1) @ WEIGHTS

    wave = 40 * np.sin(np.arange(17))
    for policy in (
        lambda planes: logits(planes) + 0.005 * logits(planes).mean(axis=0),
        lambda planes: np.tile(wave + 5 * planes[:, 0, 0].mean() * np.arange(17), (len(planes), 1)),
        lambda planes: {"logits": logits(planes), "values": np.full(len(planes), 0.001 * planes[:, 0, 0].mean())},
    ):
        with pytest.raises(ym.PolicyError, match="depends on the rest of the batch"):
            run(table, policy)
    # Rounding differs with the batch in every framework; it is accepted.
    run(table, lambda planes: logits(planes).astype(np.float16).astype(np.float32))
    run(table, lambda planes: logits(planes) + 1e-5 * len(planes) ** 0.5)


def test_who_answers_differently_each_time_is_told(table):
    random = np.random.default_rng(0)

    def dropped(planes):
        kept = random.random((len(planes), 32)) > 0.5  # as by dropout that nobody can switch off
        return (planes.reshape(len(planes), -1) * kept) @ WEIGHTS

    with pytest.warns(RuntimeWarning, match="'it' answers differently when asked again.* one draw"):
        run(table, dropped)


def test_answers_that_depend_on_the_batch_are_refused(table, network):
    def mean(planes):
        return planes.reshape(len(planes), -1) @ WEIGHTS * planes[:, 0].mean()

    def places(planes, legal):
        return {"actions": [np.flatnonzero(row)[at % row.sum()] for at, row in enumerate(legal)]}

    hidden = [network]
    for policy in (mean, places, lambda planes: hidden[0](planes)):
        for measure in (ym.evaluate, ym.exploitability, lambda *given: ym.compare(*given, "greedy")):
            with pytest.raises(ym.PolicyError, match="by itself, as by networks in evaluation mode"):
                measure(table, policy)


def test_answers_may_be_drawn_and_rounded(table):
    random = np.random.default_rng(3)

    def drawn(planes, legal):
        return np.where(legal, random.random(legal.shape), -1).argmax(axis=1)

    def rounded(planes):  # like bfloat16 kernels that depend on the batch size
        error = 0.005 if len(planes) > 1 else 0
        return planes.reshape(len(planes), -1) @ WEIGHTS * (1 + error), np.full(len(planes), 0.25 + error)

    assert 0 < run(table, drawn)["result_kept"] < 1
    assert 0 < run(table, rounded)["result_kept"] < 1


def test_the_best_move_of_a_q_network_is_played(table):
    def of_table(planes):
        return np.nan_to_num(table.lookup(planes).q, nan=99) / 16  # illegal moves look good

    drawn, best = run(table, of_table), run(table, of_table, move="best")
    assert best["result_kept"] == best["score_kept"] == 1 and drawn["result_kept"] < 0.8
    assert best == run(table, lambda planes: {"scores": of_table(planes)})
    # The values of a table, which are NaN or -inf where a move is illegal.
    masked = run(table, lambda planes: {"scores": table.lookup(planes).q})
    assert masked["result_kept"] == 1 and np.isnan(table.lookup("start").q).any()
    low = lambda planes: np.nan_to_num(table.lookup(planes).q, nan=-np.inf)
    assert run(table, lambda planes: {"scores": low(planes)})["result_kept"] == 1
    with_values = run(table, lambda planes: (of_table(planes), np.zeros(len(planes))), move="best")
    assert with_values["result_kept"] == 1 and with_values["value_error"] > 0
    # Any kind of output: the highest number is played.
    def of_kind(kind):
        def policy(planes, legal):
            q = np.where(legal, of_table(planes), -np.inf)
            numbers = np.exp(q) / np.exp(q).sum(axis=1, keepdims=True) if kind == "probabilities" else q
            return {kind: numbers}

        return policy

    for kind in ("logits", "probabilities", "scores"):
        assert run(table, of_kind(kind), move="best")["score_kept"] == 1
    values = ym.exploitability(table, of_table, move="best")
    assert all(abs(side["result_lost"]) < 1e-9 for side in values.values())
    assert ym.exploitability(table, of_table)["second"]["result_lost"] > 0.1  # White wins 4x4
    same = ym.compare(table, of_table, lambda planes: {"scores": of_table(planes)}, names=["a", "b"], move="best")
    assert same.json["all"]["positions_apart"] == 0, str(same)
    assert ym.match(table, "perfect", of_table, move="best").results["first"]["win"] < 1e-9


def test_how_moves_are_chosen_is_one_of_two(table):
    for measure in (ym.evaluate, ym.exploitability, lambda *given, **options: ym.match(*given, "random", **options)):
        with pytest.raises(ValueError, match="invalid move `first`: expected sample, best"):
            measure(table, Network().eval(), move="first")
    with pytest.raises(ValueError, match="move: for callables only"):
        ym.evaluate(table, "greedy", move="best")


def test_probabilities_are_not_read_as_logits(table):
    def probabilities(planes, legal):
        return legal / legal.sum(axis=1, keepdims=True)

    uniform = pytest.approx(run(table, "random")["result_kept"], abs=1e-12)
    for told in (
        probabilities, lambda planes, legal: (probabilities(planes, legal), np.zeros(len(planes))),
        lambda planes, legal: {"probabilities": probabilities(planes, legal)},
    ):
        assert run(table, told)["result_kept"] == uniform
    assert "policy `answer` as probabilities" in str(ym.evaluate(table, probabilities, games=False))


def play(env, games=4):
    """Returns the opponent's moves while the player always makes the first legal one."""
    moves = []
    for seed in range(games):
        seen, _ = env.reset(seed=seed)
        over = env.position.over
        while not over:
            seen, _, over, cut, info = env.step(int(seen["action_mask"].argmax()))
            assert not cut and "illegal" not in info
            moves.append(info["position"])
    return moves


def test_opponents_are_read_as_measurements_read_them(table, network):
    network.eval()
    for policy in (
        network,
        lambda planes: network(planes),
        lambda planes, legal: np.where(legal, network(planes), -np.inf),
        lambda planes: (network(planes), np.zeros(len(planes))),
        lambda planes: {"logits": network(planes)},
        lambda planes: np.abs(network(planes)),
        lambda planes, legal: {"probabilities": legal / legal.sum(axis=1, keepdims=True)},
        lambda planes, legal: legal.argmax(axis=1),
        lambda planes: {"scores": network(planes)},
    ):
        for options in ({}, {"side": 1, "layout": "nchw"}):
            play(ym.env(table, opponent=policy, **options))
        play(ym.env(table, opponent=ym.policy(policy, move="best")))
    # A policy that ranks moves by exact values, illegal ones highest, plays perfectly.
    def of_table(planes):
        return np.nan_to_num(table.lookup(planes).q, nan=99)

    def lost(env):
        return [table.lookup(position).outcome[0] for position in play(env, 20)]

    assert min(lost(ym.env(table, opponent=ym.policy(of_table, move="best"), side=0))[-1:]) == -1
    scored = play(ym.env(table, opponent=lambda planes: {"scores": of_table(planes)}, side=0), 20)
    assert scored == play(ym.env(table, opponent=ym.policy(of_table, move="best"), side=0), 20)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lambda planes: np.zeros((len(planes), 15)), "a policy has 16, or 17 with the pass.* .outputs: answer 15."),
        (lambda planes: np.full((len(planes), 17), np.nan), "NaN of the policy in the position '"),
        (lambda planes: np.full(len(planes), 16), "illegal action 16 in the position '"),
        (lambda planes: {"probabilities": np.full((len(planes), 17), 1 / 17)}, "probability .* of the illegal action"),
        (lambda planes: {}, "expected one of logits"),
        (lambda planes: {"logits": np.zeros((len(planes), 17)), "actions": np.zeros(len(planes))}, "both logits and actions"),
    ],
)
def test_opponents_that_make_no_sense_are_the_same_exception(table, policy, words):
    with pytest.raises(ym.PolicyError, match=words):
        ym.env(table, opponent=policy, side=1).reset(seed=1)
    with pytest.raises(TypeError, match="int"):
        ym.env(table, opponent=3)


def test_an_opponent_that_is_trained_is_asked_in_evaluation_mode(table, network):
    before = network.state
    env = ym.env(table, opponent=network, side=None)
    with pytest.warns(RuntimeWarning, match="'Network' is in training mode") as said:
        play(env)
    assert len(said) == 1 and network.state == before and network.modes == {(False, False, False)}
