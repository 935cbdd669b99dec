"""Exact measurement of policies against solved tables."""

from __future__ import annotations

import datetime
import functools
import html as _html
import inspect
import io
import json
import os
import sys
import threading
import types
import warnings
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterable, Iterator, Mapping, Protocol, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import numbers, numpy_of
from ._games import Game, GameRecord, Positions, read_games
from ._optional import needs
from ._progress import Told, directory
from ._tables import Table, open_or_solve
from ._types import BothLost, BothResults, Json, Metrics, OwnState, PathLike, Policy, PositionsLike, Reading, Weight
from ._walk import OwnStates

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack


#: Number of positions in a batch of a function that is compiled for each shape.
_SIZE = 128


#: Arrays with their names: ``logits``, ``values``, …, or ``answer``.
_Answer = list[tuple[str, Union[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]]]


class _Asked:
    """A callable policy. Converts its return values to arrays for the solver."""

    def __init__(self, policy: object, name: str, layout: str = "nchw", outputs: str | Sequence[str | None] | None = None):
        self.policy, self.name = policy, name
        call = policy if callable(policy) else _estimator(policy)
        self.form = _FORMS.get(layout)
        #: States of the class that gave the game, if it receives them.
        self.own: OwnStates | None = None
        #: Names of what it returns.
        self.outputs = [outputs] if isinstance(outputs, str) else outputs
        #: Switches its networks to evaluation mode, while it is measured.
        self.evaluation: _Evaluation | None = None
        #: ``True`` if one of them was in training mode, and if a warning was given.
        self.was_training = self.is_warned = False
        torch = sys.modules.get("torch")
        #: PyTorch, if the policy is a module of it.
        self.torch = torch if torch is not None and isinstance(call, torch.nn.Module) else None
        self.call: Callable[..., object] = call
        self.with_legal = _takes_two(call.forward if hasattr(call, "forward") and self.torch else call)
        #: ``True`` if every shape of a batch costs a compilation.
        self.is_compiled = _is_compiled(call)
        #: Number of positions in a batch, then.
        self.size = _SIZE

    def __call__(self, shown, legal) -> _Answer:
        positions = Positions(shown) if self.form else None
        self.own = OwnStates.known.get(str(shown.game.listing)) if self.form is _states else None
        shown = self.form(positions) if self.form else shown
        if self.is_compiled and isinstance(shown, np.ndarray):
            return self._in_batches(shown, legal, positions)
        return self._answer(shown, legal, positions)

    def _in_batches(self, shown, legal, positions) -> _Answer:
        """Asks in batches of one size; the last one is filled up with its first position."""
        parts: list[list[NDArray[np.generic]]] = []
        names: list[str] = []
        count = len(shown)
        for begin in range(0, count, self.size):
            end = min(begin + self.size, count)
            filled = np.r_[begin:end, np.full(self.size - end + begin, begin)]
            part = self._answer(shown[filled], None if legal is None else legal[filled],
                                positions and positions[filled])
            parts.append([column[: end - begin] for _, column in part])
            if begin and names != [name for name, _ in part]:
                raise _core.PolicyError(f"policy '{self.name}' has other outputs in some of its answers: expected {', '.join(names)}")
            names = [name for name, _ in part]
        return [(name, np.concatenate(columns)) for name, columns in zip(names, zip(*parts))]

    def _answer(self, shown, legal, positions) -> _Answer:
        given = (shown, legal) if self.with_legal else (shown,)
        with self.evaluation.calling(self) if self.evaluation else nullcontext():
            if self.torch is not None:
                with self.torch.no_grad():
                    told = self.call(*map(self._tensor_of, given))
            else:
                told = self.call(*given)
        if told is None:
            raise _core.PolicyError(f"policy '{self.name}' returned None; does it end without `return`?")
        if isinstance(told, list) and told and self.own and not isinstance(told[0], (float, list, np.ndarray)):
            told = self.own.names(told, self.name)
        if isinstance(told, list) and told and all(isinstance(move, str) for move in told):
            told = {"actions": self._actions_of(told, positions)}
        named = self._named(told)
        self.is_compiled = self.is_compiled or any(_is_foreign(array) for _, array in named)
        return [(name, numbers(array)) for name, array in named]

    def _named(self, told: object) -> list[tuple[str, object]]:
        """Returns what a callable returned with the names of its parts."""
        if isinstance(told, dict):
            if self.outputs is not None:
                raise _core.PolicyError(f"policy '{self.name}' returned a dictionary, which has names: leave outputs out")
            return [(str(name), array) for name, array in told.items() if array is not None]
        parts = list(told) if isinstance(told, tuple) else [told]
        names = self.outputs or (["answer"] if len(parts) == 1 else ["answer", "values"])
        if len(parts) != len(names):
            raise _core.PolicyError(
                f"policy '{self.name}' returned a tuple of {len(parts)}, expected {', '.join(map(str, names))}; name its "
                "parts: outputs=['logits', 'values', ...], None for what is to be ignored")
        return [(name, array) for name, array in zip(names, parts) if name is not None]

    def _tensor_of(self, array):
        """Returns an array on the device and in the precision of the module's weights."""
        if not isinstance(array, np.ndarray):
            return array
        assert self.torch is not None and hasattr(self.policy, "parameters")
        weights = next(self.policy.parameters(), None)
        tensor = self.torch.from_numpy(array)
        if weights is None:
            return tensor
        dtype = weights.dtype if weights.is_floating_point() and tensor.is_floating_point() else tensor.dtype
        return tensor.to(weights.device, dtype)

    def _actions_of(self, moves, positions):
        """Returns the actions of moves by name."""
        if positions is None:
            raise _core.PolicyError(
                f"policy '{self.name}' returned texts; give layout='notations' or 'positions' to answer with names of moves")
        if len(moves) != len(positions):
            raise _core.PolicyError(f"policy '{self.name}' returned {len(moves)} moves for {len(positions)} positions")
        actions = []
        for row, (position, move) in enumerate(zip(positions, moves)):
            if move not in position.moves:
                raise _core.PolicyError(
                    f"policy '{self.name}': row {row}: {move[:100]!r} is not legal in '{position.notation}': expected one of "
                    + ", ".join(position.moves))
            actions.append(position.moves[move])
        return np.array(actions)


