"""Exports networks of each framework that is installed, and writes what ONNX Runtime computes for them.

    pip install onnx onnxruntime torch onnxscript scikit-learn skl2onnx jax flax jax2onnx
    python tests/onnx/exported.py FOLDER

Prints the operators that occur in them; `operators.py` has cases of each.
"""

import importlib.util
import io
import sys
import tempfile
import warnings
from pathlib import Path

import onnx
import operators

warnings.filterwarnings("ignore")
PLANES = operators.numbers(5, 2, 4, 4)
FLAT = PLANES.reshape(5, 32)


def installed(name):
    return importlib.util.find_spec(name) is not None


def with_torch():
    import torch
    from torch import nn
    from torch.nn import functional

    torch.manual_seed(0)

    def conv(inside, outside, **more):
        return nn.Conv2d(inside, outside, 3, **{"padding": 1, **more})

    def heads(body, width):
        class Heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.policy, self.value = body, nn.Linear(width, 17), nn.Linear(width, 1)

            def forward(self, x):
                x = self.body(x)
                return self.policy(x), torch.tanh(self.value(x))

        return Heads()

    def module(function, **parts):
        class Written(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleDict(parts)

            def forward(self, *inputs):
                return function(self.parts, *inputs)

        return Written()

    def residual(norm):
        return module(
            lambda p, x: functional.relu(x + p["b"](functional.relu(p["a"](x)))),
            a=nn.Sequential(conv(16, 16, bias=False), norm()),
            b=nn.Sequential(conv(16, 16, bias=False), norm()),
        )

    def squeezed(p, x):
        s = x.mean((2, 3))
        return x * torch.sigmoid(p["b"](functional.relu(p["a"](s))))[:, :, None, None]

    def pooled(p, x):
        """Global pooling as in KataGo: the mean, the mean by the board's size, the maximum."""
        g = torch.cat([x.mean((2, 3)), x.mean((2, 3)) * 0.4, x.amax((2, 3))], 1)
        return x + p["g"](g).unsqueeze(-1).unsqueeze(-1)

    def attention(p, x):
        q, k, v = p["qkv"](x).view(x.shape[0], 16, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        return p["out"](functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape[0], 16, 32))

    def block():
        return module(
            lambda p, x: (y := x + attention(p["at"], p["n1"](x))) + p["mlp"](p["n2"](y)),
            at=nn.ModuleDict({"qkv": nn.Linear(32, 96), "out": nn.Linear(32, 32)}),
            n1=nn.LayerNorm(32),
            n2=nn.LayerNorm(32),
            mlp=nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)),
        )

    squares = module(
        lambda p, x: p["e"](x.flatten(2).transpose(1, 2)) + p["place"].weight,
        e=nn.Linear(2, 32),
        place=nn.Embedding(16, 32),
    )
    mean = module(lambda p, x: x.mean(1))
    towers = {
        "mlp": heads(nn.Sequential(nn.Flatten(), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()), 64),
        "resnet": heads(
            nn.Sequential(
                conv(2, 16),
                nn.BatchNorm2d(16),
                nn.ReLU(),
                residual(lambda: nn.BatchNorm2d(16)),
                residual(lambda: nn.BatchNorm2d(16)),
                nn.Flatten(),
            ),
            256,
        ),
        "groupnorm": heads(nn.Sequential(conv(2, 16), nn.GroupNorm(4, 16), nn.SiLU(), nn.Flatten()), 256),
        "squeeze": heads(
            nn.Sequential(
                conv(2, 16),
                module(squeezed, a=nn.Linear(16, 4), b=nn.Linear(4, 16)),
                nn.Hardswish(),
                nn.AdaptiveAvgPool2d(1),
                nn.Flatten(),
            ),
            16,
        ),
        "katago": heads(nn.Sequential(conv(2, 16), module(pooled, g=nn.Linear(48, 16)), nn.Mish(), nn.Flatten()), 256),
        "activations": heads(
            nn.Sequential(
                nn.Flatten(),
                nn.Linear(32, 32),
                nn.PReLU(),
                nn.Linear(32, 32),
                nn.ELU(),
                nn.Linear(32, 32),
                nn.LeakyReLU(),
                nn.Linear(32, 32),
                nn.GELU("tanh"),
                nn.Linear(32, 32),
                nn.Softplus(),
                nn.Linear(32, 32),
                nn.Hardsigmoid(),
                nn.Linear(32, 32),
                nn.ReLU6(),
                nn.Linear(32, 32),
                nn.Softsign(),
            ),
            32,
        ),
        "depthwise": heads(
            nn.Sequential(
                conv(2, 16), conv(16, 16, groups=16), nn.Conv2d(16, 32, 1), nn.ReLU6(), nn.MaxPool2d(2), nn.Flatten()
            ),
            128,
        ),
        "strides": heads(
            nn.Sequential(
                conv(2, 8, stride=2),
                nn.AvgPool2d(2, 1, 1),
                nn.ConvTranspose2d(8, 8, 2, 2),
                nn.Upsample(scale_factor=2, mode="bilinear"),
                nn.AdaptiveMaxPool2d(2),
                nn.Flatten(),
            ),
            32,
        ),
        "padded": heads(
            nn.Sequential(
                nn.ReflectionPad2d(1),
                nn.Conv2d(2, 8, 3),
                nn.ReplicationPad2d(1),
                nn.Conv2d(8, 8, 3),
                nn.PixelShuffle(2),
                nn.Flatten(),
            ),
            128,
        ),
        "transformer": heads(nn.Sequential(squares, block(), block(), mean), 32),
        "encoder": heads(nn.Sequential(squares, nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), mean), 32),
        "lstm": heads(
            nn.Sequential(
                module(lambda p, x: p["r"](x.flatten(2).transpose(1, 2))[0][:, -1], r=nn.LSTM(2, 32, batch_first=True))
            ),
            32,
        ),
        "gru": heads(
            nn.Sequential(
                module(
                    lambda p, x: p["r"](x.flatten(2).transpose(1, 2))[0][:, -1],
                    r=nn.GRU(2, 32, batch_first=True, bidirectional=True),
                )
            ),
            64,
        ),
        "dropout": heads(
            nn.Sequential(nn.Flatten(), nn.Linear(32, 64), nn.Dropout(0.5), nn.ReLU(), nn.LayerNorm(64)), 64
        ),
        "dueling": module(
            lambda p, x: (a := p["a"](x.flatten(1))) - a.mean(1, keepdim=True) + p["v"](x.flatten(1)),
            a=nn.Linear(32, 17),
            v=nn.Linear(32, 1),
        ),
        "distributional": module(
            lambda p, x: (torch.softmax(p["a"](x.flatten(1)).view(-1, 17, 11), 2) * torch.linspace(-1, 1, 11)).sum(2),
            a=nn.Linear(32, 187),
        ),
        "actor": module(
            lambda p, x: (
                torch.argmax(l := p["a"](x.flatten(1)), 1),
                p["v"](x.flatten(1)),
                torch.log_softmax(l, 1).amax(1),
            ),
            a=nn.Linear(32, 17),
            v=nn.Linear(32, 1),
        ),
        "masked": module(
            lambda p, x: torch.where(
                functional.pad((x.sum(1) == 0).flatten(1), (0, 1), value=True), p["a"](x.flatten(1)), torch.tensor(-1e9)
            ),
            a=nn.Linear(32, 17),
        ),
        "indexed": module(
            lambda p, x: (
                p["a"](torch.einsum("bcij,ck->bkij", x[:, :, ::2, 1:], p["w"].weight).flatten(1))[
                    :, torch.tensor([3, 1, 2, 0])
                ]
                .cumsum(1)
                .clamp(-1, 2)
            ),
            a=nn.Linear(48, 17),
            w=nn.Embedding(2, 8),
        ),
    }
    for name, net in towers.items():
        net.eval()
        planes = torch.from_numpy(PLANES)
        for way, more in {
            "": {"dynamo": False, "opset_version": 17},
            " 11": {"dynamo": False, "opset_version": 11},
            " dynamo": {"dynamo": True},
        }.items():
            if way == " 11" and name in ("transformer", "encoder", "gru", "distributional", "indexed", "masked"):
                continue
            file = io.BytesIO()
            dynamic = (
                {"dynamic_shapes": {"x": {0: torch.export.Dim.AUTO}}}
                if way == " dynamo"
                else {"dynamic_axes": {"x": {0: "N"}}}
            )
            try:
                if way == " dynamo" and not hasattr(net, "body"):
                    dynamic = {}
                program = torch.onnx.export(
                    net,
                    (planes,),
                    None if way == " dynamo" else file,
                    input_names=["x"],
                    verbose=False,
                    **(dynamic if way != " dynamo" else {}),
                    **more,
                )
            except Exception as error:
                print("not exported:", name, way, str(error)[:150].replace("\n", " "))
                continue
            model = program.model_proto if way == " dynamo" else onnx.load_from_string(file.getvalue())
            operators.add(f"torch {name}{way}", model, {"x": PLANES})


