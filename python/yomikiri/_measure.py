"""Exact measurement of policies against solved tables."""

from __future__ import annotations

import datetime
import functools
import html as _html
import inspect
import json
import os
import sys
import types
import warnings
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import numpy as np

from . import _core
from ._arrays import numbers, numpy_of
from ._games import Positions, style_board
from ._tables import Table, _directory, _Told


class _Asked:
    """A callable policy. Converts its return values to arrays for the solver."""

    def __init__(self, policy, name, layout, best):
        self.policy, self.name, self.best = policy, name, best
        self.form = _FORMS.get(layout)
        self.is_warned = False
        self.as_probabilities = 0
        self.tensor = None
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(policy, torch.nn.Module):
            self.tensor = torch
        target = policy.forward if self.tensor else policy
        self.with_legal = _takes_two(target)

    def __call__(self, shown, legal):
        shown = self.form(Positions(shown)) if self.form else shown
        given = (shown, legal) if self.with_legal else (shown,)
        if self.tensor is not None:
            with self.tensor.no_grad():
                device = next((weights.device for weights in self.policy.parameters()), None)
                told = self.policy(*(
                    self.tensor.from_numpy(one).to(device) if isinstance(one, np.ndarray) else one for one in given
                ))
        else:
            told = self.policy(*given)
        if isinstance(told, tuple) and len(told) == 2:
            told = {self._kind(told[0]): told[0], "values": told[1]}
        elif not isinstance(told, dict):
            array = numpy_of(told)
            told = {"actions" if array.ndim == 1 and array.dtype.kind in "iu" else self._kind(array): array}
        known = {"logits", "probabilities", "actions", "scores", "values", "final_scores"}
        unknown = [name for name in told if name not in known]
        if unknown:
            raise _core.PolicyError(f"invalid answer {unknown[0]!r}: expected {', '.join(sorted(known))}")
        rows = {"actions", "values", "final_scores"}
        whole = {name: numbers(array) for name, array in told.items() if array is not None}
        return {
            name: array.reshape(len(array)) if name in rows and array.ndim == 2 and array.shape[1] == 1 else array
            for name, array in whole.items()
        }

    def _kind(self, array):
        """Returns the kind of an unnamed array. Raises `PolicyError` if all rows so far look like
        probabilities."""
        if self.best:
            return "scores"
        if self.as_probabilities is None:
            return "logits"
        rows = numbers(array)
        if rows.ndim == 2 and (rows >= 0).all() and (abs(rows.sum(axis=1) - 1) < 1e-3).all():
            self.as_probabilities += len(rows)
        else:
            self.as_probabilities = None
        # Logits may sum to 1 by chance in a few positions.
        if self.as_probabilities is not None and self.as_probabilities >= 64:
            raise _core.PolicyError(
                f"policy '{self.name}': every row of its arrays sums to 1, as probabilities do, and arrays are read as "
                "logits; return {'probabilities': ...}, 0 for illegal moves, or their logarithms")
        return "logits"


#: Conversions of positions for the layouts without planes.
_FORMS = {
    "positions": lambda positions: positions,
    "keys": lambda positions: positions.own_keys,
    "notations": lambda positions: positions.notations,
}


