"""PyTorch, JAX and TensorFlow, each if installed: arrays in and out, loaders, networks."""

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import yomikiri as ym

try:
    from torch.utils.data import IterableDataset
except ImportError:
    IterableDataset = object


def weights(seed=3):
    random = np.random.default_rng(seed)
    return [random.normal(size=shape).astype(np.float32) for shape in ((32, 64), (64, 17))]


def network(planes):
    """The reference for the frameworks' networks, in NumPy."""
    first, second = weights()
    return np.maximum(planes.reshape(len(planes), -1) @ first, 0) @ second


@pytest.fixture(scope="module")
def expected(table):
    return ym.evaluate(table, network, games=False).metrics


def agree(found, expected):
    # The frameworks sum in another order.
    for name in ("result_kept", "score_lost", "nll"):
        assert found[name] == pytest.approx(expected[name], rel=1e-4), name


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def module(torch):
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(32, 64, bias=False), torch.nn.ReLU(),
                              torch.nn.Linear(64, 17, bias=False))
    for layer, weight in zip((net[1], net[3]), weights()):
        layer.weight.data = torch.from_numpy(weight.T.copy())
    return net.eval()


def test_a_torch_module_is_measured_in_less_than_a_second(torch, module, table, expected):
    agree(ym.evaluate(table, module, games=False).metrics, expected)
    spent = []  # CPU time, because wall time includes other processes
    for _ in range(3):
        begun = time.process_time()
        ym.evaluate(table, module)
        spent.append(time.process_time() - begun)
    assert min(spent) < 1, spent
    assert all(weight.grad is None for weight in module.parameters())


def test_a_torch_module_in_training_mode_is_measured_in_evaluation_mode(torch, module, table):
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.BatchNorm1d(32), torch.nn.Dropout(0.5), module)
    frozen = net[2].eval()
    state = {name: weights.clone() for name, weights in net.state_dict().items()}
    for policy in (net, lambda planes: net(torch.from_numpy(planes))):
        with pytest.warns(RuntimeWarning, match="training mode"):
            found = ym.evaluate(table, policy, games=False, names=["net"]).metrics
        assert net.training and net[1].training and not frozen.training and not module.training
        assert all((weights == state[name]).all() for name, weights in net.state_dict().items())
        net.eval()
        assert ym.evaluate(table, policy, games=False, names=["net"]).metrics == found
        net.train(), frozen.eval(), module.eval()


def test_torch_modules_are_found_wherever_a_callable_has_them(torch, module, table):
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.BatchNorm1d(32), torch.nn.Dropout(0.5), module)
    state = {name: weights.clone() for name, weights in net.state_dict().items()}
    nets, named = [net], {"net": {"now": net}}

    def ensemble(planes):
        return sum(one(torch.from_numpy(planes)) for one in nets)

    class Player:
        def __init__(self):
            self.parts = {"nets": nets}

        def __call__(self, planes):
            return self.parts["nets"][0].forward(torch.from_numpy(planes))

    ways = (ensemble, lambda planes: named["net"]["now"](torch.from_numpy(planes)), functools.partial(lambda all, planes: ensemble(planes), nets),
            (lambda inner: lambda planes: inner()(planes))(lambda: ensemble), Player())
    net.eval()
    expected = ym.evaluate(table, ensemble, games=False, names=["net"]).metrics
    for policy in ways:
        net.train()
        modes = [part.training for part in net.modules()]
        with pytest.warns(RuntimeWarning, match="training mode"):
            found = ym.evaluate(table, policy, games=False, names=["net"]).metrics
        assert found == expected
        assert [part.training for part in net.modules()] == modes
        assert all((weights == state[name]).all() for name, weights in net.state_dict().items())

    def fails(planes):
        ensemble(planes)
        raise KeyError("weights")

    with pytest.raises(KeyError):
        ym.evaluate(table, fails, games=False)
    assert [part.training for part in net.modules()] == modes
    # A module of another thread keeps its mode.
    assert not torch.nn.modules.module._global_forward_pre_hooks

    scripted = torch.jit.script(net.train())
    with pytest.warns(RuntimeWarning, match="training mode|one draw"):
        ym.evaluate(table, lambda planes: [scripted][0](torch.from_numpy(planes)), games=False)
    module.eval()

    def dropped(planes):
        return module(torch.nn.functional.dropout(torch.from_numpy(planes), 0.2, training=True))

    with pytest.warns(RuntimeWarning, match="one draw"):
        ym.evaluate(table, dropped, games=False, names=["it"])