def with_sklearn():
    from skl2onnx import to_onnx
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    x, y = operators.numbers(200, 32), operators.random.integers(0, 17, 200)
    for activation in ("relu", "tanh", "logistic", "identity"):
        net = MLPClassifier(hidden_layer_sizes=(32,), activation=activation, max_iter=3).fit(x, y)
        operators.add(f"sklearn classifier {activation}", to_onnx(net, x[:1], options={"zipmap": False}), {"X": FLAT})
    net = MLPRegressor(hidden_layer_sizes=(32,), max_iter=3).fit(x, operators.numbers(200, 17))
    operators.add("sklearn regressor", to_onnx(net, x[:1]), {"X": FLAT})


def with_jax():
    import jax
    from flax import nnx
    from jax2onnx import to_onnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.conv, self.norm = nnx.Conv(2, 8, (3, 3), rngs=rngs), nnx.LayerNorm(8, rngs=rngs)
            self.batch, self.dense = (
                nnx.BatchNorm(8, use_running_average=True, rngs=rngs),
                nnx.Linear(128, 17, rngs=rngs),
            )

        def __call__(self, x):
            x = nnx.relu(self.batch(self.conv(x)))
            x = nnx.gelu(self.norm(x))
            x = nnx.max_pool(x, window_shape=(2, 2), strides=(1, 1), padding="SAME")
            return self.dense(x.reshape(x.shape[0], -1))

    class Dense(nnx.Module):
        def __init__(self, rngs):
            self.first, self.second = nnx.Linear(32, 64, rngs=rngs), nnx.Linear(64, 17, rngs=rngs)

        def __call__(self, x):
            return jax.nn.softmax(self.second(nnx.swish(self.first(x))))

    for name, net, shape, array in (
        ("conv", Net(nnx.Rngs(0)), ("B", 4, 4, 2), PLANES.transpose(0, 2, 3, 1).copy()),
        ("dense", Dense(nnx.Rngs(0)), ("B", 32), FLAT),
    ):
        model = to_onnx(net, inputs=[shape])
        operators.add(f"jax {name}", model, {model.graph.input[0].name: array})


