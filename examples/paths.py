"""Counts the lines of play in a table of a game with cycles by its stored moves: what perft counts by the rules.

    python examples/paths.py tables/minishogi-depth7

NumPy is all it needs. A table to N plies counts lines of up to N plies, by ply; mirror images are one row and their
moves are all there, so `solver perft --game minishogi --depth N` must say the same.
"""

import sys

import numpy as np

table = sys.argv[1]
layers, degrees, targets = (
    np.load(f"{table}/{name}.npy", mmap_mode="r") for name in ("layer_offsets", "edge_counts", "edge_targets")
)
# Rows that lines come to before their last move: of all plies but the last.
rows = int(layers[-2])
degrees = degrees[:rows].astype(np.int64)
offsets = np.concatenate(([0], np.cumsum(degrees)))
lines = np.zeros(rows)
lines[0] = 1
for ply in range(1, len(layers) - 1):
    print(ply, f"{int(lines @ degrees):,}")
    after = np.zeros(rows)
    # A line of so many moves is in no later ply than that.
    for first in range(0, int(layers[ply]), 1 << 20):
        last = min(first + (1 << 20), int(layers[ply]))
        led_to = targets[int(offsets[first]) : int(offsets[last])]
        inside = led_to < rows
        weights = np.repeat(lines[first:last], degrees[first:last])
        after += np.bincount(led_to[inside], weights[inside], minlength=rows)
    lines = after
