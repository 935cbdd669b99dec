"""The environment of both players, `yomikiri.envs.TwoPlayers`."""

from __future__ import annotations

import numpy as np

from ._optional import needs

needs("pettingzoo", "yomikiri.envs.TwoPlayers")
import gymnasium
from gymnasium import spaces
from pettingzoo import AECEnv

from ._games import Game
from ._tables import Table
from .envs import Info, Observation, Options, RenderMode, View, _Environment, _of


class TwoPlayers(_Environment, AECEnv):
    """Both players in turn (PettingZoo's AEC interface). The agents are ``player_0``, who begins, and
    ``player_1``. Options, observations, ends, rewards and illegal actions are as in `SinglePlayer`."""

    metadata = {"render_modes": ["ansi"], "name": "yomikiri_v0", "is_parallelizable": False}

    def __init__(
        self,
        game_or_table: str | Game | Table = "othello-4x4",
        *,
        layout: str = "nchw",
        view: View = "agent",
        max_plies: int = 512,
        render_mode: RenderMode = None,
    ):
        super().__init__(_of(game_or_table)[0], layout, view, max_plies, render_mode)
        self.agents: list[str] = []
        self.possible_agents = ["player_0", "player_1"]
        self.observation_spaces = {agent: self._spaces()[0] for agent in self.possible_agents}
        self.action_spaces = {agent: self._spaces()[1] for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the observation space, equal for both agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Returns the action space, equal for both agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Options | None = None) -> None:
        """Starts a game, at ``options["position"]`` if given. Raises `ValueError` if the game is over there."""
        self._begin(options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Info] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self.position.side]

    def observe(self, agent: str) -> Observation:
        """Returns the board as the agent sees it, and its legal actions: none if it is not to move."""
        return self._observation(self.possible_agents.index(agent))

    def step(self, action: int | np.integer | None) -> None:
        """Plays an action of the player to move."""
        if not self.agents:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no game is running")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._play(action)
        self.rewards = dict(zip(self.agents, self._outcomes))
        if self._end:
            self.terminations = dict.fromkeys(self.agents, True)
            self.infos = {name: {"end": self._end["end"]} for name in self.agents}
            self.infos[agent] = self._end
        elif self.plies >= self.max_plies:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self.position.side]
        self._accumulate_rewards()

    def close(self) -> None:
        """Does nothing: no resources are held."""
