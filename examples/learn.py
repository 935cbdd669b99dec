"""Trains and measures a network: exports 4x4 Othello, trains scikit-learn's MLP on the training part, writes it as
ONNX, and has the solver measure it exactly, on every test position.

    pip install numpy scikit-learn skl2onnx
    python3 examples/learn.py            # SOLVER='cargo run --release --' python3 examples/learn.py

Makes the table if it is missing; writes data and model to the directory `learned` (or the one given).
"""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from skl2onnx import to_onnx
from sklearn.neural_network import MLPRegressor

out = Path(sys.argv[1] if len(sys.argv) > 1 else "learned")
epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
command = shlex.split(os.environ.get("SOLVER", "solver"))


def solver(*args):
    done = subprocess.run([*command, *map(str, args)], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


out.mkdir(parents=True, exist_ok=True)
solver("enumerate", "--size", 4, "--quiet")
solver("value-iterate", "othello-4x4", "--quiet")
# All images of the training positions; no image of a test position is among them.
data = out / "train"
solver("export", "othello-4x4", "--split", "train", "--expand-symmetry", "--out", data, "--quiet")

planes = np.load(data / "planes.npy", mmap_mode="r")  # positions, 2, 4, 4: the mover's discs, the opponent's
q = np.load(data / "q_score.npy", mmap_mode="r")  # positions, 17: the mover's final score after each action
legal = np.load(data / "legal.npy", mmap_mode="r") == 1
inputs = planes.reshape(len(planes), -1).astype(np.float32)
# Score of each move relative to the best one. Illegal moves get -8, and are learned too.
best = np.where(legal, q, -128).max(axis=1, keepdims=True).astype(np.float32)
targets = np.where(legal, q - best, -8.0).astype(np.float32) / 8

network = MLPRegressor(hidden_layer_sizes=(256, 256), batch_size=1024, learning_rate_init=0.003, random_state=0)
started = time.monotonic()
for epoch in range(1, epochs + 1):
    network.partial_fit(inputs, targets)
    seconds = time.monotonic() - started
    print(f"epoch {epoch} of {epochs}: loss {network.loss_:.5f}, {seconds:.0f} s", file=sys.stderr)
model = out / "scikit.onnx"
model.write_bytes(to_onnx(network, inputs[:1], target_opset=17).SerializeToString())

policy = f"onnx:{model}?move=best,value=none"
report = json.loads(solver("report", "--size", 4, "--split", "test", "--policy", f"{policy},random", "--json", "--quiet"))
for found in report["policies"]:
    figures = found["total"]
    result, decisive = (figures[name]["result_kept"] for name in ("all", "decisive_result"))
    print(f"{found['policy']}: keeps the result in {result:.2%} of the test positions, {decisive:.2%} of the decisive ones")
