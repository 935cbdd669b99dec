"""Every kind of answer by every door: a function, arrays, a program and a model of the same numbers have the same
figures. The table of docs/your-policy.md is made of these cases: YOMIKIRI_WRITE_PAGES=1 writes it."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import yomikiri as ym

PAGE = Path(__file__).parents[2] / "docs" / "your-policy.md"
RANDOM = np.random.default_rng(59)
# Multiples of 1/1024, whose sums are exact in float32 in any order: moves that are tied are so on every processor.
WEIGHTS = {name: np.round(1024 * scale * RANDOM.normal(size=(32, width))).astype("f4") / 1024
           for name, width, scale in [("moves", 17, 1), ("value", 1, 0.2), ("wdl", 3, 1)]}

#: Kinds: what it is, its shape, the outputs by name, and the options that it needs. `x` are rows of planes, `legal` the
#: legal moves; the operators are those of NumPy and of ONNX.
KINDS = [
    ("logits", "N, A", lambda o: {"logits": o.moves()}, ""),
    ("logits without the pass", "N, S", lambda o: {"logits": o.part(o.moves())}, ""),
    ("a board of logits", "N, R, C", lambda o: {"logits": o.board(o.part(o.moves()))}, ""),
    ("probabilities", "N, A", lambda o: {"probabilities": o.softmax(o.masked(o.moves()))}, ""),
    ("numbers that are not negative, as a sigmoid's", "N, A", lambda o: {"rates": o.sigmoid(o.moves())}, "policy=rates,softmax=no"),
    ("Q-values: the highest is played", "N, A", lambda o: {"q_values": o.moves()}, ""),
    ("scores: the highest is played", "N, A", lambda o: {"scores": o.moves()}, ""),
    ("the move, an integer", "N", lambda o: {"actions": o.argmax(o.masked(o.moves()))}, ""),
    ("a value beside a policy", "N", lambda o: {"logits": o.moves(), "values": o.tanh(o.value())}, ""),
    ("a value from 0 to 1", "N", lambda o: {"logits": o.moves(), "values": o.sigmoid(o.value())}, "range=01"),
    ("chances of win, draw, loss", "N, 3", lambda o: {"logits": o.moves(), "wdl": o.softmax(o.wdl())}, ""),
    ("logits of win, draw, loss", "N, 3", lambda o: {"logits": o.moves(), "wdl": o.wdl()}, ""),
    ("a final score", "N", lambda o: {"logits": o.moves(), "final_scores": o.value()}, ""),
    ("a value alone: a ply is read ahead", "N", lambda o: {"values": o.tanh(o.value())}, ""),
    ("any of them, averaged over images", "", lambda o: {"logits": o.moves()}, "symmetric=yes"),
]


class Arrays:
    """The operators in NumPy."""

    def __init__(self, planes, legal):
        self.rows, self.legal = planes.reshape(len(planes), -1), legal

    moves, value, wdl = (lambda self, name=name: self.rows @ WEIGHTS[name] for name in ("moves", "value", "wdl"))
    part = staticmethod(lambda moves: moves[:, :16])
    board = staticmethod(lambda moves: moves.reshape(-1, 4, 4))
    tanh = staticmethod(np.tanh)
    sigmoid = staticmethod(lambda sums: 1 / (1 + np.exp(-sums)))
    argmax = staticmethod(lambda moves: moves.argmax(axis=1))

    def masked(self, moves):
        return np.where(self.legal, moves, np.float32(-1e4))

    def softmax(self, sums):
        sums = np.exp(sums - sums.max(axis=1, keepdims=True))
        return sums / sums.sum(axis=1, keepdims=True)


class Graph:
    """The operators in ONNX, with the legal moves as a second input."""

    def __init__(self):
        from onnx import TensorProto, helper, numpy_helper

        self.helper, self.array, self.types = helper, numpy_helper.from_array, TensorProto
        self.nodes, self.constants = [], []
        self.rows = self.add("Flatten", "planes", axis=1)

    def add(self, operator, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, array):
        self.constants.append(self.array(np.asarray(array), f"c{len(self.constants)}"))
        return f"c{len(self.constants) - 1}"

    moves, value, wdl = (
        lambda self, name=name: self.add("MatMul", self.rows, self.constant(WEIGHTS[name])) for name in ("moves", "value", "wdl"))

    def part(self, moves):
        return self.add("Slice", moves, *(self.constant(np.array([n])) for n in (0, 16, 1)))

    def board(self, moves):
        return self.add("Reshape", moves, self.constant(np.array([-1, 4, 4])))

    def masked(self, moves):
        # Illegal moves get -1e4.
        barred = self.add("Sub", "action_mask", self.constant(np.float32(1)))
        return self.add("Add", moves, self.add("Mul", barred, self.constant(np.float32(1e4))))

    def softmax(self, sums):
        return self.add("Softmax", sums, axis=1)

    def sigmoid(self, sums):
        return self.add("Sigmoid", sums)

    def tanh(self, sums):
        return self.add("Tanh", sums)

    def argmax(self, moves):
        return self.add("ArgMax", moves, axis=1, keepdims=0)

    def save(self, path, outputs):
        import onnx

        port, of = self.helper.make_tensor_value_info, self.types
        for name, tensor in outputs.items():
            self.nodes.append(self.helper.make_node("Identity", [tensor], [name]))
        inputs = [port("planes", of.FLOAT, ["N", 2, 4, 4])]
        if any("action_mask" in node.input for node in self.nodes):
            inputs.append(port("action_mask", of.FLOAT, ["N", 17]))
        kinds = {"actions": of.INT64}
        ports = [port(name, kinds.get(name, of.FLOAT), None) for name in outputs]
        graph = self.helper.make_graph(self.nodes, "g", inputs, ports, self.constants)
        model = self.helper.make_model(graph, opset_imports=[self.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, path)


PROGRAM = """
import json, sys
import numpy as np
sys.path.insert(0, {here!r})
from test_kinds import KINDS, Arrays

