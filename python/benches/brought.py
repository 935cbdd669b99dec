"""Writes docs/games/brought.md: games of OpenSpiel, solved here.

    python python/benches/brought.py > docs/games/brought.md
"""

import time
import tempfile
import warnings

import yomikiri as ym

#: Strings, ordered by game; a dot before those that take more than some seconds.
GAMES = """
tic_tac_toe() python_tic_tac_toe() mnk(m=3,n=3,k=3) .mnk(m=4,n=3,k=3) connect_four(rows=3,columns=3,x_in_row=3)
.connect_four(rows=4,columns=4,x_in_row=3) .connect_four(rows=4,columns=4) nim(pile_sizes=1;3;5;7) nim(pile_sizes=2;2;2;2;2)
breakthrough(rows=4,columns=2) breakthrough(rows=5,columns=2) breakthrough(rows=3,columns=4) breakthrough(rows=4,columns=3)
clobber(rows=2,columns=3) clobber(rows=3,columns=3) clobber(rows=3,columns=4) hex(board_size=2) hex(board_size=3)
hex(num_rows=2,num_cols=4) .hex(num_rows=3,num_cols=4) y(board_size=3) .y(board_size=4) havannah(board_size=2)
havannah(board_size=2,swap=True) gomoku(size=3,connect=3) gomoku(size=3,connect=3,anti=True) gomoku(size=3,connect=3,wrap=True)
gomoku(size=2,connect=2,dims=3) dots_and_boxes(num_rows=1,num_cols=1) dots_and_boxes(num_rows=1,num_cols=2,utility_margin=True)
dots_and_boxes(num_rows=2,num_cols=2) dots_and_boxes(num_rows=2,num_cols=2,utility_margin=True)
.dots_and_boxes(num_rows=2,num_cols=3,utility_margin=True) quoridor(board_size=3,wall_count=0)
quoridor(board_size=3,wall_count=1) quoridor(board_size=3,wall_count=2) .quoridor(board_size=4,wall_count=1)
checkers(rows=8,columns=2) lines_of_action(max_game_length=2)
""".split()

HEAD = """\
# Games you can bring

For anyone who plays with OpenSpiel. Its small games are solved by their strings, and policies, bots and networks are
measured on them exactly ([Python](../python.md#games-of-openspiel)):

```sh
pip install ./python open_spiel
python -c "import yomikiri as ym; print(ym.evaluate('breakthrough(rows=4,columns=3)', 'random', 'minimax:2'))"
```

States are those that text, player to move and legal actions distinguish; at the end the player who would be next. The value is that of the start for the player
who begins: won, lost, drawn, or the final points. Seconds are those of walk and solution on one machine. *May repeat*: play
can visit a state again. Play without end is a draw here; OpenSpiel ends such a game after `max_game_length` moves. Written by `python python/benches/brought.py > docs/games/brought.md`; CI compares the small ones.

| game | states | value | may repeat | s |
|---|--:|---|---|--:|
"""

TAIL = """
Refused, because the past matters or the position is not all there is: `go`, `cursor_go`, `oware`, `add_noise`, the larger
boards of `checkers`; games with chance, hidden information, players who move at once, more than two players.
"""


def row(text, tables):
    """Returns the cells of a game but for the seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        table = ym.solve(text, tables=tables, progress=False)
    found = table.lookup("start")
    value = f"{found.score[0]:+d}" if table.has_scores else ("lost", "drawn", "won")[found.outcome[0] + 1]
    states = len(table.game._core.listed_rows(10**7))
    return f"`{text}`", f"{states:,}", value, "no" if table.game._core.is_layered else "yes"


def small():
    """Returns the strings of the small games."""
    return [text for text in GAMES if not text.startswith(".")]


def main():
    print(HEAD, end="")
    with tempfile.TemporaryDirectory() as tables:
        for text in GAMES:
            begun = time.perf_counter()
            cells = row(text.lstrip("."), tables)
            print("|", " | ".join([*cells, f"{time.perf_counter() - begun:.1f}"]), "|")
    print(TAIL, end="")


if __name__ == "__main__":
    main()