def _states(positions: Positions) -> list[OwnState]:
    """Returns the states of the class that gave a game, or texts without the class."""
    own = OwnStates.known.get(str(positions._core.game.listing))
    return [text or f"state {number}" for number, text in positions._core.listed_states()] if own is None else own.of(positions._core)


def _layout_of(game: Game | None) -> str:
    """Returns the layout of a callable that names none."""
    if game is None or game._core.listing is None:
        return "nchw"
    return "nchw" if game.planes else "states"


#: Conversions of positions for the layouts without planes.
_FORMS = {
    "states": _states,
    "positions": lambda positions: positions,
    "keys": lambda positions: positions.own_keys,
    "notations": lambda positions: positions.notations,
}


def _estimator(model):
    """Returns the callable of a scikit-learn estimator, whose input is a row of planes for each position."""

    def estimator(planes, legal):
        rows = planes.reshape(len(planes), -1)
        if not hasattr(model, "predict_proba"):
            predicted = np.asarray(model.predict(rows))
            if predicted.ndim == 2:
                return {"scores": predicted}  # a regressor: one value an action
            return {"actions" if predicted.dtype.kind in "iu" else "values": predicted}
        chances = np.asarray(model.predict_proba(rows))
        if chances.ndim != 2:
            raise _core.PolicyError(f"{type(model).__name__}.predict_proba has {chances.ndim} axes, expected (N, classes)")
        classes = np.asarray(model.classes_, dtype=np.int64)
        if classes.min() < 0 or classes.max() >= legal.shape[1]:
            raise _core.PolicyError(f"{type(model).__name__} has classes {classes.min()} to {classes.max()}, expected actions")
        whole = np.zeros(legal.shape)
        whole[:, classes] = chances
        whole *= legal
        # Moves that it has never seen share the probability where it knows no other.
        whole = np.where(whole.sum(axis=1, keepdims=True) > 0, whole, legal)
        return {"probabilities": whole / whole.sum(axis=1, keepdims=True)}

    return estimator


def _is_estimator(thing):
    return any(callable(getattr(thing, name, None)) for name in ("predict_proba", "predict"))


def _library(thing):
    return (type(thing).__module__ or "").partition(".")[0]


def _is_foreign(array):
    """Returns ``True`` for an array of a library that compiles functions for each shape."""
    return _library(array) in ("jax", "jaxlib", "tensorflow", "keras")


def _is_compiled(policy):
    """Returns ``True`` if a callable is, or uses, a function that is compiled for each shape."""
    libraries = ("jax", "jaxlib", "tensorflow", "keras", "flax", "equinox", "haiku")
    return "torch._dynamo" in type(policy).__module__ or any(_library(one) in libraries for one in [policy, *_held(policy)[0]])


