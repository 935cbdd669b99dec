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
from ._games import Game, Position
from ._games import game as _game
from ._measure import _Asked, _evaluating, _given
from ._tables import Table, solve
from ._types import Policy, PositionsLike

if TYPE_CHECKING:
    from ._pettingzoo import TwoPlayers as TwoPlayers

#: ``observation`` and ``action_mask``.
Observation = dict[str, NDArray[np.generic]]

#: ``position``, ``player`` and, after an illegal action, ``illegal``.
Info = dict[str, object]

#: ``position``: where a game begins.
Options = Mapping[str, PositionsLike]


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
    return (game_or_table if isinstance(game_or_table, Game) else _game(game_or_table)), None


def _spaces(game: Game, layout: str) -> spaces.Dict:
    planes = game.start.planes(layout)
    most = 1.0 if len(game.planes) == 2 else 255.0
    least = -1.0 if layout == "signed" else 0.0
    return spaces.Dict({
        "observation": spaces.Box(least, most, planes.shape, np.float32),
        "action_mask": spaces.Box(0, 1, (game.actions,), np.int8),
    })


def _check_render_mode(mode):
    if mode not in (None, "ansi"):
        raise ValueError(f"invalid render_mode {mode!r}: expected 'ansi' or None")


def _rendered(env: SinglePlayer | TwoPlayers) -> str | None:
    if env.render_mode is None:
        gymnasium.logger.warn("render() needs render_mode: ym.env(..., render_mode=\"ansi\")")
        return None
    return str(env.position)


def _observed(position: Position, layout: str) -> Observation:
    mask = position._core.legal()[0].astype(np.int8)
    return {"observation": position.planes(layout), "action_mask": mask}


class SinglePlayer(gymnasium.Env[Observation, np.int64]):
    """One player against a policy (Gymnasium).

    ``opponent`` is the name of a policy (``perfect`` solves the game or opens its table) or a callable with
    the arguments and return values of `yomikiri.evaluate`, by ``layout``, or a `yomikiri.policy`. ``side`` is 0, 1 or
    ``None``: drawn for each game. An observation has ``observation`` (``float32``, by ``layout``, as the
    player to move sees the board) and ``action_mask`` (``int8``, ``(actions,)``). The reward at the end is
    the player's outcome (1, 0, -1), or with ``reward="score"`` the final score. An illegal action loses, with
    ``info["illegal"]``. Games are truncated after ``max_plies``. `copy.deepcopy` of an environment continues
    from the same position and shares the opponent.

    ``gymnasium.make`` knows the games by id: ``yomikiri/Othello4x4-v0`` and the other boards,
    ``yomikiri/AnimalShogi-v0``, ``yomikiri/AnimalShogi3x3-v0``, ``yomikiri/Minishogi-v0``; it takes the same
    options."""

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        game_or_table: str | Game | Table = "othello-4x4",
        *,
        opponent: Policy = "random",
        side: Literal[0, 1] | None = 0,
        layout: str = "nchw",
        reward: Literal["outcome", "score"] = "outcome",
        max_plies: int = 512,
        render_mode: Literal["ansi"] | None = None,
    ):
        self.game, table = _of(game_or_table)
        if opponent == "perfect" and table is None:
            table = solve(self.game)
        if reward not in ("outcome", "score") or reward == "score" and not self.game.has_scores:
            raise ValueError(f"invalid reward {reward!r}: expected outcome, or score in games with scores")
        if side not in (0, 1, None):
            raise ValueError(f"invalid side {side!r}: expected 0, 1 or None")
        _check_render_mode(render_mode)
        self.opponent = _Opponent(opponent, self.game, table, layout)
        self.side, self.layout = side, layout
        self.reward, self.max_plies, self.render_mode = reward, max_plies, render_mode
        # What `gymnasium.make` would set.
        ids = {game: name for name, game in GAMES.items()}
        self.spec = gymnasium.envs.registration.EnvSpec(
            ids.get(self.game.name, f"yomikiri/{self.game.name}-v0"), entry_point="yomikiri.envs:SinglePlayer",
            kwargs={"game_or_table": game_or_table, "opponent": opponent, "side": side, "layout": layout, "reward": reward,
                    "max_plies": max_plies, "render_mode": render_mode})
        self.observation_space = _spaces(self.game, layout)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(self.game.actions)
        self.position, self.player, self.plies = self.game.start, 0, 0
        #: ``False`` before `reset` and after the end of a game.
        self._is_running = False

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> tuple[Observation, Info]:
        """Starts a game, at ``options["position"]`` if given. Returns observation and info."""
        super().reset(seed=seed)
        begin = (options or {}).get("position")
        self.position = self.game.start if begin is None else self.game.positions(begin)[0]
        self.player = int(self.np_random.integers(2)) if self.side is None else self.side
        self.plies, self._is_running = 0, True
        self._reply()
        return _observed(self.position, self.layout), self._info()

    def step(self, action: int | np.integer) -> tuple[Observation, float, bool, bool, Info]:
        """Plays an action and the opponent's replies. Returns observation, reward, terminated, truncated and
        info."""
        if not self._is_running:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no game is running")
        action = int(action)
        if action not in self.position.legal:
            self._is_running = False
            lost = -1.0 if self.reward == "outcome" else -float(np.prod(self.game.shape))
            return _observed(self.position, self.layout), lost, True, False, {**self._info(), "illegal": True}
        self.position = self.position.play(action)
        self.plies += 1
        self._reply()
        over = self.position.over
        is_cut = self._is_cut() and not over
        self._is_running = not (over or is_cut)
        return _observed(self.position, self.layout), self._reward(), over, is_cut, self._info()

    def __deepcopy__(self, memo: dict[int, object]) -> SinglePlayer:
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        for name, value in vars(self).items():
            # Copies are for search: they share the policy, which may be a large network.
            new.__dict__[name] = value if name in ("opponent", "spec", "_cached_spec") else copy.deepcopy(value, memo)
        return new

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, ``bool`` of shape ``(actions,)``: for MaskablePPO of sb3-contrib."""
        mask: NDArray[np.bool_] = self.position._core.legal()[0]
        return mask

    def _is_cut(self):
        return self.plies >= self.max_plies

    def _reply(self):
        while not self.position.over and self.position.side != self.player and not self._is_cut():
            self.position = self.position.play(self.opponent.choose(self.position, self.np_random))
            self.plies += 1

    def _reward(self):
        if not self.position.over:
            return 0.0
        mine = self.position.outcome if self.reward == "outcome" else self.position.score
        return float(mine if self.position.side == self.player else -mine)

    def _info(self):
        return {"position": self.position.notation, "player": self.player}

    def render(self) -> str | None:
        """Returns the board as text with ``render_mode="ansi"``, else ``None``."""
        return _rendered(self)


def __getattr__(name: str) -> type[TwoPlayers]:
    if name != "TwoPlayers":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._pettingzoo import TwoPlayers

    return TwoPlayers
