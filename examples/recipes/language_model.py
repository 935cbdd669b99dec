"""Measures a language model, or any program that answers a question in words, on 4×4 Othello.

    python examples/recipes/language_model.py 'ollama run llama3' --positions 50

The command gets a question on standard input. The first legal move in its answer counts; an answer without one counts as
a move drawn at random, and the script says how many there were: a model that does not know the rules is another thing
than one that plays badly.
"""

import argparse
import re
import shlex
import subprocess

import numpy as np

import yomikiri as ym

QUESTION = """You play Othello on a board of {rows} by {columns}. Columns are letters from the left, rows numbers from the top.
X is Black, O is White, a dot is an empty square.

{board}

Which move do you play? Answer with one of: {moves}."""


class Asked:
    """A policy that asks a program about one position after the other, and keeps its answers: a report asks about some
    positions twice, to see whether an answer depends on its batch."""

    def __init__(self, command):
        self.command, self.replies, self.without_move = shlex.split(command), {}, 0

    def reply(self, question):
        """Returns the answer, and whether it is new."""
        is_new = question not in self.replies
        if is_new:
            said = subprocess.run(self.command, input=question, capture_output=True, text=True, check=True, timeout=120)
            self.replies[question] = said.stdout
        return self.replies[question], is_new

    def __call__(self, positions):
        answers = np.zeros((len(positions), 17))
        for row, position in zip(answers, positions):
            moves = position.moves
            if len(moves) == 1:
                row[list(moves.values())] = 1
                continue
            question = QUESTION.format(rows=4, columns=4, board=position, moves=", ".join(moves))
            reply, is_new = self.reply(question)
            named = [moves[word] for word in re.findall(r"[a-z]\d", reply.lower()) if word in moves]
            self.without_move += is_new and not named
            row[named[:1] or list(moves.values())] = 1
        return {"probabilities": answers / answers.sum(axis=1, keepdims=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("--positions", type=int, default=50)
    args = parser.parse_args()
    model = Asked(args.command)
    report = ym.evaluate(
        "othello-4x4", ym.policy(model, args.command, layout="positions"), "random",
        sample=args.positions, empty_squares=(2, 10), progress=False,
    )
    print(report)
    print(f"{model.without_move} of {len(model.replies)} answers named no legal move and count as random moves")


if __name__ == "__main__":
    main()