def test_compiled_modules_are_found_and_compiled_once(torch, module, table):
    compilations = []

    def backend(graph, _examples):
        compilations.append(graph)
        return graph.forward

    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.BatchNorm1d(32), module)
    expected = ym.evaluate(table, net.eval(), games=False, names=["net"]).metrics
    compiled = torch.compile(net, backend=backend, dynamic=False)
    torch.compiler.reset()
    for policy in (compiled, lambda planes: compiled(torch.from_numpy(planes))):
        net.train(), module.eval()
        before = len(compilations)
        with pytest.warns(RuntimeWarning, match="training mode"):
            found = ym.evaluate(table, policy, games=False, names=["net"], batch=128).metrics
        agree(found, expected)
        assert net.training and net[1].training and not module.training
        # One compilation for each size of a batch.
        assert len(compilations) - before <= 8, len(compilations)


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "int8"])
def test_answers_of_other_precisions_do_not_depend_on_the_batch(torch, module, table, kind):
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 17)).eval()
    if kind == "int8":
        net = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear})
        # Its scales are those of the batch.
        with pytest.raises(ym.PolicyError, match="depends on the rest of the batch.*batch=1"):
            ym.evaluate(table, net, games=False, canonical=True)
        ym.evaluate(table, net, games=False, canonical=True, batch=1)
    else:
        ym.evaluate(table, net.to(getattr(torch, kind)), games=False)


def test_whatever_torch_gives_is_taken(torch, module, table, expected):
    values = []

    def told(planes, legal):
        logits = module(torch.from_numpy(planes))  # with a gradient
        assert logits.requires_grad and legal.dtype == bool
        values.append(logits)
        return logits, torch.tanh(logits[:, :1])

    report = ym.evaluate(table, told, games=False).metrics
    agree(report, expected)
    assert 0 < report["value_error"] < 2 and 56_621 < sum(map(len, values)) < 58_500
    half = ym.evaluate(table, lambda planes: module(torch.from_numpy(planes)).bfloat16(), games=False).metrics
    assert half["result_kept"] == pytest.approx(expected["result_kept"], abs=0.01)
    chosen = ym.evaluate(table, lambda planes, legal: torch.from_numpy(legal).int().argmax(1), games=False).metrics
    assert 0 < chosen["result_kept"] < 1
    with pytest.raises(ym.PolicyError, match="invalid number NaN"):
        ym.evaluate(table, lambda planes: torch.full((len(planes), 17), torch.nan))


def test_torch_tensors_are_looked_up(torch, table, everything):
    planes = torch.from_numpy(everything.planes[:1000]).float()
    values = table.lookup(planes)
    assert (values.score == everything.score[:1000]).all()
    assert torch.from_numpy(values.q).shape == (1000, 17)
    boards = np.stack([everything.mover, everything.opponent], axis=1)[:1000]
    assert (table.lookup(torch.from_numpy(boards)).score == values.score).all()
    assert torch.from_dlpack(values.score).dtype == torch.int8


