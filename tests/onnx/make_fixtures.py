"""Writes the models in tests/fixtures/onnx and the outputs of ONNX Runtime for them.

    pip install onnx onnxruntime scikit-learn skl2onnx
    python tests/onnx/make_fixtures.py

`expected.json` contains positions as keys of a 4x4 table, and for every model the expected
probabilities of the legal actions and the expected values. Positions are encoded here with NumPy
and played by `board.py`.
"""

import json
import warnings
from pathlib import Path

import board
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")
OUT = Path(__file__).parent.parent / "fixtures" / "onnx"
random = np.random.default_rng(20)


class Graph:
    """A model being built: nodes, constants and outputs."""

    def __init__(self, shape, batch="N", kind=TensorProto.FLOAT):
        self.nodes, self.constants, self.outputs, self.count = [], [], [], 0
        self.input = helper.make_tensor_value_info("x", kind, [batch, *shape])
        self.batch = batch

    def add(self, operator, *inputs, name=None, domain="", **attributes):
        self.count += 1
        name = name or f"t{self.count}"
        self.nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def weights(self, *shape, scale=None):
        size = scale or (2 / np.prod(shape[1:]) ** 0.5 if len(shape) > 1 else 0.5)
        return self.constant(random.normal(size=shape).astype(np.float32) * np.float32(size))

    def constant(self, array):
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{self.count}"))
        return f"c{self.count}"

    def conv(self, x, inside, outside, size=3):
        weights, bias = self.weights(outside, inside, size, size), self.weights(outside)
        return self.add("Conv", x, weights, bias, pads=[size // 2] * 4, kernel_shape=[size, size])

    def dense(self, x, inside, outside, name=None):
        return self.add("Gemm", x, self.weights(outside, inside), self.weights(outside), transB=1, name=name)

    def tower(self, x, planes):
        """Adds a small residual network as exported by PyTorch; returns a tensor of shape (N, 64)."""
        x = self.conv(x, planes, 4)
        one = self.constant(np.ones(4, np.float32))
        x = self.add("BatchNormalization", x, self.weights(4), self.weights(4), self.weights(4), one)
        x = self.add("Relu", x)
        x = self.add("Relu", self.add("Add", x, self.conv(x, 4, 4)))
        return self.add("Flatten", x, axis=1)

    def output(self, name, *shape, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, [self.batch, *shape]))

    def save(self, name, opset=17):
        graph = helper.make_graph(self.nodes, name, [self.input], self.outputs, self.constants)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="make_fixtures")
        model.ir_version = 8
        onnx.save(model, OUT / f"{name}.onnx")


def heads(graph, x, policy=17, policy_name="policy", value_name="value"):
    graph.dense(x, 64, policy, name=policy_name)
    graph.output(policy_name, policy)
    graph.add("Tanh", graph.dense(x, 64, 1), name=value_name)
    graph.output(value_name, 1)


def nchw():
    graph = Graph([2, 4, 4])
    heads(graph, graph.tower("x", 2))
    graph.save("nchw")


def nhwc():
    """Probabilities, and meaningless names."""
    graph = Graph([4, 4, 2])
    x = graph.tower(graph.add("Transpose", "x", perm=[0, 3, 1, 2]), 2)
    graph.add("Softmax", graph.dense(x, 64, 17), axis=-1, name="a")
    graph.output("a", 17)
    graph.add("Tanh", graph.dense(x, 64, 1), name="b")
    graph.output("b", 1)
    graph.save("nhwc")


def openspiel():
    """Flat input, and an output of win, draw and loss."""
    graph = Graph([48])
    planes = graph.add("Reshape", "x", graph.constant(np.array([-1, 3, 4, 4])))
    x = graph.tower(planes, 3)
    graph.dense(x, 64, 17, name="policy_logits")
    graph.output("policy_logits", 17)
    graph.dense(x, 64, 3, name="wdl")
    graph.output("wdl", 3)
    graph.save("openspiel")


def signed():
    """Fixed batch size 1, and log-probabilities."""
    graph = Graph([4, 4], batch=1)
    x = graph.tower(graph.add("Reshape", "x", graph.constant(np.array([1, 1, 4, 4]))), 1)
    graph.add("LogSoftmax", graph.dense(x, 64, 17), axis=1, name="pi")
    graph.output("pi", 17)
    graph.add("Tanh", graph.dense(x, 64, 1), name="v")
    graph.output("v", 1)
    graph.save("signed")