def _takes_two(function):
    """Returns ``True`` if a callable takes the legal moves as a second argument."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    return len(needed) >= 2 or len(places) >= 2 and places[1].name in ("legal", "mask", "legal_actions", "action_mask")


class _Declared:
    """A policy with its name and its reading."""

    def __init__(self, policy: object, name: str | None, reading: Mapping[str, object]):
        self.policy, self.name, self.reading = policy, name, reading


def policy(policy: Policy, name: str | None = None, /, **reading: Unpack[Reading]) -> Policy:
    """Returns a policy that knows its name and how it is read, so that policies of different layouts stand in one
    report. ``reading`` are the keywords of `evaluate` (`Reading`); a policy by name takes them as its options."""
    if isinstance(policy, (str, os.PathLike)):
        if "outputs" in reading:
            raise TypeError("outputs names what a callable returns; a model has policy= and value=")
        text = str(policy)
        options = ",".join(f"{key}={value}" for key, value in _options(reading))
        # A `?` in a command or a directory may be its own, and several options may follow each other.
        mark = "," if "?" in text and not text.startswith(("exec:", "predictions:")) else "?"
        return _Declared(text + mark + options if options else text, name, {})  # type: ignore[return-value]
    return _Declared(policy, name, reading)  # type: ignore[return-value]


def _options(reading: Mapping[str, object]) -> list[tuple[str, str]]:
    """Returns a reading as the options of the command."""
    words = {True: "yes", False: "no"}
    return [
        (key.rstrip("_"), words[value] if isinstance(value, bool) else str(value))
        for key, value in reading.items() if key != "outputs" and value is not None
    ]


def _given(policies, names, reading, game=None):
    """Converts policies to the arguments of `_core`."""
    unknown = [key for key in reading if key not in Reading.__annotations__]
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}: expected {', '.join(Reading.__annotations__)}")

    def one(policy, name):
        own = reading
        if isinstance(policy, _Declared):
            policy, name, own = policy.policy, name or policy.name, {**reading, **policy.reading}
        if isinstance(policy, (str, os.PathLike)):
            return str(policy) if name is None else (name, str(policy))
        if not callable(policy) and not _is_estimator(policy):
            raise TypeError(f"invalid policy of type {type(policy).__name__}: expected a name, a callable or an estimator")
        name = name or getattr(policy, "__name__", None) or type(policy).__name__
        options = _options({key: value for key, value in own.items() if key not in ("layout", "planes")})
        layout, planes = own.get("layout") or _layout_of(game), own.get("planes")
        if layout == "pgx" and game is not None and game.name == "animal-shogi":
            from .pgx import policy as of_pgx

            policy = policy if isinstance(policy, of_pgx) else of_pgx(policy, name=name)
        layout = getattr(policy, "_yomikiri_layout", layout)
        asked = _Asked(policy, name, layout, own.get("outputs"))
        asked.size = own.get("batch") or asked.size
        return (name, asked, layout, planes, asked.with_legal, options)

    given = [one(policy, name) for policy, name in zip(policies, names)]
    if reading and given and not any(isinstance(policy[1], _Asked) for policy in given):
        raise ValueError(f"{', '.join(reading)}: for callables only; a policy by name has options, as in 'onnx:FILE?move=best' "
                         "(yomikiri.policy writes them)")
    return given


def _held(policy):
    """Returns what a callable is or uses: the object itself, its arguments and variables; and with them their
    attributes."""
    target = inspect.unwrap(policy)
    if isinstance(target, functools.partial):
        held = [target.func, *target.args, *target.keywords.values()]
    else:
        held = [target, getattr(target, "__self__", None)]
    function = getattr(target, "__func__", target)
    if inspect.isfunction(function):
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # the variable is not assigned yet
                held.append(cell.cell_contents)
        held += [function.__globals__.get(name) for name in function.__code__.co_names]
    held = [one for one in held if not isinstance(one, (type, types.ModuleType))]
    return held, held + [one for owner in held for one in getattr(owner, "__dict__", {}).values()]


def _networks(policy):
    """Returns the networks with a training mode that a callable is or uses, of any library."""
    return [
        one for one in _held(policy)[1]
        if isinstance(getattr(one, "training", None), bool)
        and callable(getattr(one, "eval", None)) and callable(getattr(one, "train", None))
    ]


class _Handle(Protocol):
    def remove(self) -> None: ...


class _Evaluation:
    """Switches networks to evaluation mode, at once or as they are called, and restores the mode of every part."""

    def __init__(self):
        #: Networks that were switched, each with the modes of its parts.
        self.before: list[tuple[object, bool, list[tuple[object, bool]]]] = []
        #: The callable that is running, and PyTorch's handle of the hook; one hook for all calls, because compiled
        #: modules are compiled again for another.
        self.asked: _Asked | None = None
        self.handle: _Handle | None = None
        self.thread = threading.get_ident()

    def switch(self, network) -> bool:
        """Returns ``True`` if a part was in training mode."""
        parts = [*network.modules()] if hasattr(network, "modules") else [network]
        modes = [(part, part.training) for part in parts if hasattr(part, "training")]
        if not any(is_training for _, is_training in modes):
            return False
        self.before.append((network, network.training, modes))
        network.eval()
        return True

    @contextmanager
    def calling(self, asked: _Asked) -> Iterator[None]:
        """Switches PyTorch's modules that are called inside the block, on this thread, wherever the callable has them."""
        torch = sys.modules.get("torch")
        if self.handle is None and torch is not None:
            self.handle = torch.nn.modules.module.register_module_forward_pre_hook(self._hook)
        outer, self.asked = self.asked, asked
        try:
            yield
        finally:
            self.asked = outer

    def _hook(self, module, _given) -> None:
        if self.asked is not None and threading.get_ident() == self.thread and self.switch(module):
            self.asked.was_training = True

    def restore(self) -> None:
        if self.handle is not None:
            self.handle.remove()
        for network, is_training, modes in reversed(self.before):
            if is_training:
                network.train()  # type: ignore[attr-defined]
            for part, was_training in modes:
                if part.training != was_training:  # type: ignore[attr-defined]
                    part.training = was_training  # type: ignore[attr-defined]


