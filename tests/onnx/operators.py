"""Writes a model for every operator, with each value and each omission of its attributes, and what ONNX Runtime computes.

    pip install onnx onnxruntime
    python tests/onnx/operators.py FOLDER

The folder gets a model for each case, and `cases.json`: a list with the name of each, its inputs and its outputs as name,
kind (the number of ONNX's element type), shape and numbers. ONNX Runtime runs each graph as it is, without optimisations.
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
random = np.random.default_rng(60)
CASES = {}


def numbers(*shape, low=-2.0, high=2.0, kind=np.float32):
    """Numbers that are spread over a range: floats, or integers."""
    return random.uniform(low, high, shape).astype(kind)


class Given:
    """An input that is a constant of the graph, or the result of a `Constant` node."""

    def __init__(self, array, node=False):
        self.array, self.node = np.asarray(array), node


def ints(*values):
    return Given(np.array(values, dtype=np.int64))


def case(op, *inputs, outputs=1, opset=17, domain="", name=None, **attributes):
    """Adds a case: arrays are inputs of the model, `Given` are constants, None is an omitted input."""
    nodes, constants, ports, feed, names = [], [], [], {}, []
    for at, given in enumerate(inputs):
        label = "" if given is None else f"i{at}"
        names.append(label)
        if isinstance(given, Given) and given.node:
            nodes.append(helper.make_node("Constant", [], [label], value=numpy_helper.from_array(given.array)))
        elif isinstance(given, Given):
            constants.append(numpy_helper.from_array(given.array, label))
        elif given is not None:
            feed[label] = np.asarray(given)
            kind = helper.np_dtype_to_tensor_dtype(feed[label].dtype)
            ports.append(helper.make_tensor_value_info(label, kind, feed[label].shape))
    wanted = [f"o{at}" for at in range(outputs)] if isinstance(outputs, int) else outputs
    nodes.append(helper.make_node(op, names, wanted, domain=domain, **attributes))
    told = [f"{key}={value}" for key, value in attributes.items() if key not in ("body", "then_branch", "else_branch")]
    version = "" if opset == 17 else f" {opset}"
    whole(
        name or f"{op}{version}({', '.join(told)})",
        nodes,
        constants,
        ports,
        feed,
        [name for name in wanted if name],
        opset,
        domain,
    )


def whole(name, nodes, constants, ports, feed, wanted, opset=17, domain=""):
    """Adds a case of several nodes. Outputs have no type of their own: ONNX Runtime infers them."""
    graph = helper.make_graph(
        nodes, "case", ports, [helper.make_empty_tensor_value_info(name) for name in wanted], constants
    )
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    add(name, model, feed)


def add(name, model, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, feed)))
    while name in CASES:
        name += "'"
    CASES[name] = model, feed, outputs


def variants(op, *inputs, base=None, fixed=None, **choices):
    """Adds a case for the base, for each value of each attribute, and for each attribute of the base left out."""
    base, fixed = base or {}, fixed or {}
    case(op, *inputs, **fixed, **base)
    for left_out in base:
        case(op, *inputs, **fixed, **{key: value for key, value in base.items() if key != left_out})
    for key, values in choices.items():
        for value in values:
            case(op, *inputs, **fixed, **{**base, key: value})


def body(nodes, inputs, outputs, constants=()):
    """A graph of a node's attribute."""
    typed = lambda name: (
        helper.make_tensor_value_info(*name) if isinstance(name, tuple) else helper.make_empty_tensor_value_info(name)
    )
    return helper.make_graph(
        nodes, "body", [typed(name) for name in inputs], [typed(name) for name in outputs], list(constants)
    )


def elementwise():
    x, small, positive = numbers(3, 4, 5), numbers(3, 4, low=-0.9, high=0.9), numbers(3, 4, low=0.2, high=3)
    for op in "Abs Ceil Cos Cosh Erf Exp Floor HardSwish Identity Neg Relu Sigmoid Sign Sin Sinh Softplus Softsign Tan Tanh Atan Asinh Round".split():
        case(op, x)
    case("Round", np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997], np.float32))
    case("Sigmoid", np.array([-100, -20, 0, 20, 100], np.float32))
    case("Tanh", np.array([-100, -9, -1e-4, 0, 1e-4, 9, 100], np.float32))
    case("Erf", np.array([-4, -1e-3, 0, 1e-3, 4], np.float32))
    for op in "Acos Asin Atanh".split():
        case(op, small)
    for op in "Log Reciprocal Sqrt".split():
        case(op, positive)
    case("Acosh", positive + 1)
    variants("Elu", x, alpha=[0.5, 2.0])
    variants("LeakyRelu", x, alpha=[0.2, 1.5])
    variants("HardSigmoid", x, base={"alpha": 0.25, "beta": 0.4})
    for op in "Selu Celu ThresholdedRelu Mish Hardmax".split():
        case(op, x, opset=18)
    variants("Selu", x, base={"alpha": 1.5, "gamma": 1.2})
    variants("Celu", x, alpha=[0.5])
    variants("ThresholdedRelu", x, alpha=[0.5])
    variants("Shrink", x, base={"bias": 0.5, "lambd": 1.0})
    variants("Hardmax", x, axis=[0, 1])
    variants("Gelu", x, fixed={"opset": 20}, approximate=["none", "tanh"])
    case("PRelu", x, numbers(4, 1))
    case("PRelu", x, Given(numbers(1)))
    case("Clip", x)
    case("Clip", x, Given(np.float32(-1)))
    case("Clip", x, None, Given(np.float32(1)))
    case("Clip", x, Given(np.float32(-1)), Given(np.float32(0.5)))
    case("Clip", x, Given(np.float32(1)), Given(np.float32(-1)))
    variants("Clip", x, fixed={"opset": 6}, base={"min": -1.0, "max": 0.5})
    case("IsNaN", np.array([np.nan, 1, np.inf], np.float32))
    variants(
        "IsInf",
        np.array([np.nan, 1, np.inf, -np.inf], np.float32),
        base={"detect_negative": 0, "detect_positive": 1},
        detect_positive=[0],
    )
    case("Not", x > 0)
    for axis in (None, 0, 1, -1):
        for op, opset in itertools.product(["Softmax", "LogSoftmax"], [11, 13]):
            case(op, x, opset=opset, **({} if axis is None else {"axis": axis}))
    variants("LpNormalization", x, base={"axis": 1, "p": 1}, p=[2], axis=[0, -1])
    # Integers.
    whole = numbers(3, 4, low=-9, high=9, kind=np.int64)
    for op in "Abs Neg Sign".split():
        case(op, whole)
    case("Relu", whole.astype(np.int32))