class States(IterableDataset):
    """Positions of a table for a loader, with a share for each of its workers."""

    def __init__(self, table):
        self.table = table

    def __iter__(self):
        from torch.utils.data import get_worker_info

        worker = get_worker_info()
        shard = (worker.id, worker.num_workers) if worker else (0, 1)
        for batch in self.table.states(images="all", batch=512, shard=shard, columns=["row", "planes", "score"]):
            assert (self.table.lookup(batch.planes).score == batch.score).all()
            yield batch.row.astype(np.int64), batch.planes


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_loaders_with_workers_read_every_position_once(torch, table, context):
    table.lookup("start")  # starts the parent's threads
    data = table.dataset("train")
    options = {"num_workers": 2, "multiprocessing_context": context, "timeout": 100}
    loader = torch.utils.data.DataLoader(data, batch_size=500, shuffle=True, **options)
    seen = torch.cat([planes for planes, policy, value, legal in loader])
    assert len(seen) == len(data) and seen.dtype == torch.float32 and seen.sum() == data.planes.sum()
    loader = torch.utils.data.DataLoader(States(table), batch_size=None, **options)
    rows = torch.cat([rows for rows, planes in loader])
    [whole] = table.states(images="all", columns=["row"], batch=1 << 20)
    assert len(rows) == 56_621 and rows.sum() == whole.row.sum()


def test_jax_arrays_are_taken_and_looked_up(table, expected, everything):
    jax = pytest.importorskip("jax")
    first, second = map(jax.numpy.asarray, weights())

    @jax.jit
    def policy(planes):
        hidden = jax.nn.relu(planes.reshape(len(planes), -1) @ first)
        return hidden @ second, jax.numpy.tanh(hidden[:, 0])

    agree(ym.evaluate(table, lambda planes: policy(planes), games=False).metrics, expected)
    half = ym.evaluate(table, lambda planes: policy(planes)[0].astype("bfloat16"), games=False).metrics
    assert half["result_kept"] == pytest.approx(expected["result_kept"], abs=0.01)
    planes = jax.numpy.asarray(everything.planes[:1000])
    assert (table.lookup(planes).score == everything.score[:1000]).all()
    assert jax.numpy.asarray(table.lookup(planes).q).shape == (1000, 17)


def test_tensorflow_tensors_are_taken_and_looked_up(table, expected, everything):
    tf = pytest.importorskip("tensorflow")
    first, second = map(tf.constant, weights())

    @tf.function(reduce_retracing=True)
    def policy(planes):
        hidden = tf.nn.relu(tf.reshape(planes, (-1, 32)) @ first)
        return hidden @ second, tf.tanh(hidden[:, :1])

    agree(ym.evaluate(table, lambda planes: policy(planes), games=False).metrics, expected)
    half = ym.evaluate(table, lambda planes: tf.cast(policy(planes)[0], tf.bfloat16), games=False).metrics
    assert half["result_kept"] == pytest.approx(expected["result_kept"], abs=0.01)
    planes = tf.constant(everything.planes[:1000])
    assert (table.lookup(planes).score == everything.score[:1000]).all()
    batches = tf.data.Dataset.from_generator(
        lambda: ((batch.planes, batch.score) for batch in table.states(batch=1024)),
        output_signature=(tf.TensorSpec((None, 2, 4, 4), tf.float32), tf.TensorSpec((None,), tf.int8)),
    )
    assert sum(len(score) for _, score in batches.prefetch(2)) == len([*_rows(table)])


def _rows(table):
    return (row for batch in table.states(columns=["row"]) for row in batch.row)


def test_modules_get_planes_in_their_own_precision(torch, module, table, expected):
    import copy

    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        net = copy.deepcopy(module).to(dtype)
        found = ym.evaluate(table, net, games=False).metrics
        assert found["result_kept"] == pytest.approx(expected["result_kept"], abs=0.01), dtype


