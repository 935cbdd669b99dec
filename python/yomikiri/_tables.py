"""Solved tables and their values."""

from __future__ import annotations

import builtins
import json
import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Iterator

import numpy as np

from . import _core
from ._games import Game, Position, Positions
from ._games import game as _game


def _directory(tables) -> Path:
    return Path(tables if tables is not None else os.environ.get("YOMIKIRI_TABLES", "tables"))


def _progress(wanted):
    """Returns a callback that draws a tqdm bar, or ``None`` without tqdm or without a terminal or
    notebook."""
    if wanted is False or wanted is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise
        return None
    bar = None

    def tell(what, done, total):
        nonlocal bar
        if bar is None or bar.desc != what:
            if bar is not None:
                bar.close()
            bar = tqdm(total=total, unit="states", unit_scale=True, leave=False)
            bar.desc = what
        bar.n = done if total is None else min(done, total)
        bar.refresh()

    tell.close = lambda: bar.close() if bar is not None else None
    return tell


class _Told:
    """Shows progress while a block runs."""

    def __init__(self, wanted):
        self.tell = _progress(wanted)

    def __enter__(self):
        return self.tell

    def __exit__(self, *_):
        if self.tell is not None:
            self.tell.close()


def solve(
    game: str | Game = "othello-4x4",
    *,
    tables: str | os.PathLike | None = None,
    roots=None,
    max_depth: int | None = None,
    checks_only: bool = False,
    force: bool = False,
    progress: bool | None = None,
) -> Table:
    """Enumerates and solves a game, or opens the table if it exists.

    ``tables`` is the directory of tables (default ``$YOMIKIRI_TABLES``, else ``tables``). ``roots`` are the
    positions to begin at instead of the start (texts, or anything `Game.positions` takes), ``max_depth`` is
    the ply after which no move is followed (required for minishogi), ``checks_only`` follows only checks by
    the side to move at the roots. ``progress`` shows a tqdm bar; by default in terminals and notebooks if
    tqdm is installed. Ctrl-C interrupts; the same call resumes. ``force`` starts even if memory or disk space
    is expected not to suffice. Raises `ValueError`, `TableError`, `YomikiriError`."""
    rules = game if isinstance(game, Game) else _game(game)
    begin = None if roots is None else rules.positions(roots)._core
    with _Told(progress) as tell:
        core = _core.solve(rules._core, _directory(tables), begin, max_depth, checks_only, force, tell)
    return Table(core)


def open(name: str | os.PathLike = "othello-4x4", *, tables=None, check: bool = False) -> Table:
    """Opens a solved table by name or path. Files are mapped, not read; ``check`` verifies all checksums.
    Raises `TableError`."""
    return Table(_core.open_table(str(name), _directory(tables), check))


