"""Solved tables and their values."""

from __future__ import annotations

import html as _html
import json
import os
import sys
import warnings
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Hashable, Iterator, Sequence, TypedDict, TypeVar, Union, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _core
from ._games import _sampled, Game, Position, Positions
from ._games import game as _game
from ._progress import Told, directory
from ._types import Json, PathLike, PositionsLike, Sides
from ._walk import ASKED_AGAIN, OwnGame, OwnStates, can_read, differs, is_own, name_of, walk


if TYPE_CHECKING:
    import pyspiel


def solve(
    game: str | Game | OwnGame | pyspiel.Game | pyspiel.State = "othello-4x4",
    *,
    tables: PathLike | None = None,
    roots: PositionsLike | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    key: Callable[[pyspiel.State], Hashable] | None = None,
    force: bool = False,
    progress: bool | None = None,
) -> Table:
    """Enumerates and solves a game, or opens the table if it exists.

    ``tables`` is the directory of tables (default ``$YOMIKIRI_TABLES``, else ``tables``). ``roots`` are the
    positions to begin at instead of the start (texts, or anything `Game.positions` takes), ``max_depth`` is
    the ply after which no move is followed (required for minishogi). ``progress`` shows a tqdm bar; by default
    in terminals and notebooks if tqdm is installed. Ctrl-C interrupts; the same call resumes. ``force`` starts
    even if memory or disk space is expected not to suffice.

    ``game`` may be an object of a class of one's own with the methods ``start()``, ``moves(state)``,
    ``play(state, move)`` and ``result(state)``: None while the game goes on, else ``"win"``, ``"draw"``, ``"loss"`` or a
    score (-127 to 127) of the player to move. States are hashable. Its states are walked, at most ``max_states`` of them,
    and solved as `solve_listed` does. Further methods are optional:

    * ``to_move(state)``, 0 or 1: a player may then move again, which is shown as a pass of the other;
    * ``text(state)``, a line by which positions are read and shown, and ``move_text(move)``;
    * ``planes(state)``, the input of networks: an array of shape ``(planes, rows, columns)``, ``(rows, columns)`` or
      ``(numbers,)``, of whatever numbers;
    * ``name()``: the table of this name is opened without a walk if the start, and moves and results of 1,000 stored
      states, are the class's. States are then read by ``read(text)``, which is needed unless they are texts. If they
      differ, or cannot be read, the states are walked;
    * ``layer(state)``, a number by which states are ordered.

    A table of another game of the same name is an error; ``force=True`` walks and replaces it.

    ``game`` may be a game of OpenSpiel, or its string with parentheses (``"hex(board_size=3)"``), or a state to begin in:
    two players in turn, no chance, nothing hidden, a sum of zero. Its states are walked; ``key`` (a function of
    ``pyspiel.State``) distinguishes them, by default text, player to move and legal actions together. Equal keys are compared
    at 20,000 edges or more: a game whose past matters is refused with two histories. Infinite play is a draw, where
    OpenSpiel ends at ``max_game_length``. Actions are OpenSpiel's, planes its observation tensors.

    Raises `ValueError`, `TableError`, `YomikiriError`."""
    if _is_spiel(game):
        return _solve_spiel(game, tables, max_states, key, force, progress)
    if key is not None:
        raise ValueError("key is for games of OpenSpiel")
    if not isinstance(game, (str, Game)):
        if isinstance(game, type):
            raise TypeError(f"{game.__name__} is a class: give an object of it, {game.__name__}()")
        if not is_own(game):
            raise TypeError(f"invalid game of type {type(game).__name__}: expected a name, or the methods start, moves, play, result")
        if roots is not None or max_depth is not None:
            raise ValueError("roots and max_depth are for games by name: begin a game of your own in start()")
        return _solve_own(game, tables, max_states, force, progress)
    rules = game if isinstance(game, Game) else _game(game)
    if max_states is not None:
        raise ValueError("max_states is for games of your own: games by name have max_depth")
    begin = None if roots is None else rules.positions(roots)._core
    with Told(progress) as tell:
        core = _core.solve(rules._core, directory(tables), begin, max_depth, force, tell)
    return Table(core)