def _takes_two(function):
    """Returns ``True`` if a callable takes the legal moves as a second argument."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    return len(needed) >= 2 or len(places) >= 2 and places[1].name in ("legal", "mask", "legal_actions", "action_mask")


def _given(policies, names, layout, planes, move):
    """Converts policies to the arguments of `_core`."""
    if move not in ("sample", "best"):
        raise ValueError(f"invalid move {move!r}: expected sample, best")

    def one(policy, name):
        if isinstance(policy, (str, os.PathLike)):
            return str(policy)
        if not callable(policy):
            raise TypeError(f"invalid policy {type(policy).__name__}: expected a name or a callable")
        name = name or getattr(policy, "__name__", None) or type(policy).__name__
        asked = _Asked(policy, name, layout, move == "best")
        return (name, asked, layout, planes, asked.with_legal, asked.best)

    given = [one(policy, name) for policy, name in zip(policies, names)]
    if move == "best" and given and all(isinstance(policy, str) for policy in given):
        raise ValueError("move 'best' applies to callables only; for names write 'onnx:FILE?move=best', "
                         "'predictions:DIR?move=best' or 'exec:COMMAND?move=best'")
    return given


def _networks(policy):
    """Returns the networks with a training mode that a callable is or uses: the object itself, its arguments
    and variables, and their attributes."""
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
    held += [one for owner in held for one in getattr(owner, "__dict__", {}).values()]
    return [
        one for one in held
        if isinstance(getattr(one, "training", None), bool)
        and callable(getattr(one, "eval", None)) and callable(getattr(one, "train", None))
    ]


@contextmanager
def _evaluating(given):
    """Switches networks to evaluation mode inside the block and restores the mode of every part
    afterwards."""
    before = []
    try:
        for policy in given:
            for network in [] if isinstance(policy, str) else _networks(policy[1].policy):
                parts = [*network.modules()] if hasattr(network, "modules") else [network]
                modes = [(part, part.training) for part in parts if hasattr(part, "training")]
                if not any(is_training for _, is_training in modes):
                    continue
                if not policy[1].is_warned:
                    policy[1].is_warned = True
                    warnings.warn(
                        f"policy '{policy[0]}' is in training mode; it is measured in eval() and restored afterwards",
                        RuntimeWarning, stacklevel=4)
                before.append((network, network.training, modes))
                network.eval()
        yield
    finally:
        for network, is_training, modes in reversed(before):
            if is_training:
                network.train()
            for part, is_training in modes:
                if part.training != is_training:
                    part.training = is_training


def evaluate(
    table: Table | Positions,
    *policies,
    names: list[str] | None = None,
    layout: str = "nchw",
    planes: str | None = None,
    split: str | None = None,
    trained: str | None = None,
    canonical: bool = False,
    games: bool = True,
    mistakes: int = 10,
    move: str = "sample",
    tables=None,
    progress: bool | None = None,
) -> Report:
    """Measures policies in every position of a table whose value and moves are proven, without sampling.
    Given `Positions` instead of a table (``ym.game("othello-8x8").sample(1000)``), it finds their exact
    values by search and caches them in ``tables/labels``; figures of a sample have confidence intervals.

    A policy is a name as in ``solver report --policy`` (``random``, ``greedy``, ``alphabeta:4``,
    ``mcts:100``, ``learned:NAME``, ``onnx:FILE``, ``perfect``…) or a callable ``policy(planes)`` or
    ``policy(planes, legal)``. ``planes`` is ``float32`` of shape ``(N, …)``, see `Positions.planes` for
    ``layout`` and ``planes``; ``legal`` is ``bool`` of shape ``(N, actions)``. For games without planes,
    ``layout`` may be ``positions`` (`Positions`), ``keys`` (`Positions.own_keys`) or ``notations`` (a list of
    texts). A ``torch.nn.Module`` takes and returns tensors; a network in training mode is measured in
    ``eval()`` and set back, with a warning. The callable returns

    * an array ``(N, actions)`` of logits (illegal moves are masked for you), or ``(N,)`` integers: actions;
    * a tuple ``(logits, values)`` with values from -1 (the mover loses) to 1;
    * or a dictionary with one of ``logits``, ``probabilities``, ``actions``, ``scores`` (the best moves are
      chosen), and optionally ``values`` and ``final_scores`` (in discs).

    With ``move="best"`` a callable plays the move of its highest number: for Q-networks, whose arrays would
    otherwise be read as logits.

    The callable runs on this thread with batches of up to 2048 positions. Its answer for a position must not
    depend on the rest of the batch: a few positions of a few batches are repeated to check that. ``split``
    restricts the measurement to ``train``, ``validation`` or ``test``, divided as in the training of the
    policies if that is known, else by the defaults of ``states`` and ``solver export``. ``trained="train"``
    (or ``"train:SEED"``, with the ``--split-seed`` of an export) declares that callables and other external
    policies were trained on that part; they are then ranked by the other positions. ``canonical`` measures
    one of all mirror images (up to 16 times faster); ``games`` also plays the policies against perfect and
    random moves and each other, if the table is complete; ``mistakes`` is the number of mistakes kept for
    each policy. Raises `PolicyError` for an invalid answer, naming the row, and any exception of the
    callable."""
    if not policies:
        raise ValueError("no policy: expected at least one")
    names = list(names) if names is not None else [None] * len(policies)
    if len(names) != len(policies):
        raise ValueError(f"{len(names)} names, expected one for each of {len(policies)} policies")
    given = _given(policies, names, layout, planes, move)
    if isinstance(table, Positions):
        if split is not None or canonical:
            raise ValueError("split and canonical apply to tables only")
        words = table._drawn or f"{len(table)} given ones"
        with _Told(progress) as tell, _evaluating(given):
            return Report(_core.evaluate_positions(
                table._core, _directory(tables), given, words, table._drawn is not None, mistakes, trained, tell))
    with _Told(progress) as tell, _evaluating(given):
        return Report(_core.evaluate(table._core, given, canonical, games, mistakes, split, trained, tell))


class Report:
    """Figures of the measured policies. ``report[name]`` are the metrics of one policy."""

    def __init__(self, core: _core.Report):
        self._core = core

    @cached_property
    def json(self) -> dict:
        """All figures, as in ``solver report --json`` (``docs/json.md``)."""
        return json.loads(self._core.json())

    @cached_property
    def _metrics(self):
        return json.loads(self._core.metrics())

    @property
    def policies(self) -> list[str]:
        """Names of the policies in the order of the request."""
        return [metrics["policy"] for metrics in self._metrics]

    @property
    def ranking(self) -> list[str]:
        """Names of the policies, best first."""
        return [self.policies[at] for at in self._core.order()]

    @property
    def metrics(self) -> dict:
        """A few dozen numbers of the first policy, as in ``solver report --metrics``."""
        return self._metrics[0]

    def __getitem__(self, policy: str | int) -> dict:
        at = policy if isinstance(policy, int) else self.policies.index(policy)
        return self._metrics[at]

    def __str__(self):
        return self._core.text(False)

    def __repr__(self):
        return f"<yomikiri.Report: {', '.join(self.policies)}>"

    @property
    def full(self) -> str:
        """The full report, as printed by ``solver report --full``."""
        return self._core.text(True)

    def to_pandas(self, by: str | None = None):
        """Returns a `pandas.DataFrame` with the metrics of each policy, one per row. With ``by`` (``layer``,
        ``moves``, ``distance``, ``value``) a row is a policy and a group, with figures of all and of decisive
        positions."""
        import pandas

        if by is None:
            return pandas.DataFrame(self._metrics).set_index("policy")
        field = {"layer": "layers", "moves": "by_moves", "distance": "by_distance", "value": "by_value"}
        if by not in field:
            raise ValueError(f"invalid by {by!r}: expected {', '.join(field)}")
        rows = []
        for policy in self.json["policies"]:
            for group in policy[field[by]]:
                key = next(value for name, value in group.items() if name != "figures")
                row = {"policy": policy["policy"], by: key}
                for kind in ("all", "decisive_outcome"):
                    figures = group["figures"][kind]
                    row |= {f"{kind}_{name}": number for name, number in figures.items() if np.isscalar(number)}
                rows.append(row)
        return pandas.DataFrame(rows)

    def to_html(self, path: str | os.PathLike | None = None) -> str:
        """Returns the report as one self-contained page, and writes it to ``path`` if given."""
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        page = self._core.html("yomikiri.evaluate", date)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def mistakes(self, count: int = 10, policy: str | int = 0) -> list[Mistake]:
        """Returns a policy's costliest mistakes, costliest first, one of mirror images; at most the number
        that the measurement kept."""
        at = policy if isinstance(policy, int) else self.policies.index(policy)
        games = self.json["games"]
        found = games["policies"][at]["costliest"] if games else self.json["policies"][at]["costliest"]
        return [Mistake(one) for one in found[:count]]

    def _repr_html_(self):
        columns = [name for name in ("result_kept", "score_kept", "nll", "exploited_result") if name in self.metrics]
        head = "".join(f"<th>{_html.escape(name)}</th>" for name in ["policy", *columns])
        rows = ""
        for name in self.ranking:
            cells = (self[name][column] for column in columns)
            cells = "".join(f"<td>{'' if cell is None else f'{cell:.4f}'}</td>" for cell in cells)
            rows += f"<tr><td>{_html.escape(name)}</td>{cells}</tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


class Mistake(dict):
    """A position and a policy's moves there (``docs/json.md``); renders as a board in notebooks."""

    def _repr_html_(self):
        text = _html.escape
        rows = "".join(
            f"<tr{' style=font-weight:bold' if move['best'] else ''}><td>{text(move['move'])}</td>"
            f"<td>{move['probability']:.1%}</td><td>{move.get('score', move['outcome'])}</td></tr>"
            for move in self["moves"]
        )
        board = style_board(_core.board_svg(self["diagram"]))
        return f"{board}<div>{text(self['mover'])} to move</div><table>{rows}</table>"