def flat(name, shape):
    """No pass; the output has an extra dimension."""
    graph = Graph([32])
    x = graph.add("Relu", graph.dense("x", 32, 12))
    graph.add("Reshape", graph.dense(x, 12, 16), graph.constant(np.array(shape)), name="logits")
    graph.output("logits", *shape[1:])
    graph.save(name)


def legal():
    """A third plane, and booleans."""
    graph = Graph([3, 4, 4], kind=TensorProto.BOOL)
    x = graph.tower(graph.add("Cast", "x", to=TensorProto.FLOAT), 3)
    heads(graph, x)
    graph.save("legal")


def value():
    """A value only, from 0 to 1, of shape (N,)."""
    graph = Graph([2, 4, 4])
    x = graph.dense(graph.tower("x", 2), 64, 1)
    graph.add("Reshape", graph.add("Sigmoid", x), graph.constant(np.array([-1])), name="chance")
    graph.output("chance")
    graph.save("value")


def label():
    graph = Graph([16])
    x = graph.dense("x", 16, 16)
    graph.add("ArgMax", x, axis=1, keepdims=0, name="action")
    graph.output("action", kind=TensorProto.INT64)
    graph.save("label")


def sklearn_models():
    """A classifier with missing actions whose output is dictionaries, and a regressor of Q values."""
    from skl2onnx import to_onnx
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    x = random.integers(0, 2, (400, 32)).astype(np.float32)
    y = random.choice([0, 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 14, 15, 16], 400)
    classifier = MLPClassifier([8], max_iter=20, random_state=1).fit(x, y)
    (OUT / "zipmap.onnx").write_bytes(to_onnx(classifier, x[:1]).SerializeToString())
    q = random.normal(size=(400, 17))
    regressor = MLPRegressor(hidden_layer_sizes=[8], max_iter=20, random_state=1).fit(x, q)
    (OUT / "q.onnx").write_bytes(to_onnx(regressor, x[:1]).SerializeToString())


def external():
    """Weights in a file beside the model, as PyTorch exports large networks."""
    model = onnx.load(OUT / "nchw.onnx")
    (OUT / "external.onnx.data").unlink(missing_ok=True)
    onnx.save(model, OUT / "external.onnx", save_as_external_data=True, location="external.onnx.data", size_threshold=0)


def broken():
    graph = Graph([2, 4, 4])
    logits = graph.dense(graph.add("Flatten", "x", axis=1), 32, 17)
    # The number of discs, 4 at the start and 5 after one move: 0 / 0 once it is 9.
    discs = graph.add("ReduceSum", "x", graph.constant(np.array([1, 2, 3])), keepdims=0)
    off = graph.add("Sub", discs, graph.constant(np.float32(9)))
    one = graph.add("Unsqueeze", graph.add("Div", off, off), graph.constant(np.array([1])))
    graph.add("Mul", logits, one, name="policy")
    graph.output("policy", 17)
    graph.save("nan-at-9")

    graph = Graph([2, 4, 4])
    minus = graph.add("Sub", "x", graph.constant(np.float32(2)))
    logits = graph.dense(graph.add("Flatten", graph.add("Log", minus), axis=1), 32, 17, name="policy")
    graph.output(logits, 17)
    graph.save("nan")

    graph = Graph([2, 4, 4])
    graph.add("Wonder", "x", domain="org.example", name="policy")
    graph.output("policy", 17)
    graph.save("unknown-operator")

    graph = Graph([32])
    graph.add("Scaler", "x", domain="ai.onnx.ml", offset=[0.0], scale=[1.0], name="t")
    graph.dense("t", 32, 17, name="policy")
    graph.output("policy", 17)
    graph.save("scaler")

    graph = Graph([2, 4, 4])
    x = graph.add("Flatten", "x", axis=1)
    for name in ("red", "blue"):
        graph.dense(x, 32, 17, name=name)
        graph.output(name, 17)
    graph.save("two-policies")

    graph = Graph([2, 4, 4])
    graph.dense(graph.add("Flatten", "x", axis=1), 32, 9, name="policy")
    graph.output("policy", 9)
    graph.save("nine")

    graph = Graph([2, 4, 4])
    graph.nodes.append(helper.make_node("Add", ["x", "y"], ["policy"]))
    graph.output("policy", 2, 4, 4)
    proto = helper.make_graph(
        graph.nodes, "two-inputs", [graph.input, helper.make_tensor_value_info("y", 1, ["N", 2, 4, 4])],
        graph.outputs,
    )
    onnx.save(helper.make_model(proto, opset_imports=[helper.make_opsetid("", 17)]), OUT / "two-inputs.onnx")


