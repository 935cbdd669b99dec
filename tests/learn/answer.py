"""Answers exported positions with ONNX Runtime: answer.py MODEL.onnx STATES

Writes the move that the network finds best among the legal ones to STATES/actions.npy.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

model, states = sys.argv[1], Path(sys.argv[2])
onnx.checker.check_model(onnx.load(model), full_check=True)
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
planes = np.load(states / "planes.npy").astype(np.float32)
legal = np.load(states / "legal.npy")
names = [output.name for output in session.get_outputs()]
(policy,) = [at for at, name in enumerate(names) if name == "policy"]
logits = session.run(None, {"board": planes})[policy]
assert logits.shape == legal.shape, (logits.shape, legal.shape)
best = np.where(legal == 1, logits, -np.inf).argmax(axis=1)
np.save(states / "actions.npy", best.astype(np.int32))
