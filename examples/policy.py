"""External policy for `solver report`: turns the most discs, like the built-in `greedy`.

    solver report --policy greedy --policy "exec:python3 examples/policy.py"

See docs/your-policy.md for the protocol. Stdout is for answers only, so log to stderr.
"""

import json
import sys


def discs_turned(board, rows, columns, action):
    """Returns how many of the opponent's discs a move turns."""
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
        # A single legal move needs no score; it may be a pass.
        [discs_turned(p["board"], hello["rows"], hello["columns"], a) for a in p["legal"]]
        if len(p["legal"]) > 1 else [0]
        for p in request["positions"]
    ]
    print(json.dumps({"id": request["id"], "scores": scores}), flush=True)
