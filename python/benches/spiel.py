"""Times the walk of OpenSpiel's games against a bare loop that distinguishes and observes the same states.

    python python/benches/spiel.py [GAME ...]

The states of both must be as many; the ratio is of processor time, the best of two runs each in turn.
"""

import sys
import time

import numpy as np
import pyspiel

from yomikiri import _spiel

GAMES = ["hex(board_size=3)", "mnk(m=4,n=3,k=3)", "dots_and_boxes(num_rows=2,num_cols=3,utility_margin=True)"]


def bare(game):
    """Returns the states and edges of a game by a loop without checks."""

    def key(state, before):
        player = state.current_player()
        return (str(state), player, tuple(state.legal_actions())) if player >= 0 else (str(state), 1 - before, ())

    start = game.new_initial_state()
    numbers, waiting, movers = {key(start, 1): 0}, [start], [0]
    edges, results, planes = [], [], []
    observes = game.get_type().provides_observation_tensor
    for number in range(10**9):
        if number == len(waiting):
            return len(waiting), len(edges)
        state, mover = waiting[number], movers[number]
        waiting[number] = None
        if observes:
            planes.append(np.array(state.observation_tensor(max(0, state.current_player())), np.float32))
        results.append(state.returns()[mover] if state.is_terminal() else None)
        for action in state.legal_actions():
            after = state.child(action)
            told = key(after, mover)
            found = numbers.get(told)
            if found is None:
                found = numbers[told] = len(waiting)
                waiting.append(after)
                movers.append(told[1])
            edges.append((action, found))


def timed(work):
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def main():
    for name in sys.argv[1:] or GAMES:
        root = _spiel.Root(name)
        ours, theirs = [], []
        for _ in range(2):
            seconds, (listing, _) = timed(lambda: _spiel.walk(root, None, None, False))
            ours.append(seconds)
            seconds, (states, edges) = timed(lambda: bare(root.game))
            theirs.append(seconds)
        assert (len(listing["results"]), len(listing["successors"])) == (states, edges), name
        print(f"{name}: {states:,} states, {min(ours):.2f} s, bare loop {min(theirs):.2f} s, ratio {min(ours) / min(theirs):.2f}")


if __name__ == "__main__":
    main()
