"""Types of arguments and results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Protocol, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from ._games import Position, Positions


class Array(Protocol):
    """An array of NumPy, PyTorch, JAX or TensorFlow."""

    @property
    def shape(self) -> Sequence[int]: ...


class Estimator(Protocol):
    """An estimator of scikit-learn."""

    def predict(self, X: object, /) -> object: ...


#: What a callable may return.
Answer = Union[Array, tuple[Array, Array], Mapping[str, Array], Sequence[str]]

#: A policy: a name as in ``solver report --policy``, a callable, or an estimator.
Policy = Union[str, "os.PathLike[str]", Callable[..., object], Estimator]


#: Positions as `Game.positions` takes them.
PositionsLike = Union[str, "Position", "Positions", Sequence["Position"], Sequence[str], Array]

#: Side to move of some positions: one for all, or one for each.
Sides = Union[int, Sequence[int], Array, None]

#: A document of ``docs/json.md``, or part of one.
Json = dict[str, Any]

#: A state and a move of a game that is a class in Python: whatever its methods take and return.
OwnState = Any
OwnMove = Any

#: A directory or a file.
PathLike = Union[str, "os.PathLike[str]"]

#: Weight of positions in a sample: as random games meet them, or each equally likely.
Weight = Literal["games", "uniform"]

#: Form in which a policy's answer decides the move.
Move = Literal["sample", "best"]


class Reading(TypedDict, total=False):
    """Meaning of a policy's input and numbers: the options that stand behind ``onnx:FILE?`` (``docs/your-policy.md``),
    by the same names. ``outputs`` names what a callable returns, in order, ``None`` what is ignored."""

    layout: str
    planes: str | None
    outputs: str | Sequence[str | None]
    batch: int
    pass_: bool
    policy: str
    value: str
    softmax: Literal["auto", "yes", "no"]
    move: Move
    range: Literal["-11", "01", "clip", "discs"]
    symmetric: bool
    depth: int
    plies: int


class Lost(TypedDict):
    """Loss to a best response."""

    result_lost: float
    score_lost: float


class BothLost(TypedDict):
    """Losses of the policy as first and as second player."""

    first: Lost
    second: Lost


class Results(TypedDict):
    """Probabilities of results, and the expected score."""

    win: float
    draw: float
    loss: float
    score: float


class BothResults(TypedDict):
    """Results of the policy as first and as second player."""

    first: Results
    second: Results


#: Figures of a policy by name; ``None`` where it has none (``docs/measuring.md`` lists them).
Metrics = dict[str, Union[float, None]]