def test_maskable_ppo_trains(table):
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks

    env = ym.env(table, opponent="random", side=None)
    model = sb3_contrib.MaskablePPO("MultiInputPolicy", env, n_steps=512, batch_size=128, seed=1)
    seen, _ = env.reset(seed=1)
    assert (get_action_masks(env) == seen["action_mask"].astype(bool)).all()

    def agent(planes, legal):
        actions, _ = model.predict({"observation": planes, "action_mask": legal.astype(np.int8)}, action_masks=legal)
        return actions

    model.learn(2048)
    assert 0.3 < ym.evaluate(table, agent, games=False).metrics["result_kept"] <= 1


def test_torchrl_wraps_the_environments(table):
    pytest.importorskip("torchrl")
    from torchrl.envs import GymWrapper, PettingZooWrapper

    single = GymWrapper(ym.env(table, side=None))
    assert single.reset()["observation"].shape == (2, 4, 4) and len(single.rollout(3)) >= 1
    both = PettingZooWrapper(ym.aec_env("othello-4x4"), use_mask=True)
    assert {"player_0", "player_1"} <= set(both.reset().keys())


def test_animal_shogi_ends_where_pgx_ends_it():
    pgx = pytest.importorskip("pgx")
    pytest.importorskip("pettingzoo")
    import jax

    import yomikiri.pgx as layout

    theirs_env = pgx.make("animal_shogi")
    init, step = jax.jit(theirs_env.init), jax.jit(theirs_env.step)
    random, env, repeated = np.random.default_rng(4), ym.aec_env("animal-shogi"), 0
    for key in range(30):
        env.reset()
        theirs, past = init(jax.random.PRNGKey(key)), [None, None]
        # Pgx draws which of its players begins.
        players = [int(theirs.current_player), 1 - int(theirs.current_player)]
        while not theirs.terminated:
            assert not any(env.terminations.values())
            legal = np.flatnonzero(layout.legal(env.game.positions(env.position))[0])
            # Moves are mostly taken back, so that positions repeat.
            moves = {name: action for name, action in env.position.moves.items() if action in legal}
            back = past[-2] and past[-2][2:4] + past[-2][:2]
            name = back if back in moves and random.random() < 0.95 else str(random.choice([*moves]))
            past.append(name if "*" not in name and len(name) == 4 else None)
            theirs = step(theirs, int(layout.LABELS[moves[name]]))
            env.step(moves[name])
        is_over = any(env.terminations.values())
        # Pgx also ends a game whose every move is into check.
        assert is_over or not layout.legal(env.game.positions(env.position)).any()
        if is_over:
            assert [float(theirs.rewards[player]) for player in players] == [env.rewards[agent] for agent in env.possible_agents]
            repeated += "third time" in env.infos["player_0"]["end"]
    assert repeated >= 10


@pytest.mark.parametrize("package", ["pgx", "pyspiel"])
def test_agents_see_othello_as_players_of_other_packages(package):
    theirs = pytest.importorskip(package)
    pytest.importorskip("pettingzoo")
    if package == "pgx":
        import jax

        rules = theirs.make("othello")
        init, step, observe = jax.jit(rules.init), jax.jit(rules.step), jax.jit(rules.observe)
    random, env = np.random.default_rng(6), ym.aec_env("othello-8x8", layout="pgx" if package == "pgx" else "openspiel")
    for key in range(10):
        env.reset()
        state = init(jax.random.PRNGKey(key)) if package == "pgx" else theirs.load_game("othello").new_initial_state()
        # Pgx draws which of its players begins.
        players = [int(state.current_player), 1 - int(state.current_player)] if package == "pgx" else [0, 1]
        while not any(env.terminations.values()):
            action = int(random.choice(env.position.legal))
            env.step(action)
            if package == "pgx":
                state = step(state, action)
            else:
                state.apply_action(action)
            for player, agent in zip(players, env.possible_agents):
                seen = env.observe(agent)["observation"]
                view = observe(state, player) if package == "pgx" else state.observation_tensor(player)
                assert (np.reshape(np.asarray(view, np.float32), seen.shape) == seen).all()


