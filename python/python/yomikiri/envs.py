"""Gymnasium and PettingZoo environments, with opponents of known strength."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Literal, Mapping

import numpy as np
from numpy.typing import NDArray

from ._optional import needs

needs("gymnasium", "yomikiri.envs")
import gymnasium
from gymnasium import spaces

from . import _core
from ._gymnasium import GAMES
from ._games import Game, Position, game as _game, played_game
from ._measure import _Asked, _evaluating, _given
from ._tables import Table, open_or_solve, solve
from ._types import Policy, PositionsLike

if TYPE_CHECKING:
    from ._pettingzoo import TwoPlayers as TwoPlayers

#: ``observation`` and ``action_mask``.
Observation = dict[str, NDArray[np.generic]]

#: ``position``, ``player``, after the end its reason in words, ``end``, and after an illegal action ``illegal``.
Info = dict[str, object]

#: ``position``: where a game begins.
Options = Mapping[str, PositionsLike]

#: Side from which an observation shows the board: its agent's, or the first player's.
View = Literal["agent", "first"]

RenderMode = Literal["ansi"] | None


class _Opponent:
    """Chooses moves by a policy as `yomikiri.evaluate` takes it."""

    def __init__(self, policy, game, table, layout):
        self._arguments = policy, game, table, layout
        is_named = isinstance(getattr(policy, "policy", policy), (str, os.PathLike))
        self.given = _given([policy], [None], {} if is_named else {"layout": layout}, game)
        if isinstance(asked := self.given[0][1], _Asked):
            asked.size = 1  # an opponent is asked about one position at a time
        tables = table._core.tables if table else os.environ.get("YOMIKIRI_TABLES", "tables")
        self.asked = _core.Asked(game._core, self.given[0], table._core if table else None, tables)

    def __reduce__(self):
        return _Opponent, self._arguments

    def choose(self, position: Position, random):
        with _evaluating(self.given):
            chances = self.asked.answer(position._core)[0][0]
        return int(random.choice(len(chances), p=chances / chances.sum()))


def _of(game_or_table):
    if isinstance(game_or_table, Table):
        return game_or_table.game, game_or_table
    if isinstance(game_or_table, (str, Game)):
        return (game_or_table if isinstance(game_or_table, Game) else _game(game_or_table)), None
    table = open_or_solve(game_or_table)
    return table.game, table


class _Environment:
    """A game that is played, its views and its end: what both environments share."""

    def __init__(self, game: Game, layout: str, view: View, max_plies: int, render_mode: str | None):
        if view not in ("agent", "first"):
            raise ValueError(f"invalid view {view!r}: expected agent or first")
        if render_mode not in (None, "ansi"):
            raise ValueError(f"invalid render_mode {render_mode!r}: expected 'ansi' or None")
        if view == "first" and game._core.listing is not None:
            raise ValueError(f"invalid view 'first': planes of {game.name} are those of the player to move")
        game.start._core.encode_for(layout, 1 - game.start.side)  # fails at once where the player who waits has no view
        self.game, self.layout, self.view = game, layout, view
        self.max_plies, self.render_mode = max_plies, render_mode
        self._begin(None)

    def _begin(self, options: Options | None) -> None:
        given = (options or {}).get("position")
        played = played_game(self.game.start if given is None else self.game.positions(given)[0])
        if played.end is not None:
            raise ValueError(f"invalid position '{played.position.notation}': the game is over ({played.end})")
        self.played, self._outcomes = played, played.outcomes
        #: The part of ``info`` that describes the end; empty while the game goes on.
        self._end: Info = {}

    def _play(self, action: int | np.integer | None) -> None:
        """Plays an action; an illegal one loses the game."""
        if action is not None and int(action) in self.position.legal:
            self.played = self.played.play(int(action))
            while self.game._core.adds_passes and self.played.end is None and list(self.position.moves) == ["pass"]:
                self.played = self.played.play(self.position.legal[0])  # no move of the game: the same player goes on
            self._outcomes = self.played.outcomes
            self._end = {} if self.played.end is None else {"end": self.played.end}
        else:
            self._outcomes = (-1, 1) if self.position.side == 0 else (1, -1)
            self._end = {"end": f"illegal action {action} by {self.position.mover}", "illegal": True}

    def _spaces(self) -> tuple[spaces.Dict, spaces.Discrete]:
        least, most = -1.0 if self.layout == "signed" else 0.0, 1.0 if self.game._core.has_bitboards else 255.0
        if self.game._core.listing is not None:
            least, most = -np.inf, np.inf
        board = spaces.Box(least, most, self.position._core.encode(self.layout, None)[0].shape, np.float32)
        mask = spaces.Box(0, 1, (self.game.actions,), np.int8)
        return spaces.Dict({"observation": board, "action_mask": mask}), spaces.Discrete(self.game.actions)

    def _observation(self, side: int) -> Observation:
        mask = self.action_masks() & (side == self.position.side)
        seen = self.position._core.encode_for(self.layout, side if self.view == "agent" else 0)[0]
        return {"observation": seen, "action_mask": mask.astype(np.int8)}

    @property
    def position(self) -> Position:
        """The current position."""
        return self.played.position

    @property
    def plies(self) -> int:
        """Number of actions since `reset`."""
        return self.played.plies

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions of the player to move, none after the end: ``bool``, ``(actions,)``. MaskablePPO of
        sb3-contrib calls it."""
        mask: NDArray[np.bool_] = self.position._core.legal()[0] & (not self._end)
        return mask

    def render(self) -> str | None:
        """Returns the board as text with ``render_mode="ansi"``, else ``None``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs render_mode: ym.env(..., render_mode=\"ansi\")")
            return None
        board = self.position._core.diagrams()[0].rstrip("\n")
        return f"{board}\n{self._end.get('end', f'{self.position.mover} to move')}"


class SinglePlayer(_Environment, gymnasium.Env[Observation, np.int64]):
    """One player against a policy (Gymnasium).

    ``opponent`` is the name of a policy (``perfect`` solves the game or opens its table) or a callable with
    the arguments and return values of `yomikiri.evaluate`, by ``layout``, or a `yomikiri.policy`. ``side`` is 0, 1 or
    ``None``: drawn for each game. An observation has ``observation`` (``float32``, by ``layout``, as the player sees the
    board, or with ``view="first"`` as the first player does) and ``action_mask`` (``int8``, ``(actions,)``, zero after
    the end); of a game of one's own, planes are always those of the player to move. Actions are numbered as the player to move sees the board. Games end by the rules, repetition included,
    with ``info["end"]``. The reward at the end is the player's outcome (1, 0, -1), or with ``reward="score"`` the
    final score. An illegal action loses, with ``info["illegal"]``. Games are truncated at the player's first turn after
    ``max_plies`` plies. `copy.deepcopy` of an environment continues from the same position and shares the opponent.

    ``gymnasium.make`` takes the same options and knows the games by id: ``yomikiri/Othello4x4-v0`` and the other boards,
    ``yomikiri/AnimalShogi-v0``, ``yomikiri/AnimalShogi3x3-v0``, ``yomikiri/Minishogi-v0``."""

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        game_or_table: str | Game | Table = "othello-4x4",
        *,
        opponent: Policy = "random",
        side: Literal[0, 1] | None = 0,
        layout: str = "nchw",
        view: View = "agent",
        reward: Literal["outcome", "score"] = "outcome",
        max_plies: int = 512,
        render_mode: RenderMode = None,
    ):
        game, table = _of(game_or_table)
        super().__init__(game, layout, view, max_plies, render_mode)
        if opponent == "perfect" and table is None:
            table = solve(game)
        if reward not in ("outcome", "score") or reward == "score" and not game.has_scores:
            raise ValueError(f"invalid reward {reward!r}: expected outcome, or score in games with scores")
        if side not in (0, 1, None):
            raise ValueError(f"invalid side {side!r}: expected 0, 1 or None")
        self.opponent = _Opponent(opponent, game, table, layout)
        self.side, self.reward, self.player = side, reward, 0
        # What `gymnasium.make` would set.
        ids = {game: name for name, game in GAMES.items()}
        self.spec = gymnasium.envs.registration.EnvSpec(
            ids.get(game.name, f"yomikiri/{game.name}-v0"), entry_point="yomikiri.envs:SinglePlayer",
            kwargs={"game_or_table": game_or_table, "opponent": opponent, "side": side, "layout": layout, "view": view,
                    "reward": reward, "max_plies": max_plies, "render_mode": render_mode})
        self.observation_space, self.action_space = self._spaces()  # type: ignore[assignment]
        #: ``False`` before `reset` and after the end of a game.
        self._is_running = False

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> tuple[Observation, Info]:
        """Starts a game, at ``options["position"]`` if given. Returns observation and info. The opponent's first
        move is chosen again, at most 100 times, if it ends the game. Raises `ValueError` if all do, and if the game is over."""
        self._begin(options)
        super().reset(seed=seed)
        self._is_running = False
        self.player = int(self.np_random.integers(2)) if self.side is None else self.side
        start = self.position.notation
        self._reply()
        for _ in range(100):
            if self._end:
                self._begin(options)
                self._reply()
        if self._end:
            raise ValueError(f"invalid position '{start}' for player {self.player}: the opponent's first move ends the game "
                             f"({self._end['end']})")
        self._is_running = True
        return self._observation(self.player), self._info()

    def step(self, action: int | np.integer) -> tuple[Observation, float, bool, bool, Info]:
        """Plays an action and the opponent's reply. Returns observation, reward, terminated, truncated and
        info."""
        if not self._is_running:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no game is running")
        self._play(action)
        self._reply()
        is_over, is_cut = bool(self._end), not self._end and self.plies >= self.max_plies
        self._is_running = not (is_over or is_cut)
        return self._observation(self.player), self._reward(), is_over, is_cut, self._info()

    def __deepcopy__(self, memo: dict[int, object]) -> SinglePlayer:
        new = memo[id(self)] = type(self).__new__(type(self))
        for name, value in vars(self).items():
            # Copies are for search: they share the policy, which may be a large network.
            new.__dict__[name] = value if name in ("opponent", "spec", "_cached_spec") else copy.deepcopy(value, memo)
        return new

    def _reply(self):
        if not self._end and self.position.side != self.player:
            self._play(self.opponent.choose(self.position, self.np_random))

    def _reward(self):
        if self.reward == "outcome":
            return float(self._outcomes[self.player])
        score = -self.game._core.max_score if "illegal" in self._end else self.position.score or 0
        return float(score if self.position.side == self.player else -score)

    def _info(self):
        return {"position": self.position.notation, "player": self.player, **self._end}


def __getattr__(name: str) -> type[TwoPlayers]:
    if name != "TwoPlayers":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._pettingzoo import TwoPlayers

    return TwoPlayers
