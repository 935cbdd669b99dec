"""The environment of both players, `yomikiri.envs.TwoPlayers`."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._optional import needs

needs("pettingzoo", "yomikiri.envs.TwoPlayers")
import gymnasium
from gymnasium import spaces
from pettingzoo import AECEnv

from ._games import Game
from ._tables import Table
from .envs import Info, Observation, Options, _check_render_mode, _observed, _of, _rendered, _spaces


class TwoPlayers(AECEnv):
    """Both players in turn (PettingZoo's AEC interface). The agents are ``player_0``, who begins, and
    ``player_1``. Observations, rewards and illegal actions are as in `SinglePlayer`."""

    metadata = {"render_modes": ["ansi"], "name": "yomikiri_v0", "is_parallelizable": False}

    def __init__(
        self,
        game_or_table: str | Game | Table = "othello-4x4",
        *,
        layout: str = "nchw",
        max_plies: int = 512,
        render_mode: Literal["ansi"] | None = None,
    ):
        super().__init__()
        self.game, _ = _of(game_or_table)
        _check_render_mode(render_mode)
        self.layout, self.max_plies, self.render_mode = layout, max_plies, render_mode
        self.agents: list[str] = []
        self.position = self.game.start
        self.possible_agents = ["player_0", "player_1"]
        space = _spaces(self.game, layout)
        self.observation_spaces = {agent: space for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the observation space, equal for both agents."""
        space: spaces.Dict = self.observation_spaces[agent]
        return space

    def action_space(self, agent: str) -> spaces.Discrete:
        """Returns the action space, equal for both agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Options | None = None) -> None:
        """Starts a game, at ``options["position"]`` if given."""
        begin = (options or {}).get("position")
        self.position = self.game.start if begin is None else self.game.positions(begin)[0]
        self.plies = 0
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Info] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self.position.side]

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions of the player to move, ``bool`` of shape ``(actions,)``."""
        mask: NDArray[np.bool_] = self.position._core.legal()[0]
        return mask

    def observe(self, agent: str) -> Observation:
        """Returns the board as the player to move sees it; the other agent has no legal action."""
        seen = _observed(self.position, self.layout)
        if self.possible_agents.index(agent) != self.position.side:
            seen["action_mask"] = np.zeros_like(seen["action_mask"])
        return seen

    def step(self, action: int | np.integer | None) -> None:
        """Plays an action of the player to move."""
        if not self.agents:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no game is running")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        if action is None or int(action) not in self.position.legal:
            self._end([-1, 1] if agent == "player_0" else [1, -1])
            self.infos[agent]["illegal"] = True
        else:
            self.position = self.position.play(int(action))
            self.plies += 1
            if self.position.over:
                mine = self.position.outcome
                self._end([mine, -mine] if self.position.side == 0 else [-mine, mine])
            elif self.plies >= self.max_plies:
                self.truncations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.possible_agents[self.position.side]
        self._accumulate_rewards()

    def _end(self, rewards):
        self.rewards = dict(zip(self.agents, rewards))
        self.terminations = dict.fromkeys(self.agents, True)

    def render(self) -> str | None:
        """Returns the board as text with ``render_mode="ansi"``, else ``None``."""
        return _rendered(self)

    def close(self) -> None:
        """Does nothing: no resources are held."""
