"""Measures a network alone and with a tree search of one's own in front of it, on 4×4 Othello.

    python examples/recipes/own_mcts.py --simulations 50 --positions 300

Replace `Network` by yours: it takes planes and returns logits and values. The search is PUCT (Silver et al. 2017), written
for one position at a time; the network is asked about one leaf of every position at once.
"""

import argparse
import math

import numpy as np

import yomikiri as ym


class Network:
    """A linear network with a policy and a value, trained on exact values in a few seconds."""

    def __init__(self, table, epochs=3, rate=0.02):
        self.policy, self.value = np.zeros((33, 17), np.float32), np.zeros((33, 1), np.float32)
        for epoch in range(epochs):
            for batch in table.states("train", columns=["planes", "policy", "outcome"], batch=256, images="all", shuffle=epoch):
                x = self.flat(batch.planes)
                logits, values = x @ self.policy, np.tanh(x @ self.value)
                p = np.exp(logits - logits.max(axis=1, keepdims=True))
                self.policy += rate * x.T @ (batch.policy - p / p.sum(axis=1, keepdims=True)) / 16
                error = (batch.outcome[:, None] - values) * (1 - values**2)
                self.value += rate * x.T @ error / 16

    def flat(self, planes):
        x = planes.reshape(len(planes), -1)
        return np.concatenate([x, np.ones((len(x), 1), np.float32)], axis=1)

    def __call__(self, planes):
        x = self.flat(planes)
        return x @ self.policy, np.tanh(x @ self.value)[:, 0]


class Node:
    """A position of the tree. `total` is the sum of values for the player who moved here."""

    def __init__(self, position, prior=1.0):
        self.position, self.prior = position, prior
        self.visits, self.total, self.children = 0, 0.0, {}

    def best(self, exploration=1.5):
        scale = exploration * math.sqrt(self.visits)
        return max(
            self.children.values(),
            key=lambda child: (child.total / child.visits if child.visits else 0.0) + scale * child.prior / (1 + child.visits),
        )

    def expand(self, logits):
        moves = list(self.position.moves.values())
        weights = np.exp(logits[moves] - logits[moves].max())
        for move, prior in zip(moves, weights / weights.sum()):
            self.children[move] = Node(self.position.play(move), prior)


def searched(network, simulations):
    """Returns a policy that plays by the visits of a tree search with the network."""

    def policy(positions):
        roots = [Node(position) for position in positions]
        for _ in range(simulations):
            paths = []
            for root in roots:
                path = [root]
                while path[-1].children:
                    path.append(path[-1].best())
                paths.append(path)
            leaves = [path[-1].position for path in paths]
            logits, values = network(np.stack([leaf.planes() for leaf in leaves]))
            for path, leaf, row, value in zip(paths, leaves, logits, values):
                if leaf.over:
                    value = leaf.outcome  # of the player to move
                elif not path[-1].children:
                    path[-1].expand(row)
                for node in reversed(path):
                    value = -value
                    node.visits, node.total = node.visits + 1, node.total + value
        visits = np.zeros((len(roots), 17))
        for row, root in zip(visits, roots):
            for move, child in root.children.items():
                row[move] = child.visits + 1e-3 * child.prior
        return {"probabilities": visits / visits.sum(axis=1, keepdims=True)}

    return policy


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--positions", type=int, default=300)
    args = parser.parse_args()
    table = ym.open_or_solve("othello-4x4", progress=False)
    network = Network(table)
    report = ym.evaluate(
        table, ym.policy(network, "alone"),
        ym.policy(searched(network, args.simulations), "with search", layout="positions", move="best"),
        sample=args.positions, empty_squares=(2, 10), progress=False,
    )
    print(report)
    return report


if __name__ == "__main__":
    main()
