"""Games that are classes in Python: walked breadth-first into a list of states, and compared with a list."""

from __future__ import annotations

import contextlib
import gc
import itertools
import re
import sys
import weakref
from typing import Callable, Iterable, Iterator, Protocol, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._progress import Told
from ._types import Json, OwnMove, OwnState

#: Result of a state in which the game goes on.
GOES_ON = -128

_WORDS = {"win": 1, "draw": 0, "loss": -1}
#: Actions above this are numbered anew.
_MOST_ACTION = 65_000
#: States whose result is asked for twice, or compared with a table.
ASKED_AGAIN = 1000


class OwnGame(Protocol):
    """A game as `solve` takes it; `solve` names further methods, which are optional."""

    def start(self) -> OwnState: ...
    def moves(self, state: OwnState) -> Sequence[OwnMove]: ...
    def play(self, state: OwnState, move: OwnMove) -> OwnState: ...
    def result(self, state: OwnState) -> object: ...


def is_own(game: object) -> bool:
    """Returns whether an object has the methods of a game."""
    return all(callable(getattr(game, method, None)) for method in ("start", "moves", "play", "result"))


class OwnStates:
    """The states of a class by the numbers of its list."""

    #: By the checksum of the list, while a table of it is in use.
    known: weakref.WeakValueDictionary[str, OwnStates] = weakref.WeakValueDictionary()

    def __init__(self, game: OwnGame, states: list[OwnState] | None):
        self._call, self._states = _Caller(game), states

    def of(self, positions: _core.Positions) -> list[OwnState]:
        """Returns the state of each position, of the player who is to move after a forced pass."""
        if self._states is None:
            return [_read(self._call, text) for _, text in positions.listed_states()]
        return [self._states[number] for number, _ in positions.listed_states()]

    def texts(self, states: Sequence[OwnState]) -> list[str] | None:
        """Returns the texts of states; `None` if they are no states of the class."""
        start = self._call("start")
        if isinstance(states[0], str) or type(states[0]) is not type(start):
            return None
        return [_text(self._call, state) for state in states]

    def names(self, moves: list[OwnMove], policy: str) -> list[str]:
        """Returns the names of moves that a policy answers."""
        try:
            return [_name(self._call, move) for move in moves]
        except GameError as error:
            raise _core.PolicyError(f"policy '{policy}' returned what is no move: {error}") from error


def differs(game: OwnGame, rows: list[_core.ListedRow], planes: NDArray[np.float32] | None) -> str | None:
    """Returns what a list has that its class has not, in some states, the first of which is the start; `None` if nothing.
    `planes` are those of the states."""
    call = _Caller(game)
    for at, (text, result, mover, moves) in enumerate(rows):
        try:
            state = _read(call, text)
            if at == 0 and call("start") != state:
                return "another start"
            own = call("result", state)
            number = None if own is None else _number(own, game, state)
            if call.has("to_move") != (mover is not None):
                return "players who move in turn" if mover is None else "players who move again"
            found = [] if number is not None else _sorted(call("moves", state), game, state)
            after = {_name(call, move): _text(call, call("play", state, move)) for move in found}
            if mover is not None and _mover(call, state) != mover:
                return f"another player to move in {_shown(text)}"
            if number != result or after != dict(moves):
                return f"another {'result' if number != result else 'move'} in {_shown(text)}"
            if call.has("planes") != (planes is not None):
                return "no planes" if planes is None else "planes"
            if planes is not None:
                seen = np.asarray(call("planes", state), np.float32)
                if seen.size != planes[at].size or (seen.ravel() != planes[at].ravel()).any():
                    return f"other planes in {_shown(text)}"
        except GameError as error:
            return str(error)
    return None


def can_read(game: OwnGame) -> bool:
    """Returns whether texts of a game can be read: it has a method for that, or states are their texts."""
    call = _Caller(game)
    return call.has("read") or not call.has("text") and isinstance(call("start"), str)


def _read(call: _Caller, text: str) -> OwnState:
    return call("read", text) if call.has("read") else text


def _name(call: _Caller, move: OwnMove) -> str:
    """Returns the name of a move, without blanks: `(1,2)`, `take-two`."""
    name = str(call("move_text", move)) if call.has("move_text") else str(move)
    return re.sub(r"\s+", "-", re.sub(r"([,(])\s+", r"\1", name.strip()))


def _text(call: _Caller, state: OwnState) -> str:
    return str(call("text", state)) if call.has("text") else str(state)


def name_of(game: OwnGame) -> str:
    """Returns the name of a game: its own, or that of its class with hyphens."""
    call = _Caller(game)
    name = call("name") if call.has("name") else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(game).__name__).lower().strip("_")
    if not isinstance(name, str):
        raise GameError(f"{_method(game, 'name')}: {_shown(name)}, expected a text")
    _core.check_name(name)
    return name


