"""Games of OpenSpiel, walked into a list of states; states of a list, played again."""

from __future__ import annotations

import random
import re
from typing import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ._optional import needs

needs("pyspiel", "games of OpenSpiel", install="open_spiel")
import pyspiel

from . import _core
from ._progress import Told
from ._types import Json
from ._walk import GOES_ON

#: What stands in texts for the breaks of lines.
LINE_BREAK = " / "
#: Edges into known states that are all compared, and the distance of those that are beyond.
_COMPARED, _APART = 20_000, 64
#: Moves of random games that are compared with the list, and most games.
_PLAYED, _GAMES = 20_000, 1_000
#: States that texts tell apart for each that observations do, from which on there is a remark.
_MANY = 1.5
_SIDES = ("First", "Second")

#: What tells states apart: a function of `pyspiel.State`.
Key = Callable[[pyspiel.State], Hashable]


def load(text: str) -> pyspiel.Game:
    """Returns the game of a string, those that are written in Python included."""
    if "python_" in text:
        from open_spiel.python import games as games
    try:
        return pyspiel.load_game(text)
    except pyspiel.SpielError as error:
        raise ValueError(f"{text}: OpenSpiel refuses it: {str(error).strip().splitlines()[0]}") from None


def _words(error: pyspiel.SpielError) -> str:
    return " ".join(str(error).split())


class Root:
    """A game of OpenSpiel and the state in which it begins."""

    def __init__(self, given: str | pyspiel.Game | pyspiel.State):
        if isinstance(given, pyspiel.State):
            self.game, self.start = given.get_game(), given
            self.title = str(self.game)
            if str(given) != str(self.game.new_initial_state()) or given.history():
                # OpenSpiel reads a number alone as a number, unless a blank is before it.
                moves = ";".join(map(str, given.history()))
                self.title = f"start_at(history={'' if ';' in moves else ' '}{moves},game={self.game})"
                if not moves or not _plays(self.title, given):
                    raise ValueError(
                        f"{self.game}: no moves from its start lead to the given state, so that it has no name: expected a state "
                        "reached by moves")
        else:
            self.game = load(given) if isinstance(given, str) else given
            try:
                self.start, self.title = self.game.new_initial_state(), str(self.game)
            except pyspiel.SpielError as error:
                raise ValueError(f"{self.game}: OpenSpiel has no start of it: {_words(error)}") from None
        _check(self.game)

    def states(self, positions: _core.Positions) -> list[pyspiel.State]:
        """Returns the state of each position, reached by the fewest moves."""
        states = []
        for line in positions.listed_lines():
            state = self.start.clone()
            for action in line:
                state.apply_action(action)
            states.append(state)
        return states


def _plays(title: str, state: pyspiel.State) -> bool:
    """Returns whether a game's string gives a state as its start."""
    try:
        return str(load(title).new_initial_state()) == str(state)
    except ValueError:
        return False


def _check(game: pyspiel.Game) -> None:
    """Refuses a game that is not of two players in turn, without chance and hidden information, with zero sum."""
    kind, found = pyspiel.GameType, game.get_type()
    wrong = [
        (game.num_players() != 2, f"{game.num_players()} players"),
        (found.dynamics != kind.Dynamics.SEQUENTIAL, "players who move at once"),
        (found.chance_mode != kind.ChanceMode.DETERMINISTIC, "chance"),
        (found.information != kind.Information.PERFECT_INFORMATION, "hidden information"),
        (found.utility != kind.Utility.ZERO_SUM, "returns that do not sum to zero"),
        (game.num_distinct_actions() > 65_000, f"{game.num_distinct_actions()} actions"),
    ]
    for is_wrong, what in wrong:
        if is_wrong:
            raise ValueError(f"{game} has {what}: expected two players in turn, no chance, nothing hidden, a sum of zero")


def one_line(text: str) -> str:
    """Returns the text of a state in one line."""
    return LINE_BREAK.join(line.rstrip() for line in text.strip().splitlines())


