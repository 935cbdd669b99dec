"""Holds networks' ONNX models against their weights: models.py NAME...

Reads NAME.json and the weights of NAME.onnx, works the network out in NumPy and compares what ONNX Runtime makes
of NAME.onnx, for random inputs. Says of each network how many numbers were compared.
"""

import json
import sys

import numpy as np
import onnx
import onnxruntime

activations = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def check(name):
    network = json.load(open(f"{name}.json"))["network"]
    model = onnx.load(f"{name}.onnx")
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}

    def layer(name, x, activation):
        return activations[activation](x @ weights[f"{name}.weight"].T.astype(float) + weights[f"{name}.bias"])

    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(f"{name}.onnx", providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    inputs = np.random.default_rng(0).integers(0, 2, (50, *given.shape[1:])).astype(np.float32)
    x = inputs.reshape(len(inputs), -1).astype(float)
    assert network["kind"] == "mlp" and x.shape[1] == network["inputs"], (given.shape, network)
    for at in range(len(network["hidden"])):
        x = layer(f"hidden.{at}", x, network["activation"])
    compared = 0
    found = dict(zip([o.name for o in session.get_outputs()], session.run(None, {given.name: inputs})))
    assert list(found) == [head["name"] for head in network["heads"]], list(found)
    for head in network["heads"]:
        wanted = layer(f"heads.{head['name']}", x, head["activation"])
        answer = found[head["name"]]
        assert answer.shape == wanted.shape == (len(inputs), head["outputs"]), answer.shape
        assert np.allclose(answer, wanted, atol=1e-4), np.abs(answer - wanted).max()
        compared += answer.size
    print(f"{name}: {compared} numbers")


for name in sys.argv[1:]:
    check(name)
