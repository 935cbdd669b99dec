"""Opens a solved table of a game with cycles with NumPy, verifies its files, and derives its values.

    python3 rederive_cyclic.py tables/minishogi-depth5

Values are the mover's. In tables of sorted keys every value is derived from kinds and edges by
plain sweeps (only the outcomes of finished games are read); in ranked tables rows, ranks and counts are
compared with each other.
"""

import json
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy import bitwise_count

table = Path(sys.argv[1])
manifest = json.loads((table / "manifest.json").read_text())
array = {}
for name, entry in manifest["arrays"].items():
    file = table / f"{name}.npy"
    if not file.exists():  # a column written by the solver
        file = table / f"{name}-{entry['crc32']}.npy"
    array[name] = np.load(file, mmap_mode="r")
    assert array[name].dtype == entry["dtype"], name
    assert list(array[name].shape) == entry["shape"], name
    assert zlib.crc32(array[name]) == int(entry["crc32"], 16), name
states = manifest["counts"]["table"]["states"]
solution = manifest["solution"]
repetition = solution["repetition"]


def ranked():
    """Checks the rank index against the bitmap, and the distances against the manifest."""
    bits = np.unpackbits(array["reachable"].view(np.uint8), bitorder="little")
    ranks = np.flatnonzero(bits)
    assert len(ranks) == states == len(array["distance"])
    block = bitwise_count(array["reachable"]).astype(np.int64)
    block = np.add.reduceat(block, np.arange(0, len(block), 8))
    before = np.concatenate([[0], np.cumsum(block)[:-1]])
    assert np.array_equal(before, array["rank_counts"])
    inside = np.array([bits[512 * (r // 512):r].sum() for r in ranks[::997]])
    assert np.array_equal(before[ranks[::997] // 512] + inside, np.arange(0, states, 997))
    distance = array["distance"]
    known = distance != 255
    assert known.sum() == solution["exact_distances"]
    won = (known & (distance % 2 == 1)).sum()
    print(f"{states} rows: {won} won, {(known.sum() - won)} lost, {states - known.sum()} drawn")


END = 30_000  # a win in d plies is END - d, a loss in d plies d - END


def before(value):
    """Returns the value of a move to a state of this value, for the player who moves."""
    end = np.abs(value) > 1
    return -value + np.where(end, np.sign(value), 0)


def sorted_keys():
    kinds, degree = array["kinds"], array["edge_counts"]
    offsets = np.concatenate(([0], np.cumsum(degree, dtype=np.int64)))
    target = array["edge_targets"]
    interior, terminal, frontier = (kinds == kind for kind in range(3))
    assert (array["edge_starts"] == offsets[:-1][::64]).all() and offsets[-1] == len(target)
    assert (degree[interior] > 0).all() and (degree[terminal | frontier] == 0).all()
    endless = {"draw": (0, 0), "unknown": (-1, 1)}.get(repetition)
    lower, upper = np.zeros(states, int), np.zeros(states, int)
    if endless is None:
        # The side to move is the highest bit of a minishogi key: above 25 squares and 20 bits of hands.
        second = array["keys"][:, 0] >> np.uint64(45) == 1
        lower[:] = upper[:] = np.where(second, 1, -1)
    else:
        lower[:], upper[:] = endless
    bound = "" if "outcome" in array else "_lower"
    plies = array[f"distance{bound}"][terminal].astype(int)
    lower[terminal] = upper[terminal] = array[f"outcome{bound}"][terminal] * (END - plies)
    lower[frontier], upper[frontier] = 2 - END, END - 1
    begin, sweeps = offsets[:-1][interior], 0
    while True:
        low = np.maximum.reduceat(before(upper[target]), begin)
        high = np.maximum.reduceat(before(lower[target]), begin)
        if np.array_equal(low, lower[interior]) and np.array_equal(high, upper[interior]):
            break
        lower[interior], upper[interior] = low, high
        sweeps += 1

    def same(name, expected):
        wrong = np.flatnonzero(array[name] != expected)
        if len(wrong):
            row = wrong[0]
            sys.exit(f"{name} of row {row} is {array[name][row]}, derived {expected[row]}")

    proven = np.sign(lower) == np.sign(upper)
    exact = (lower == upper) & (np.abs(lower) > 1)
    bounds = {"_lower": lower, "_upper": upper}
    if "outcome" in array:
        assert np.array_equal(lower, upper)
        bounds = {"": lower}
    for name, value in bounds.items():
        no_end = np.iinfo(array[f"distance{name}"].dtype).max
        same(f"outcome{name}", np.sign(value))
        same(f"distance{name}", np.where(np.abs(value) > 1, END - np.abs(value), no_end))
    assert proven.sum() == solution["proven_outcomes"]
    assert exact.sum() == solution["exact_distances"]
    print(f"{states} rows: {proven.sum()} proven, {exact.sum()} exact, {sweeps} sweeps")


ranked() if manifest["identity"].get("index") == "rank" else sorted_keys()