def pairs():
    x, y, z = numbers(3, 4, 5), numbers(4, 1), numbers(2, 1, 4, 5)
    m, n = numbers(3, 4, low=-9, high=9, kind=np.int64), numbers(4, low=1, high=5, kind=np.int64)
    for op in "Add Sub Mul Div".split():
        case(op, x, y)
        case(op, y, z)
        case(op, m, n)
        case(op, x, Given(np.float32(3)))
        case(op, Given(np.float32(3)), x)
    case("Div", m.astype(np.int32), -n.astype(np.int32))
    case("Pow", np.abs(x), y)
    case("Pow", x, Given(np.float32(2)))
    case("Pow", x, Given(np.float32(3)))
    case("Pow", np.abs(x), Given(np.float32(0.5)))
    case("Pow", x, Given(np.int64(2)))
    case("Pow", m, Given(np.int64(2)))
    case("Mod", m, n)
    case("Mod", m, -n)
    case("Mod", m, n, fmod=1)
    case("Mod", x, y, fmod=1)
    for op in "Equal Greater GreaterOrEqual Less LessOrEqual".split():
        case(op, x, x.round())
        case(op, m, n)
    case("Equal", x > 0, y > 0)
    for op in "And Or Xor".split():
        case(op, x > 0, y > 0)
    for op in "Max Min Sum Mean".split():
        case(op, x)
        case(op, x, y)
        case(op, x, y, z)
    case("Max", m, n)
    case("Min", m, n)
    case("Where", x > 0, x, y)
    case("Where", y > 0, z, Given(np.float32(-1e9)))
    case("Where", m > 0, m, n)
    for shift in "BitwiseAnd BitwiseOr BitwiseXor".split():
        case(shift, m, n, opset=18)
    case("BitwiseNot", m, opset=18)


def reductions():
    x = numbers(3, 4, 5)
    for op in "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split():
        data = np.abs(x) + 0.1 if op == "LogSum" else x
        op = f"Reduce{op}"
        old = 12 if op == "ReduceSum" else 17
        variants(
            op, data, fixed={"opset": old}, base={"axes": [1], "keepdims": 0}, keepdims=[1], axes=[[0, 2], [-1], [2, 1]]
        )
        new = 13 if op == "ReduceSum" else 18
        for keep in (0, 1, None):
            more = {} if keep is None else {"keepdims": keep}
            case(op, data, ints(1), opset=new, **more)
            case(op, data, ints(-1, 0), opset=new, **more)
        case(op, data, opset=new)
        case(op, data, ints(), opset=new)
        case(op, data, ints(), opset=new, noop_with_empty_axes=1)
        case(op, data, opset=new, noop_with_empty_axes=0)
    whole = numbers(3, 4, low=-9, high=9, kind=np.int64)
    for op in "Max Min Prod Sum".split():
        case(f"Reduce{op}", whole, ints(1), opset=20, keepdims=0)
    ties = np.array([[1, 3, 3, 0], [2, 2, 2, 2], [5, 4, 5, 4]], np.float32)
    for op, data in itertools.product(["ArgMax", "ArgMin"], [x, ties]):
        variants(op, data, base={"axis": 1, "keepdims": 0}, keepdims=[1], axis=[0, -1], select_last_index=[0, 1])
    for given in (ints(0), ints(1), ints(-1)):
        axis = Given(given.array[0])
        case("CumSum", x, axis)
        case("CumSum", x, axis, exclusive=1)
        case("CumSum", x, axis, reverse=1)
        case("CumSum", x, axis, exclusive=1, reverse=1)
    case("CumSum", whole, Given(np.int64(1)))
    variants(
        "TopK",
        x,
        ints(3),
        fixed={"outputs": 2},
        base={"axis": 1, "largest": 0, "sorted": 1},
        axis=[0, 2, -1],
        largest=[1],
    )
    case("TopK", ties, ints(2), outputs=2)