def walk(game: OwnGame, max_states: int | None, progress: bool | None) -> tuple[Json, list[OwnState]]:
    """Returns the arguments of `solve_listed` for all states that a game reaches, and these states. Raises `ValueError`
    for a class that breaks a promise, naming the method and the state."""
    if max_states is not None and (not isinstance(max_states, int) or max_states < 1):
        raise ValueError(f"max_states: {max_states!r}, expected a number of states")
    call = _Caller(game)
    begin = call("start")
    try:
        hash(begin)
    except TypeError as error:
        raise GameError(f"{_method(game, 'start')}: invalid state {_shown(begin)}: expected one that is hashable ({error})") from error
    if getattr(type(begin), "__hash__") is object.__hash__:
        raise GameError(
            f"{_method(game, 'start')}: {type(begin).__name__} tells no equal states: give it __eq__ and __hash__, as a frozen "
            "dataclass has them")
    numbers, states = {begin: 0}, [begin]
    moved: list[OwnMove] = []
    pointers, successors, results = [0], list[int](), list[int]()
    # Methods are bound once, and what fails is named afterwards: a walk is little slower than a bare loop.
    moves_of, play, result_of, at_most = game.moves, game.play, game.result, max_states or sys.maxsize
    doing, in_words = "result", None
    given: tuple[OwnState, ...] = (begin,)
    what = f"walking {name_of(game)}"
    with Told(progress) as tell, _uncollected():
        for state in states:  # grows while it is walked
            try:
                doing, given = "result", (state,)
                result = result_of(state)
                if result is None:
                    doing = "moves"
                    moves = _sorted(moves_of(state), game, state)
                    doing = "play"
                    for move in moves:
                        given = (state, move)
                        after = play(state, move)
                        number = numbers.get(after)
                        if number is None:
                            number = numbers[after] = len(states)
                            states.append(after)
                        moved.append(move)
                        successors.append(number)
            except GameError:
                raise
            except Exception as error:
                if doing == "play" and isinstance(error, TypeError) and "unhashable" in str(error):
                    broken = f"{_method(game, 'play')}: invalid state {_shown(after)}: expected one that is hashable"
                    raise GameError(f"{broken} ({error})") from error
                raise call.failed(doing, given, error) from error
            pointers.append(len(moved))
            results.append(GOES_ON if result is None else _number(result, game, state))
            if type(result) is str:
                in_words = result
            if len(states) > at_most:
                raise GameError(
                    f"max_states={max_states} is reached: {len(results)} states were followed, "
                    f"{len(states) - len(results)} more wait")
            if tell is not None and len(results) % 1024 == 0:
                tell(what, len(results), len(states))
    for at in range(0, len(states), max(1, len(states) // ASKED_AGAIN)):
        again = call("result", states[at])
        if (GOES_ON if again is None else _number(again, game, states[at])) != results[at]:
            raise GameError(f"{_method(game, 'result')}: another result for {_shown(states[at])} when asked again")
    actions, names = _actions(call, moved)
    listing: Json = {
        "row_pointers": pointers, "actions": actions, "successors": successors, "results": results,
        "states": _lines(call, states), "move_names": names, "start": 0,
        "movers": [_mover(call, state) for state in states] if call.has("to_move") else None,
        "scores": not all(-1 <= result <= 1 for result in set(results) - {GOES_ON}) or bool(getattr(game, "scores", False)),
    }
    if listing["scores"] and in_words is not None:
        raise GameError(f"{_method(game, 'result')}: {in_words!r} in a game with scores, expected the number of points")
    if names is not None or call.has("layer"):
        layers = [call("layer", state) for state in states] if call.has("layer") else [0] * len(states)
        order = sorted(range(len(states)), key=layers.__getitem__)
        _reorder(listing, order)
        states = [states[at] for at in order]
    listing["planes"] = _planes(call, states) if call.has("planes") else None
    return listing, states


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Pauses the search for cycles of garbage: among millions of states it takes seconds, in which Ctrl-C waits."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _planes(call: _Caller, states: list[OwnState]) -> NDArray[np.float32]:
    """Returns the planes of all states."""
    all_planes: NDArray[np.float32] | None = None
    for at, state in enumerate(states):
        given = call("planes", state)
        try:
            planes = np.asarray(given, np.float32)
        except (TypeError, ValueError) as error:
            raise call.failed("planes", (state,), error) from error
        if all_planes is None:
            all_planes = np.empty((len(states), *planes.shape), np.float32)
        if not 1 <= planes.ndim <= 3:
            raise GameError(f"{_method(call.game, 'planes')}: shape {planes.shape} for {_shown(state)}, expected one to three sides")
        if planes.shape != all_planes.shape[1:]:
            raise GameError(
                f"{_method(call.game, 'planes')}: shape {planes.shape} for {_shown(state)}, {all_planes.shape[1:]} before")
        all_planes[at] = planes
    assert all_planes is not None
    return all_planes


def _actions(call: _Caller, moved: list[OwnMove]) -> tuple[list[int], list[str] | None]:
    """Returns the number of each move, and the names of the numbers unless they are numbers themselves."""
    used = set(moved)
    are_numbers = all(type(move) is int and 0 <= move <= _MOST_ACTION for move in used)
    if are_numbers and not call.has("move_text"):
        return moved, None
    texts = {move: _name(call, move) for move in used}
    if len(set(texts.values())) != len(used):
        raise GameError(f"{_method(call.game, 'move_text')}: two moves have one text, {_twice(texts)}")
    if are_numbers:
        names = [str(number) for number in range(max(used, default=0) + 1)]
        for move in used:
            names[int(move)] = texts[move]
        return moved, names
    names = sorted(set(texts.values()))
    numbered = {name: at for at, name in enumerate(names)}
    return [numbered[texts[move]] for move in moved], names


def _lines(call: _Caller, states: list[OwnState]) -> list[str] | None:
    """Returns the texts of states: those of the class, else states as they print, if no two print alike."""
    if call.has("text"):
        texts = {state: str(call("text", state)) for state in states}
        if len(set(texts.values())) < len(states):
            raise GameError(f"{_method(call.game, 'text')}: two states have one text, {_twice(texts)}")
        for state, text in texts.items():
            if not text or text != text.strip() or not text.isprintable() or text == "start":
                raise GameError(
                    f"{_method(call.game, 'text')}: {_shown(text)} for {_shown(state)}, expected one line without blanks around it")
        return list(texts.values())
    if not all(isinstance(state, (str, int, tuple)) for state in states):
        return None
    own = [str(state) for state in states]
    is_fit = len(set(own)) == len(own) and all(text and text == text.strip() and "\n" not in text for text in own)
    return own if is_fit else None


def _twice(texts: dict[OwnState, str]) -> str:
    """Names the first text that two things have, and both."""
    first: dict[str, OwnState] = {}
    for thing, text in texts.items():
        if text in first:
            return f"{_shown(text)}: {_shown(first[text])} and {_shown(thing)}"
        first[text] = thing
    return ""


def _reorder(listing: Json, order: list[int]) -> None:
    """Puts the states of a listing in another order, and the moves of each in that of their numbers."""
    place = {at: number for number, at in enumerate(order)}
    begins, actions, successors = listing["row_pointers"], listing["actions"], listing["successors"]
    edges = [
        sorted((actions[edge], place[successors[edge]]) for edge in range(begins[at], begins[at + 1])) for at in order]
    listing["row_pointers"] = [0, *itertools.accumulate(map(len, edges))]
    listing["actions"] = [action for found in edges for action, _ in found]
    listing["successors"] = [after for found in edges for _, after in found]
    for name in ("results", "states", "movers"):
        if listing[name] is not None:
            listing[name] = [listing[name][at] for at in order]
    listing["start"] = place[listing["start"]]


class GameError(ValueError):
    """A promise that a game's class breaks: the message names the method and the state."""


class _Caller:
    """Calls the methods of a game; their exceptions name the method and the state."""

    def __init__(self, game: OwnGame):
        self.game = game

    def has(self, method: str) -> bool:
        return callable(getattr(self.game, method, None))

    def __call__(self, method: str, *given: OwnState) -> OwnState:
        call: Callable[..., OwnState] = getattr(self.game, method)
        try:
            return call(*given)
        except Exception as error:
            raise self.failed(method, given, error) from error

    def failed(self, method: str, given: tuple[OwnState, ...], error: Exception) -> ValueError:
        """Returns the error for an exception of a method."""
        shown = ", ".join(map(_shown, given))
        return GameError(f"{_method(self.game, method)}({shown}) failed: {type(error).__name__}: {error}")


def _method(game: OwnGame, method: str) -> str:
    return f"{type(game).__name__}.{method}"


def _shown(thing: object) -> str:
    """Returns a state or a move in one short line."""
    text = repr(thing).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."


def _number(result: object, game: OwnGame, state: object) -> int:
    """Returns a result as a number."""
    if isinstance(result, str) and result in _WORDS:
        return _WORDS[result]
    try:
        number = int(result)  # type: ignore[call-overload]
        if number == result and not isinstance(result, bool) and -127 <= number <= 127:
            return int(number)
    except (TypeError, ValueError):
        pass
    raise GameError(
        f"{_method(game, 'result')}: {_shown(result)} for {_shown(state)}, expected None, win, draw, loss or a whole "
        "number from -127 to 127")


def _sorted(given: Iterable[OwnMove], game: OwnGame, state: object) -> list[OwnMove]:
    """Returns moves by number, or else by text: the order in which a set has them is not that of each run."""
    moves = list(given)
    if not moves:
        raise GameError(f"{_method(game, 'moves')}: no move in {_shown(state)}, and result() is None there")
    if len(set(moves)) != len(moves):
        raise GameError(f"{_method(game, 'moves')}: a move twice in {_shown(state)}")
    if type(moves[0]) is int:
        try:
            moves.sort()
            return moves
        except TypeError:
            pass
    return sorted(moves, key=str)


def _mover(call: _Caller, state: object) -> int:
    mover = call("to_move", state)
    if mover not in (0, 1):
        raise GameError(f"{_method(call.game, 'to_move')}: {_shown(mover)} for {_shown(state)}, expected 0 or 1")
    return int(mover)