@contextmanager
def _evaluating(given) -> Iterator[None]:
    """Measures networks in evaluation mode inside the block."""
    evaluation = _Evaluation()
    asked = [policy[1] for policy in given if isinstance(policy[1], _Asked)]

    def warn(one):
        if one.was_training and not one.is_warned:
            one.is_warned = True
            warnings.warn(
                f"policy '{one.name}' is in training mode; it is measured in eval() and restored afterwards",
                RuntimeWarning, stacklevel=5)

    try:
        for one in asked:
            one.evaluation = evaluation
            one.was_training = any([evaluation.switch(network) for network in _networks(one.policy)])
            warn(one)
        yield
        for one in asked:
            warn(one)
    finally:
        evaluation.restore()
        for one in asked:
            one.evaluation = None


def _warn_of_draws(report: Report, given) -> None:
    """Warns of callables that answer a question differently each time."""
    called = {policy[0] for policy in given if isinstance(policy[1], _Asked)}
    for policy in json.loads(report._core.json())["policies"] if called else []:
        if policy["policy"] in called and "differ when asked again" in str(policy.get("reading")):
            warnings.warn(
                f"policy '{policy['policy']}' answers differently when asked again, so its figures are those of one draw; "
                "if it is not random, a part of it is in training mode", RuntimeWarning, stacklevel=3)


