"""A policy that `solver report` asks: it takes the most discs, as the built-in `greedy` does.

    solver report --policy greedy --policy "exec:python3 examples/policy.py"

The protocol is in docs/policy-protocol.md. Whatever is printed must be an answer, so remarks belong
on stderr.
"""

import json
import sys


def discs_turned(board, rows, columns, action):
    """How many of the opponent's discs a move turns."""
    turned = 0
    for down, right in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]:
        row, column, line = action // columns + down, action % columns + right, 0
        while 0 <= row < rows and 0 <= column < columns and board[row * columns + column] == -1:
            row, column, line = row + down, column + right, line + 1
        if 0 <= row < rows and 0 <= column < columns and board[row * columns + column] == 1:
            turned += line
    return turned


hello = json.loads(sys.stdin.readline())
print(json.dumps({"id": hello["id"]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    scores = [
        # One legal move leaves no choice; it may be a pass.
        [discs_turned(p["board"], hello["rows"], hello["columns"], a) for a in p["legal"]]
        if len(p["legal"]) > 1 else [0]
        for p in request["positions"]
    ]
    print(json.dumps({"id": request["id"], "scores": scores}), flush=True)
