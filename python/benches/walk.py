"""Times the walk of a game's class against a bare loop that does the same, on 4×4 Connect Four.

    python python/benches/walk.py

The states of both must be equal; the ratio is of processor time, the best of three runs each in turn.
"""

import time
import tracemalloc

from yomikiri._walk import GOES_ON, walk

WIDTH = HEIGHT = 4


class MyConnectFour:
    """States are boards as texts, column by column from the left, each from the bottom."""

    lines = [
        tuple((x + k * dx) * HEIGHT + y + k * dy for k in range(4))
        for x in range(WIDTH) for y in range(HEIGHT) for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
        if x + 3 * dx < WIDTH and 0 <= y + 3 * dy < HEIGHT
    ]

    def start(self):
        return "." * WIDTH * HEIGHT

    def moves(self, state):
        return [x for x in range(WIDTH) if state[x * HEIGHT + HEIGHT - 1] == "."]

    def play(self, state, move):
        at = state.index(".", move * HEIGHT)
        return state[:at] + "XO"[state.count(".") % 2] + state[at + 1:]

    def result(self, state):
        if any(state[a] == state[b] == state[c] == state[d] != "." for a, b, c, d in self.lines):
            return -1
        return None if "." in state else 0


def bare(game):
    """Returns the same arrays by a loop without checks."""
    start = game.start()
    numbers, states = {start: 0}, [start]
    pointers, actions, successors, results = [0], [], [], []
    for state in states:
        result = game.result(state)
        results.append(GOES_ON if result is None else result)
        if result is None:
            for move in game.moves(state):
                after = game.play(state, move)
                number = numbers.setdefault(after, len(states))
                if number == len(states):
                    states.append(after)
                actions.append(move)
                successors.append(number)
        pointers.append(len(actions))
    return {"states": states, "row_pointers": pointers, "actions": actions, "successors": successors, "results": results}


def timed(work):
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def peak(work):
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main():
    game = MyConnectFour()
    ours, theirs = [], []
    for _ in range(3):
        seconds, (walked, states) = timed(lambda: walk(game, None, False))
        ours.append(seconds)
        seconds, plain = timed(lambda: bare(game))
        theirs.append(seconds)
    assert states == plain["states"]
    for name, array in plain.items():
        assert list(walked[name]) == list(array), name
    count = len(plain["states"])
    assert count == 161_029
    more = (peak(lambda: walk(game, None, False)) - peak(lambda: bare(game))) / count
    print(f"{count:,} states: {min(ours):.2f} s, bare loop {min(theirs):.2f} s, ratio {min(ours) / min(theirs):.2f}")
    print(f"{more:.0f} bytes a state more at the peak")


if __name__ == "__main__":
    main()