def matrices():
    a, b, c = numbers(3, 4), numbers(4, 5), numbers(5)
    case("MatMul", a, b)
    case("MatMul", a, Given(b.copy()))
    case("MatMul", numbers(2, 3, 4), b)
    case("MatMul", numbers(2, 1, 3, 4), numbers(6, 4, 5))
    case("MatMul", numbers(4), b)
    case("MatMul", a, numbers(4))
    case("MatMul", numbers(7, 33), Given(numbers(33, 17)))
    case("Gemm", a, b)
    case("Gemm", a, b, c)
    for alpha, beta, left, right in itertools.product([None, 0.5], [None, 2.0], [None, 1], [None, 1]):
        more = {
            key: value
            for key, value in (("alpha", alpha), ("beta", beta), ("transA", left), ("transB", right))
            if value is not None
        }
        case("Gemm", a.T.copy() if left else a, b.T.copy() if right else b, c, **more)
    for bias in (numbers(3, 5), numbers(1, 5), numbers(3, 1), numbers(1), np.float32(2)):
        case("Gemm", a, b, Given(bias))
    case("Gemm", numbers(64, 32), Given(numbers(17, 32)), Given(numbers(17)), transB=1)
    for text, shapes in (
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("ij,jk", [(3, 4), (4, 5)]),
        ("ii->i", [(4, 4)]),
        ("ij->ji", [(3, 4)]),
        ("ij->", [(3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
        ("abc,cd,de->abe", [(2, 3, 4), (4, 5), (5, 2)]),
    ):
        case("Einsum", *[numbers(*shape) for shape in shapes], equation=text)


def divided(groups, base):
    """Attributes with a number of groups, which can be left out only if it is 1."""
    return ({"group": groups}, base) if groups > 1 else ({}, {**base, "group": 1})


def convolutions():
    for size in ((6, 7), (9,)):
        x, one = numbers(2, 4, *size), len(size)
        for groups in (1, 2, 4):
            fixed, base = divided(
                groups, {"kernel_shape": [3] * one, "pads": [1] * 2 * one, "strides": [1] * one, "dilations": [1] * one}
            )
            variants(
                "Conv",
                x,
                Given(numbers(8, 4 // groups, *[3] * one)),
                Given(numbers(8)),
                fixed=fixed,
                base=base,
                strides=[[2] * one, [2, 1][:one]],
                dilations=[[2] * one],
                pads=[[0] * 2 * one, [0, 1, 2, 1][: 2 * one]],
            )
        for auto, strides, kernel, dilation in itertools.product(
            ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"], [1, 2], [2, 3], [1, 2]
        ):
            more = {} if strides == 1 else {"strides": [strides] * one}
            more |= {} if dilation == 1 else {"dilations": [dilation] * one}
            if auto.startswith("SAME") and dilation > 1:
                continue
            case("Conv", x, Given(numbers(8, 4, *[kernel] * one)), auto_pad=auto, **more)
        case("Conv", x, Given(numbers(8, 4, *[1] * one)))
        case("Conv", x, numbers(8, 4, *[3] * one), numbers(8))
        for groups in (1, 2):
            fixed, base = divided(
                groups,
                {
                    "kernel_shape": [3] * one,
                    "pads": [1] * 2 * one,
                    "strides": [2] * one,
                    "dilations": [1] * one,
                    "output_padding": [0] * one,
                },
            )
            variants(
                "ConvTranspose",
                x,
                Given(numbers(4, 3, *[3] * one)),
                Given(numbers(3 * groups)),
                fixed=fixed,
                base=base,
                strides=[[1] * one],
                dilations=[[2] * one],
                pads=[[0] * 2 * one, [0, 1, 2, 1][: 2 * one]],
                output_padding=[[1] * one],
            )
        for auto, strides in itertools.product(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"], [1, 2]):
            case("ConvTranspose", x, Given(numbers(4, 3, *[3] * one)), auto_pad=auto, strides=[strides] * one)
        case(
            "ConvTranspose",
            x,
            Given(numbers(4, 3, *[3] * one)),
            strides=[2] * one,
            output_shape=[2 * side for side in size],
        )
        case("ConvTranspose", x, Given(numbers(4, 3, *[2] * one)))
        for op in ("MaxPool", "AveragePool"):
            more = (
                {"count_include_pad": [0, 1]}
                if op == "AveragePool"
                else {"storage_order": [0], "dilations": [[1] * one, [2] * one]}
            )
            for key, values in {
                "strides": [[1] * one, [2] * one, [2, 1][:one]],
                "pads": [[0] * 2 * one, [1] * 2 * one, [0, 1, 1, 0][: 2 * one]],
                "auto_pad": ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"],
                **more,
            }.items():
                for value in values:
                    case(op, x, kernel_shape=[3] * one, **{key: value})
            case(op, x, kernel_shape=[2] * one)
            case(op, x, kernel_shape=[2] * one, strides=[2] * one)
            for ceil, pads in itertools.product([0, 1], [0, 1]):
                case(op, x, kernel_shape=[3] * one, strides=[2] * one, ceil_mode=ceil, pads=[pads] * 2 * one)
            for auto in ("SAME_UPPER", "SAME_LOWER"):
                case(op, x, kernel_shape=[2] * one, strides=[2] * one, auto_pad=auto)
        case(
            "AveragePool",
            x,
            kernel_shape=[3] * one,
            strides=[2] * one,
            pads=[1] * 2 * one,
            count_include_pad=1,
            ceil_mode=1,
        )
        case("MaxPool", x, kernel_shape=[2] * one, outputs=2)
        case("GlobalAveragePool", x)
        case("GlobalMaxPool", x)
        case("LpPool", x, kernel_shape=[2] * one)
        case("GlobalLpPool", x)
    for mode, block in itertools.product([None, "DCR", "CRD"], [1, 2]):
        case("DepthToSpace", numbers(2, 8, 2, 3), blocksize=block, **({} if mode is None else {"mode": mode}))
    case("SpaceToDepth", numbers(2, 2, 4, 6), blocksize=2)


def norms():
    x = numbers(2, 4, 3, 5)
    four = lambda: Given(numbers(4, low=0.5, high=1.5))
    variants("BatchNormalization", x, four(), four(), four(), four(), epsilon=[1e-3], momentum=[0.5])
    case("BatchNormalization", numbers(6, 4), four(), four(), four(), four())
    case("BatchNormalization", numbers(2, 4, 7), four(), four(), four(), four())
    variants("InstanceNormalization", x, four(), four(), epsilon=[1e-3])
    for axis, epsilon in itertools.product([None, -1, 1, 2], [None, 1e-3]):
        more = {key: value for key, value in (("axis", axis), ("epsilon", epsilon)) if value is not None}
        shape = x.shape[axis if axis is not None else -1 :]
        case("LayerNormalization", x, Given(numbers(*shape)), Given(numbers(*shape)), **more)
        case("LayerNormalization", x, Given(numbers(*shape)), **more)
        case("RMSNormalization", x, Given(numbers(*shape)), opset=23, **more)
    for groups in (1, 2, 4):
        case("GroupNormalization", x, four(), four(), opset=21, num_groups=groups)
    variants("LRN", x, fixed={"size": 3}, alpha=[0.1], beta=[0.5], bias=[2.0])
    variants("MeanVarianceNormalization", x, axes=[[1, 2]])
    case("Dropout", x)
    case("Dropout", x, Given(np.float32(0.5)))
    case("Dropout", x, Given(np.float32(0.5)), Given(np.bool_(False)))
    case("Dropout", x, outputs=2)
    variants("Dropout", x, fixed={"opset": 10}, base={"ratio": 0.5})


def shapes():
    x, whole = numbers(3, 4, 5), numbers(3, 4, low=-9, high=9, kind=np.int64)
    for axis in (None, 0, 1, 2, 3, -1):
        case("Flatten", x, **({} if axis is None else {"axis": axis}))
    for target in ([-1], [3, 20], [0, -1], [0, 0, 5], [5, 2, 6]):
        case("Reshape", x, ints(*target))
        case("Reshape", x, Given(np.array(target), node=True))
    case("Reshape", x, ints(0, -1), allowzero=0)
    case("Reshape", x, ints(12, -1), allowzero=1)
    case("Squeeze", x[:1])
    case("Squeeze", x[:1, :, :1], ints(0))
    case("Squeeze", x[:1, :, :1], ints(-1, 0))
    case("Squeeze", x[:1], opset=11, axes=[0])
    case("Squeeze", x[:1], opset=11)
    case("Unsqueeze", x, ints(0))
    case("Unsqueeze", x, ints(-1))
    case("Unsqueeze", x, ints(0, 4))
    case("Unsqueeze", x, ints(1, -1))
    case("Unsqueeze", x, opset=11, axes=[0, 2])
    case("Transpose", x)
    for order in itertools.permutations(range(3)):
        case("Transpose", x, perm=order)
    case("Transpose", numbers(2, 3, 4, 5), perm=[0, 2, 3, 1])
    case("Transpose", whole)
    for axis in (0, 1, -1):
        case("Concat", x, numbers(3, 4, 5), x, axis=axis)
    case("Concat", x, axis=1)
    case("Concat", whole, whole, axis=1)
    case("Concat", x > 0, x < 1, axis=0)
    case("Shape", x)
    case("Shape", x, start=1)
    case("Shape", x, end=-1)
    case("Shape", x, start=-2, end=2)
    case("Size", x)
    case("Expand", numbers(4, 1), ints(3, 1, 5))
    case("Expand", x, ints(1))
    case("Expand", x, ints(2, 1, 1, 1))
    case("Expand", np.float32(2), ints(2, 3))
    case("Expand", whole, ints(2, 1, 1))
    case("Tile", x, ints(1, 2, 3))
    case("Tile", whole, ints(2, 1))
    case("Slice", x, ints(1), ints(3))
    case("Slice", x, ints(1, 0), ints(3, 2))
    case("Slice", x, ints(0), ints(-1), ints(2))
    case("Slice", x, ints(-2), ints(1 << 62), ints(-1))
    case("Slice", x, ints(0), ints(5), ints(2), ints(2))
    case("Slice", x, ints(-1), ints(-(1 << 62)), ints(1), ints(-1))
    case("Slice", x, ints(4), ints(0), ints(2), ints(-2))
    case("Slice", x, ints(0, 1), ints(99, 2), ints(2, 1), ints(1, 1))
    case("Slice", x, ints(3), ints(1), ints(2))
    case("Slice", x, ints(0, 1), ints(3, 3), None, ints(2, 1))
    case("Slice", whole, ints(1), ints(3), ints(-1))
    variants("Slice", x, fixed={"opset": 9, "starts": [1, 0], "ends": [3, -1]}, base={"axes": [0, 1]}, axes=[[1, 2]])
    case("Split", x, ints(1, 3), outputs=2, axis=1)
    case("Split", x, ints(2, 3), outputs=2, axis=-1)
    case("Split", x, outputs=3)
    case("Split", x, outputs=2, axis=1)
    case("Split", x, opset=11, outputs=2, axis=1, split=[1, 3])
    case("Split", x, opset=18, outputs=2, axis=2, num_outputs=2)
    case("Split", x, opset=18, outputs=2, axis=1, num_outputs=2)
    for kind in (np.int64, np.int32):
        for axis in (None, 0, 1, -1):
            more = {} if axis is None else {"axis": axis}
            case("Gather", x, np.array([[0, 2], [1, -1]], kind), **more)
            case("Gather", x, Given(np.array(1, kind)), **more)
            index = random.integers(0, 3, (3, 2, 3)).astype(kind)
            case("GatherElements", x, index if axis is None else index, **more)
    case("Gather", whole, Given(np.array([1, 0])), axis=1)
    case("Gather", Given(numbers(6, 3)), random.integers(0, 6, (4, 2)))
    case("GatherND", x, Given(np.array([[0, 1], [2, 3]])))
    case("GatherND", x, Given(np.array([[[0], [1]], [[2], [3]], [[1], [0]]])), batch_dims=1)
    case("GatherND", x, Given(np.array([[0, 1, 2]])), batch_dims=0)
    for reduction in (None, "none", "add", "mul", "max", "min"):
        more = {} if reduction is None else {"reduction": reduction}
        case("ScatterND", x, Given(np.array([[0, 1], [2, 3]])), numbers(2, 5), opset=18, **more)
        for axis in (None, 1, -1):
            case(
                "ScatterElements",
                x,
                Given(np.array([[[0, 1, 2]]])),
                numbers(1, 1, 3),
                opset=18,
                **more,
                **({} if axis is None else {"axis": axis}),
            )
    case("Pad", x, ints(0, 1, 2, 0, 0, 1))
    case("Pad", x, ints(0, 1, 2, 0, 0, 1), Given(np.float32(7)))
    for mode in ("constant", "reflect", "edge", "wrap"):
        case("Pad", x, ints(0, 1, 2, 0, 0, 1), mode=mode, opset=19)
    case("Pad", x, ints(0, -1, -1, 0, 0, 1))
    case("Pad", x, ints(1, 2), None, ints(-1), opset=18)
    case("Pad", x, ints(1, 2, 0, 1), Given(np.float32(3)), ints(0, 2), opset=18)
    variants("Pad", x, fixed={"opset": 10, "pads": [0, 1, 2, 0, 0, 1]}, mode=["reflect", "edge"], value=[3.0])
    variants(
        "ConstantOfShape",
        ints(2, 3),
        value=[numpy_helper.from_array(np.array([v])) for v in (np.float32(2.5), np.int64(3), np.bool_(True))],
    )
    case("Range", Given(np.int64(2)), Given(np.int64(9)), Given(np.int64(3)))
    case("Range", Given(np.float32(0)), Given(np.float32(1)), Given(np.float32(0.1)))
    case("Range", Given(np.float32(2)), Given(np.float32(4)), Given(np.float32(0.5)))
    case("Range", Given(np.int64(5)), Given(np.int64(0)), Given(np.int64(-2)))
    for axis in (None, 0, 1, -1):
        case(
            "OneHot",
            random.integers(-5, 5, (3, 4)),
            Given(np.int64(6)),
            Given(np.array([-1, 2], np.float32)),
            **({} if axis is None else {"axis": axis}),
        )
    case("OneHot", random.integers(0, 5, (3,)), ints(6), Given(np.array([0, 1])))
    for shift, upper in itertools.product([None, 1, -1], [None, 0, 1]):
        more = {} if upper is None else {"upper": upper}
        case("Trilu", x, *([] if shift is None else [Given(np.int64(shift))]), **more)
    for k, kind in itertools.product([None, 1, -1], [None, INT64]):
        case(
            "EyeLike", numbers(3, 4), **{key: value for key, value in (("k", k), ("dtype", kind)) if value is not None}
        )
    case("NonZero", Given(np.array([[1, 0], [1, 1]])))
    variants("ReverseSequence", numbers(4, 3, 2), Given(np.array([1, 2, 4])), base={"time_axis": 0, "batch_axis": 1})
    for to in (
        FLOAT,
        TensorProto.INT32,
        INT64,
        TensorProto.BOOL,
        TensorProto.UINT8,
        TensorProto.INT8,
        TensorProto.DOUBLE,
    ):
        for data in (
            x,
            np.array([2.5, -2.5, 3.9, -0.1], np.float32),
            whole,
            x > 0,
            numbers(6, low=0, high=200, kind=np.uint8),
        ):
            if to in (TensorProto.UINT8, TensorProto.INT8) and data.dtype != bool:
                data = np.clip(np.abs(data), 0, 100).astype(data.dtype)
            case("Cast", data, to=to)
    case("CastLike", whole, x)
    case("CastLike", x, whole)


def resizing():
    x = numbers(1, 2, 4, 4)
    scales, sizes = Given(np.array([1, 1, 2, 2], np.float32)), ints(1, 2, 7, 5)
    case("Resize", x, None, scales)
    case("Resize", x, None, None, sizes)
    for mode, place, to in itertools.product(
        ["nearest", "linear", "cubic"], ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"], [1, 2]
    ):
        case(
            "Resize",
            x,
            None,
            *([scales] if to == 1 else [None, sizes]),
            mode=mode,
            coordinate_transformation_mode=place,
        )
    for nearest, place in itertools.product(
        ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"], ["half_pixel", "asymmetric"]
    ):
        case("Resize", x, None, None, sizes, nearest_mode=nearest, coordinate_transformation_mode=place)
    case("Resize", x, None, Given(np.array([1, 1, 0.5, 1.5], np.float32)), mode="linear")
    case("Resize", numbers(1, 1, 3, 10), None, Given(np.array([1, 1, 5 / 3, 0.7], np.float32)))
    case("Resize", x, None, Given(np.array([1, 1, 0.6, 1.7], np.float32)), mode="nearest")
    variants("Upsample", x, Given(np.array([1, 1, 2, 2], np.float32)), fixed={"opset": 9}, mode=["nearest", "linear"])
    for mode, padding, align in itertools.product(
        ["bilinear", "nearest", "bicubic"], ["zeros", "border", "reflection"], [0, 1]
    ):
        case(
            "GridSample",
            x,
            numbers(1, 3, 3, 2, low=-1.2, high=1.2),
            opset=16,
            mode=mode,
            padding_mode=padding,
            align_corners=align,
        )


def quantised():
    x = numbers(3, 8, low=-3, high=3)
    planes = random.integers(0, 255, (2, 3, 5, 5)).astype(np.uint8)
    one = lambda value, kind: Given(np.array(value, kind))
    case("DynamicQuantizeLinear", x, outputs=3)
    case("DynamicQuantizeLinear", np.abs(x), outputs=3)
    for kind in (np.uint8, np.int8):
        zero = 128 if kind == np.uint8 else 3
        case("QuantizeLinear", x, one(0.03, np.float32), one(zero, kind))
        case("QuantizeLinear", np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 300], np.float32), one(1, np.float32), one(0, kind))
        case("QuantizeLinear", x, Given(numbers(8, low=0.01, high=0.1)), Given(np.full(8, zero, kind)), axis=1)
        case("QuantizeLinear", x, Given(numbers(8, low=0.01, high=0.1)), Given(np.full(8, zero, kind)))
        case("QuantizeLinear", x, Given(numbers(3, low=0.01, high=0.1)), Given(np.full(3, zero, kind)), axis=0)
        data = random.integers(0, 100, (3, 8)).astype(kind)
        case("DequantizeLinear", data, one(0.03, np.float32), one(zero, kind))
        case("DequantizeLinear", data, one(0.03, np.float32))
        case("DequantizeLinear", data, Given(numbers(8, low=0.01, high=0.1)), Given(np.full(8, zero, kind)), axis=1)
        case("DequantizeLinear", data, Given(numbers(3, low=0.01, high=0.1)), axis=-2)
        for weight in (np.uint8, np.int8):
            # Without VNNI ONNX Runtime saturates sums of two products of weights further from the middle.
            low, high = (-63, 63) if weight == np.int8 else (65, 191)
            w = random.integers(low, high, (8, 5)).astype(weight)
            left = random.integers(*((-127, 127) if kind == np.int8 else (0, 255)), (3, 8)).astype(kind)
            for zeros in (
                [],
                [one(zero, kind)],
                [one(zero, kind), one(2, weight)],
                [one(zero, kind), Given(np.arange(5).astype(weight))],
                [None, one(2, weight)],
            ):
                if kind == np.int8 and weight == np.uint8:
                    continue
                case("MatMulInteger", left, Given(w), *zeros)
    case("QuantizeLinear", x, one(0.03, np.float32))
    case("DequantizeLinear", random.integers(-9, 9, (3, 8)).astype(np.int32), one(0.03, np.float32))
    for kernel, groups, kind in itertools.product([1, 3], [1, 3], [np.uint8, np.int8]):
        low, high = (-63, 63) if kind == np.int8 else (65, 191)
        w = Given(random.integers(low, high, (6, 3 // groups, kernel, kernel)).astype(kind))
        more = {} if groups == 1 else {"group": groups}
        pads = {} if kernel == 1 else {"pads": [1, 1, 1, 1]}
        for zeros in ([], [one(100, np.uint8)], [one(100, np.uint8), one(2, kind)]):
            case("ConvInteger", planes, w, *zeros, **more, **pads)
            case(
                "ConvInteger",
                planes,
                w,
                *zeros,
                kernel_shape=[kernel, kernel],
                strides=[1, 1],
                dilations=[1, 1],
                **more,
                **pads,
            )
        case("ConvInteger", planes, w, one(100, np.uint8), strides=[2, 2], **more, **pads)
        case("ConvInteger", planes, w, one(100, np.uint8), auto_pad="SAME_UPPER", **more)
        case("ConvInteger", planes, w, one(100, np.uint8), dilations=[2, 2], pads=[2 * (kernel // 2)] * 4, **more)
    scale = lambda: one(0.02, np.float32)
    u8, s8 = lambda v: one(v, np.uint8), lambda v: one(v, np.int8)
    case(
        "QLinearMatMul",
        random.integers(0, 255, (3, 8)).astype(np.uint8),
        scale(),
        u8(120),
        Given(random.integers(-63, 63, (8, 5)).astype(np.int8)),
        scale(),
        s8(0),
        one(0.1, np.float32),
        u8(100),
    )
    case(
        "QLinearConv",
        planes,
        scale(),
        u8(120),
        Given(random.integers(-63, 63, (6, 3, 3, 3)).astype(np.int8)),
        scale(),
        s8(0),
        one(0.1, np.float32),
        u8(100),
        Given(random.integers(-99, 99, 6).astype(np.int32)),
        pads=[1, 1, 1, 1],
    )


def chains():
    """Patterns that the runtime may fuse, and nodes that compute shapes."""
    one = lambda value: numpy_helper.from_array(np.float32(value), f"k{value}")
    port = lambda name, array: helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
    )
    x = numbers(3, 8)
    node = helper.make_node
    whole("Silu", [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"])], [], [port("x", x)], {"x": x}, ["y"])
    whole(
        "Swish",
        [node("Mul", ["x", "k1.5"], ["b"]), node("Sigmoid", ["b"], ["s"]), node("Mul", ["x", "s"], ["y"])],
        [one(1.5)],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    whole(
        "Gelu",
        [
            node("Div", ["x", "r"], ["d"]),
            node("Erf", ["d"], ["e"]),
            node("Add", ["e", "k1.0"], ["f"]),
            node("Mul", ["x", "f"], ["g"]),
            node("Mul", ["g", "k0.5"], ["y"]),
        ],
        [one(1.0), one(0.5), numpy_helper.from_array(np.float32(2**0.5), "r")],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    whole(
        "HardSwish",
        [node("HardSigmoid", ["x"], ["s"], alpha=1 / 6, beta=0.5), node("Mul", ["x", "s"], ["y"])],
        [],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    whole(
        "Mish",
        [node("Softplus", ["x"], ["s"]), node("Tanh", ["s"], ["t"]), node("Mul", ["x", "t"], ["y"])],
        [],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    norm = [
        node("ReduceMean", ["x"], ["m"], axes=[-1], keepdims=1),
        node("Sub", ["x", "m"], ["d"]),
        node("Pow", ["d", "k2.0"], ["p"]),
        node("ReduceMean", ["p"], ["v"], axes=[-1], keepdims=1),
        node("Add", ["v", "k0.001"], ["e"]),
        node("Sqrt", ["e"], ["s"]),
        node("Div", ["d", "s"], ["n"]),
        node("Mul", ["n", "w"], ["g"]),
        node("Add", ["g", "b"], ["y"]),
    ]
    affine = [numpy_helper.from_array(numbers(8), "w"), numpy_helper.from_array(numbers(8), "b")]
    whole("LayerNormalization in pieces", norm, [one(2.0), one(0.001), *affine], [port("x", x)], {"x": x}, ["y"])
    planes = numbers(2, 4, 5, 5)
    channel = lambda name: numpy_helper.from_array(numbers(4, 1, 1, low=0.5, high=1.5), name)
    four = lambda name: numpy_helper.from_array(numbers(4, low=0.5, high=1.5), name)
    conv = node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    kernel = numpy_helper.from_array(numbers(4, 4, 3, 3), "k")
    whole(
        "Conv, BatchNormalization, Relu",
        [conv, node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]), node("Relu", ["n"], ["y"])],
        [kernel, four("s"), four("b"), four("m"), four("v")],
        [port("x", planes)],
        {"x": planes},
        ["y"],
    )
    whole(
        "Conv, Mul, Add",
        [conv, node("Mul", ["c", "s"], ["d"]), node("Add", ["d", "b"], ["y"])],
        [kernel, channel("s"), channel("b")],
        [port("x", planes)],
        {"x": planes},
        ["y"],
    )
    whole(
        "Conv, Add",
        [conv, node("Add", ["c", "b"], ["y"])],
        [kernel, channel("b")],
        [port("x", planes)],
        {"x": planes},
        ["y"],
    )
    whole(
        "Conv, Add, Add",
        [conv, node("Add", ["c", "x"], ["d"]), node("Relu", ["d"], ["y"])],
        [kernel],
        [port("x", planes)],
        {"x": planes},
        ["y"],
    )
    whole(
        "MatMul, Add",
        [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["y"])],
        [numpy_helper.from_array(numbers(8, 5), "w"), numpy_helper.from_array(numbers(5), "b")],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    whole(
        "MatMul, Mul",
        [node("MatMul", ["x", "w"], ["m"]), node("Mul", ["m", "k0.25"], ["y"])],
        [numpy_helper.from_array(numbers(8, 5), "w"), one(0.25)],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    whole(
        "Softmax, masked",
        [node("Where", ["m", "x", "k-1000000000.0"], ["w"]), node("Softmax", ["w"], ["y"], axis=-1)],
        [one(-1000000000.0)],
        [port("x", x), port("m", x > 0)],
        {"x": x, "m": x > 0},
        ["y"],
    )
    dynamic = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("Cast", ["i"], ["c"], to=FLOAT),
        node("Mul", ["s", "k0.02"], ["t"]),
        node("Mul", ["c", "t"], ["y"]),
    ]
    signed = lambda name, *shape: numpy_helper.from_array(random.integers(-127, 127, shape).astype(np.int8), name)
    zero = numpy_helper.from_array(np.int8(0), "n")
    for op, array, weights in (("MatMul", x, signed("w", 8, 5)), ("Conv", planes, signed("w", 6, 4, 3, 3))):
        more = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]} if op == "Conv" else {}
        for zeros in (["z"], ["z", "n"]):
            chain = [dynamic[0], node(f"{op}Integer", ["q", "w", *zeros], ["i"], **more), *dynamic[1:]]
            constants = [weights, zero, one(0.02)]
            whole(f"Dynamic {op}", chain, constants, [port("x", array)], {"x": array}, ["y"])
    q, k = numbers(2, 2, 5, 4), numbers(2, 2, 5, 4)
    whole(
        "Attention in pieces",
        [
            node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
            node("MatMul", ["q", "t"], ["m"]),
            node("Mul", ["m", "k0.5"], ["s"]),
            node("Add", ["s", "mask"], ["a"]),
            node("Softmax", ["a"], ["p"], axis=-1),
            node("MatMul", ["p", "k"], ["y"]),
        ],
        [one(0.5), numpy_helper.from_array(numbers(1, 1, 5, 5), "mask")],
        [port("q", q), port("k", k)],
        {"q": q, "k": k},
        ["y"],
    )
    given = lambda name, *values: numpy_helper.from_array(np.array(values), name)
    shape = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "first"], ["n"]),
        node("Unsqueeze", ["n", "zero"], ["u"]),
        node("Concat", ["u", "rest"], ["t"], axis=0),
        node("Reshape", ["x", "t"], ["y"]),
    ]
    whole(
        "Reshape by Shape, Gather, Concat",
        shape,
        [numpy_helper.from_array(np.array(0), "first"), given("zero", 0), given("rest", 2, -1)],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    expand = [
        node("Shape", ["x"], ["s"]),
        node("ConstantOfShape", ["s"], ["o"], value=numpy_helper.from_array(np.array([1.0], np.float32))),
        node("ReduceProd", ["s"], ["p"], keepdims=0),
        node("Cast", ["p"], ["f"], to=FLOAT),
        node("Mul", ["o", "f"], ["y"]),
    ]
    whole("ConstantOfShape by Shape", expand, [], [port("x", x)], {"x": x}, ["y"])
    ranged = [
        node("Shape", ["x"], ["s"]),
        node("Slice", ["s", "one", "two"], ["w"]),
        node("Squeeze", ["w"], ["w0"]),
        node("Range", ["start", "w0", "step"], ["r"]),
        node("Cast", ["r"], ["f"], to=FLOAT),
        node("Add", ["x", "f"], ["y"]),
    ]
    whole(
        "Range by Shape",
        ranged,
        [
            given("one", 1),
            given("two", 2),
            numpy_helper.from_array(np.array(0), "start"),
            numpy_helper.from_array(np.array(1), "step"),
        ],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    chosen = lambda op: body([node(op, ["x"], [f"{op}y"])], [], [(f"{op}y", FLOAT, None)])
    for value in (True, False):
        case_if = node("If", ["c"], ["y"], then_branch=chosen("Relu"), else_branch=chosen("Neg"))
        whole(
            f"If a constant {value}",
            [case_if],
            [numpy_helper.from_array(np.bool_(value), "c")],
            [port("x", x)],
            {"x": x},
            ["y"],
        )
        flag = np.array(value)
        whole(f"If an input {value}", [case_if], [], [port("x", x), port("c", flag)], {"x": x, "c": flag}, ["y"])
    step = body(
        [node("Add", ["v", "x"], ["w"]), node("Identity", ["go"], ["on"])],
        [("i", INT64, []), ("go", TensorProto.BOOL, []), ("v", FLOAT, None)],
        [("on", TensorProto.BOOL, []), ("w", FLOAT, None)],
    )
    whole(
        "Loop",
        [node("Loop", ["n", "", "x"], ["y"], body=step)],
        [numpy_helper.from_array(np.array(3), "n")],
        [port("x", x)],
        {"x": x},
        ["y"],
    )
    seq, hidden = numbers(5, 2, 3), 4
    for direction, op in itertools.product([None, "forward", "reverse", "bidirectional"], ["LSTM", "GRU"]):
        ways, gates = 2 if direction == "bidirectional" else 1, 4 if op == "LSTM" else 3
        more = {} if direction is None else {"direction": direction}
        inputs = [
            seq,
            Given(numbers(ways, gates * hidden, 3)),
            Given(numbers(ways, gates * hidden, hidden)),
            Given(numbers(ways, 2 * gates * hidden)),
        ]
        case(op, *inputs, hidden_size=hidden, outputs=3 if op == "LSTM" else 2, **more)
        case(op, *inputs[:3], hidden_size=hidden, **more)
        if op == "GRU":
            case(op, *inputs, hidden_size=hidden, linear_before_reset=1, **more)
            case(op, *inputs, hidden_size=hidden, linear_before_reset=0, **more)
    case("RNN", seq, Given(numbers(1, hidden, 3)), Given(numbers(1, hidden, hidden)), hidden_size=hidden)


def contributed():
    """Operators of ONNX Runtime, which its quantisation writes."""
    micro = {"domain": "com.microsoft"}
    x = numbers(3, 8)
    one = lambda value, kind: Given(np.array(value, kind))
    case("Gelu", x, **micro)
    case("FastGelu", x, **micro)
    case("BiasGelu", x, Given(numbers(8)), **micro)
    case("QuickGelu", x, **micro)
    case("QuickGelu", x, alpha=1.0, **micro)
    case("FastGelu", x, Given(numbers(8)), **micro)
    q = random.integers(0, 255, (3, 8)).astype(np.uint8)
    pair = [one(0.02, np.float32), one(120, np.uint8)]
    case("QLinearAdd", q, *pair, q, *pair, one(0.05, np.float32), one(100, np.uint8), **micro)
    case(
        "DynamicQuantizeMatMul",
        x,
        Given(random.integers(-99, 99, (8, 5)).astype(np.int8)),
        one(0.02, np.float32),
        one(0, np.int8),
        **micro,
    )
    case("QLinearSigmoid", q, *pair, one(1 / 256, np.float32), one(0, np.uint8), **micro)
    case(
        "QGemm",
        q,
        *pair,
        Given(random.integers(-99, 99, (8, 5)).astype(np.int8)),
        one(0.02, np.float32),
        one(0, np.int8),
        Given(random.integers(-99, 99, 5).astype(np.int32)),
        one(0.1, np.float32),
        one(100, np.uint8),
        **micro,
    )


def write(folder):
    """Writes the cases into a folder."""

    def said(arrays):
        listed = []
        for name, array in arrays.items():
            flat = [float(number) for number in np.asarray(array, np.float64).reshape(-1)]
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            listed.append(
                [name, kind, list(array.shape), [number if np.isfinite(number) else str(number) for number in flat]]
            )
        return listed

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for at, (name, (model, feed, outputs)) in enumerate(CASES.items()):
        onnx.save(model, folder / f"{at}.onnx")
        cases.append(
            {
                "name": name,
                "inputs": said(feed),
                "outputs": said({key: np.asarray(value) for key, value in outputs.items()}),
            }
        )
    (folder / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    for part in (
        elementwise,
        pairs,
        reductions,
        matrices,
        convolutions,
        norms,
        shapes,
        resizing,
        quantised,
        chains,
        contributed,
    ):
        part()
    write(sys.argv[1])
    print(len(CASES), "cases")
