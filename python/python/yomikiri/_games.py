"""Games and positions."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterator, Sequence, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import numpy_of
from ._progress import Told, directory
from ._types import Json, PathLike, PositionsLike, Sides, Weight
from ._walk import OwnStates

if TYPE_CHECKING:
    from ._tables import Table


def game(name: str = "othello-4x4", *, tables: PathLike | None = None) -> Game:
    """Returns the rules of the game of this name: ``othello-ROWSxCOLUMNS`` (each 4 to 8), ``minishogi``,
    ``animal-shogi`` or ``animal-shogi-3x3``, or a game of one's own that has a table in ``tables`` (default
    ``$YOMIKIRI_TABLES``, else ``tables``). Raises `ValueError` for other names."""
    try:
        return Game(_core.Game(name))
    except ValueError:
        try:
            own = _core.open_table(name, directory(tables), False).game
        except _core.TableError:
            own = None
        if own is None or own.listing is None:
            raise
        return Game(own)


_game_named = game


def read_games(
    file: PathLike, game: str | Game, *, format: str | None = None, skip_bad: bool = False, tables: PathLike | None = None,
) -> list[GameRecord]:
    """Reads the games and positions of a file in any form: transcripts and positions, one per line, drawn boards, GGF, SGF,
    PGN, WTHOR, KIF, CSA (``docs/forms.md``). The form is recognised; ``format`` asks for one: ``lines``, ``boards``, ``ggf``,
    ``sgf``, ``pgn``, ``kif``, ``csa``, ``wthor``, ``fen``, ``from-0``. A position is a game without moves.

    Raises `PositionError` at the first game that cannot be read, with its place; with ``skip_bad`` those are left out with
    a warning that counts them. Warns if results contradict the board."""
    rules = game if isinstance(game, Game) else _game_named(game, tables=tables)
    with open(file, "rb") as opened:
        games, words, errors = rules._core.read_games(opened.read(), format)
    if errors and not skip_bad:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise _core.PositionError(f"{file}, {errors[0]}{more}; skip_bad=True leaves such games out")
    if errors:
        warnings.warn(f"{file}: {len(errors)} games left out; the first at {errors[0]}", stacklevel=2)
    records = [
        GameRecord(place, (players[0], players[1]), result, contradiction, core)
        for place, players, result, contradiction, core in games
    ]
    wrong = [record for record in records if record.contradiction]
    if wrong:
        first = f"{wrong[0].place}: {wrong[0].contradiction}"
        warnings.warn(f"{file}: {len(wrong)} games end otherwise than they record; the first at {first}", stacklevel=2)
    return records


@dataclass(frozen=True)
class GameRecord:
    """A game of a file. Created by `read_games`."""

    #: Place where it begins: ``line 3``, ``game 12``.
    place: str
    #: Names of the first and the second player, where the file has them.
    players: tuple[str | None, str | None]
    #: Result as the file states it: ``1-0`` (the first player has won), ``0-1``, ``1/2-1/2``, or the first player's margin,
    #: ``+12``; ``None`` without one.
    result: str | None
    #: What the board says otherwise at the end of the game; ``None`` if nothing.
    contradiction: str | None
    _core_game: _core.PlayedGame = field(repr=False)

    @property
    def positions(self) -> Positions:
        """All positions, from the first to the last."""
        return Positions(self._core_game.positions())

    @property
    def moves(self) -> list[str]:
        """Names of the moves, passes among them."""
        return self._core_game.moves()

    @property
    def actions(self) -> list[int]:
        """Numbers of the moves."""
        return list(self._core_game.actions())

    def text(self, format: str = "lines") -> str:
        """Writes the game: as a line, or as ``ggf``, ``sgf`` (Othello), ``kif`` (shogi)."""
        return self._core_game.text(format, self.players, self.result)


class Game:
    """The rules of a game. Created by `game`."""

    def __init__(self, core: _core.Game):
        self._core = core
        #: Name, such as ``othello-4x4``.
        self.name: str = core.name
        #: Name for people: of a game of OpenSpiel, its string there.
        self.title: str = core.title
        #: Number of actions; legal actions are integers below it.
        self.actions: int = core.actions
        #: Rows and columns of the board.
        self.shape: tuple[int, int] = core.shape
        #: Description of each of the game's own planes.
        self.planes: list[str] = core.planes
        #: Names of the two sides; the first one begins.
        self.sides: list[str] = core.sides
        #: Number of symmetries of the rules, including the identity.
        self.symmetries: int = core.symmetries
        #: ``True`` if games end with a score besides the outcome.
        self.has_scores: bool = core.has_scores

    def __repr__(self) -> str:
        return f"yomikiri.game({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        return (game, (self.name,)) if self._core.home is None else (_in_table, (str(self._core.home),))

    def __deepcopy__(self, _: object) -> Game:
        return self

    @property
    def start(self) -> Position:
        """The start position."""
        return Position(self._core.start())

    def position(self, text: str) -> Position:
        """Parses a position: a board, OBF, SFEN, or a transcript from the start. Raises `PositionError`."""
        return Position(self._core.parse([text]))

    def sample(self, count: int = 1000, *, empty_squares: tuple[int, int] | None = None, seed: int = 0,
               weight: Weight | None = None, tables: PathLike | None = None, progress: bool | None = None) -> Positions:
        """Draws ``count`` positions of games of random moves, with repetition: first a number of empty squares, each
        of ``empty_squares`` (from, to; default 8 to 12, of Connect Four 18 to 24) equally likely, then the first
        position with so many in a random game, forced moves and passes included; a game that ends before is played again. Equal positions stand
        together. The same seed gives the same positions, other seeds independent ones. Warns if fewer are found.

        ``weight="uniform"``, the default in games without empty squares, draws each position of the game's table
        equally likely (`Table.sample`), which is opened or made in ``tables``."""
        if weight not in (None, "games", "uniform"):
            raise ValueError(f"invalid weight {weight!r}: expected games, uniform")
        if weight == "uniform" or weight is None and not self._core.has_empty_squares:
            from ._tables import open_or_solve

            table = open_or_solve(self, tables=tables, progress=progress)
            return table.sample(count, empty_squares=empty_squares, seed=seed, progress=progress)
        with Told(progress) as tell:
            return _sampled(*self._core.sample(int(count), empty_squares, seed, tell))

    def action_name(self, action: int, side: int = 0) -> str:
        """Returns the written form of an action: ``c4``, ``pass``, ``P-3c``."""
        return self._core.action_name(side, int(action))

    def positions(self, given: PositionsLike, *, side: Sides = None, form: str | None = None, layout: str = "nchw") -> Positions:
        """Reads many positions at once. ``given`` is one of

        * a list of texts, as `position` reads them, or one text;
        * planes, shape ``(N, planes, rows, columns)`` or by ``layout`` (``nchw``, ``nhwc`` or
          ``pgx``, ``flat``, ``interleaved``, ``openspiel``, ``openspiel-nhwc``, ``signed``, ``colours``);
        * bitboards, ``uint64`` of shape ``(N, 2)``: the mover's squares and the opponent's, bit
          ``row * columns + column`` (Othello);
        * keys, ``uint64`` of shape ``(N,)`` or ``(N, words)``, as stored in tables;
        * `Positions`, or a list of `Position`; or states of a class of one's own, once it is solved.

        ``form`` (``planes``, ``bitboards``, ``keys``) names the kind of array. By default ``uint64`` arrays
        of shape ``(N, 2)`` are bitboards if the game has them, other ``uint64`` arrays are keys, and all
        other arrays are planes. ``side``, one number or shape ``(N,)``, is the side to move, 0 (default) or
        1; in Othello values do not depend on it, and where the state says who moves it is not used. Raises `PositionError`, naming the row of the first invalid
        position, and `ValueError` for wrong shapes."""
        core = self._core
        if isinstance(given, (Position, Positions)):
            return self._same(given)
        if isinstance(given, str):
            return Positions(core.parse([given]))
        if isinstance(given, (list, tuple)) and len(given) and isinstance(given[0], Position):
            sides = np.array([one.side for one in given], np.uint8)
            keys = [self._same(one)._core for one in given]
            if core.has_bitboards:
                boards = np.concatenate([one.bitboards() for one in keys])
                return Positions(core.of_bitboards(boards, sides))
            return Positions(core.parse([one.notations()[0] for one in keys]))
        if isinstance(given, (list, tuple)) and len(given) and isinstance(given[0], str):
            return Positions(core.parse(list(given)))
        own = OwnStates.known.get(str(core.listing))
        if own and isinstance(given, (list, tuple)) and len(given) and (texts := own.texts(given)):
            return Positions(core.parse(texts))
        array = numpy_of(given)
        if array.dtype.kind in "OUS":
            return Positions(core.parse([str(text) for text in array.ravel()]))
        if form is None:
            if array.dtype == np.uint64 and array.ndim <= 2:
                is_pair = array.ndim == 2 and array.shape[1] == 2 and core.has_bitboards
                form = "bitboards" if is_pair else "keys"
            else:
                form = "planes"
        if array.ndim == 0 or form != "keys" and array.ndim < 2:
            raise ValueError(f"invalid shape {array.shape} of {form}: expected positions along the first axis")
        sides = self._sides(side, len(array))
        if form == "bitboards":
            if array.ndim != 2 or array.shape[1] != 2:
                raise ValueError(f"invalid shape {array.shape} of bitboards: expected (N, 2)")
            return Positions(core.of_bitboards(_whole(array, np.uint64, form), sides))
        if form == "keys":
            return Positions(core.of_keys(_whole(array, np.uint64, form).reshape(len(array), -1), sides))
        if form != "planes":
            raise ValueError(f"invalid form {form!r}: expected planes, bitboards, keys")
        return Positions(core.of_planes(self._rows(array, layout), sides, layout))

    def _same(self, given: Position | Positions) -> Positions:
        if given._core.game.name != self.name:
            raise ValueError(f"invalid positions of {given._core.game.name}: expected {self.name}")
        return Positions(given._core)

    def _sides(self, side: Sides, count: int) -> NDArray[np.uint8]:
        if side is None:
            return np.zeros(count, np.uint8)
        sides = np.broadcast_to(numpy_of(side), (count,))
        if not np.isin(sides, (0, 1)).all():
            raise ValueError("invalid side: expected 0 or 1")
        return np.ascontiguousarray(sides, dtype=np.uint8)

    def _rows(self, array: NDArray[np.generic], layout: str) -> NDArray[np.float32]:
        """Returns positions in a layout as one row each."""
        expected = (len(array), *self._core.shape_in(layout))
        if array.size != np.prod(expected) or array.shape != expected and layout != "flat":
            raise ValueError(f"invalid shape {array.shape} of planes: expected {('N', *expected[1:])} for {layout} of {self.name}")
        return np.ascontiguousarray(array, np.float32).reshape(len(array), -1) + np.float32(0)  # no -0.0


_Unsigned = TypeVar("_Unsigned", bound=np.unsignedinteger)


def _whole(array: NDArray[np.generic], dtype: type[_Unsigned], form: str) -> NDArray[_Unsigned]:
    """Returns the array as ``dtype``. Raises `PositionError` if a number changes by the conversion."""
    if array.dtype == dtype:
        return np.ascontiguousarray(array, dtype=dtype)
    with np.errstate(invalid="ignore"):
        whole: NDArray[_Unsigned] = np.ascontiguousarray(array.astype(dtype))
    bad = np.argwhere((whole != array).reshape(len(array), -1).any(axis=1))
    if len(bad):
        raise _core.PositionError(f"row {bad[0, 0]}: invalid number in {form}")
    return whole


class Positions:
    """Positions of one game, each with its side to move: a sequence of `Position`. Created by
    `Game.positions`; indexing by a slice or an array returns `Positions` again."""

    #: Description of the sample, if `Game.sample` or `Table.sample` drew the positions.
    _drawn: str | None = None
    #: Table that they were drawn from, which knows their values.
    _table: Table | None = None

    def __init__(self, core: _core.Positions):
        self._core = core

    def solve(
        self, *, plies: int = 5, tables: PathLike | None = None, progress: bool | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Finds exact values by search; in minishogi and animal shogi what wins by force: by checks at any length,
        by other moves within ``plies`` plies after the move, NaN also where neither is proven. Returns ``(score, q_score)``, ``float32``
        of shapes ``(N,)`` and ``(N, actions)``: the mover's scores (outcomes in games without scores), NaN
        for illegal actions. Endgames of 8×8 Othello with 12 empty squares take a few milliseconds each, with
        14 ten times that. Results are cached in ``tables/labels``."""
        with Told(progress) as tell:
            return _core.solve_positions(self._core, directory(tables), plies, tell)

    @property
    def game(self) -> Game:
        """The rules."""
        return Game(self._core.game)

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<{len(self)} positions of {self._core.game.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _positions, (self.game, self.notations, self._drawn)

    def __deepcopy__(self, _: object) -> Positions:
        return self

    @overload
    def __getitem__(self, at: int | np.integer) -> Position: ...

    @overload
    def __getitem__(self, at: slice | Sequence[int] | NDArray[np.generic]) -> Positions: ...

    def __getitem__(self, at: int | np.integer | slice | Sequence[int] | NDArray[np.generic]) -> Position | Positions:
        if isinstance(at, (int, np.integer)):
            at = int(at) + len(self) if at < 0 else int(at)
            return Position(self._core.take(np.array([at], np.int64)))
        places = np.arange(len(self))[at]
        return Positions(self._core.take(np.ascontiguousarray(places, dtype=np.int64)))

    def __iter__(self) -> Iterator[Position]:
        return (self[at] for at in range(len(self)))

    @property
    def side(self) -> NDArray[np.uint8]:
        """Sides to move: ``uint8`` of shape ``(N,)``, 0 or 1."""
        return self._core.sides()

    @property
    def notations(self) -> list[str]:
        """Each position in one line, in the notation that every command reads."""
        return self._core.notations()

    @property
    def bitboards(self) -> NDArray[np.uint64]:
        """The mover's squares and the opponent's: ``uint64``, ``(N, 2)`` (Othello only)."""
        return self._core.bitboards()

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Canonical keys under all symmetries: ``uint64``, ``(N,)``, or ``(N, 2)`` for games with keys of two
        words."""
        keys = self._core.keys(True)
        return keys[:, 0] if keys.shape[1] == 1 else keys

    @property
    def own_keys(self) -> NDArray[np.uint64]:
        """Keys of the positions as they stand, different for each symmetric image; shaped like `keys`. They
        do not contain the side to move."""
        keys = self._core.keys(False)
        return keys[:, 0] if keys.shape[1] == 1 else keys

    @property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions: ``bool``, ``(N, actions)``; all false where the game is over."""
        return self._core.legal()

    @property
    def over(self) -> NDArray[np.bool_]:
        """``True`` where the game is over: ``bool``, ``(N,)``."""
        over: NDArray[np.bool_] = self._core.results() != 2
        return over

    def planes(self, layout: str = "nchw", planes: str | None = None) -> NDArray[np.float32]:
        """Returns network input: ``float32``, ``(N, planes, rows, columns)`` or by ``layout`` (``nhwc``,
        ``pgx``, ``flat``, ``interleaved``, ``signed``, ``openspiel``, ``openspiel-nhwc``). In Othello
        ``planes`` replaces the default ``mover+opponent``; further planes are empty, legal, black, white,
        black-to-move, ones, zeros."""
        return self._core.encode(layout, planes)

    def play(self, actions: Sequence[int] | NDArray[np.integer]) -> Positions:
        """Plays one action in each position; ``actions`` has shape ``(N,)``. Raises `PositionError` if one is
        illegal."""
        return Positions(self._core.play(np.ascontiguousarray(numpy_of(actions), dtype=np.int64).reshape(-1)))


class Position:
    """One position, with its side to move."""

    def __init__(self, core: _core.Positions):
        self._core = core

    @property
    def game(self) -> Game:
        """The rules."""
        return Game(self._core.game)

    @property
    def notation(self) -> str:
        """The position in one line, in the notation that every command reads."""
        return self._core.notations()[0]

    @property
    def side(self) -> int:
        """Side to move: 0 or 1."""
        return int(self._core.sides()[0])

    @property
    def mover(self) -> str:
        """Name of the side to move."""
        return self._core.game.sides[self.side]

    @property
    def legal(self) -> list[int]:
        """Legal actions in ascending order; empty where the game is over."""
        return np.flatnonzero(self._core.legal()[0]).tolist()

    @property
    def moves(self) -> dict[str, int]:
        """Legal actions by name."""
        return {self._core.game.action_name(self.side, action): action for action in self.legal}

    @property
    def outcome(self) -> int | None:
        """The mover's outcome (1, 0 or -1) if the game is over, else ``None``."""
        result = int(self._core.results()[0])
        return None if result == 2 else result

    @property
    def over(self) -> bool:
        """``True`` if the game is over."""
        return self.outcome is not None

    @property
    def score(self) -> int | None:
        """The mover's final score if the game is over, else ``None``. Empty squares count for neither
        side."""
        return int(self._core.scores()[0]) if self.over and self._core.game.has_scores else None

    def play(self, move: int | str) -> Position:
        """Returns the position after an action, given as number or name. Raises `PositionError` if it is
        illegal."""
        if isinstance(move, str):
            if move not in self.moves:
                raise _core.PositionError(f"illegal move {move!r} in '{self.notation}': expected one of {' '.join(self.moves)}")
            move = self.moves[move]
        return Position(self._core.play(np.array([move], np.int64)))

    def solve(self, *, plies: int = 9, seconds: float = 10.0, all_moves: bool = False) -> Json:
        """Finds the value, a best move and the line of best play by search, as far as ``seconds`` suffice, as the
        dictionary that ``solver query --json`` prints (``docs/json.md``). In minishogi and animal shogi the value is
        what can be forced: by checks at any length, by other moves within ``plies`` plies."""
        answer: Json = json.loads(_core.solve_position(self._core, plies, seconds, all_moves))
        return answer

    def image(self, symmetry: int) -> Position:
        """Returns the image under a board symmetry, 0 (identity) to `Game.symmetries` - 1."""
        return Position(self._core.transform(symmetry))

    def planes(self, layout: str = "nchw", planes: str | None = None) -> NDArray[np.float32]:
        """Returns network input as `Positions.planes` does, without the first axis."""
        found: NDArray[np.float32] = self._core.encode(layout, planes)[0]
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and (self.game, self.notation) == (other.game, other.notation)

    def __hash__(self) -> int:
        return hash(self.notation)

    def __str__(self) -> str:
        board = self._core.diagrams()[0].rstrip("\n")
        return board if self.over else f"{board}\n{self.mover} to move"

    def __repr__(self) -> str:
        return f"<{self._core.game.name}: {self.notation}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _position, (self.game, self.notation)

    def __deepcopy__(self, _: object) -> Position:
        return self

    def _repr_html_(self) -> str:
        return self._core.html()


class PlayedGame:
    """A game so far: a start and the actions since. Besides the position, repetition ends it by the rules of the
    game. Immutable; created by `played_game`."""

    def __init__(self, core: _core.PlayedGame):
        self._core = core
        #: Current position; ``over`` ignores repetition.
        self.position = Position(core.position())
        #: Number of actions since the start.
        self.plies = len(core.actions())
        mine, words = core.end() or (0, None)
        #: Reason of the end in words, ``None`` while the game goes on.
        self.end: str | None = words
        #: Outcome for each side (1, 0 or -1), 0 while the game goes on.
        self.outcomes: tuple[int, int] = (mine, -mine) if self.position.side == 0 else (-mine, mine)

    def play(self, action: int) -> PlayedGame:
        """Returns the game after an action. Raises `PositionError` if it is illegal or the game is over."""
        return PlayedGame(self._core.play(action))

    def __reduce__(self) -> tuple[object, ...]:
        return played_game, (Position(self._core.start()), self._core.actions())

    def __deepcopy__(self, _: object) -> PlayedGame:
        return self


def played_game(start: Position, actions: Sequence[int] = ()) -> PlayedGame:
    """Returns the game of these actions from a position on."""
    return PlayedGame(_core.PlayedGame(start._core, list(actions)))


def _in_table(path: str) -> Game:
    return Game(_core.open_table(path, directory(None), False).game)


def _position(rules: Game, notation: str) -> Position:
    return rules.position(notation)


def _positions(rules: Game, notations: list[str], drawn: str | None) -> Positions:
    positions = rules.positions(notations) if notations else Positions(rules._core.parse([]))
    positions._drawn = drawn
    return positions


def _sampled(core: _core.Positions, words: str, remark: str | None) -> Positions:
    """Returns the positions of a sample; warns if there is a remark."""
    if remark is not None:
        warnings.warn(remark, RuntimeWarning, stacklevel=3)
    positions = Positions(core)
    positions._drawn = words
    return positions