class _Walk:
    """States found so far, and their moves."""

    def __init__(self, root: Root, key: Key | None):
        self.root, self.key = root, key
        self.numbers: dict[Hashable, int] = {}
        self.keys: list[Hashable] = []
        self.texts: list[str] = []
        self.movers: list[int] = []
        #: States that wait, by number; None once their moves are known.
        self.waiting: list[pyspiel.State | None] = []
        self.pointers, self.actions, self.successors = [0], list[int](), list[int]()
        self.results: list[float | None] = []
        #: Edge by which each state was found.
        self.edges: list[int] = []
        #: States to compare with an equal one that waits.
        self.doubts: dict[int, list[pyspiel.State]] = {}
        #: Name of each action of each player, in the state where it was found, and the actions that have other names elsewhere.
        self.names: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self.vague: tuple[set[int], set[int]] = (set(), set())

    def find(self, state: pyspiel.State, before: int) -> tuple[int, bool]:
        """Returns the number of a state, and whether it is new; `before` is the player who moved last."""
        player = state.current_player()
        if player >= 0:
            text, mover, legal = str(state), player, tuple(state.legal_actions())
            if not legal:
                raise self.refused(state, "has no move there, and is not over")
        elif player == pyspiel.PlayerId.TERMINAL:
            text, mover, legal = str(state), 1 - before, ()
        else:
            raise self.refused(state, "has chance or players who move at once")
        key = (text, mover, legal) if self.key is None else (self.key(state), mover)
        number = self.numbers.get(key)
        if number is not None:
            return number, False
        number = self.numbers[key] = len(self.keys)
        self.keys.append(key)
        self.texts.append(text)
        self.movers.append(mover)
        self.waiting.append(state)
        return number, True

    def refused(self, state: pyspiel.State, what: str) -> ValueError:
        return ValueError(f"{self.root.title} {what}: after moves {state.history()}")

    def conflict(self, number: int, state: pyspiel.State, what: str) -> ValueError:
        return ValueError(
            f"{self.root.title}: {what} after moves {state.history()} and {self.history(number)}, which look alike: the past "
            "matters, or key= must tell more")

    def history(self, number: int) -> list[int]:
        """Returns the moves by which a state was found."""
        moves: list[int] = []
        pointers = np.array(self.pointers)
        while number:
            edge = self.edges[number]
            moves.append(self.actions[edge])
            number = int(np.searchsorted(pointers, edge, "right")) - 1
        return [*self.root.start.history(), *moves[::-1]]

    def compare(self, number: int, state: pyspiel.State) -> None:
        """Compares a state with an equal one whose moves are known."""
        begin, end = self.pointers[number], self.pointers[number + 1]
        if state.is_terminal() or self.results[number] is not None:
            if self.results[number] != _result(state, self.movers[number]):
                raise self.conflict(number, state, "another result")
            return
        if state.legal_actions() != self.actions[begin:end] or state.current_player() != self.movers[number]:
            raise self.conflict(number, state, "other moves")
        for edge in range(begin, end):
            after = state.child(self.actions[edge])
            if self.find(after, self.movers[number]) != (self.successors[edge], False):
                raise self.conflict(number, state, f"another state by move {self.actions[edge]}")


def _result(state: pyspiel.State, mover: int) -> float | None:
    """Returns the result of a finished state for its mover; -0.0 is a draw."""
    return float(state.returns()[mover]) + 0.0 if state.is_terminal() else None