def evaluate(
    table: Table | Game | Positions | PathLike,
    *policies: Policy,
    names: Sequence[str | None] | None = None,
    split: str | None = None,
    trained: str | None = None,
    canonical: bool = False,
    positions: PositionsLike | None = None,
    sample: int | None = None,
    empty_squares: tuple[int, int] | None = None,
    weight: Weight | None = None,
    seed: int = 0,
    games: bool = True,
    mistakes: int = 10,
    tables: PathLike | None = None,
    progress: bool | None = None,
    **reading: Unpack[Reading],
) -> Report:
    """Measures policies in every position of a table whose value and moves are proven, without sampling.
    ``table`` is a `Table`, or the name of a game or a table (`open_or_solve`). Given `Positions` instead
    (``ym.game("othello-8x8").sample(1000)``), it finds their exact values by search and caches them in
    ``tables/labels``; equal positions are measured once and count as often as they occur. Figures of a sample
    estimate those of all such positions, weighed as they are drawn, and have confidence intervals.

    A policy is a name as in ``solver report --policy`` (``random``, ``greedy``, ``alphabeta:4``,
    ``mcts:100``, ``learned:NAME``, ``onnx:FILE``, ``perfect``…) or a callable ``policy(planes)`` or
    ``policy(planes, legal)``. ``planes`` is ``float32`` of shape ``(N, …)``, see `Positions.planes` for
    ``layout`` and ``planes``; ``legal`` is ``bool`` of shape ``(N, actions)``. For games without planes,
    ``layout`` may be ``states`` (of a class of one's own, the default there; else texts), ``positions`` (`Positions`),
    ``keys`` (`Positions.own_keys`) or ``notations`` (a list of
    texts). A ``torch.nn.Module`` takes and returns tensors; a network in training mode is measured in
    ``eval()`` and set back, with a warning. The callable returns

    * an array ``(N, actions)``, or ``(N, rows, columns)`` where no square is the pass: probabilities if every row sums
      to 1 in the first positions, else logits; ``(N,)`` integers are actions, ``(N,)`` other numbers values;
    * a tuple ``(policy, values)`` with values from -1 (the mover loses) to 1;
    * a list of texts, the names of moves (`Position.moves`), with ``layout`` ``notations`` or ``positions``, or a list of
      moves of the class with ``states``;
    * or a dictionary of arrays by name: ``logits``, ``probabilities``, ``q_values`` or ``scores`` (the best moves are
      chosen), ``actions``; and ``values``, ``wdl`` ``(N, 3)``, ``final_scores`` (in discs). Values alone choose the move
      after which the opponent's value is least.

    An estimator of scikit-learn with ``predict_proba`` (its classes are actions) or ``predict`` is a policy
    too; its input are flat planes.

    ``reading`` (`Reading`) says what callables take and return where the above does not: ``move="best"`` plays the
    highest number, as for Q-values; ``range="01"`` reads values of 0 to 1; ``outputs=["logits", "wdl"]`` names the parts
    of a tuple. `policy` sets it for one policy of several. The report prints what was read how.

    The callable runs on this thread with batches of up to 2048 positions. Its answer for a position must not
    depend on the rest of the batch: a few positions of a few batches are repeated to check that. ``split``
    restricts the measurement to ``train``, ``validation`` or ``test``, divided as in the training of the
    policies if that is known, else by the defaults of ``states`` and ``solver export``. ``trained="train"``
    (or ``"train:SEED"``, with the ``--split-seed`` of an export) declares that callables and other external
    policies were trained on that part; they are then ranked by the other positions. ``positions``, anything
    that `Game.positions` takes, measures in these positions instead, each as often as it occurs, and keeps the
    answers for ``report.to_pandas("positions")``; ``positions="all"`` keeps those of every position of the
    table. Finished and unproven ones are left out and counted in ``report.json["table"]["left_out"]``; those
    that the table does not contain are searched if the game allows it. ``sample`` measures in so many positions drawn by
    ``empty_squares``, ``weight`` and ``seed`` as in `Game.sample`. ``canonical`` measures one of all mirror images (up to 16 times faster); ``games`` also plays the policies against perfect and
    random moves and each other, if the table is complete; ``mistakes`` is the number of mistakes kept for
    each policy. Raises `PolicyError` for an invalid answer, naming the row, and any exception of the
    callable."""
    if not policies:
        raise ValueError("no policy: expected at least one")
    names = list(names) if names is not None else [None] * len(policies)
    if len(names) != len(policies):
        raise ValueError(f"{len(names)} names, expected one for each of {len(policies)} policies")
    source = _source(table, positions, (sample, empty_squares, weight, seed), tables, progress)
    given = _given(policies, names, reading, source.game)
    asked = [one[1].policy for one in given if isinstance(one[1], _Asked)]
    notes = [policy._yomikiri_note for policy in asked if hasattr(policy, "_yomikiri_note")]
    with Told(progress) as tell, _evaluating(given):
        report = Report(_core.evaluate(
            *source.given, directory(tables), given, canonical, games, mistakes, split, trained, positions is not None, tell),
            notes)
    _warn_of_draws(report, given)
    return report


class _Source:
    """Positions to measure in: all of a table, or a list, whose values come from the table or from search."""

    def __init__(self, game: Game, table: Table | None, chosen: Positions | None):
        self.game = game
        #: The first arguments of `_core.evaluate` and `_core.compare`.
        self.given: tuple[_core.Table | None, _core.Positions | None, str | None] = (
            None if table is None else table._core,
            None if chosen is None else chosen._core,
            None if chosen is None else chosen._drawn,
        )


def _source(
    table: Table | Game | Positions | PathLike, positions: PositionsLike | None,
    drawing: tuple[int | None, tuple[int, int] | None, Weight | None, int], tables: PathLike | None, progress: bool | None,
) -> _Source:
    """Reads what `evaluate` and `compare` take."""
    sample, empty_squares, weight, seed = drawing
    if sample is None and (empty_squares is not None or weight is not None or seed):
        raise ValueError("empty_squares, weight and seed apply to a sample: give sample=1000")
    if sample is not None and (positions is not None or isinstance(table, Positions)):
        raise ValueError("sample applies to tables, and positions were given")
    chosen = None if isinstance(positions, str) and positions == "all" else positions
    if isinstance(table, Positions):
        if chosen is not None:
            raise ValueError("positions applies to tables only")
        return _Source(table.game, table._table, table)
    table = open_or_solve(table, tables=tables, progress=progress)
    if sample is not None and weight != "games" and (weight == "uniform" or not table.game._core.has_empty_squares):
        chosen = table.sample(sample, empty_squares=empty_squares, seed=seed, progress=progress)
        return _Source(table.game, table, chosen)
    if sample is not None:
        chosen = table.game.sample(sample, empty_squares=empty_squares, seed=seed, weight=weight, progress=progress)
        return _Source(table.game, table, chosen)
    return _Source(table.game, table, None if chosen is None else table.game.positions(chosen))