def positions(count):
    """Returns positions of random games, at least one of them with a pass."""
    found = []
    while len(found) < count or not any(board.legal(p) == [board.PASS] for p in found):
        position = board.start()
        while actions := board.legal(position):
            if random.random() < 0.2 and position not in found:
                found.append(position)
            position = board.play(position, random.choice(actions))
    return found


LAYOUTS = {
    "nchw": lambda p: board.planes(p),
    "nhwc": lambda p: board.planes(p).transpose(1, 2, 0),
    "openspiel": lambda p: np.concatenate([1 - board.planes(p).sum(0, keepdims=True), board.planes(p)]).ravel(),
    "signed": lambda p: board.planes(p)[0] - board.planes(p)[1],
    "signed-flat": lambda p: (board.planes(p)[0] - board.planes(p)[1]).ravel(),
    "flat": lambda p: board.planes(p).ravel(),
    "interleaved": lambda p: board.planes(p).transpose(1, 2, 0).ravel(),
    "legal": lambda p: np.concatenate([board.planes(p), legal_plane(p)]).astype(bool),
}


def legal_plane(position):
    plane = np.zeros((1, 16), np.float32)
    plane[0, board.placements(position)] = 1
    return plane.reshape(1, 4, 4)


# File, options, layout, policy output and its reading, value output and its reading.
CASES = [
    ("nchw", "", "nchw", "policy", "logits", "value", "-11"),
    ("nchw", "?value=none", "nchw", "policy", "logits", None, None),
    ("nchw", "?move=best", "nchw", "policy", "best", "value", "-11"),
    ("nchw", "?depth=1", "nchw", None, None, "value", "-11"),
    ("external", "", "nchw", "policy", "logits", "value", "-11"),
    ("nhwc", "", "nhwc", "a", "probabilities", "b", "-11"),
    ("openspiel", "?layout=openspiel", "openspiel", "policy_logits", "logits", "wdl", "wdl"),
    ("signed", "", "signed", "pi", "logits", "v", "-11"),
    ("flat", "?pass=no", "flat", "logits", "logits", None, None),
    ("interleaved", "?layout=interleaved", "interleaved", "logits", "logits", None, None),
    ("legal", "?planes=mover+opponent+legal", "legal", "policy", "logits", "value", "-11"),
    ("value", "?range=01", "nchw", None, None, "chance", "01"),
    ("label", "?policy=action", "signed-flat", "action", "label", None, None),
    ("zipmap", "", "flat", "output_probability", "classes", None, None),
    ("q", "", "flat", "variable", "best", None, None),
]


def run(name, rows):
    session = onnxruntime.InferenceSession(OUT / f"{name}.onnx")
    names = [output.name for output in session.get_outputs()]
    entry = session.get_inputs()[0]
    parts = [rows[i : i + 1] for i in range(len(rows))] if entry.shape[0] == 1 else [rows]
    results = [session.run(names, {entry.name: part}) for part in parts]
    join = lambda lists: sum(lists, []) if isinstance(lists[0], list) else np.concatenate(lists)
    return {name: join([result[i] for result in results]) for i, name in enumerate(names)}


def values(outputs, name, reading, count):
    numbers = np.asarray(outputs[name], float).reshape(count, -1)
    if reading == "wdl":
        mass = np.exp(numbers - numbers.max(1, keepdims=True))
        return (mass[:, 0] - mass[:, 2]) / mass.sum(1)
    return 2 * numbers[:, 0] - 1 if reading == "01" else numbers[:, 0]


def policy(outputs, case, asked, encode):
    file, _, _, name, reading, value_name, value_reading = case
    found = []
    for i, position in enumerate(asked):
        actions = board.legal(position)
        if name is None:
            scores = []
            for after in (board.play(position, action) for action in actions):
                if board.legal(after):
                    row = run(file, np.stack([encode(after)]))
                    scores.append(-values(row, value_name, value_reading, 1)[0])
                else:
                    scores.append(-board.result(after))
            found.append(board.best(scores))
        elif reading == "label":
            row = np.zeros(16)
            row[outputs[name][i]] = 1
            found.append(board.masked(row, actions, False))
        elif reading == "classes":
            row = [outputs[name][i].get(action, 0.0) for action in range(17)]
            found.append(board.masked(row, actions, False))
        else:
            row = np.asarray(outputs[name]).reshape(len(asked), -1)[i]
            is_best = reading == "best"
            picked = lambda: board.best([row[action] for action in actions])
            found.append(picked() if is_best else board.masked(row, actions, reading == "logits"))
    return found


def part(nodes, name, inputs=(), outputs=(), constants=()):
    """Returns a subgraph whose ports have a type and no shape."""
    info = lambda port: helper.make_tensor_value_info(*port)
    return helper.make_graph(nodes, name, [*map(info, inputs)], [*map(info, outputs)], constants)


