"""Games as OpenSpiel plays them, and OpenSpiel's policies and bots as policies.

    game = ym.openspiel.game("othello-4x4")
    bot = mcts.MCTSBot(game, 2, 100, mcts.RandomRolloutEvaluator())
    ym.evaluate("othello-4x4", ym.openspiel.policy(bot))
    exploitability.nash_conv(game, policy.UniformRandomPolicy(game))
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._optional import needs

needs("pyspiel", "yomikiri.openspiel", install="open_spiel")
import pyspiel

from ._games import Game, Position, Positions, game as _game, played_game


class State(pyspiel.State):
    """A state of `SpielGame`: a game that began in a position."""

    def __init__(self, game: SpielGame, start: Position):
        super().__init__(game)
        self.played = played_game(start)

    @property
    def position(self) -> Position:
        """The current position."""
        return self.played.position

    def current_player(self) -> int:
        """Returns the side to move, or ``pyspiel.PlayerId.TERMINAL``."""
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.position.side

    def _legal_actions(self, player):
        return self.position.legal if player == self.current_player() else []

    def _apply_action(self, action):
        self.played = self.played.play(int(action))

    def _action_to_string(self, player, action):
        return self.position.game.action_name(int(action), player)

    def is_terminal(self) -> bool:
        """Returns ``True`` if the game is over, by its position or by repetition."""
        return self.played.end is not None

    def returns(self) -> list[float]:
        """Returns the outcome for both players."""
        return [float(outcome) for outcome in self.played.outcomes]

    def information_state_string(self, player: int | None = None) -> str:
        """Returns the position in one line."""
        return self.position.notation

    observation_string = __str__ = information_state_string


class Observer:
    """Reads what a player sees of a state: the planes of `yomikiri.Positions.planes`, flat, and the position in one line."""

    def __init__(self, rules: Game):
        (rows, columns), planes = rules.shape, len(rules.planes)
        #: The planes in one row: ``float32``, ``(planes · rows · columns,)``.
        self.tensor = np.zeros(planes * rows * columns, np.float32)
        #: The same as ``observation``, ``(planes, rows, columns)``.
        self.dict = {"observation": self.tensor.reshape(planes, rows, columns)}

    def set_from(self, state: State, player: int) -> None:
        """Writes what a player sees, also while the other one is to move."""
        self.tensor[:] = state.position._core.encode_for("nchw", player).ravel()

    def string_from(self, state: State, player: int) -> str:
        """Returns the position in one line."""
        return state.position.notation


class SpielGame(pyspiel.Game):
    """A game of yomikiri with the interface of OpenSpiel's games. Created by `game`."""

    def __init__(self, rules: Game, max_plies: int):
        self.rules = rules
        kind = pyspiel.GameType
        super().__init__(
            kind(
                short_name="yomikiri_" + rules.name.replace("-", "_"),
                long_name=rules.name,
                dynamics=kind.Dynamics.SEQUENTIAL,
                chance_mode=kind.ChanceMode.DETERMINISTIC,
                information=kind.Information.PERFECT_INFORMATION,
                utility=kind.Utility.ZERO_SUM,
                reward_model=kind.RewardModel.TERMINAL,
                max_num_players=2,
                min_num_players=2,
                provides_information_state_string=True,
                provides_information_state_tensor=False,
                provides_observation_string=True,
                provides_observation_tensor=bool(rules.planes),
                parameter_specification={},
            ),
            pyspiel.GameInfo(
                num_distinct_actions=rules.actions,
                max_chance_outcomes=0,
                num_players=2,
                min_utility=-1.0,
                max_utility=1.0,
                utility_sum=0.0,
                max_game_length=max_plies,
            ),
            {},
        )

    def new_initial_state(self, params: object = None) -> State:
        """Returns the state of the start position."""
        return State(self, self.rules.start)

    def make_py_observer(self, iig_obs_type: object = None, params: object = None) -> Observer:
        """Returns the reader of observations."""
        return Observer(self.rules)

    def state(self, position: Position) -> State:
        """Returns the state of a game that begins in a position."""
        return State(self, position)


def game(name: str | Game = "othello-4x4", *, max_plies: int = 512) -> SpielGame:
    """Returns a game with the interface of OpenSpiel's, and registers it there, so that ``pyspiel.load_game`` and
    Shimmy find it by its short name. Games end by the rules; ``max_plies`` is the length that OpenSpiel expects."""
    rules = name if isinstance(name, Game) else _game(name)

    # A class, as in OpenSpiel's own games: a function would be freed after the interpreter's end, which crashes.
    class Registered(SpielGame):
        def __init__(self, _: object = None):
            super().__init__(rules, max_plies)

    made = Registered()
    pyspiel.register_game(made.get_type(), Registered)
    return made


def _spiel_states(positions: Positions) -> list[pyspiel.State]:
    """Returns the states of OpenSpiel for positions of a game that was solved there."""
    from ._spiel import Root

    return Root(positions.game.title).states(positions._core)


class policy:
    """A policy (with ``action_probabilities``) or bot (with ``step``) of OpenSpiel, made for a game of `game`,
    as a policy for `yomikiri.evaluate`; or for a game of OpenSpiel that `yomikiri.solve` solved. It is asked position by
    position, each at the end of one history: what depends on the past, such as a `TabularPolicy` by information states, is
    measured as it plays there."""

    _yomikiri_layout = "positions"

    def __init__(self, of: object):
        if not hasattr(of, "step") and not hasattr(of, "action_probabilities"):
            raise TypeError(f"invalid policy of type {type(of).__name__}: expected a policy or a bot of OpenSpiel")
        self.of = of
        self.game: SpielGame | None = None
        self.__name__ = type(of).__name__

    def __call__(self, positions: Positions) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
        rules = positions.game
        if rules._core.listing is not None:
            return self._answer(_spiel_states(positions), rules)
        if self.game is None or self.game.rules != rules:
            self.game = game(rules)
        return self._answer([self.game.state(position) for position in positions], rules)

    def _answer(self, states: list[pyspiel.State], rules: Game) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
        if hasattr(self.of, "action_probabilities"):
            chances = np.zeros((len(states), rules.actions))
            for row, state in enumerate(states):
                for action, chance in self.of.action_probabilities(state).items():
                    if not 0 <= action < rules.actions:
                        raise ValueError(f"{self.__name__} answered action {action}: expected 0 to {rules.actions - 1}")
                    chances[row, action] = chance
            return {"probabilities": chances}
        assert hasattr(self.of, "step")
        return {"actions": np.array([self.of.step(state) for state in states], np.int64)}