class Report:
    """Figures of the measured policies. ``report[name]`` are the metrics of one policy."""

    def __init__(self, core: _core.Report | _Saved, notes: Sequence[str] = ()):
        self._core = core
        #: What a reader must know of the policies' input; printed first.
        self.notes: list[str] = list(notes)

    def __reduce__(self) -> tuple[object, ...]:
        return Report, (_Saved.of(self._core), self.notes)

    @cached_property
    def json(self) -> Json:
        """All figures, as in ``solver report --json`` (``docs/json.md``)."""
        document: Json = json.loads(self._core.json())
        return document

    @cached_property
    def _metrics(self) -> list[Json]:
        metrics: list[Json] = json.loads(self._core.metrics())
        return metrics

    @property
    def policies(self) -> list[str]:
        """Names of the policies in the order of the request."""
        return [metrics["policy"] for metrics in self._metrics]

    @property
    def ranking(self) -> list[str]:
        """Names of the policies, best first."""
        return [self.policies[at] for at in self._core.order()]

    @property
    def metrics(self) -> Metrics:
        """A few dozen numbers of the first policy, as in ``solver report --metrics``."""
        return self[0]

    def __getitem__(self, policy: str | int) -> Metrics:
        metrics = dict(self._metrics[self._place(policy)])
        del metrics["policy"]
        return metrics

    def _place(self, policy: str | int) -> int:
        if isinstance(policy, int):
            return policy
        if policy not in self.policies:
            raise KeyError(f"{policy!r} is not in this report: expected one of {', '.join(self.policies)}")
        return self.policies.index(policy)

    def scalars(self, prefix: str = "ym/", policy: str | int = 0) -> dict[str, float]:
        """Returns the numbers of a policy as floats by name, each with ``prefix``, for loggers. Figures that
        the policy does not have are left out."""
        return {
            prefix + name: float(value) for name, value in self[policy].items()
            if value is not None
        }

    def __str__(self) -> str:
        return self._noted(self._core.text(False))

    def _noted(self, text: str) -> str:
        return "".join(f"Input      {note}\n" for note in self.notes) + text

    def __repr__(self) -> str:
        return f"<yomikiri.Report: {', '.join(self.policies)}>"

    @property
    def full(self) -> str:
        """The full report, as printed by ``solver report --full``."""
        return self._noted(self._core.text(True))

    def to_pandas(self, by: str | None = None) -> pandas.DataFrame:
        """Returns a `pandas.DataFrame` with the metrics of each policy, one per row. With ``by`` (``layer``,
        ``moves``, ``distance``, ``value``) a row is a policy and a group, with figures of all and of decisive
        positions, by layer (without layers by distance) also of predicted values. With ``square`` a row is a policy and
        a square: how often the policy moves there in all positions, and what it loses by that. With ``positions`` a row is a policy and a position, as in ``solver report --parquet``;
        `evaluate` keeps these if it has ``positions=``."""
        needs("pandas", "to_pandas")
        import pandas

        if by is None:
            return pandas.DataFrame(self._metrics).set_index("policy")
        if by == "positions":
            rows = self._core.judgements()
            if rows is None:
                raise ValueError("answers position by position were not kept: give evaluate(..., positions=\"all\")")
            return pandas.DataFrame(json.loads(rows))
        if by == "square":
            return pandas.DataFrame([
                {"policy": policy["policy"]} | square for policy in self.json["policies"] for square in policy["squares"]
            ])
        field = {"layer": "layers", "moves": "by_moves", "distance": "by_distance", "value": "by_value"}
        if by not in field:
            raise ValueError(f"invalid by {by!r}: expected {', '.join(field)}, square or positions")
        rows = []
        for policy in self.json["policies"]:
            values = {group[by]: group["values"] for group in policy["values_by_phase"] if by in group}
            for group in policy[field[by]]:
                key = next(value for name, value in group.items() if name != "figures")
                row = {"policy": policy["policy"], by: key}
                for kind, prefix in (("decisive_result", ""), ("all", "all_")):
                    figures = group["figures"][kind]
                    row |= {f"{prefix}{name}": number for name, number in figures.items() if name != "outcomes"}
                row |= {name: number for name, number in values.get(key, {}).items() if name.startswith("value_")}
                rows.append(row)
        return pandas.DataFrame(rows)

    def to_markdown(self, model: str | None = None) -> str:
        """Returns a Hugging Face model card of the first policy: metadata with a ``model-index``, then its
        figures as tables, or a leaderboard if there are several policies. ``model`` is the model's name."""
        table, metrics = self.json["table"], self.scalars("")
        quoted = functools.partial(json.dumps, ensure_ascii=False)
        command = f"ym.evaluate({quoted(table['name'])}, {', '.join(self.policies)})"
        lines = [
            "---", "library_name: yomikiri", "tags:", "- reinforcement-learning", f"- {table['game']}", "model-index:",
            f"- name: {quoted(model or self.policies[0])}", "  results:", "  - task:", "      type: reinforcement-learning",
            f"      name: {quoted('exact evaluation on ' + table['game'])}", "    dataset:", f"      type: {table['game']}",
            f"      name: {quoted(table['name'])}", "    metrics:",
        ]
        for name, value in metrics.items():
            lines += [f"    - type: {name}", f"      value: {value!r}"]
        return "\n".join([*lines, "---", "", self._core.markdown(command)])

    def to_html(
        self, path: PathLike | None = None, *, highlight: str | None = None, against: Report | PathLike | None = None
    ) -> str:
        """Returns the report as one self-contained page, and writes it to ``path`` if given. It brings the policy
        ``highlight`` out (by default the best that is not built in), and shows what changed since ``against``: an
        earlier report, or a file of one's JSON."""
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        earlier = None
        if isinstance(against, Report):
            earlier = ("the earlier report", against._core.json())
        elif against is not None:
            earlier = (str(against), Path(against).read_text(encoding="utf-8"))
        page = self._core.html("yomikiri.evaluate", date, highlight, earlier)
        if path is not None:
            _core.write_text(path, page)
        return page

    def mistakes(self, count: int = 10, policy: str | int = 0) -> list[Mistake]:
        """Returns a policy's costliest mistakes, costliest first, one of mirror images; at most the number
        that the measurement kept."""
        at = self._place(policy)
        games = self.json["games"]
        found = games["policies"][at]["costliest"] if games else self.json["policies"][at]["costliest"]
        return [Mistake(one, html) for one, html in zip(found[:count], self._core.mistakes_html(at))]

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{_html.escape(note)}</p>" for note in self.notes)
        return notes + self._core.ranking_html()