def with_tensorflow():
    import keras
    import tensorflow as tf
    import tf2onnx

    layers = keras.layers
    nets = {
        "dense": ([32], [layers.Dense(64, "relu"), layers.Dense(17, "softmax")]),
        "conv": (
            [4, 4, 2],
            [
                layers.Conv2D(16, 3, padding="same"),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.MaxPool2D(2),
                layers.Flatten(),
                layers.Dense(17),
            ],
        ),
        "separable": (
            [4, 4, 2],
            [
                layers.SeparableConv2D(16, 3, padding="same", activation="swish"),
                layers.GlobalAveragePooling2D(),
                layers.LayerNormalization(),
                layers.Dense(17),
            ],
        ),
        "transposed": (
            [4, 4, 2],
            [
                layers.Conv2DTranspose(8, 3, 2, padding="same"),
                layers.LeakyReLU(),
                layers.AveragePooling2D(2),
                layers.Flatten(),
                layers.Dense(17, "tanh"),
            ],
        ),
        "lstm": ([16, 2], [layers.LSTM(16), layers.Dense(17)]),
    }
    for name, (shape, parts) in nets.items():
        net = keras.Sequential([keras.Input(shape), *parts])
        function = tf.function(lambda x, net=net: net(x))
        for opset in (13, 17):
            model, _ = tf2onnx.convert.from_function(
                function, [tf.TensorSpec((None, *shape), tf.float32, name="x")], opset=opset
            )
            array = PLANES.transpose(0, 2, 3, 1).copy() if len(shape) == 3 else FLAT.reshape(5, *shape)
            operators.add(f"tensorflow {name} {opset}", model, {"x": array})


def quantised():
    """Quantises networks that were exported, in each way that ONNX Runtime has."""
    from onnxruntime import quantization as q

    class Read(q.CalibrationDataReader):
        def __init__(self):
            self.left = iter([{"x": PLANES}])

        def get_next(self):
            return next(self.left, None)

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.onnx", Path(folder) / "target.onnx"
        for name in ("torch mlp", "torch resnet", "torch lstm"):
            onnx.save(operators.CASES[name][0], source)
            q.quantize_dynamic(source, target)
            operators.add(f"{name}, dynamic", onnx.load(target), {"x": PLANES})
        for name, form in (
            ("torch mlp", q.QuantFormat.QDQ),
            ("torch resnet", q.QuantFormat.QDQ),
            ("torch mlp", q.QuantFormat.QOperator),
        ):
            onnx.save(operators.CASES[name][0], source)
            q.quantize_static(source, target, Read(), quant_format=form)
            operators.add(f"{name}, {form.name}", onnx.load(target), {"x": PLANES})


def operators_in(graph):
    for node in graph.node:
        yield f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for held in node.attribute:
            yield from operators_in(held.g)


if __name__ == "__main__":
    for name, part in (
        ("torch", with_torch),
        ("skl2onnx", with_sklearn),
        ("jax2onnx", with_jax),
        ("tensorflow", with_tensorflow),
    ):
        if installed(name):
            part()
    if installed("torch"):
        quantised()
    operators.write(sys.argv[1])
    found = sorted({name for model, _, _ in operators.CASES.values() for name in operators_in(model.graph)})
    print(len(operators.CASES), "models with", *found)
