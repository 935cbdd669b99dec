"""Trains small networks on a solved 4x4 table, writes them as ONNX files, and prints their expected
figures as JSON, computed from the table's arrays and ONNX Runtime, without the solver.

    python scikit.py TABLE DIR

The table is not folded, so rows are the positions the networks receive.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.neural_network import MLPClassifier, MLPRegressor

warnings.filterwarnings("ignore")
table, out = Path(sys.argv[1]), Path(sys.argv[2])
names = ("keys", "kinds", "orientations", "edge_counts", "edge_targets", "edge_actions", "score")
array = {name: np.load(next(table.glob(f"{name}*.npy"))) for name in names}

# Input of the networks: all squares of the mover, then all of the opponent, row by row.
bits = array["keys"][:, None] >> np.arange(32, dtype=np.uint64) & 1
mover, opponent = bits[:, :16], bits[:, 16:] - bits[:, :16]
flat = np.concatenate([mover, opponent], axis=1).astype(np.float32)
interleaved = np.stack([mover, opponent], axis=2).reshape(-1, 32).astype(np.float32)

rows = np.flatnonzero(array["edge_counts"])
count = array["edge_counts"][rows].astype(int)
edge_row = np.repeat(rows, count)
first = np.concatenate([[0], np.cumsum(count)[:-1]])
action = array["edge_actions"].astype(int)
worth = -array["score"][array["edge_targets"]].astype(int)
positions = np.bitwise_count(array["orientations"]).astype(int)[rows]

best = np.maximum.reduceat(worth, first)
best_of = np.repeat(best, count)
# One best move a row as the label, and the value of every action, -16 for illegal ones.
teacher = np.full(len(flat), -1)
is_best = worth == best_of
teacher[edge_row[is_best]] = action[is_best]
q = np.full((len(flat), 17), -16)
q[edge_row, action] = worth


def per_row(numbers):
    return np.repeat(np.add.reduceat(numbers, first), count)


def figures(probability):
    mean = lambda each: float((np.add.reduceat(probability * each, first) * positions).sum() / positions.sum())
    lost = np.sign(best_of) - np.sign(worth)
    return {
        "score_kept": mean(worth == best_of),
        "result_kept": mean(lost == 0),
        "score_lost": mean(best_of - worth),
        "result_lost": mean(lost),
    }


def share_best(score):
    is_best = score == np.repeat(np.maximum.reduceat(score, first), count)
    return is_best / per_row(is_best.astype(float))


def masked(matrix):
    mass = matrix[edge_row, action].astype(float)
    total = per_row(mass)
    legal = np.repeat(count, count)
    return np.where(total > 0, mass / np.where(total > 0, total, 1), 1 / legal)


def run(model, x):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": x})))


learn = np.random.default_rng(0).choice(rows, 3000, replace=False)
report = {}


def save(name, model, probability):
    (out / name.split("?")[0]).write_bytes(model.SerializeToString())
    report[name] = figures(probability)


# Exported with default options: dictionaries of probabilities. The middle squares are occupied from the
# start, so no network learns those actions.
classifier = MLPClassifier([24], max_iter=15, random_state=0).fit(flat[learn], teacher[learn])
assert len(classifier.classes_) < 17
probabilities = np.zeros((len(flat), 17))
model = to_onnx(classifier, flat[:1])
dictionaries = run(model, flat)["output_probability"]
columns = [list(row.values()) for row in dictionaries]
probabilities[:, classifier.classes_] = columns
save("dictionaries.onnx", model, masked(probabilities))

# As a matrix of probabilities, from positions square by square.
classifier.fit(interleaved[learn], teacher[learn])
model = to_onnx(classifier, interleaved[:1], options={"zipmap": False})
probabilities[:, classifier.classes_] = run(model, interleaved)["probabilities"]
save("interleaved.onnx?layout=interleaved", model, masked(probabilities))

# Q values in discs, all actions at once: skl2onnx writes the shape (17 N, 1).
regressor = MLPRegressor(hidden_layer_sizes=[24], max_iter=15, random_state=0).fit(flat[learn], q[learn])
model = to_onnx(regressor, flat[:1])
values = run(model, flat)["variable"].reshape(-1, 17)
save("q.onnx", model, share_best(values[edge_row, action]))

# Final disc difference, searched one ply ahead; terminal values are exact.
regressor.fit(flat[learn], array["score"][learn].astype(float))
model = to_onnx(regressor, flat[:1])
values = run(model, flat)["variable"][:, 0]
values = np.where(array["kinds"] == 1, array["score"], values)
save("discs.onnx?range=discs", model, share_best(-values[array["edge_targets"]]))

print(json.dumps(report))