class Comparison:
    """Comparison of two policies position by position."""

    def __init__(self, text: str, told: str):
        #: The figures, as in ``solver compare --json``.
        self.json: dict = json.loads(text)
        self._text = told

    def __str__(self):
        return self._text


def compare(table: Table, first, second, *, layout="nchw", planes=None, names=(None, None),
            split=None, trained=None, worst: int = 10, move: str = "sample",
            progress: bool | None = None) -> Comparison:
    """Compares two policies in the same positions: where each loses less, and where they differ most."""
    given = _given((first, second), names, layout, planes, move)
    with _Told(progress) as tell, _evaluating(given):
        return Comparison(*_core.compare(table._core, *given, split, trained, worst, tell))


class Match:
    """Results of games between two policies."""

    def __init__(self, text: str, told: str):
        #: The figures of the first policy, as in ``solver match --json``.
        self.json: dict = json.loads(text)
        self._text = told

    @property
    def results(self) -> dict:
        """Results of games from the start: ``first`` and ``second`` (the first policy playing either side),
        each with the probabilities ``win``, ``draw`` and ``loss`` and the expected ``score``."""
        opening = self.json["openings"][0]
        return {side: opening[side] for side in ("first", "second")}

    def __str__(self):
        return self._text


def match(table: Table, first, second, *, layout="nchw", planes=None, names=(None, None),
          openings: int = 0, move: str = "sample", progress: bool | None = None) -> Match:
    """Computes games between two policies exactly, on a complete table; also after up to ``openings`` random
    openings."""
    given = _given((first, second), names, layout, planes, move)
    with _Told(progress) as tell, _evaluating(given):
        return Match(*_core.play_match(table._core, *given, openings, tell))


def exploitability(table: Table, policy, *, layout="nchw", planes=None, move: str = "sample") -> dict:
    """Returns the exploitability of a policy on a complete table: ``first`` and ``second`` (the policy
    playing either side), each with ``outcome_lost`` (0 to 2) and ``score_lost`` to a best response. Raises
    `ValueError` if games cannot be played out on the table."""
    report = evaluate(table, policy, layout=layout, planes=planes, mistakes=0, move=move, progress=False)
    if report.json["games"] is None:
        raise ValueError(f"games cannot be computed on {table.name}")
    return report.json["games"]["policies"][0]["exploitability"]
