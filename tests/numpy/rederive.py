"""Opens a solved table with NumPy, verifies its files, and derives every value again.

    python3 rederive.py tables/othello-4x4

Values are the mover's. They are derived only from keys, kinds and edges.
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

rows, columns = map(int, manifest["identity"]["game"].removeprefix("othello-").split("x"))
squares = rows * columns
keys = array["keys"]
if keys.ndim == 2:
    occupied, mover = keys[:, 0], keys[:, 1]
else:
    occupied, mover = keys >> np.uint64(squares), keys & np.uint64((1 << squares) - 1)
assert not (mover & ~occupied).any()
opponent = occupied ^ mover
terminal, frontier = array["kinds"] == 1, array["kinds"] == 2
difference = bitwise_count(mover).astype(int) - bitwise_count(opponent)
if manifest["solution"]["empties"] == "to-winner":
    difference += (squares - bitwise_count(mover | opponent)) * np.sign(difference)

# Interior rows are those with moves, so the maxima begin where their moves begin.
interior = array["kinds"] == 0
begins = np.cumsum(array["edge_counts"], dtype=np.int64) - array["edge_counts"]
assert (array["edge_starts"] == begins[::64]).all()
begin = begins[interior]
target = array["edge_targets"]


def best(of_each_move):
    """Returns the best value among the moves of every interior row."""
    return np.maximum.reduceat(of_each_move, begin)


def settle(sweep, *values):
    """Sweeps all rows until nothing changes; returns the values."""
    while True:
        before = [value.copy() for value in values]
        sweep(*values)
        if all(map(np.array_equal, before, values)):
            return values


def exact(score, distance):
    """Applies one sweep: among equal scores a shorter game is better if won or drawn, a longer one if
    lost."""
    own, plies = -score[target], distance[target] + 1
    rank = best(1000 * own + np.where(own < 0, plies, -plies))
    score[interior] = np.rint(rank / 1000)
    distance[interior] = abs(rank - 1000 * score[interior])


def bounds(lower, upper):
    lower[interior], upper[interior] = best(-upper[target]), best(-lower[target])


def distances(known, distance):
    """Applies one sweep to the distances of proven scores."""
    known[interior] = proven[interior] & (best(keeps & ~(proven & known)[target]) == 0)
    plies, lost = distance[target] + 1, np.repeat(lower < 0, array["edge_counts"])
    rank = best(np.where(keeps, np.where(lost, plies, -plies), -1000))
    distance[interior] = np.where(known[interior], abs(rank), 0)


def discounted(value):
    value[interior] = best(-np.float32(manifest["discounted"]["discount"]) * value[target])


def expect(name, wanted):
    wrong = np.flatnonzero(array[name] != wanted)
    assert not wrong.size, f"{name} of row {wrong[0]}: {array[name][wrong[0]]}"


end = np.where(terminal, difference, 0)
outcome_at_end = np.sign(end)
if manifest["complete"]:
    score, distance = settle(exact, end, np.zeros_like(end))
    expect("score", score)
    expect("distance", distance)
else:
    unknown = np.where(terminal, 0, squares)
    lower, upper = settle(bounds, end - unknown, end + unknown)
    expect("score_lower", lower)
    expect("score_upper", upper)
    proven, open_ended = lower == upper, np.iinfo(array["distance_lower"].dtype).max
    # Of moves that could keep the score, each must have a known distance.
    keeps = -lower[target] == np.repeat(upper, array["edge_counts"])
    known, distance = settle(distances, terminal.copy(), np.zeros_like(end))
    expect("distance_lower", np.where(known, distance, np.where(lower < 0, 0, open_ended)))
    expect("distance_upper", np.where(known, distance, np.where(upper < 0, open_ended, 0)))
if manifest["discounted"]:
    expect("value", *settle(discounted, outcome_at_end.astype("f4")))

# A row represents every position (an image of its board, and a side to move) in its orientations.
positions = bitwise_count(array["orientations"]).astype(int)
counts = manifest["counts"]["reachable"]
for name, which in {"states": ..., "terminals": terminal, "frontier": frontier}.items():
    assert positions[which].sum() == counts[name], name
print(f"keys {keys.shape}: {len(keys)} rows, {positions.sum()} positions, all derived again")