def _solve_own(game: OwnGame, tables: PathLike | None, max_states: int | None, force: bool, progress: bool | None) -> Table:
    """Opens the table of a class, or walks and solves it."""
    name, is_named = name_of(game), callable(getattr(game, "name", None))
    states = None
    table = _listed_table(name, tables) if is_named and not force else None
    if table is not None:
        rows = table.game._core.listed_rows(ASKED_AGAIN)
        planes = table.game.positions([text for text, *_ in rows]).planes() if rows and table.game.planes else None
        other = differs(game, rows, planes) if rows and can_read(game) else "texts that cannot be read without a method read(text)"
        if other is not None:
            warnings.warn(f"the states of {name} are walked, because {table.path} has {other}", RuntimeWarning, stacklevel=3)
            table = None
    if table is None:
        arrays, states = walk(game, max_states, progress)
        table = _solve_list(_listed(name, **arrays), tables, force, progress)
    table._own = OwnStates.known[str(table.game._core.listing)] = OwnStates(game, states)
    return table


def _is_spiel(game: object) -> bool:
    """Returns whether a game is one of OpenSpiel: an object of its types, or a string with parentheses."""
    spiel = sys.modules.get("pyspiel")
    return isinstance(game, str) and "(" in game or spiel is not None and isinstance(game, (spiel.Game, spiel.State))


def _solve_spiel(
    game: str | pyspiel.Game | pyspiel.State, tables: PathLike | None, max_states: int | None,
    key: Callable[[pyspiel.State], Hashable] | None, force: bool, progress: bool | None,
) -> Table:
    """Opens the table of a game of OpenSpiel, or walks and solves it."""
    from . import _spiel

    root = _spiel.Root(game)
    name = _core.folder_of(root.title)
    # A table does not say what distinguished its states, so a key of one's own is asked anew.
    table = None if force or key is not None else _listed_table(name, tables)
    if table is not None:
        core = table.game._core
        other = _spiel.differs(root, core, core.listed_rows(ASKED_AGAIN))
        if other is not None:
            raise _core.YomikiriError(f"{table.path} does not fit {root.title}: {other}, or key= made it; force=True replaces it")
        return table
    arrays, remarks = _spiel.walk(root, key, max_states, progress)
    for remark in remarks:
        warnings.warn(remark, RuntimeWarning, stacklevel=3)
    table = _solve_list(_listed(name, **arrays), tables, force, progress)
    if not table.game._core.is_layered:
        warnings.warn(
            f"play of {root.title} may repeat a state: it counts as a draw for ever, while OpenSpiel ends it after "
            f"{root.game.max_game_length()} moves", RuntimeWarning, stacklevel=3)
    return table


def _listed_table(name: str, tables: PathLike | None) -> Table | None:
    """Opens the table of a listed game, if there is one."""
    with suppress(_core.TableError):
        table = open(name, tables=tables)
        return table if table.game._core.listing else None
    return None


def _solve_list(game: Game, tables: PathLike | None, force: bool, progress: bool | None) -> Table:
    """Solves a listed game; replaces the table of another one of its name only with `force`."""
    known = _listed_table(game.name, tables)
    if known is not None and known.game._core.listing != game._core.listing:
        if not force:
            raise _core.YomikiriError(f"{known.path} contains another game of this name: force=True replaces it")
        del known
        _core.remove_table(game.name, directory(tables))
    return solve(game, tables=tables, force=force, progress=progress)


def solve_listed(
    name: str,
    *,
    row_pointers: ArrayLike,
    actions: ArrayLike,
    successors: ArrayLike,
    results: ArrayLike,
    states: Sequence[str] | None = None,
    movers: ArrayLike | None = None,
    move_names: Sequence[str] | None = None,
    planes: ArrayLike | None = None,
    scores: bool = False,
    start: int = 0,
    title: str | None = None,
    tables: PathLike | None = None,
    force: bool = False,
    progress: bool | None = None,
) -> Table:
    """Solves a game that is a list of N states with M moves, and returns its table, which contains the list: every
    command and `open` find the game by the table's ``name`` (letters, digits, hyphens).

    ``row_pointers`` ``(N + 1,)`` is the place of each state's first move, and M at the end; ``actions`` ``(M,)`` are the
    numbers of the moves, ascending within a state, and ``successors`` ``(M,)`` the states after them. ``results``
    ``(N,)`` are for the player to move: -128 where the game goes on, 1, 0 or -1 where it is over, or with ``scores``
    whole numbers from -127 to 127 whose signs are the outcomes.

    ``states`` are texts of a line each, by which positions are read and shown; ``move_names`` the name of each action.
    ``movers`` ``(N,)`` says who is to move, 0 or 1: a player may then move again, which is shown as a pass of the other.
    Without it players move in turn. ``planes`` are the input of networks: ``(N, planes, rows, columns)``,
    ``(N, rows, columns)`` or ``(N, numbers)``, ``float32``. ``start`` is the state in which the game begins.

    Raises `ValueError` for an invalid list, with the state and its fault, and `YomikiriError` if another game has a table
    of that name, which ``force=True`` replaces."""
    game = _listed(
        name, row_pointers=row_pointers, actions=actions, successors=successors, results=results, states=states,
        movers=movers, move_names=move_names, planes=planes, scores=scores, start=start, title=title)
    return _solve_list(game, tables, force, progress)