class _Saved:
    """A report as text, without the compiled module: what a pickle contains."""

    def __init__(self, texts: Json):
        self.texts = texts

    @classmethod
    def of(cls, core):
        if isinstance(core, cls):
            return core
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        return cls({
            "json": core.json(), "metrics": core.metrics(), "order": core.order(), "text": core.text(False),
            "full": core.text(True), "html": core.html("yomikiri.evaluate", date, None, None), "judgements": core.judgements(),
            "markdown": core.markdown("\0"), "ranking_html": core.ranking_html(),
            "mistakes_html": [core.mistakes_html(at) for at in range(len(core.order()))],
        })

    def json(self):
        return self.texts["json"]

    def metrics(self):
        return self.texts["metrics"]

    def order(self):
        return self.texts["order"]

    def ranking_html(self):
        return self.texts["ranking_html"]

    def mistakes_html(self, at):
        return self.texts["mistakes_html"][at]

    def judgements(self):
        return self.texts["judgements"]

    def text(self, full):
        return self.texts["full" if full else "text"]

    def html(self, command, date, highlight, against):
        if highlight is not None or against is not None:
            raise ValueError("a report that was pickled has its page as it was: leave highlight and against out")
        return self.texts["html"]

    def markdown(self, command):
        return (self.texts["markdown"] or "").replace("\0", command)


class Mistake(Json):
    """A position and a policy's moves there (``docs/json.md``); renders as on the page of the report in notebooks."""

    def __init__(self, mistake: Json, html: str):
        super().__init__(mistake)
        self._html = html

    def _repr_html_(self) -> str:
        return self._html


class _Printed:
    """Result with its JSON and its text for people."""

    def __init__(self, text: str, printed: str, html: str | None = None):
        #: The figures, as the command of the same name has them with ``--json``.
        self.json: Json = json.loads(text)
        self._text = printed
        self._html = html or f"<pre>{_html.escape(printed)}</pre>"

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html


class Comparison(_Printed):
    """Comparison of two policies position by position."""

    def __repr__(self) -> str:
        return f"<yomikiri.Comparison: {', '.join(self.json['policies'])}>"