def ones(graph):
    """Adds constant logits without random numbers, so that earlier fixtures are unchanged."""
    return graph.add("MatMul", graph.add("Flatten", "x", axis=1), graph.constant(np.ones((32, 17), np.float32)))


def endless():
    """An infinite loop on the logits."""
    graph = Graph([2, 4, 4])
    logits = ones(graph)
    step = [helper.make_node("Identity", ["on"], ["still"]), helper.make_node("Tanh", ["it"], ["next"])]
    inputs = [("at", TensorProto.INT64, []), ("on", TensorProto.BOOL, []), ("it", TensorProto.FLOAT, None)]
    body = part(step, "body", inputs, [("still", TensorProto.BOOL, []), ("next", TensorProto.FLOAT, None)])
    rounds, on = graph.constant(np.array(2**40)), graph.constant(np.array(True))
    graph.add("Loop", rounds, on, logits, name="policy", body=body)
    graph.output("policy", 17)
    graph.save("endless")


def huge():
    """Sums four billion zeros."""
    graph = Graph([2, 4, 4])
    logits = ones(graph)
    zeros = graph.add("ConstantOfShape", graph.constant(np.array([2**32])))
    graph.add("Add", logits, graph.add("ReduceSum", zeros, keepdims=0), name="policy")
    graph.output("policy", 17)
    graph.save("huge")


def topk():
    """The 2^29 largest of 17 numbers."""
    graph = Graph([2, 4, 4])
    logits = ones(graph)
    graph.add("Identity", logits, name="policy")
    graph.output("policy", 17)
    many = graph.constant(np.array([1 << 29]))
    graph.nodes.append(helper.make_node("TopK", [logits, many], ["value", "w"], axis=1))
    graph.output("value", None)
    graph.save("topk")


def said():
    """Models whose outputs have telling names: Q-values; a move, a value and a log-probability; a policy, chances of
    win, draw and loss, and a score."""
    drawn = np.random.default_rng(59)
    weights = lambda graph, outside: graph.constant(drawn.normal(size=(32, outside)).astype(np.float32))
    names = {"q-values": ["q_values"], "actions": ["actions", "values", "log_prob"], "wdl": ["policy", "value", "scoremean"]}
    for model, outputs in names.items():
        graph = Graph([2, 4, 4])
        flat = graph.add("Flatten", "x", axis=1)
        first = outputs[0] if outputs[0] != "actions" else None
        numbers = graph.add("MatMul", flat, weights(graph, 17), name=first)
        if first is None:
            graph.add("ArgMax", numbers, name="actions", axis=1, keepdims=0)
            graph.outputs.append(helper.make_tensor_value_info("actions", TensorProto.INT64, ["N"]))
        else:
            graph.output(first, 17)
        for name in outputs[1:]:
            width = 3 if name == "value" else 1
            graph.add("MatMul", flat, weights(graph, width), name=name)
            graph.output(name, width)
        graph.save(model)


def refused():
    """Models that the runtime cannot run: with dropout as in training, and with an operator of opset 18."""
    for model in ["training", "selu"]:
        graph = Graph([2, 4, 4])
        x = graph.add("Flatten", "x", axis=1)
        if model == "training":
            ratio, on = graph.constant(np.float32(0.5)), graph.constant(np.array(True))
            x = graph.add("Dropout", x, ratio, on)
        x = graph.add("MatMul", x, graph.constant(np.ones((32, 17), np.float32)), name="policy" if model == "training" else None)
        if model == "selu":
            graph.add("Selu", x, name="policy")
        graph.output("policy", 17)
        graph.save(model, opset=18 if model == "selu" else 17)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for make in (nchw, nhwc, openspiel, signed, legal, value, label, sklearn_models, broken, external):
        make()
    flat("flat", [-1, 16, 1])
    flat("interleaved", [-1, 4, 4])
    endless()
    huge()
    topk()
    said()
    refused()
    asked = positions(24)
    expected = {"keys": [board.to_key(p) for p in asked], "actions": [board.legal(p) for p in asked]}
    expected["cases"] = []
    for case in CASES:
        encode = LAYOUTS[case[2]]
        outputs = run(case[0], np.stack([encode(p) for p in asked]))
        told = case[5] and values(outputs, case[5], case[6], len(asked)).tolist()
        expected["cases"].append({
            "model": f"{case[0]}.onnx{case[1]}",
            "probabilities": policy(outputs, case, asked, encode),
            "values": told or [],
        })
    (OUT / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


main()