class Batch(dict):
    """Columns by name, each an array whose first axis is the position; ``batch.score`` is
    ``batch["score"]``."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"unknown column {name!r}; expected {', '.join(self)}") from None

    def __len__(self):
        return len(next(iter(self.values()), ()))

    @property
    def q(self) -> np.ndarray:
        """Exact value of each action for the mover: ``float32``, ``(N, actions)``, NaN where illegal or not
        proven."""
        name = "q_score" if "q_score" in self else "q_outcome"
        return _with_nan(self[name])


def _with_nan(numbers):
    out = numbers.astype(np.float32)
    out[numbers == -128] = np.nan
    return out


class Table:
    """A solved table with memory-mapped files. Created by `solve` and `open`."""

    def __init__(self, core: _core.Table):
        self._core = core
        #: Name.
        self.name: str = core.name
        #: Directory.
        self.path: Path = Path(core.path)
        #: The rules.
        self.game: Game = Game(core.game)
        #: ``True`` if the table contains the whole game, without states cut off at a bound.
        self.complete: bool = core.complete
        #: ``True`` if values include a score.
        self.has_scores: bool = core.has_scores

    def __len__(self):
        return self._core.rows

    def __repr__(self):
        return f"<yomikiri.Table {self.name}: {len(self):,} rows>"

    def __reduce__(self):
        return open, (str(self.path.absolute()),)

    @property
    def manifest(self) -> dict:
        """Contents of ``manifest.json``."""
        return json.loads(self._core.manifest())

    @property
    def columns(self) -> dict[str, str]:
        """Columns available to `states` and `lookup`, with descriptions (``docs/targets.md``)."""
        return dict(self._core.columns())

    @property
    def roots(self) -> Positions:
        """Root positions."""
        return Positions(self._core.roots())

    def position(self, text: str) -> Position:
        """Parses a position; a transcript begins at the first root. Raises `PositionError`."""
        return Position(self._core.parse([text]))

    def lookup(self, positions, *, side=None, form=None, layout="nchw", missing: str = "raise") -> Values:
        """Returns the exact values of positions, in any orientation, and of their moves.

        ``positions``, ``side``, ``form`` and ``layout`` are those of `Game.positions`. ``missing`` is the
        treatment of positions outside the table: ``raise`` raises `PositionError`; ``mask`` marks their
        values as unknown; ``search`` finds exact values by search, however long that takes, in games that
        always end (as `Positions.solve`), all but `Values.row` and `Values.distance`. Values that a bounded
        table leaves open remain open. `Values.found` is false for masked and for searched positions."""
        if missing not in ("raise", "mask", "search"):
            raise ValueError(f"invalid missing {missing!r}: expected raise, mask, search")
        if isinstance(positions, str):
            positions = self.position(positions)
        elif isinstance(positions, (list, tuple)) and len(positions) and isinstance(positions[0], str):
            positions = Positions(self._core.parse(list(positions)))
        given = self.game.positions(positions, side=side, form=form, layout=layout)
        return Values(self, given, missing)

    def states(
        self,
        split: str | None = None,
        *,
        columns: list[str] | None = None,
        batch: int = 4096,
        images: str = "canonical",
        terminals: bool = False,
        unproven: bool = False,
        layout: str = "nchw",
        shuffle: int | None = None,
        shard: tuple[int, int] = (0, 1),
    ) -> Iterator[Batch]:
        """Yields the table's positions with their exact values in batches, read on demand.

        ``split`` is ``train``, ``validation``, ``test`` or ``None`` for all; mirror images of a position
        belong to the same part. ``columns`` are names from `Table.columns`; by default ``planes``, ``side``,
        ``outcome``, ``distance``, ``legal``, ``optimal``, ``weight``, and ``score`` and ``q_score``, or
        ``q_outcome``. ``images`` is ``canonical`` (each row once, with the number of its positions as
        ``weight``), ``all`` (every reachable orientation) or ``expanded`` (every symmetry). ``layout`` of
        planes: as in `Game.positions`. ``shuffle`` is a seed: pieces of the table are read in random order
        and mixed within some tens of thousands of rows. ``shard`` ``(k, n)`` yields the ``k``-th of ``n``
        disjoint shares, one for each worker of a loader."""
        if columns is None:
            scores = ["score", "q_score"] if self.has_scores else ["q_outcome"]
            columns = ["planes", "side", "outcome", "distance", "legal", "optimal", "weight", *scores]
        if batch < 1:
            raise ValueError("invalid batch: expected at least 1")
        pieces = self._core.pieces
        random = None if shuffle is None else np.random.default_rng(shuffle)
        order = np.arange(len(pieces)) if random is None else random.permutation(len(pieces))
        number, shares = shard
        if not 0 <= number < shares:
            raise ValueError(f"invalid shard {shard}: expected an index and a larger count")
        order = order[number::shares]
        held, count = [], 0
        room = max(batch, 1 << 15) if random is not None else batch

        def read(at):
            return Batch(
                self._core.read(list(columns), int(at), int(at) + 1, split, images, terminals, unproven, layout)
            )

        def taken(last):
            nonlocal held, count
            whole = held[0] if len(held) == 1 else _joined(held)
            if random is not None:
                whole = _at(whole, random.permutation(count))
            end = count if last else count - count % batch
            yield from (_at(whole, slice(at, at + batch)) for at in range(0, end, batch))
            held, count = ([_at(whole, slice(end, None))], count - end) if end < count else ([], 0)

        for at in order:
            piece = read(at)
            if len(piece):
                held.append(piece)
                count += len(piece)
            if count >= room:
                yield from taken(False)
        if count:
            yield from taken(True)

    def dataset(self, split: str | None = "train", **options):
        """Returns a map-style dataset for torch's ``DataLoader`` and the like, entirely in memory. Item ``i``
        is ``(planes, policy, value, legal)`` with ``planes`` ``float32``, ``policy`` ``float32`` of shape
        ``(actions,)`` (uniform on the best moves), ``value`` the mover's outcome and ``legal`` ``bool``.
        ``options`` are those of `states`. Raises `ValueError` if there are no positions."""
        return Dataset(self, split, **options)


class Dataset:
    """A dataset in memory; see `Table.dataset`."""

    def __init__(self, table: Table, split, **options):
        columns = ["planes", "policy", "outcome", "legal"]
        all_of_it = [*table.states(split, columns=columns, **options)]
        if not all_of_it:
            raise ValueError(f"no positions of {table.name} in the split {split!r}")
        whole = _joined(all_of_it)
        #: ``(N, planes, rows, columns)``
        self.planes: np.ndarray = whole["planes"].astype(np.float32)
        #: ``(N, actions)``
        self.policy: np.ndarray = whole["policy"]
        #: ``(N,)``
        self.value: np.ndarray = whole["outcome"].astype(np.float32)
        #: ``(N, actions)``
        self.legal: np.ndarray = whole["legal"].astype(bool)

    def __len__(self):
        return len(self.value)

    def __getitem__(self, at):
        return self.planes[at], self.policy[at], self.value[at], self.legal[at]


def _joined(parts):
    return Batch({
        name: builtins.sum((part[name] for part in parts), []) if isinstance(parts[0][name], list)
        else np.concatenate([part[name] for part in parts])
        for name in parts[0]
    })


def _at(batch, at):
    def take(column):
        if isinstance(column, list) and not isinstance(at, slice):
            return [column[place] for place in at]
        return column[at]

    return Batch({name: take(column) for name, column in batch.items()})


class Values:
    """Exact values of positions; the first axis of every array is the position. Arrays are computed on first
    use. Unproven and missing values have the markers that each property names."""

    def __init__(self, table: Table, positions: Positions, missing: str):
        self._table, self._how, self._columns = table, missing, {}
        #: The positions.
        self.positions = positions
        self._read(["score", "outcome", "distance"] if table.has_scores else ["outcome", "distance"])

    def __len__(self):
        return len(self.positions)

    def __repr__(self):
        return f"<exact values of {len(self)} positions of {self._table.name}>"

    _FILL = {"row": 2**32 - 1, "distance": 65535, "layer": 65535}

    def _read(self, names):
        core, searches = self._table._core, self._how == "search"
        found, missing = (core.look_up_or_search if searches else core.look_up)(self.positions._core, names)
        self._missing = missing
        is_whole = len(next(iter(found.values()))) == len(self)
        if not is_whole and self._how != "mask":
            at = missing[0]
            text = self.positions[at].notation
            raise _core.PositionError(f"row {at}: '{text}' is not in {self._table.name}")
        for name, column in found.items():
            if not is_whole:
                signed = column.dtype == np.int8 and name != "side"
                fill = self._FILL.get(name, -128 if signed else 0)
                whole = np.full((len(self), *column.shape[1:]), fill, column.dtype)
                whole[self.found] = column
                column = whole
            self._columns[name] = column

    def column(self, name: str) -> np.ndarray:
        """Returns any column of `Table.columns` by name, in the form of exports."""
        if name not in self._columns:
            moves = {"legal", "q_outcome", "q_score", "optimal", "optimal_outcome", "policy", "proven"}
            if not self._table.has_scores:
                moves.discard("q_score")
            self._read(sorted(moves) if name in moves else [name])
        return self._columns[name]

    @cached_property
    def found(self) -> np.ndarray:
        """``True`` for positions in the table, ``False`` for masked or searched ones: ``bool``, ``(N,)``."""
        found = np.ones(len(self), bool)
        found[self._missing] = False
        return found

    @property
    def outcome(self) -> np.ndarray:
        """The mover's outcome: 1 win, 0 draw, -1 loss, -128 not proven: ``int8``, ``(N,)``."""
        return self.column("outcome")

    @property
    def score(self) -> np.ndarray:
        """The mover's final score, -128 where not proven: ``int8``, ``(N,)``. Only in games with scores."""
        return self.column("score")

    @property
    def distance(self) -> np.ndarray:
        """Plies to the end, 65535 where unknown or where play is infinite: ``uint16``, ``(N,)``."""
        return self.column("distance")

    @property
    def row(self) -> np.ndarray:
        """Rows of the table, 2**32 - 1 for none: ``uint32``, ``(N,)``."""
        return self.column("row")

    @property
    def q(self) -> np.ndarray:
        """Exact value of each action for the mover, the score or in games without scores the outcome:
        ``float32``, ``(N, actions)``; NaN where illegal or not proven."""
        return _with_nan(self.column("q_score" if self._table.has_scores else "q_outcome"))

    @property
    def legal(self) -> np.ndarray:
        """Legal actions: ``bool``, ``(N, actions)``."""
        return self.column("legal").astype(bool)

    @property
    def optimal(self) -> np.ndarray:
        """Best moves: ``bool``, ``(N, actions)``: all with the best score; in games without scores those with
        the best outcome, won soonest or lost latest. All false where a move is not proven."""
        return self.column("optimal").astype(bool)

    @property
    def optimal_outcome(self) -> np.ndarray:
        """Moves that keep the outcome: ``bool``, ``(N, actions)``. All false where a move is not proven."""
        return self.column("optimal_outcome").astype(bool)

    @property
    def policy(self) -> np.ndarray:
        """Probabilities, uniform on `optimal`: ``float32``, ``(N, actions)``."""
        return self.column("policy")

    @property
    def proven(self) -> np.ndarray:
        """``True`` where the value and those of all moves are proven: ``bool``, ``(N,)``."""
        return self.column("proven").astype(bool)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bound of the mover's outcome: two arrays, ``int8``, ``(N,)``; equal where
        proven."""
        return self.column("lower"), self.column("upper")
