"""Trains two networks for Connect Four in minutes, as libraries do it, and measures them exactly: OpenSpiel's DQN, and
maskable PPO (Stable-Baselines3) in PettingZoo's environment. Both learn from games against themselves.

    pip install torch onnxscript dm-tree open_spiel pettingzoo pygame sb3-contrib
    python examples/recipes/connect_four.py

Writes openspiel-dqn.onnx and pettingzoo-ppo.onnx, each with the layout of its library.
"""

import argparse
import io
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.dqn import DQN
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from torch import nn

import yomikiri as ym


class Pair(nn.Module):
    """The agents of both players as one network: as many X as O means that X is to move."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, planes):
        discs = planes[:, :2].sum(dim=(2, 3))
        flat = planes.flatten(1)
        return torch.where(discs[:, :1] == discs[:, 1:], self.first(flat), self.second(flat))


def openspiel_dqn(games):
    """Trains an agent a player, as OpenSpiel's examples do."""
    environment = rl_environment.Environment("connect_four")
    size = environment.observation_spec()["info_state"][0]
    agents = [
        DQN(player, size, 7, (256, 256), replay_buffer_capacity=20_000, learning_rate=3e-4, optimizer_str="adam",
            loss_str="huber", epsilon_decay_duration=games * 5, epsilon_end=0.05, update_target_network_every=500,
            weight_update_coeff=0.0, learn_every=8, seed=player)
        for player in range(2)
    ]
    for _ in range(games):
        step = environment.reset()
        while not step.last():
            step = environment.step([agents[step.observations["current_player"]].step(step).action])
        for agent in agents:
            agent.step(step)
    return Pair(*(agent._q_network for agent in agents)), (3, 6, 7)


class AgainstItself(gymnasium.Env):
    """PettingZoo's environment as one agent sees it; the opponent draws its moves from an earlier state of the policy."""

    def __init__(self, seed):
        self.games, self.random, self.opponent = connect_four_v3.env(), np.random.default_rng(seed), None
        self.observation_space = gymnasium.spaces.Box(0, 1, (6, 7, 2), np.float32)
        self.action_space = gymnasium.spaces.Discrete(7)

    def view(self):
        return self.games.observe(self.agent)["observation"].astype(np.float32)

    def action_masks(self):
        return self.games.observe(self.agent)["action_mask"].astype(bool)

    def let_opponent_move(self):
        while self.games.agents and self.games.agent_selection != self.agent:
            seen, _, end, _, _ = self.games.last()
            if end:
                break
            mask = seen["action_mask"].astype(bool)
            if self.opponent is None:
                move = self.random.choice(np.flatnonzero(mask))
            else:
                planes = torch.as_tensor(seen["observation"][None].astype(np.float32))
                move = self.opponent.get_distribution(planes, mask[None]).sample().item()
            self.games.step(int(move))

    def reset(self, *, seed=None, options=None):
        self.games.reset()
        self.agent = self.games.possible_agents[self.random.integers(2)]
        self.let_opponent_move()
        return self.view(), {}

    def step(self, action):
        self.games.step(int(action))
        self.let_opponent_move()
        over = self.games.terminations[self.agent]
        return self.view(), float(self.games.rewards[self.agent]) if over else 0.0, over, False, {}


class Logits(nn.Module):
    """The move's logits of a policy of Stable-Baselines3, without the mask, which the solver applies."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def forward(self, planes):
        hidden, _ = self.policy.mlp_extractor(planes.flatten(1))
        return self.policy.action_net(hidden)


def pettingzoo_ppo(steps):
    """Trains one network for both players against copies of itself, renewed after every tenth of the steps."""
    environment = AgainstItself(0)
    model = MaskablePPO("MlpPolicy", environment, n_steps=2048, batch_size=256, ent_coef=0.01, seed=0, device="cpu",
                        policy_kwargs={"net_arch": [256, 256]})
    for _ in range(10):
        model.learn(steps // 10, reset_num_timesteps=False)
        file = io.BytesIO()
        model.save(file)
        file.seek(0)
        environment.opponent = MaskablePPO.load(file, device="cpu").policy.eval()
    return Logits(model.policy), (6, 7, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--games", type=int, default=20_000, help="games of OpenSpiel's DQN")
    parser.add_argument("--steps", type=int, default=200_000, help="moves of PettingZoo's agent")
    parser.add_argument("--sample", type=int, default=2000, help="positions to measure on")
    parser.add_argument("--out", type=Path, default=Path("."))
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # small batches: more threads wait for each other
    args.out.mkdir(parents=True, exist_ok=True)
    policies = []
    for name, layout, train, amount in (("openspiel-dqn", "openspiel", openspiel_dqn, args.games),
                                        ("pettingzoo-ppo", "nhwc", pettingzoo_ppo, args.steps)):
        began = time.monotonic()
        network, shape = train(amount)
        print(f"{name}: {time.monotonic() - began:.0f} s")
        file = args.out / f"{name}.onnx"
        batch = torch.export.Dim("batch")
        torch.onnx.export(network.eval(), (torch.zeros(2, *shape),), file, input_names=["planes"], output_names=["logits"],
                          dynamic_shapes=({0: batch},), external_data=False, verbose=False)
        policies.append(f"onnx:{file}?layout={layout}&move=best")
    positions = ym.game("connect-four").sample(args.sample)
    print(ym.evaluate(positions, *policies, "random", "tactician", "alphabeta:4", "mcts:100"))


if __name__ == "__main__":
    main()