kind = KINDS[{at}][2]
for line in sys.stdin:
    request = json.loads(line)
    reply = {{"id": request["id"]}}
    if "positions" in request:
        boards = np.array([at["board"] for at in request["positions"]])
        planes = np.stack([boards > 0, boards < 0], axis=1).astype("f4")
        legal = np.zeros((len(boards), 17), bool)
        for row, at in enumerate(request["positions"]):
            legal[row, at["legal"]] = True
        for name, numbers in kind(Arrays(planes, legal)).items():
            reply[name] = numbers.reshape(len(boards), *[-1][: numbers[0].size > 1]).tolist()
    print(json.dumps(reply), flush=True)
"""


@pytest.mark.parametrize("at", range(len(KINDS)), ids=[kind[0] for kind in KINDS])
def test_every_kind_of_answer_is_read_at_every_door(table, everything, tmp_path, at):
    words, _, kind, options = KINDS[at]
    reading = dict(option.split("=") for option in options.split(",") if option)

    def function(planes, legal):
        return kind(Arrays(planes, legal))

    planes, side = everything["planes"], everything["side"]
    if "symmetric" in reading:  # which asks about all images
        turned = [np.rot90(planes, turns, (2, 3))[..., ::flip] for turns in range(4) for flip in (1, -1)]
        rows = np.c_[np.concatenate(turned).reshape(-1, 32), np.tile(side, 8)]
        rows = np.unique(rows, axis=0)
        planes, side = rows[:, :32].reshape(-1, 2, 4, 4).astype("u1"), rows[:, 32].astype("i1")
    legal = table.game.positions(planes, side=side).legal
    for name, numbers in {"planes": planes, "side": side, **kind(Arrays(planes.astype("f4"), legal))}.items():
        np.save(tmp_path / f"{name}.npy", numbers)
    (tmp_path / "program.py").write_text(PROGRAM.format(here=str(Path(__file__).parent), at=at))
    graph = Graph()
    graph.save(tmp_path / "model.onnx", kind(graph))
    doors = [f"predictions:{tmp_path}", f"exec:{sys.executable} {tmp_path / 'program.py'}", f"onnx:{tmp_path / 'model.onnx'}"]
    report = ym.evaluate(table, ym.policy(function, "a function", **reading), *(f"{door}?{options}" if options else door for door in doors),
                         games=False, mistakes=0)
    ours = report["a function"]
    assert ours["result_kept"] not in (None, 0, 1)
    for door in report.ranking:
        for name, figure in report[door].items():
            if name != "policy":
                wanted = ours[name]
                assert figure == (wanted if wanted is None else pytest.approx(wanted, abs=1e-4)), f"{words}, {door}: {name}"


@pytest.mark.parametrize("shape", [[2, 4, 4], [32]])
def test_models_without_a_dimension_of_positions(table, tmp_path, shape):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Reshape", ["x", "row"], ["rows"]), helper.make_node("MatMul", ["rows", "weights"], ["moves"]),
        helper.make_node("Squeeze", ["moves", "first"], ["logits"]),
    ]
    constants = {"row": np.array([1, 32]), "weights": WEIGHTS["moves"], "first": np.array([0])}
    port = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [port("x", TensorProto.FLOAT, shape)], [port("logits", TensorProto.FLOAT, [17])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "one.onnx")
    function = lambda planes: {"logits": planes.reshape(len(planes), -1) @ WEIGHTS["moves"]}
    report = ym.evaluate(table, f"onnx:{tmp_path / 'one.onnx'}", function, games=False, positions=["start", "c4", "c4b4"])
    assert report[0]["nll"] == pytest.approx(report[1]["nll"], abs=1e-5)


def test_numbers_that_depend_on_the_batch_are_asked_about_one_position_at_a_time(table):
    def scaled(planes):  # as dynamic int8 is, by the largest number of its batch
        sums = planes.reshape(len(planes), -1) @ WEIGHTS["moves"]
        return {"logits": np.round(sums / abs(sums).max() * 7)}

    with pytest.raises(ym.PolicyError, match="batch=1"):
        ym.evaluate(table, scaled)
    assert 0 < ym.evaluate(table, scaled, batch=1, positions=["start", "c4", "c4b4"]).metrics["all_result_kept"] <= 1


def test_the_page_has_these_kinds():
    head = "| what it is | shape | names | option |\n|---|---|---|---|\n"
    lines = []
    for words, shape, kind, options in KINDS:
        names = kind(Arrays(np.zeros((1, 2, 4, 4), "f4"), np.ones((1, 17), bool)))
        shown = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| {words} | {shape} | {shown} | {f'`{options}`' if options else ''} |")
    wanted = head + "\n".join(lines) + "\n"
    page = PAGE.read_text(encoding="utf-8")
    begin = page.index(head) if head in page else page.index("<!-- kinds -->\n") + len("<!-- kinds -->\n")
    end = page.index("\n\n", begin) + 1 if head in page else begin
    if os.environ.get("YOMIKIRI_WRITE_PAGES"):
        PAGE.write_text(page[:begin] + wanted + page[end:], encoding="utf-8")
    assert page[begin:end] == wanted or os.environ.get("YOMIKIRI_WRITE_PAGES")