def _listed(
    name: str,
    *,
    row_pointers: ArrayLike,
    actions: ArrayLike,
    successors: ArrayLike,
    results: ArrayLike,
    states: Sequence[str] | None,
    movers: ArrayLike | None,
    move_names: Sequence[str] | None,
    planes: ArrayLike | None,
    scores: bool,
    start: int,
    title: str | None = None,
    action_count: int = 0,
    line_break: str = "",
) -> Game:
    """Returns the game of a list."""
    grid = None
    if planes is not None:
        given = np.asarray(planes, np.float32)
        shape = {2: (*given.shape, 1, 1), 3: (len(given), 1, *given.shape[1:]), 4: given.shape}.get(given.ndim)
        if shape is None:
            raise ValueError(f"planes: shape {given.shape}, expected (N, planes, rows, columns), (N, rows, columns) or (N, numbers)")
        grid = np.ascontiguousarray(given.reshape(shape) + np.float32(0))  # no -0.0
    core = _core.Game.listed(
        (name, title or name, line_break), (start, action_count),
        _whole("row_pointers", row_pointers, np.uint64), _whole("actions", actions, np.uint16),
        _whole("successors", successors, np.uint32), _whole("results", results, np.int8), scores,
        None if movers is None else _whole("movers", movers, np.uint8),
        [str(text) for text in states or ()], [str(text) for text in move_names or ()], grid,
    )
    return Game(core)


_Whole = TypeVar("_Whole", bound=np.generic)


def _whole(name: str, given: ArrayLike, dtype: type[_Whole]) -> NDArray[_Whole]:
    """Returns whole numbers as a type, none of which it changes."""
    array = np.asarray(given)
    if array.ndim != 1 or array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}: expected one dimension of whole numbers, found {array.dtype} of shape {array.shape}")
    made = array.astype(dtype)
    if (made != array).any():
        raise ValueError(f"{name}: {array[made != array][0]} is out of the range of {np.dtype(dtype)}")
    return np.ascontiguousarray(made)


#: Tables that `open_or_solve` has opened by name, the latest last.
_OPENED: dict[tuple[str, str], Table] = {}


def open_or_solve(
    table: PathLike | Game | Table,
    *,
    tables: PathLike | None = None,
    progress: bool | None = None,
) -> Table:
    """Returns a table: of a game or its name, which is solved if it has none (`solve`); or by the name or path
    of a table (`open`). A `Table` is returned as it is. Functions that take a table take all of these. Raises
    `TableError`, `ValueError`, `YomikiriError`."""
    if isinstance(table, Table):
        return table
    if is_own(table) or not isinstance(table, str) and _is_spiel(table):
        return solve(table, tables=tables, progress=progress)
    if not isinstance(table, (str, os.PathLike, Game)):
        raise TypeError(f"invalid table of type {type(table).__name__}: expected a table, or the name of a game or a table")
    key = str(directory(tables).absolute()), str(table)
    known = _OPENED.pop(key, None)
    if known is None or not (known.path / "manifest.json").exists():
        rules = table if isinstance(table, Game) else None
        if not isinstance(table, Game) and not Path(table).exists():
            if _is_spiel(table):
                known = solve(str(table), tables=tables, progress=progress)
            with suppress(ValueError):
                rules = Game(_core.Game(str(table)))
        if known is None:
            known = solve(rules, tables=tables, progress=progress) if rules else open(str(table), tables=tables)
    _OPENED[key] = known
    if len(_OPENED) > 4:
        del _OPENED[next(iter(_OPENED))]
    return known