def compare(
    table: Table | Game | Positions | PathLike,
    first: Policy,
    second: Policy,
    *,
    names: Sequence[str | None] = (None, None),
    split: str | None = None,
    trained: str | None = None,
    positions: PositionsLike | None = None,
    sample: int | None = None,
    empty_squares: tuple[int, int] | None = None,
    weight: Weight | None = None,
    seed: int = 0,
    worst: int = 10,
    tables: PathLike | None = None,
    progress: bool | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Compares two policies in the same positions: where each loses less, and where they differ most. ``table`` and
    ``positions`` choose the positions as in `evaluate`; the differences of a sample have confidence intervals."""
    source = _source(table, positions, (sample, empty_squares, weight, seed), tables, progress)
    given = _given((first, second), names, reading, source.game)
    with Told(progress) as tell, _evaluating(given):
        return Comparison(*_core.compare(
            *source.given, directory(tables), given[0], given[1], split, trained, worst, tell))


class Review(_Printed):
    """Games with the cost of each move. Created by `review`."""

    def __init__(self, text: str, printed: str, page: str, rows: str):
        super().__init__(text, printed)
        self._page = page
        self._rows = rows

    @property
    def players(self) -> dict[str, Json]:
        """Figures of each player, by name (by side in games without names): ``games``, ``moves``, ``judged``, and
        ``figures`` under the names of `Report.metrics`, with ``all_`` over all judged moves; ``phases`` has them by phase."""
        return {player["player"]: player for player in self.json["players"]}

    @property
    def games(self) -> list[Json]:
        """Games with their ``moves``: each with ``before`` and ``after`` (values of the player who moves), ``result_lost``,
        ``score_lost``, ``best``; ``None`` where a value is not proven."""
        games: list[Json] = self.json["games"]
        return games

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a `pandas.DataFrame` with a row for each move, as ``solver review --csv`` writes them."""
        needs("pandas", "to_pandas")
        import pandas

        return pandas.read_csv(io.StringIO(self._rows), keep_default_na=False, na_values=[""])

    def to_html(self, path: PathLike | None = None) -> str:
        """Returns the review as one self-contained page, and writes it to ``path`` if given."""
        if path is not None:
            _core.write_text(path, self._page)
        return self._page

    def __repr__(self) -> str:
        return f"<yomikiri.Review: {self._text.splitlines()[0] if self._text else ''}>"


def review(
    games: GameRecord | Iterable[GameRecord] | PathLike,
    table: Table | Game | str | None = None,
    *,
    time: float = 60.0,
    worst: int = 10,
    tables: PathLike | None = None,
    progress: bool | None = None,
) -> Review:
    """Judges each move of games: what it cost, what was better. ``games`` are those of `read_games`, or a file in any form
    (then ``table`` names the game). A move is judged where its value and that of its position are proven: by ``table``, or
    by a search of ``time`` seconds a game, which begins at its end; others have ``None``.

    Raises `PositionError` for a file that cannot be read, `ValueError` for a game that has no table and cannot be searched."""
    given = table if isinstance(table, Table) else None
    if isinstance(games, (str, os.PathLike)):
        if table is None:
            raise ValueError("a file needs its game: ym.review(file, 'othello-8x8')")
        rules = table.game if isinstance(table, Table) else table
        games = read_games(games, rules, tables=tables)
    elif isinstance(games, GameRecord):
        games = [games]
    records = list(games)
    if not records:
        raise ValueError("no games")
    core = records[0]._core_game.position().game
    played = [(record._core_game, record.players, record.result) for record in records]
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    own = None if given is None else given._core
    with Told(progress) as tell:
        return Review(*_core.review(core, own, played, directory(tables), time, worst, day, tell))


class Match(_Printed):
    """Results of games between two policies; figures are those of the first."""

    @property
    def results(self) -> BothResults:
        """Results of games from the start: ``first`` and ``second`` (the first policy playing either side),
        each with the probabilities ``win``, ``draw`` and ``loss`` and the expected ``score``."""
        opening = self.json["openings"][0]
        return {"first": opening["first"], "second": opening["second"]}

    def __repr__(self) -> str:
        return f"<yomikiri.Match: {self._text.splitlines()[0] if self._text else ''}>"


def match(
    table: Table | Game | PathLike,
    first: Policy,
    second: Policy,
    *,
    names: Sequence[str | None] = (None, None),
    openings: int = 0,
    tables: PathLike | None = None,
    progress: bool | None = None,
    **reading: Unpack[Reading],
) -> Match:
    """Computes games between two policies exactly, on a complete table; also after up to ``openings`` random
    openings."""
    table = open_or_solve(table, tables=tables, progress=progress)
    given = _given((first, second), names, reading, table.game)
    with Told(progress) as tell, _evaluating(given):
        return Match(*_core.play_match(table._core, given[0], given[1], openings, tell))


def exploitability(
    table: Table | Game | PathLike,
    policy: Policy,
    /,
    *,
    tables: PathLike | None = None,
    progress: bool | None = None,
    **reading: Unpack[Reading],
) -> BothLost:
    """Returns the exploitability of a policy on a complete table: ``first`` and ``second`` (the policy
    playing either side), each with ``result_lost`` (0 to 2) and ``score_lost`` to a best response. Raises
    `ValueError` if games cannot be played out on the table."""
    table = open_or_solve(table, tables=tables, progress=progress)
    report = evaluate(table, policy, mistakes=0, progress=progress, **reading)
    if report.json["games"] is None:
        raise ValueError(f"games cannot be computed on {table.name}")
    lost: BothLost = report.json["games"]["policies"][0]["exploitability"]
    return lost
