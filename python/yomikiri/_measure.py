"""Policies measured against solved tables, exactly."""

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
    """A callable whose answers are made arrays for the solver."""

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
            raise _core.PolicyError(f"it gives {unknown[0]!r}; known are {', '.join(sorted(known))}")
        rows = {"actions", "values", "final_scores"}
        whole = {name: numbers(array) for name, array in told.items() if array is not None}
        return {
            name: array.reshape(len(array)) if name in rows and array.ndim == 2 and array.shape[1] == 1 else array
            for name, array in whole.items()
        }

    def _kind(self, array):
        """Kind of numbers in an array without a name; fails where all rows so far are probabilities."""
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
                "logits; give {'probabilities': ...}, 0 for illegal moves, or their logarithms")
        return "logits"


#: What a callable gets by layouts that are no planes.
_FORMS = {
    "positions": lambda positions: positions,
    "keys": lambda positions: positions.own_keys,
    "notations": lambda positions: positions.notations,
}


def _takes_two(function):
    """Whether a callable takes the legal moves after the positions."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    return len(needed) >= 2 or len(places) >= 2 and places[1].name in ("legal", "mask", "legal_actions", "action_mask")


def _given(policies, names, layout, planes, move):
    """Policies as the solver takes them."""
    if move not in ("sample", "best"):
        raise ValueError(f"move {move!r}: known are sample, best")

    def one(policy, name):
        if isinstance(policy, (str, os.PathLike)):
            return str(policy)
        if not callable(policy):
            raise TypeError(f"a policy is a name or a callable, not {type(policy).__name__}")
        name = name or getattr(policy, "__name__", None) or type(policy).__name__
        asked = _Asked(policy, name, layout, move == "best")
        return (name, asked, layout, planes, asked.with_legal, asked.best)

    given = [one(policy, name) for policy, name in zip(policies, names)]
    if move == "best" and given and all(isinstance(policy, str) for policy in given):
        raise ValueError("move 'best' is for callables, and here are names only; of those 'onnx:FILE?move=best', "
                         "'predictions:DIR?move=best' and 'exec:COMMAND?move=best' have it")
    return given


def _networks(policy):
    """Networks with a training mode that a callable is or uses: by its object, its arguments, its variables, and what
    these have as attributes."""
    target = inspect.unwrap(policy)
    if isinstance(target, functools.partial):
        held = [target.func, *target.args, *target.keywords.values()]
    else:
        held = [target, getattr(target, "__self__", None)]
    function = getattr(target, "__func__", target)
    if inspect.isfunction(function):
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # a variable that is not assigned yet
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
    """Networks in training mode are in evaluation mode meanwhile, and afterwards every part is as it was."""
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
                        f"policy '{policy[0]}' is in training mode; it is measured in eval() and set back afterwards",
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
    """Measures policies in every position of a table whose value and moves are proven; nothing is sampled. With
    `Positions` in place of a table (``ym.game("othello-8x8").sample(1000)``) the exact values of these are found by search,
    and kept in ``tables/labels``; of a sample there are confidence intervals.

    A policy is a name as ``solver report --policy`` takes it (``random``, ``greedy``, ``alphabeta:4``,
    ``mcts:100``, ``learned:NAME``, ``onnx:FILE``, ``perfect``…) or a callable ``policy(planes)`` or
    ``policy(planes, legal)``. ``planes`` is ``float32`` of shape ``(N, …)`` by ``layout`` and ``planes`` (those of
    `Positions.planes`), ``legal`` ``bool`` of shape ``(N, actions)``. Instead of planes, which not every game has,
    ``layout`` may be ``positions`` (`Positions`), ``keys`` (`Positions.own_keys`) or ``notations`` (a list of texts). A
    ``torch.nn.Module`` gets and gives tensors; networks in training mode are measured in ``eval()`` and set back, with
    a warning. The callable gives

    * an array ``(N, actions)`` of logits (illegal moves are masked for you), or ``(N,)`` whole numbers: actions;
    * a tuple ``(logits, values)``, values from -1 (the mover loses) to 1;
    * or a dictionary with one of ``logits``, ``probabilities``, ``actions``, ``scores`` (the best are chosen), and if
      it has them ``values`` and ``final_scores`` (in discs).

    With ``move="best"`` callables play the move of their highest number: for Q-networks, whose arrays would be read as
    logits otherwise.

    It is called on this thread, with up to 2048 positions at a time, and its answer for a position must not depend
    on the others: a few positions of a few batches are asked about again.
    ``split`` measures on ``train``, ``validation`` or ``test`` alone, divided as when the policies
    learned, or else as ``states`` and ``solver export`` do by default. ``trained="train"`` (or ``"train:SEED"``, with
    the ``--split-seed`` of an export) says that callables and other policies from outside have learned from that part:
    then they are ranked by the positions that they have not learned from. ``canonical`` asks
    about one of all mirror images (up to 16 times faster); ``games`` also plays the policies against perfect and random
    moves and each other, where the table is complete; ``mistakes`` are kept of each.

    Raises `PolicyError` where an answer makes no sense, naming the row, and whatever the callable raises."""
    if not policies:
        raise ValueError("give at least one policy")
    names = list(names) if names is not None else [None] * len(policies)
    if len(names) != len(policies):
        raise ValueError(f"{len(names)} names are not one for each of {len(policies)} policies")
    given = _given(policies, names, layout, planes, move)
    if isinstance(table, Positions):
        if split is not None or canonical:
            raise ValueError("split and canonical are for tables: positions are measured as they are")
        words = table._drawn or f"{len(table)} that were given"
        with _Told(progress) as tell, _evaluating(given):
            return Report(_core.evaluate_positions(
                table._core, _directory(tables), given, words, table._drawn is not None, mistakes, trained, tell))
    with _Told(progress) as tell, _evaluating(given):
        return Report(_core.evaluate(table._core, given, canonical, games, mistakes, split, trained, tell))


class Report:
    """How good policies are. ``report[name]`` are the figures of one."""

    def __init__(self, core: _core.Report):
        self._core = core

    @cached_property
    def json(self) -> dict:
        """All figures, as ``solver report --json`` has them (``docs/json.md``)."""
        return json.loads(self._core.json())

    @cached_property
    def _metrics(self):
        return json.loads(self._core.metrics())

    @property
    def policies(self) -> list[str]:
        """Their names, in the order of the request."""
        return [metrics["policy"] for metrics in self._metrics]

    @property
    def ranking(self) -> list[str]:
        """Their names, the best first."""
        return [self.policies[at] for at in self._core.order()]

    @property
    def metrics(self) -> dict:
        """A few dozen numbers of the first policy, as ``solver report --metrics`` has them."""
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
        """The report in full, as ``solver report --full`` prints it."""
        return self._core.text(True)

    def to_pandas(self, by: str | None = None):
        """A `pandas.DataFrame`: a row a policy with its metrics; with ``by`` (``layer``, ``moves``, ``distance``,
        ``value``) a row a policy and group, with the figures of decisive positions and of all."""
        import pandas

        if by is None:
            return pandas.DataFrame(self._metrics).set_index("policy")
        field = {"layer": "layers", "moves": "by_moves", "distance": "by_distance", "value": "by_value"}
        if by not in field:
            raise ValueError(f"by {by!r}: known are {', '.join(field)}")
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
        """The report as one page that needs nothing else; written to ``path`` if that is given."""
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        page = self._core.html("yomikiri.evaluate", date)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def mistakes(self, count: int = 10, policy: str | int = 0) -> list[Mistake]:
        """A policy's costliest mistakes, one of mirror images, the costliest first; at most as many as were asked for
        when it was measured."""
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
    """A position and what a policy does there (``docs/json.md``); in a notebook it draws itself."""

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
    """Two policies position by position: ``json`` as ``solver compare --json`` has it."""

    def __init__(self, text: str, told: str):
        #: The figures.
        self.json: dict = json.loads(text)
        self._text = told

    def __str__(self):
        return self._text


def compare(table: Table, first, second, *, layout="nchw", planes=None, names=(None, None),
            split=None, trained=None, worst: int = 10, move: str = "sample",
            progress: bool | None = None) -> Comparison:
    """Two policies in the same positions: who gives away less where, and where they differ most."""
    given = _given((first, second), names, layout, planes, move)
    with _Told(progress) as tell, _evaluating(given):
        return Comparison(*_core.compare(table._core, *given, split, trained, worst, tell))


class Match:
    """What games between two policies come to: ``json`` as ``solver match --json`` has it."""

    def __init__(self, text: str, told: str):
        #: The figures, which are those of the first policy.
        self.json: dict = json.loads(text)
        self._text = told

    @property
    def results(self) -> dict:
        """Of games from the start: ``first`` and ``second``, the first policy with either side, each with the
        probabilities ``win``, ``draw`` and ``loss`` and the expected ``score``."""
        opening = self.json["openings"][0]
        return {side: opening[side] for side in ("first", "second")}

    def __str__(self):
        return self._text


def match(table: Table, first, second, *, layout="nchw", planes=None, names=(None, None),
          openings: int = 0, move: str = "sample", progress: bool | None = None) -> Match:
    """Games between two policies on a complete table, exactly; also after up to so many random ``openings``."""
    given = _given((first, second), names, layout, planes, move)
    with _Told(progress) as tell, _evaluating(given):
        return Match(*_core.play_match(table._core, *given, openings, tell))


def exploitability(table: Table, policy, *, layout="nchw", planes=None, move: str = "sample") -> dict:
    """What a best response takes of a policy on a complete table: ``first`` and ``second``, the policy with either
    side, each with the ``outcome_lost`` (0 to 2) and the ``score_lost``. Raises `ValueError` where games cannot be
    played out."""
    report = evaluate(table, policy, layout=layout, planes=planes, mistakes=0, move=move, progress=False)
    if report.json["games"] is None:
        raise ValueError(f"games cannot be played out on {table.name}")
    return report.json["games"]["policies"][0]["exploitability"]