def open(name: PathLike = "othello-4x4", *, tables: PathLike | None = None, check: bool = False) -> Table:
    """Opens a solved table by name or path. Files are mapped, not read; ``check`` verifies all checksums.
    Raises `TableError`."""
    return Table(_core.open_table(str(name), directory(tables), check))


#: Values of a column, or their texts.
_Column = Union[NDArray[np.generic], list[str]]

#: Columns by name.
_Columns = dict[str, _Column]

#: Columns that are masks.
_MASKS = frozenset({"legal", "optimal", "result_kept", "proven", "decisive_result", "decisive_score"})


def _typed(found: _Columns, dtype: DTypeLike = np.float32) -> _Columns:
    """Returns columns in the types of the package: planes as ``dtype``, masks as ``bool``, values of actions as
    ``float32`` with NaN; with ``dtype="stored"`` as exports have them."""
    if isinstance(dtype, str) and dtype == "stored":
        return found
    return {name: _typed_column(name, column, dtype) for name, column in found.items()}


def _typed_column(name: str, column: _Column, dtype: DTypeLike = np.float32) -> _Column:
    if isinstance(column, list):
        return column
    if name == "planes":
        return column.astype(dtype, copy=False)
    if name in _MASKS:
        return column.astype(bool, copy=False)
    if name.startswith("q_"):
        return _with_nan(column)
    return column


class Batch(dict[str, _Column]):
    """Columns by name, each an array whose first axis is the position; ``batch.score`` is
    ``batch["score"]``."""

    if TYPE_CHECKING:  # The columns of `Table.columns`; a batch has those that were asked for.
        planes: NDArray[np.float32]
        mover: NDArray[np.uint64]
        opponent: NDArray[np.uint64]
        key: NDArray[np.uint64]
        board: list[str]
        side: NDArray[np.int8]
        outcome: NDArray[np.int8]
        score: NDArray[np.int8]
        distance: NDArray[np.uint16]
        legal: NDArray[np.bool_]
        optimal: NDArray[np.bool_]
        result_kept: NDArray[np.bool_]
        policy: NDArray[np.float32]
        q_score: NDArray[np.float32]
        q_outcome: NDArray[np.float32]
        weight: NDArray[np.float32]
        row: NDArray[np.uint32]
        layer: NDArray[np.uint16]
        proven: NDArray[np.bool_]
        lower: NDArray[np.int8]
        upper: NDArray[np.int8]
        score_lower: NDArray[np.int8]
        score_upper: NDArray[np.int8]
        q_lower: NDArray[np.float32]
        q_upper: NDArray[np.float32]
        q_score_lower: NDArray[np.float32]
        q_score_upper: NDArray[np.float32]
        split: NDArray[np.uint8]
        moves: list[str]

    else:

        def __getattr__(self, name: str) -> _Column:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"unknown column {name!r}; expected {', '.join(self)}") from None

    def __len__(self) -> int:
        return len(next(iter(self.values()), ()))

    @property
    def q(self) -> NDArray[np.float32]:
        """Exact value of each action for the mover: ``float32``, ``(N, actions)``, NaN where illegal or not
        proven."""
        name = "q_score" if "q_score" in self else "q_outcome"
        return _with_nan(getattr(self, name))