def walk(root: Root, key: Key | None, max_states: int | None, progress: bool | None) -> tuple[Json, list[str]]:
    """Returns the arguments of a list of all states that a game reaches, and remarks. Breadth-first, so that a state stands
    for the fewest moves where the game counts them. Raises `ValueError` if equal keys have different futures."""
    walk, planes = _Walk(root, key), _Planes(root.game)
    what, met, number = f"walking {root.title}", 0, 0
    walk.find(root.start.clone(), 1)
    walk.edges.append(-1)
    # Looked up once: a walk is little slower than a bare loop.
    actions, successors, edges, doubts, find = walk.actions, walk.successors, walk.edges, walk.doubts, walk.find
    with Told(progress) as tell:
        while number < len(walk.waiting):
            state = walk.waiting[number]
            assert state is not None
            walk.waiting[number] = None
            mover = walk.movers[number]
            try:
                planes.add(state, mover)
                result = _result(state, mover)
                walk.results.append(result)
                names, vague = walk.names[mover], walk.vague[mover]
                for action in () if result is not None else state.legal_actions():
                    name = state.action_to_string(mover, action)
                    if names.setdefault(action, name) != name and _plain(names[action]) != _plain(name):
                        vague.add(action)
                    after = state.child(action)
                    found, is_new = find(after, mover)
                    if is_new:
                        edges.append(len(actions))
                    else:
                        met += 1
                        if met <= _COMPARED or met % _APART == 0:
                            if found < number:
                                walk.compare(found, after)
                            else:
                                doubts.setdefault(found, []).append(after)
                    actions.append(action)
                    successors.append(found)
                walk.pointers.append(len(actions))
                for other in doubts.pop(number, ()):
                    walk.compare(number, other)
            except pyspiel.SpielError as error:
                raise walk.refused(state, f"failed ({_words(error)})") from error
            number += 1
            if max_states is not None and len(walk.waiting) > max_states:
                raise ValueError(
                    f"max_states={max_states} is reached: {number} states of {root.title} were followed, "
                    f"{len(walk.waiting) - number} more wait")
            if tell is not None and number % 1024 == 0:
                tell(what, number, len(walk.waiting))
    _check_ends(walk)
    _check_games(walk)
    return _listing(walk, planes), _remarks(walk, planes)


def _check_ends(walk: _Walk) -> None:
    """Refuses a game in which one board is both finished and not."""
    sight = list(zip(walk.texts, walk.movers))
    over = {seen: at for at, seen in enumerate(sight) if walk.results[at] is not None}
    for at, seen in enumerate(sight):
        if walk.results[at] is None and seen in over:
            raise ValueError(
                f"{walk.root.title} is over after moves {walk.history(over[seen])} and not after {walk.history(at)}, which look "
                "alike: the past matters")


def _check_games(walk: _Walk) -> None:
    """Plays random games, and refuses a game in which one leaves the list: there the past matters by way of states that the
    walk, which keeps the first of equal ones, never met."""
    choose, played, games = random.Random(0).randrange, 0, 0
    while played < _PLAYED and games < _GAMES and walk.actions:
        state, number, games = walk.root.start.clone(), 0, games + 1
        while not state.is_terminal():
            edge = walk.pointers[number] + choose(walk.pointers[number + 1] - walk.pointers[number])
            state.apply_action(walk.actions[edge])
            number, played, mover = walk.successors[edge], played + 1, walk.movers[number]
            if state.is_terminal() and state.move_number() >= walk.root.game.max_game_length():
                break  # the game is cut off where its list goes on
            if walk.find(state, mover) != (number, False) or walk.results[number] != _result(state, walk.movers[number]):
                raise walk.conflict(number, state, "another state")


class _Planes:
    """Observations of all states, as the player to move sees them."""

    def __init__(self, game: pyspiel.Game):
        self.shape: tuple[int, ...] | None = None
        if game.get_type().provides_observation_tensor:
            self.shape = tuple(game.observation_tensor_shape())
            self.is_last = len(self.shape) == 3 and game.observation_tensor_layout() == pyspiel.TensorLayout.HWC
        self.rows: list[NDArray[np.float32]] = []

    def add(self, state: pyspiel.State, mover: int) -> None:
        if self.shape is not None:
            player = 0 if state.is_terminal() else mover
            self.rows.append(np.array(state.observation_tensor(player), np.float32))

    def array(self) -> NDArray[np.float32] | None:
        if self.shape is None or not self.rows:
            return None
        planes = np.stack(self.rows)
        if len(self.shape) in (2, 3):
            planes = planes.reshape(len(planes), *self.shape)
        return np.moveaxis(planes, -1, 1) if self.is_last else planes


