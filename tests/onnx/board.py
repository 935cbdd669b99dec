"""Plain 4x4 Othello and policy outputs, written independently of the solver.

A position is a pair of lists of 16 numbers, 0 or 1, row by row from a1: the mover's discs and the
opponent's. Actions are squares, and 16 is the pass.
"""

import numpy as np

SIDE = 4
PASS = SIDE * SIDE
AROUND = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


def from_key(key):
    """Returns a table key's position: the mover's squares above the opponent's, bit 4 * row + column."""
    key = int(key)
    bits = lambda word: [word >> i & 1 for i in range(PASS)]
    return bits(key >> PASS), bits(key & (1 << PASS) - 1)


def to_key(position):
    word = lambda discs: sum(disc << i for i, disc in enumerate(discs))
    return word(position[0]) << PASS | word(position[1])


def start():
    # Black is to move and holds c2 and b3.
    mover, opponent = [0] * PASS, [0] * PASS
    mover[6] = mover[9] = opponent[5] = opponent[10] = 1
    return mover, opponent


def flips(position, square):
    mover, opponent = position
    if mover[square] or opponent[square]:
        return []
    found = []
    for down, right in AROUND:
        row, column, line = square // SIDE + down, square % SIDE + right, []
        while 0 <= row < SIDE and 0 <= column < SIDE and opponent[row * SIDE + column]:
            line.append(row * SIDE + column)
            row, column = row + down, column + right
        if line and 0 <= row < SIDE and 0 <= column < SIDE and mover[row * SIDE + column]:
            found += line
    return found


def placements(position):
    return [square for square in range(PASS) if flips(position, square)]


def legal(position):
    """Returns the legal actions; none if the game is over."""
    found = placements(position)
    if not found and placements((position[1], position[0])):
        return [PASS]
    return found


def play(position, action):
    mover, opponent = list(position[0]), list(position[1])
    if action != PASS:
        for square in flips(position, action) + [action]:
            mover[square], opponent[square] = 1, 0
    return opponent, mover


def result(position):
    """Returns the outcome of a finished game for the mover: 1, 0 or -1."""
    return int(np.sign(sum(position[0]) - sum(position[1])))


def masked(row, actions, logits):
    """Returns the probabilities of the legal actions from a row of outputs."""
    row = np.array([row[a] if a < len(row) else (-np.inf if logits else 0) for a in actions], float)
    if len(actions) == 1:
        return [1.0]
    mass = np.exp(row - row.max()) if logits else row
    return list(mass / mass.sum()) if mass.sum() > 0 else [1 / len(actions)] * len(actions)


def best(scores):
    top = [score == max(scores) for score in scores]
    return [1 / sum(top) if is_top else 0.0 for is_top in top]


def planes(position):
    """Returns the mover's and the opponent's discs as an array of shape (2, 4, 4)."""
    return np.array(position, np.float32).reshape(2, SIDE, SIDE)
