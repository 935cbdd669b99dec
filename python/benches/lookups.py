"""Benchmarks of lookups and reports, compared with OpenSpiel's value iteration if it is installed.

    python python/benches/lookups.py [TABLE...]
"""

import statistics
import sys
import time

import numpy as np

import yomikiri as ym


def median(work, times=7):
    spent = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent)


def lookups(name):
    table = ym.open(name)
    boards = []
    for batch in table.states(columns=["mover", "opponent"], batch=100_000, shuffle=0, images="all"):
        boards.append(np.stack([batch.mover, batch.opponent], axis=1))
        if sum(map(len, boards)) >= 100_000:
            break
    boards = np.concatenate(boards)
    boards = np.tile(boards, (100_000 // len(boards) + 1, 1))[:100_000]
    positions = table.game.positions(boards)
    found = table.lookup(boards)
    assert (found.score == table.lookup(positions.planes()).score).all()
    for what, work in {
        "bitboards -> score, outcome, distance": lambda: table.lookup(boards).score,
        "planes -> score, outcome, distance": lambda planes=positions.planes(): table.lookup(planes).score,
        "bitboards -> values of all moves": lambda: table.lookup(boards).q,
    }.items():
        print(f"{name}: {what}: {100_000 / median(work) / 1e6:.2f} M positions a second")


def networks():
    """Yields callables by name: one that does nothing, NumPy, and PyTorch if it is installed."""
    random = np.random.default_rng(0)
    zeros = np.zeros((1 << 16, 17), np.float32)
    yield "a callable that does nothing", lambda planes: zeros[:len(planes)]
    for width in (64, 256, 1024):
        first, second = (random.normal(size=shape).astype("f4") for shape in ((32, width), (width, 17)))
        yield f"NumPy, {width} units", lambda planes: np.maximum(planes.reshape(len(planes), -1) @ first, 0) @ second
    try:
        from torch import nn
    except ImportError as error:
        return print(f"PyTorch is not installed: {error}")
    act = nn.ReLU()
    networks = {
        "256 units": [nn.Flatten(), nn.Linear(32, 256), act, nn.Linear(256, 17)],
        "2 layers of 256": [nn.Flatten(), nn.Linear(32, 256), act, nn.Linear(256, 256), act, nn.Linear(256, 17)],
        "2 convolutions of 32": [
            nn.Conv2d(2, 32, 3, padding=1), act, nn.Conv2d(32, 32, 3, padding=1), act, nn.Flatten(), nn.Linear(512, 17)
        ],
    }
    for name, layers in networks.items():
        yield f"PyTorch, {name}", nn.Sequential(*layers).eval()


def reports(runs=15):
    """Benchmarks the overhead of measuring, relative to the callable alone on all positions at once and on
    the same batches. Runs alternate and the fastest of each counts, because the machine may be shared."""
    table = ym.open("othello-4x4")
    batches = []

    def record(planes):
        batches.append(planes)
        return np.zeros((len(planes), 17))

    begun = time.perf_counter()
    ym.evaluate(table, record, games=False, mistakes=0, progress=False)
    print(f"evaluate, for the first time: {1e3 * (time.perf_counter() - begun):.1f} ms")
    whole = np.concatenate(batches)
    for name, network in networks():
        policy = network
        if hasattr(network, "forward"):
            import torch

            def policy(planes, network=network, torch=torch):
                with torch.no_grad():
                    return network(torch.from_numpy(planes)).numpy()

        work = [
            lambda: policy(whole),
            lambda: [policy(batch) for batch in batches],
            lambda: ym.evaluate(table, network, games=False, mistakes=0, progress=False),
            lambda: ym.evaluate(table, network, progress=False),
        ]
        spent = []
        for _ in range(runs):
            marks = [time.perf_counter()]
            for one in work:
                one()
                marks.append(time.perf_counter())
            spent.append(np.diff(marks))
        once, alone, moves, games = 1e3 * np.min(spent, axis=0)
        print(f"{name}: alone {once:.1f} ms in one call and {alone:.1f} in batches, evaluate {moves:.1f} ms, with games and "
              f"mistakes {games:.1f} ms")


def openspiel():
    try:
        import pyspiel
        from open_spiel.python.algorithms import value_iteration
    except ImportError as error:
        return print(f"OpenSpiel is not installed: {error}")
    game = pyspiel.load_game("tic_tac_toe")
    theirs = median(lambda: value_iteration.value_iteration(game, depth_limit=-1, threshold=0.01), 3)
    states = len(value_iteration.value_iteration(game, depth_limit=-1, threshold=0.01))
    import tempfile

    def ours():
        with tempfile.TemporaryDirectory() as tables:
            ym.solve("othello-4x4", tables=tables, progress=False)

    mine = median(ours, 3)
    rows = len(ym.open("othello-4x4"))
    print(f"OpenSpiel's value iteration, tic-tac-toe: {1e6 * theirs / states:.1f} us a state ({states} states)")
    print(f"solve, othello-4x4, written to disk: {1e6 * mine / rows:.2f} us a state ({rows} rows); ratio "
          f"{theirs / states / (mine / rows):.0f}")
    values = value_iteration.value_iteration(game, depth_limit=-1, threshold=0.01)
    keys = ([*values] * (100_000 // states + 1))[:100_000]
    theirs = median(lambda: [values[key] for key in keys])
    table = ym.open("othello-4x4")
    rows = np.load(next(table.path.glob("keys*.npy")))
    rows = np.tile(rows, 100_000 // len(rows) + 1)[:100_000]
    mine = median(lambda: table.lookup(rows).score)
    print(f"look-ups by key: a dictionary of OpenSpiel's strings {0.1 / theirs:.1f} M a second, ours {0.1 / mine:.1f} M")


for name in sys.argv[1:] or ["othello-4x4"]:
    lookups(name)
reports()
openspiel()
