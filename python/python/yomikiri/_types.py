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


class Metrics(TypedDict):
    """Figures of a policy; ``None`` where it has none (``docs/json.md``)."""

    policy: str
    positions: float | None
    result_kept: float | None
    score_kept: float | None
    plies_kept: float | None
    result_lost: float | None
    score_lost: float | None
    win_to_draw: float | None
    win_to_loss: float | None
    draw_to_loss: float | None
    rank_correlation: float | None
    nll: float | None
    no_chance: float | None
    entropy: float | None
    top_1: float | None
    top_2: float | None
    top_3: float | None
    plies_positions: float | None
    correlation_positions: float | None
    all_positions: float | None
    all_result_kept: float | None
    all_score_kept: float | None
    all_plies_kept: float | None
    all_result_lost: float | None
    all_score_lost: float | None
    all_win_to_draw: float | None
    all_win_to_loss: float | None
    all_draw_to_loss: float | None
    all_rank_correlation: float | None
    all_nll: float | None
    all_no_chance: float | None
    all_entropy: float | None
    all_top_1: float | None
    all_top_2: float | None
    all_top_3: float | None
    all_plies_positions: float | None
    all_correlation_positions: float | None
    learned_positions: float | None
    learned_result_kept: float | None
    learned_score_kept: float | None
    learned_plies_kept: float | None
    learned_result_lost: float | None
    learned_score_lost: float | None
    learned_win_to_draw: float | None
    learned_win_to_loss: float | None
    learned_draw_to_loss: float | None
    learned_rank_correlation: float | None
    learned_nll: float | None
    learned_no_chance: float | None
    learned_entropy: float | None
    learned_top_1: float | None
    learned_top_2: float | None
    learned_top_3: float | None
    learned_plies_positions: float | None
    learned_correlation_positions: float | None
    value_error: float | None
    value_rmse: float | None
    value_sign: float | None
    value_brier: float | None
    value_calibration: float | None
    final_score_error: float | None
    final_score_bias: float | None
    final_score_rmse: float | None
    random_first_points: float | None
    random_first_score: float | None
    random_second_points: float | None
    random_second_score: float | None
    perfect_first_points: float | None
    perfect_first_score: float | None
    perfect_second_points: float | None
    perfect_second_score: float | None
    exploited_result: float | None
    exploited_score: float | None
    forced_won: float | None
    forced_won_kept: float | None
    forced_won_thrown: float | None
    forced_at_risk: float | None
    forced_at_risk_lost: float | None