def _with_nan(numbers: NDArray[np.generic]) -> NDArray[np.float32]:
    out = numbers.astype(np.float32, copy=False)
    if numbers.dtype == np.float32:
        return out
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
        #: States of the class that gave the game, for callables.
        self._own: OwnStates | None = None
        #: ``True`` if values include a score.
        self.has_scores: bool = core.has_scores

    def __len__(self) -> int:
        return self._core.rows

    def __repr__(self) -> str:
        return f"<yomikiri.Table {self.name}: {len(self):,} rows>"

    def _repr_html_(self) -> str:
        whole = "all positions" if self.complete else "bounded"
        root = self.roots[0]
        cells = {"table": self.name, "rows": f"{len(self):,}", "positions": whole, "path": str(self.path)}
        rows = "".join(f"<tr><th>{name}</th><td>{_html.escape(cell)}</td></tr>" for name, cell in cells.items())
        return f"<table>{rows}</table>{root._repr_html_()}"

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.path.absolute()),)

    def __deepcopy__(self, _: object) -> Table:
        return self

    @property
    def manifest(self) -> Json:
        """Contents of ``manifest.json``."""
        manifest: Json = json.loads(self._core.manifest())
        return manifest

    @property
    def columns(self) -> dict[str, str]:
        """Columns available to `states` and `lookup`, with descriptions (``docs/targets.md``)."""
        return dict(self._core.columns())

    @property
    def roots(self) -> Positions:
        """Root positions."""
        return Positions(self._core.roots())

    def sample(
        self, count: int = 1000, *, empty_squares: tuple[int, int] | None = None, seed: int = 0, progress: bool | None = None,
    ) -> Positions:
        """Draws ``count`` positions with a move to make, with repetition, each of a complete table equally likely;
        ``empty_squares`` (from, to; default 8 to 12, of Connect Four 18 to 24) limits them in games that have such. For
        `evaluate` and `compare`."""
        with Told(progress) as tell:
            positions = _sampled(*self._core.sample(int(count), empty_squares, seed, tell))
        positions._table = self
        return positions

    def position(self, text: str) -> Position:
        """Parses a position; a transcript begins at the first root. Raises `PositionError`."""
        return Position(self._core.parse([text]))

    def lookup(
        self,
        positions: PositionsLike,
        *,
        side: Sides = None,
        form: str | None = None,
        layout: str = "nchw",
        missing: str = "raise",
        progress: bool | None = None,
    ) -> Values:
        """Returns the exact values of positions, in any orientation, and of their moves.

        ``positions``, ``side``, ``form`` and ``layout`` are those of `Game.positions`. ``missing`` is the
        treatment of positions outside the table: ``raise`` raises `PositionError`; ``mask`` marks their
        values as unknown; ``search`` finds exact values by search, however long that takes, in games that
        always end (as `Positions.solve`), all but `Values.row` and `Values.distance`, also of positions that a
        bounded table does not prove. `Values.found` is false for masked and for searched positions."""
        if missing not in ("raise", "mask", "search"):
            raise ValueError(f"invalid missing {missing!r}: expected raise, mask, search")
        if isinstance(positions, str):
            positions = self.position(positions)
        elif isinstance(positions, (list, tuple)) and len(positions) and isinstance(positions[0], str):
            positions = Positions(self._core.parse(list(positions)))
        given = self.game.positions(positions, side=side, form=form, layout=layout)
        return Values(self, given, missing, progress, _Origin.of(positions))

    def states(
        self,
        split: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        batch: int = 4096,
        images: str = "canonical",
        terminals: bool = False,
        unproven: bool = False,
        layout: str = "nchw",
        dtype: DTypeLike = np.float32,
        shuffle: int | None = None,
        shard: tuple[int, int] = (0, 1),
    ) -> Iterator[Batch]:
        """Yields the table's positions with their exact values in batches, read on demand.

        ``split`` is ``train``, ``validation``, ``test`` or ``None`` for all; mirror images of a position
        belong to the same part. ``columns`` are names from `Table.columns`; by default ``planes``, ``side``,
        ``outcome``, ``distance``, ``legal``, ``optimal``, ``weight``, and ``score`` and ``q_score``, or
        ``q_outcome``. ``images`` is ``canonical`` (each row once, with the number of its positions as
        ``weight``), ``all`` (every reachable orientation) or ``expanded`` (every symmetry). ``layout`` of
        planes: as in `Game.positions`. Planes are ``float32``, masks (``legal``, ``optimal``, …) ``bool``,
        values of actions ``float32`` with NaN; ``dtype`` is another type for planes, or ``stored`` for every
        column as exports have it (bytes, -128 for NaN). ``shuffle`` is a seed: pieces of the table are read in random order
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
        held: list[Batch] = []
        count = 0
        room = max(batch, 1 << 15) if random is not None else batch

        def read(at: int) -> Batch:
            found = self._core.read(list(columns), int(at), int(at) + 1, split, images, terminals, unproven, layout)
            return Batch({name: found[name] for name in columns})

        def taken(last: bool) -> Iterator[Batch]:
            nonlocal held, count
            whole = held[0] if len(held) == 1 else _joined(held)
            if random is not None:
                whole = _at(whole, random.permutation(count))
            end = count if last else count - count % batch
            yield from (Batch(_typed(_at(whole, slice(at, at + batch)), dtype)) for at in range(0, end, batch))
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

    def dataset(
        self,
        split: str | None = "train",
        *,
        columns: Sequence[str] | None = None,
        images: str = "canonical",
        terminals: bool = False,
        unproven: bool = False,
        layout: str = "nchw",
        dtype: DTypeLike = np.float32,
        progress: bool | None = None,
    ) -> Dataset:
        """Returns a map-style dataset for torch's ``DataLoader`` and the like, entirely in memory. Item ``i``
        is ``(planes, policy, value, legal)`` with ``planes`` ``float32``, ``policy`` ``float32`` of shape
        ``(actions,)`` (uniform on the best moves), ``value`` the mover's outcome as ``float32`` and ``legal``
        ``bool``; with ``columns`` it is a tuple of these columns. Other options are those of `states`. Raises
        `ValueError` if there are no positions."""
        options: _Options = {"images": images, "terminals": terminals, "unproven": unproven, "layout": layout, "dtype": dtype}
        return Dataset(self, split, columns, progress, options)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        split: str | None = None,
        images: str = "canonical",
        terminals: bool = False,
        unproven: bool = False,
        layout: str = "nchw",
        progress: bool | None = None,
    ) -> Json:
        """Writes exact targets as ``solver export`` does: to a file ``.parquet``, ``.npz``, ``.jsonl``,
        ``.csv`` or ``.obf``, with a data card beside it; or, if ``path`` has no extension, to a directory for
        the Hugging Face Hub: ``data/train.parquet``, ``data/validation.parquet``, ``data/test.parquet`` and a
        dataset card ``README.md`` (``split`` then chooses one of the three). Options are those of `states`.
        Returns the data card, in a directory one for each split. Raises `ValueError`, `YomikiriError`."""
        path = Path(path)
        unknown = [name for name in columns or () if name not in self.columns]
        if unknown:
            raise ValueError(f"there is no column {unknown[0]!r}; there are {', '.join(self.columns)}")

        def write(path: Path, split: str | None) -> Json:
            with Told(progress) as tell:
                named = None if columns is None else list(columns)
                card: Json = json.loads(self._core.export(path, named, split, images, terminals, unproven, layout, tell))
                return card

        if path.suffix:
            return write(path, split)
        card_path = path / "README.md"
        if card_path.exists() and "Written by yomikiri" not in card_path.read_text(encoding="utf-8", errors="replace"):
            raise ValueError(f"{card_path} exists and is no dataset card of yomikiri; move it away or choose another path")
        data = path / "data"
        data.mkdir(parents=True, exist_ok=True)
        parts = [split] if split else ["train", "validation", "test"]
        cards = {part: write(data / f"{part}.parquet", part) for part in parts}
        _core.write_text(card_path, _dataset_card(self, cards))
        return cards


def _dataset_card(table: Table, cards: Json) -> str:
    """Returns the card of a dataset on the Hugging Face Hub: its files by split, then the first split's data
    card."""
    lines = [
        "---", f"pretty_name: {json.dumps('Exact targets of ' + table.name)}", "task_categories:", "- reinforcement-learning",
        "tags:", f"- {table.game.name}", "- exact-values", "configs:", "- config_name: default", "  data_files:",
    ]
    for split, card in cards.items():
        lines += [f"  - split: {split}", f"    path: data/{split}.parquet"]
    lines += ["---", "", f"# Exact targets of {table.name}", ""]
    lines.append(
        f"Positions of the solved game {table.game.name} with the exact value of every move, for the player to move. Mirror "
        "images of a position belong to the same split.")
    lines += ["", "| split | rows | positions |", "|---|--:|--:|"]
    lines += [f"| {split} | {card['rows']:,} | {card['positions']:,.0f} |" for split, card in cards.items()]
    lines += ["", "| column | type | shape of a row | meaning |", "|---|---|---|---|"]
    for column in next(iter(cards.values()))["columns"]:
        about = column["about"].replace("|", "\\|")
        lines.append(f"| `{column['name']}` | `{column['dtype']}` | {column['shape']} | {about} |")
    lines += ["", "Written by yomikiri; `data/*.parquet.json` contain the options and checksums.", ""]
    return "\n".join(lines)


class _Options(TypedDict):
    images: str
    terminals: bool
    unproven: bool
    layout: str
    dtype: DTypeLike


class Dataset:
    """A dataset in memory; see `Table.dataset`. ``data["score"]`` or ``data.score`` is a column."""

    if TYPE_CHECKING:
        #: ``(N, planes, rows, columns)``
        planes: NDArray[np.float32]
        #: ``(N, actions)``
        policy: NDArray[np.float32]
        #: ``(N,)``
        value: NDArray[np.float32]
        #: ``(N, actions)``
        legal: NDArray[np.bool_]

    else:

        def __getattr__(self, name: str) -> _Column:
            if name == "_columns":
                raise AttributeError(name)
            return getattr(self._columns, name)

    def __init__(self, table: Table, split: str | None, columns: Sequence[str] | None, progress: bool | None, options: _Options):
        read = ["planes", "policy", "outcome", "legal"] if columns is None else list(columns)
        if not read:
            raise ValueError("columns: give at least one")
        with Told(progress) as tell:
            parts, count = [], 0
            for part in table.states(split, columns=read, **options):
                parts.append(part)
                count += len(part)
                if tell is not None:
                    tell(f"reading {table.name}", count, None)
        if not parts:
            raise ValueError(f"no positions of {table.name} in the split {split!r}")
        whole = _joined(parts)
        if columns is None:
            whole["value"] = whole.outcome.astype(np.float32)
            whole = Batch({name: whole[name] for name in ("planes", "policy", "value", "legal")})
        self._columns: Batch = whole

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in the order of an item."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, at: str) -> _Column: ...

    @overload
    def __getitem__(self, at: int | slice | NDArray[np.generic]) -> tuple[_Column | str, ...]: ...

    def __getitem__(self, at: str | int | slice | NDArray[np.generic]) -> _Column | tuple[_Column | str, ...]:
        if isinstance(at, str):
            return self._columns[at]
        return tuple(_item(column, at) for column in self._columns.values())


def _joined(parts: Sequence[Batch]) -> Batch:
    def join(columns: list[_Column]) -> _Column:
        if isinstance(columns[0], list):
            return [text for column in columns for text in column]
        return np.concatenate(columns)

    return Batch({name: join([part[name] for part in parts]) for name in parts[0]})


@overload
def _item(column: _Column, at: slice | NDArray[np.generic]) -> _Column: ...


@overload
def _item(column: _Column, at: int | slice | NDArray[np.generic]) -> _Column | str: ...


def _item(column: _Column, at: int | slice | NDArray[np.generic]) -> _Column | str:
    if isinstance(column, list) and isinstance(at, np.ndarray):
        return [column[place] for place in at]
    return column[at]


def _at(batch: Batch, at: slice | NDArray[np.integer]) -> Batch:
    return Batch({name: _item(column, at) for name, column in batch.items()})


class _Origin:
    """Library and device of a tensor that was given."""

    def __init__(self, library: str | type, device: object):
        self.library, self.device = library, device

    @classmethod
    def of(cls, given: object) -> _Origin | None:
        library = (type(given).__module__ or "").partition(".")[0]
        if isinstance(given, (np.ndarray, str, list, tuple)) or library not in ("torch", "jax", "jaxlib", "tensorflow"):
            # Another library's tensor has torch's interface.
            return cls(type(given), given.device) if hasattr(given, "detach") and hasattr(given, "device") else None
        return cls(library, getattr(given, "device", None))

    def tensor(self, array: _Column) -> object:
        array = np.ascontiguousarray(array)
        if self.library == "torch":
            import torch

            return torch.from_numpy(array).to(self.device)
        if self.library == "tensorflow":
            import tensorflow

            with tensorflow.device(self.device):
                return tensorflow.convert_to_tensor(array)
        if self.library in ("jax", "jaxlib"):
            import jax

            return jax.device_put(array, self.device)
        assert isinstance(self.library, type)
        return self.library(array).to(self.device)


class Values:
    """Exact values of positions; the first axis of every array is the position. Arrays are computed on first
    use. Unproven and missing values have the markers that each property names."""

    def __init__(self, table: Table, positions: Positions, missing: str, progress: bool | None = None,
                 origin: _Origin | None = None):
        self._table, self._how = table, missing
        self._columns = Batch()
        self._progress, self._origin = progress, origin
        #: The positions.
        self.positions = positions
        self._read(["row", "score", "outcome", "distance"] if table.has_scores else ["row", "outcome", "distance"])

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"<exact values of {len(self)} positions of {self._table.name}>"

    def _repr_html_(self) -> str:
        if len(self) == 1 and self.found[0]:
            return self._table._core.answer_html(self.positions._core)
        return f"<pre>{_html.escape(repr(self))}</pre>"

    _FILL = {"row": 2**32 - 1, "distance": 65535, "layer": 65535}

    def _read(self, names: list[str]) -> None:
        core = self._table._core
        with Told(self._progress) as tell:
            found, missing = core.look_up(self.positions._core, names, self._how == "search", tell)
        is_known = np.ones(len(self), bool)
        is_known[missing] = False
        if missing and self._how != "mask":
            at = missing[0]
            text = self.positions[at].notation
            raise _core.PositionError(f"row {at}: '{text}' is not in {self._table.name}")
        for name, column in found.items():
            if missing and not isinstance(column, list):
                signed = column.dtype == np.int8 and name != "side"
                fill = self._FILL.get(name, -128 if signed else 0)
                whole = np.full((len(self), *column.shape[1:]), fill, column.dtype)
                whole[is_known] = column
                column = whole
            self._columns[name] = _typed_column(name, column)

    def tensor(self, name: str = "q") -> object:
        """Returns an array of these values (``q``, ``legal``, ``score``, …) in the library and on the device of
        the tensor that was looked up; NumPy's if it was not a tensor."""
        array = getattr(self, name) if hasattr(type(self), name) else self.column(name)
        return array if self._origin is None else self._origin.tensor(array)

    def column(self, name: str) -> _Column:
        """Returns any column of `Table.columns` by name, in the types of `Table.states`."""
        if name not in self._columns:
            moves = {"legal", "q_outcome", "q_score", "optimal", "result_kept", "policy", "proven"}
            if not self._table.has_scores:
                moves.discard("q_score")
            self._read(sorted(moves) if name in moves else [name])
        return self._columns[name]

    def _with(self, name: str) -> Batch:
        self.column(name)
        return self._columns

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """``True`` for positions in the table, ``False`` for masked or searched ones: ``bool``, ``(N,)``."""
        found: NDArray[np.bool_] = np.asarray(self.column("row")) != self._FILL["row"]
        return found

    @property
    def outcome(self) -> NDArray[np.int8]:
        """The mover's outcome: 1 win, 0 draw, -1 loss, -128 not proven: ``int8``, ``(N,)``."""
        return self._with("outcome").outcome

    @property
    def score(self) -> NDArray[np.int8]:
        """The mover's final score, -128 where not proven: ``int8``, ``(N,)``. Only in games with scores."""
        return self._with("score").score

    @property
    def distance(self) -> NDArray[np.uint16]:
        """Plies to the end, 65535 where unknown or where play is infinite: ``uint16``, ``(N,)``."""
        return self._with("distance").distance

    @property
    def row(self) -> NDArray[np.uint32]:
        """Rows of the table, 2**32 - 1 for none: ``uint32``, ``(N,)``."""
        return self._with("row").row

    @property
    def q(self) -> NDArray[np.float32]:
        """Exact value of each action for the mover, the score or in games without scores the outcome:
        ``float32``, ``(N, actions)``; NaN where illegal or not proven."""
        return self._with("q_score" if self._table.has_scores else "q_outcome").q

    @property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions: ``bool``, ``(N, actions)``."""
        return self._with("legal").legal

    @property
    def optimal(self) -> NDArray[np.bool_]:
        """Best moves: ``bool``, ``(N, actions)``: all with the best score; in games without scores those with
        the best outcome, won soonest or lost latest. All false where a move is not proven."""
        return self._with("optimal").optimal

    @property
    def result_kept(self) -> NDArray[np.bool_]:
        """Moves that keep the outcome: ``bool``, ``(N, actions)``. All false where a move is not proven."""
        return self._with("result_kept").result_kept

    @property
    def policy(self) -> NDArray[np.float32]:
        """Probabilities, uniform on `optimal`: ``float32``, ``(N, actions)``."""
        return self._with("policy").policy

    @property
    def proven(self) -> NDArray[np.bool_]:
        """``True`` where the value and those of all moves are proven: ``bool``, ``(N,)``."""
        return self._with("proven").proven

    @property
    def bounds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Lower and upper bound of the mover's outcome: two arrays, ``int8``, ``(N,)``; equal where
        proven."""
        return self._with("lower").lower, self._with("upper").upper