def _listing(walk: _Walk, planes: _Planes) -> Json:
    results = [result for result in walk.results if result is not None]
    broken = next((result for result in results if result != int(result) or abs(result) > 127), None)
    if broken is not None:
        raise ValueError(f"{walk.root.title}: returns of {broken}, expected whole numbers from -127 to 127")
    count = walk.root.game.num_distinct_actions()
    return {
        "row_pointers": walk.pointers, "actions": walk.actions, "successors": walk.successors,
        "results": [GOES_ON if result is None else int(result) for result in walk.results],
        "states": _texts(walk), "movers": walk.movers, "move_names": _names(walk, count),
        "planes": planes.array(), "scores": any(abs(result) > 1 for result in results), "start": 0,
        "title": walk.root.title, "action_count": count,
        "line_break": LINE_BREAK if any("\n" in text.strip() for text in walk.texts) else "",
    }


def _texts(walk: _Walk) -> list[str]:
    """Returns a text for each state: what OpenSpiel prints, and where several print alike, who is to move, or a number."""
    texts = [one_line(text) for text in walk.texts]
    for add in (lambda at: f"{_SIDES[walk.movers[at]]} to move", lambda at: f"state {at}"):
        seen: dict[str, int] = {}
        for text in texts:
            seen[text] = seen.get(text, 0) + 1
        texts = [text if seen[text] == 1 and text else f"{text} ({add(at)})" for at, text in enumerate(texts)]
    return texts


def _plain(name: str) -> str:
    """Returns the name of a move without blanks and without the marks of captures behind it."""
    return re.sub(r"\s+", "", name).rstrip("*+!#")


def _names(walk: _Walk, count: int) -> list[str]:
    """Returns the names of all actions of the first player, then of the second. An action that has several names has its
    number."""
    all_names: list[str] = []
    for names, vague in zip(walk.names, walk.vague):
        own = [str(action) if action in vague else _plain(names.get(action, "")) or str(action) for action in range(count)]
        seen: dict[str, int] = {}
        for name in own:
            seen[name] = seen.get(name, 0) + 1
        all_names += [f"{name}[{action}]" if seen[name] > 1 else name for action, name in enumerate(own)]
    return all_names


def _remarks(walk: _Walk, planes: _Planes) -> list[str]:
    remarks = []
    if walk.key is None and planes.rows:
        seen = {(row.tobytes(), mover) for row, mover in zip(planes.rows, walk.movers)}
        if len(seen) * _MANY < len(walk.keys):
            remarks.append(
                f"texts of {walk.root.title} tell {len(walk.keys):,} states apart, observations {len(seen):,}: where a text counts moves or "
                "marks the last one and the observation has all else, key= makes fewer")
    return remarks


def differs(root: Root, game: _core.Game, rows: Sequence[_core.ListedRow]) -> str | None:
    """Returns in what a game differs from some states of its list; `None` if in nothing."""
    if game.title != root.title:
        return f"it is {game.title}"

    def alike(stored: str, state: pyspiel.State) -> bool:
        own = one_line(str(state))
        return stored == own or stored.startswith(own + " (")

    found = game.parse([text for text, *_ in rows])
    for state, (text, result, mover, moves) in zip(root.states(found), rows):
        assert mover is not None
        own = _result(state, mover)
        if not alike(text, state) or own != result or own is None and state.current_player() != mover:
            return f"another state where it has {text}"
        actions = () if own is not None else state.legal_actions()
        if len(actions) != len(moves) or not all(alike(after, state.child(action)) for action, (_, after) in zip(actions, moves)):
            return f"other moves in {text}"
    return None