def test_shimmy_wraps_openspiels_game():
    pytest.importorskip("shimmy")
    from shimmy import OpenSpielCompatibilityV0

    env = OpenSpielCompatibilityV0(env=ym.openspiel.game("othello-4x4"))
    env.reset(seed=0)
    plies, position = 0, ym.game("othello-4x4").start
    for agent in env.agent_iter():
        _, reward, is_over, is_cut, info = env.last()
        if is_over or is_cut:
            env.step(None)
            continue
        assert np.flatnonzero(info["action_mask"]).tolist() == position.legal
        env.step(position.legal[0])
        position, plies = position.play(position.legal[0]), plies + 1
    assert position.over and plies > 5


def test_lightning_logs_exact_figures(torch, table, tmp_path):
    lightning = pytest.importorskip("lightning")
    logged = {}

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(32, 17))

        def forward(self, planes):
            return self.layers(planes)

        def training_step(self, batch, _):
            planes, policy, _, _ = batch
            return torch.nn.functional.cross_entropy(self(planes), policy)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 1e-2)

    class Exact(lightning.Callback):
        def on_train_epoch_end(self, trainer, module):
            report = ym.evaluate(table, module, split="test", games=False)
            module.log_dict(report.scalars())
            logged.update(trainer.callback_metrics)

    loader = torch.utils.data.DataLoader(table.dataset("train"), batch_size=512, shuffle=True)
    trainer = lightning.Trainer(max_epochs=1, callbacks=[Exact()], logger=False, enable_checkpointing=False, accelerator="cpu",
                                enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path)
    with pytest.warns(RuntimeWarning, match="training mode"):
        trainer.fit(Net(), loader)
    assert 0 < float(trainer.callback_metrics["ym/result_kept"]) <= 1


def test_a_residual_network_of_jax_is_compiled_once(table):
    jax = pytest.importorskip("jax")
    jnp, lax = jax.numpy, jax.lax
    random, compiled = np.random.default_rng(0), []
    first = jnp.asarray(random.normal(size=(3, 3, 2, 64)) * 0.2, jnp.float32)
    blocks = [[jnp.asarray(random.normal(size=(3, 3, 64, 64)) * 0.04, jnp.float32) for _ in range(2)] for _ in range(6)]
    head = jnp.asarray(random.normal(size=(64 * 16, 17)) * 0.03, jnp.float32)

    def conv(x, weights):
        return lax.conv_general_dilated(x, weights, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    @jax.jit
    def network(planes):
        compiled.append(planes.shape)
        x = jax.nn.relu(conv(planes, first))
        for one, two in blocks:
            x = jax.nn.relu(x + conv(jax.nn.relu(conv(x, one)), two))
        return x.reshape(len(x), -1) @ head

    spent = []
    for _ in range(2):
        begun = time.perf_counter()
        ym.evaluate(table, network, layout="nhwc", games=False, mistakes=0)
        spent.append(time.perf_counter() - begun)
    print(f"first call {spent[0]:.1f} s, second {spent[1]:.1f} s, shapes {compiled}")
    assert len(compiled) == 1, compiled


def test_networks_for_connect_four_are_trained_and_measured(torch, tmp_path):
    for package in ("pyspiel", "tree", "pettingzoo", "pygame", "sb3_contrib", "onnxscript"):
        pytest.importorskip(package)
    recipe = Path(__file__).parents[2] / "examples/recipes/connect_four.py"
    command = [sys.executable, recipe, "--games", "300", "--steps", "20480", "--sample", "100", "--out", tmp_path]
    environment = os.environ | {"YOMIKIRI_TABLES": str(tmp_path)}
    shown = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=environment).stdout
    for name in ("openspiel-dqn", "pettingzoo-ppo"):
        assert f"{name}: " in shown and (tmp_path / f"{name}.onnx").exists(), shown
        assert "tactician" in shown, shown
