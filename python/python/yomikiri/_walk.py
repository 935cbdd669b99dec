"""Games that are classes in Python: walked breadth-first into a list of states."""

from __future__ import annotations

import re
from typing import Callable, Protocol, Sequence

from ._progress import Told
from ._types import Json, OwnMove, OwnState

#: Result of a state in which the game goes on.
GOES_ON = -128

_WORDS = {"win": 1, "draw": 0, "loss": -1}
#: Actions above this are numbered anew.
_MOST_ACTION = 65_000
#: States whose result is asked for twice.
_ASKED_AGAIN = 1000


class OwnGame(Protocol):
    """A game as `solve` takes it. Further methods are optional: ``name()``, ``to_move(state)`` (0 or 1, where a player may
    move again or sides differ), ``text(state)``, ``move_text(move)``, ``layer(state)``."""

    def start(self) -> OwnState: ...
    def moves(self, state: OwnState) -> Sequence[OwnMove]: ...
    def play(self, state: OwnState, move: OwnMove) -> OwnState: ...
    def result(self, state: OwnState) -> object: ...


def is_own(game: object) -> bool:
    """Returns whether an object has the methods of a game."""
    return all(callable(getattr(game, method, None)) for method in ("start", "moves", "play", "result"))


def name_of(game: OwnGame) -> str:
    """Returns the name of a game: its own, or that of its class with hyphens."""
    own = getattr(game, "name", None)
    if callable(own):
        return str(own())
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(game).__name__).lower().strip("_")


def walk(game: OwnGame, max_states: int | None, progress: bool | None) -> Json:
    """Returns the arguments of `solve_listed` for all states that a game reaches. Raises `ValueError` for a class that
    breaks a promise, naming the method and the state."""
    call = _Caller(game)
    begin = call("start")
    numbers, states = {begin: 0}, [begin]
    edges: list[list[tuple[OwnMove, int]]] = []
    results: list[int] = []
    what = f"walking {name_of(game)}"
    with Told(progress) as tell:
        for state in states:  # grows while it is walked
            result = _number(call("result", state), game, state)
            results.append(GOES_ON if result is None else result)
            found: list[tuple[OwnMove, int]] = []
            moves = list(call("moves", state)) if result is None else []
            if result is None and not moves:
                raise ValueError(f"{_method(game, 'moves')}: no move in {_shown(state)}, and result() is None there")
            for move in _sorted(moves, game, state):
                after = call("play", state, move)
                try:
                    number = numbers.setdefault(after, len(states))
                except TypeError as error:
                    what = f"{_method(game, 'play')}: invalid state {_shown(after)}: expected one that is hashable"
                    raise ValueError(f"{what} ({error})") from error
                if number == len(states):
                    if max_states is not None and number >= max_states:
                        raise ValueError(
                            f"max_states={max_states} is reached: {len(results)} states were followed, "
                            f"{len(states) - len(results)} more wait")
                    states.append(after)
                found.append((move, number))
            edges.append(found)
            if tell is not None and len(results) % 1024 == 0:
                tell(what, len(results), len(states))
    for at in range(0, len(states), max(1, len(states) // _ASKED_AGAIN)):
        again = _number(call("result", states[at]), game, states[at])
        if (GOES_ON if again is None else again) != results[at]:
            raise ValueError(f"{_method(game, 'result')}: another result for {_shown(states[at])} when asked again")
    return _listing(call, states, edges, results)


def _listing(call: _Caller, states: list[OwnState], edges: list[list[tuple[OwnMove, int]]], results: list[int]) -> Json:
    order = list(range(len(states)))
    if call.has("layer"):
        layers = [call("layer", state) for state in states]
        order.sort(key=lambda at: layers[at])
    place = {at: number for number, at in enumerate(order)}
    used = {move for found in edges for move, _ in found}
    are_numbers = all(isinstance(move, int) and 0 <= move <= _MOST_ACTION for move in used)
    named = call.has("move_text")
    texts = {move: str(call("move_text", move)) if named else str(move) for move in used}
    names: list[str] = []
    if are_numbers:
        action = {move: int(move) for move in used}
        if named:
            names = [str(number) for number in range(max(action.values(), default=0) + 1)]
            for move, number in action.items():
                names[number] = texts[move]
    else:
        names = sorted(set(texts.values()))
        if len(names) != len(used):
            raise ValueError(f"{_method(call.game, 'move_text')}: two moves have one text")
        numbered = {name: at for at, name in enumerate(names)}
        action = {move: numbered[texts[move]] for move in used}
    pointers, actions, successors = [0], [], []
    for at in order:
        for number, after in sorted((action[move], place[after]) for move, after in edges[at]):
            actions.append(number)
            successors.append(after)
        pointers.append(len(actions))
    lines = [str(call("text", states[at])) for at in order] if call.has("text") else None
    if lines is None and all(isinstance(state, (str, int, tuple)) for state in states):
        own = [str(states[at]) for at in order]
        is_fit = len(set(own)) == len(own) and all(text and text == text.strip() and "\n" not in text for text in own)
        lines = own if is_fit else None
    outcomes = all(-1 <= result <= 1 for result in results if result != GOES_ON)
    return {
        "row_pointers": pointers, "actions": actions, "successors": successors, "results": [results[at] for at in order],
        "states": lines, "move_names": names or None, "start": place[0],
        "movers": [_mover(call, states[at]) for at in order] if call.has("to_move") else None,
        "scores": not outcomes or bool(getattr(call.game, "scores", False)),
    }


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
            shown = ", ".join(map(_shown, given))
            raise ValueError(f"{_method(self.game, method)}({shown}) failed: {type(error).__name__}: {error}") from error


def _method(game: OwnGame, method: str) -> str:
    return f"{type(game).__name__}.{method}"


def _shown(thing: object) -> str:
    """Returns a state or a move in one short line."""
    text = repr(thing).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."


def _number(result: object, game: OwnGame, state: object) -> int | None:
    """Returns a result as a number; `None` while the game goes on."""
    if result is None:
        return None
    if isinstance(result, str) and result in _WORDS:
        return _WORDS[result]
    try:
        number = int(result)  # type: ignore[call-overload]
        if number == result and -127 <= number <= 127:
            return int(number)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"{_method(game, 'result')}: {_shown(result)} for {_shown(state)}, expected None, win, draw, loss or a whole "
        "number from -127 to 127")


def _sorted(moves: list[OwnMove], game: OwnGame, state: object) -> list[OwnMove]:
    """Returns moves by number, or else by text: the order in which a set has them is not that of each run."""
    if len(set(moves)) != len(moves):
        raise ValueError(f"{_method(game, 'moves')}: a move twice in {_shown(state)}")
    are_numbers = all(isinstance(move, int) for move in moves)
    return sorted(moves) if are_numbers else sorted(moves, key=str)


def _mover(call: _Caller, state: object) -> int:
    mover = call("to_move", state)
    if mover not in (0, 1):
        raise ValueError(f"{_method(call.game, 'to_move')}: {_shown(mover)} for {_shown(state)}, expected 0 or 1")
    return int(mover)
