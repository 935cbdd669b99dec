"""Predictions by NumPy's random numbers, and an independent computation of the report's figures.

    predicted.py STATES                                   writes predictions into an export of states
    predicted.py STATES TARGETS RESULTS.csv REPORT.json   compares; TARGETS is an export of the same
                                                          positions with their exact values
"""

import json
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd

states = Path(sys.argv[1])
legal = np.load(states / "legal.npy").astype(bool)

if len(sys.argv) == 2:
    random = np.random.default_rng(7)
    # Scores of a few levels, so that many are equal; a third of the probabilities are 0.
    scores = random.integers(-2, 3, legal.shape).astype("<f4")
    worth = random.random(legal.shape) * (random.random(legal.shape) > 1 / 3) * legal
    worth = np.where(worth.sum(1, keepdims=True) > 0, worth, legal)
    np.save(states / "scores.npy", scores)
    np.save(states / "probabilities.npy", worth / worth.sum(1, keepdims=True))
    np.save(states / "values.npy", random.uniform(-1, 1, len(legal)))
    sys.exit()

targets, results, report = Path(sys.argv[2]), pd.read_csv(sys.argv[3]), json.load(open(sys.argv[4]))
boards = [board.decode().strip() for board in np.load(targets / "board.npy")]
place = {board: at for at, board in enumerate(boards)}
positions = (states / "positions.txt").read_text().splitlines()
order = np.array([place[position.strip()] for position in positions])
probabilities, scores = (np.load(states / f"{name}.npy") for name in ("probabilities", "scores"))
q = np.load(targets / "q_score.npy")[order].astype(int)
best = legal & (q == np.where(legal, q, -128).max(1, keepdims=True))


def among_first(scores, best):
    """Returns the shares of orders, highest scores first, with a best move among the first 1, 2, 3."""
    found = np.zeros(3)
    orders = [p for p in permutations(range(len(scores))) if all(np.diff(scores[list(p)]) <= 0)]
    for order in orders:
        found += [best[list(order[:k])].any() for k in (1, 2, 3)]
    return found / len(orders)


p = np.where(legal, probabilities, 0)
kept = (p * best).sum(1)
wanted = pd.DataFrame(
    {
        "score_kept": kept,
        "score_lost": (p * (np.where(best, q, -128).max(1, keepdims=True) - q)).sum(1),
        "nll": -np.log(np.clip(kept, 1e-12, 1)),
        "entropy": -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(1),
        "position": [position.strip() for position in positions],
    }
).set_index("position")
results = results.set_index("position").loc[wanted.index]
for name in wanted:
    assert np.allclose(results[name], wanted[name], rtol=0, atol=1e-9), name
# Positions with few moves, because all orders are enumerated; every fortieth position.
few = np.nonzero(legal.sum(1) <= 5)[0][::40]
tops = np.array([among_first(scores[at][legal[at]], best[at][legal[at]]) for at in few])
found = results[["top_1", "top_2", "top_3"]].to_numpy()[few]
assert np.allclose(found, tops, rtol=0, atol=1e-12)
policy = report["policies"][0]

# Losses by the square that is played.
q_outcome = np.load(targets / "q_outcome.npy")[order].astype(int)
for values, name in [(q, "score"), (q_outcome, "result")]:
    lost = p * np.where(legal, np.where(legal, values, -128).max(1, keepdims=True) - values, 0)
    found = [square[f"{name}_lost"] for square in policy["squares"]]
    assert np.allclose(found, lost.sum(0)[:-1], rtol=0, atol=1e-6), name
assert np.allclose([square["played"] for square in policy["squares"]], p.sum(0)[:-1])

assert np.isclose((kept < 1e-12).mean(), policy["total"]["all"]["no_chance"]) and (kept < 1e-12).any()
print(f"{len(wanted)} positions, {len(few)} with all orders")
