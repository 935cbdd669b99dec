"""Counts the lines of play in a table of a game with cycles by its stored moves, as perft counts them by the rules.

    python examples/paths.py tables/minishogi-depth7

Requires only NumPy. A table to N plies gives the lines of up to N plies, by ply. A row stands for a state and its
mirror image and has all moves of the state, so `solver perft --game minishogi --depth N` must print the same numbers.
"""

import sys

import numpy as np

table = sys.argv[1]
layers, degrees, targets = (
    np.load(f"{table}/{name}.npy", mmap_mode="r") for name in ("layer_offsets", "edge_counts", "edge_targets")
)
# Rows from which lines continue: all plies but the last.
rows = int(layers[-2])
degrees = degrees[:rows].astype(np.int64)
offsets = np.concatenate(([0], np.cumsum(degrees)))
lines = np.zeros(rows)
lines[0] = 1
for ply in range(1, len(layers) - 1):
    print(ply, f"{int(lines @ degrees):,}")
    after = np.zeros(rows)
    # After n moves a line is in ply n at most.
    for first in range(0, int(layers[ply]), 1 << 20):
        last = min(first + (1 << 20), int(layers[ply]))
        led_to = targets[int(offsets[first]) : int(offsets[last])]
        inside = led_to < rows
        weights = np.repeat(lines[first:last], degrees[first:last])
        after += np.bincount(led_to[inside], weights[inside], minlength=rows)
    lines = after
