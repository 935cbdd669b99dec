"""Predicts every position of an export at once with NumPy: here, corners before all other squares.

    solver export --states othello-4x4
    python3 examples/predictions.py tables/othello-4x4-states
    solver report --policy predictions:tables/othello-4x4-states

A network would take `planes` as input and save the output of its last layer as logits.
"""

import json
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
states = json.loads((folder / "states.json").read_text())
rows, columns = states["board"]
planes = np.load(folder / "planes.npy", mmap_mode="r")  # positions, planes, rows, columns
assert planes.shape == (states["positions"], len(states["planes"]), rows, columns)

# One logit per action; the last action is the pass. Illegal moves need no mask.
weights = np.zeros(states["actions"], dtype=np.float32)
weights[[0, columns - 1, (rows - 1) * columns, rows * columns - 1]] = 5.0
np.save(folder / "logits.npy", np.tile(weights, (len(planes), 1)))

# Value for the mover, from -1 to 1: its disc difference over all discs.
mover, opponent = planes[:, 0].sum(axis=(1, 2)), planes[:, 1].sum(axis=(1, 2))
difference = mover.astype(np.float32) - opponent.astype(np.float32)
np.save(folder / "values.npy", difference / (mover + opponent))
