"""Small engines of USI, UCI (animal shogi of any size) and GTP (Othello), with rules of their own, for tests.

    python3 engine.py usi|uci|gtp [MODE …]

They play the legal move whose name in USI (in GTP: of the square) comes first. Modes make them worse: silent, illegal,
resign, dying (at every tenth question), slow (at the third), strict (moves into check are illegal), added (chicks need
not promote), other (another variant), board (another board is printed), deaf (does not list moves).
"""

import sys
import time

STEPS = {
    "L": [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)],
    "C": [(-1, 0)],
    "E": [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    "G": [(-1, 0), (1, 0), (0, -1), (0, 1)],
    "+C": [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0)],
}


class Shogi:
    def __init__(self, sfen):
        board, side, hands = sfen.split()[:3]
        self.board = []
        for row in board.split("/"):
            cells, plus = [], ""
            for sign in row:
                if sign.isdigit():
                    cells += [""] * int(sign)
                elif sign == "+":
                    plus = "+"
                else:
                    cells.append(plus + sign)
                    plus = ""
            self.board.append(cells)
        self.is_black = side == "b"
        self.hands, count = {}, ""
        for sign in hands.replace("-", ""):
            if sign.isdigit():
                count += sign
            else:
                self.hands[sign], count = self.hands.get(sign, 0) + int(count or 1), ""
        self.rows, self.columns = len(self.board), len(self.board[0])

    def is_own(self, cell, black):
        return bool(cell) and cell[-1].isupper() == black

    def steps(self, black, board):
        forward = 1 if black else -1
        for row in range(self.rows):
            for column in range(self.columns):
                cell = board[row][column]
                if self.is_own(cell, black):
                    for down, right in STEPS[cell.upper()]:
                        r, c = row + forward * down, column + right
                        if 0 <= r < self.rows and 0 <= c < self.columns and not self.is_own(board[r][c], black):
                            yield row, column, r, c, cell.upper()

    def loses_lion(self, move):
        row, column, r, c = move
        board = [list(cells) for cells in self.board]
        board[r][c] = board[row][column] if row is not None else "C" if self.is_black else "c"
        if row is not None:
            board[row][column] = ""
        return any(board[r][c].upper() == "L" for *_, r, c, _ in self.steps(not self.is_black, board))

    def moves(self, modes):
        names = {}
        last = 0 if self.is_black else self.rows - 1
        for row, column, r, c, piece in self.steps(self.is_black, self.board):
            promotes = piece == "C" and r == last
            if "strict" in modes and self.loses_lion((row, column, r, c)):
                continue
            squares = (row, column), (r, c)
            names[self.usi(*squares[0]) + self.usi(*squares[1]) + "+" * promotes] = (
                self.uci(*squares[0]) + self.uci(*squares[1]) + "+" * promotes)
            if promotes and "added" in modes:
                names[self.usi(*squares[0]) + self.usi(*squares[1])] = self.uci(*squares[0]) + self.uci(*squares[1])
        for piece in self.hands:
            if piece.isupper() == self.is_black:
                for r in range(self.rows):
                    for c in range(self.columns):
                        if not self.board[r][c] and not ("strict" in modes and self.loses_lion((None, None, r, c))):
                            names[f"{piece.upper()}*{self.usi(r, c)}"] = f"{piece.upper()}@{self.uci(r, c)}"
        return names

    def usi(self, row, column):
        return f"{self.columns - column}{'abcdefghi'[row]}"

    def uci(self, row, column):
        return f"{'abcdefghi'[column]}{self.rows - row}"


def say(text):
    print(text, flush=True)


def usi(protocol, modes):
    position, questions = None, 0
    for line in sys.stdin:
        line = line.strip()
        if line == protocol:
            say("id name Small Engine 1")
            say("option name Threads type spin default 1 min 1 max 8")
            say(f"option name {protocol.upper()}_Variant type combo default big var big var {'far' if 'other' in modes else 'small'}")
            say(f"{protocol}ok")
        elif line == "isready":
            say("readyok")
        elif line.startswith("position"):
            sfen = line.split(" ", 2)[2]
            if protocol == "uci":
                # Hands stand in brackets, and White is the first player.
                board, rest = sfen.split("[")
                hands, rest = rest.split("]")
                sfen = f"{board} {'b' if rest.split()[0] == 'w' else 'w'} {hands} 1"
            position = Shogi(sfen)
        elif line == "d":
            say("Sfen: " + (sfen.replace("L", "E") if "board" in modes else sfen))
        elif line == "go perft 1" and "deaf" not in modes:
            for name, other in position.moves(modes).items():
                say(f"{name if protocol == 'usi' else other}: 1")
            say(f"\nNodes searched: {len(position.moves(modes))}")
        elif line.startswith("go"):
            questions += 1
            misbehaves = "perft" not in line and questions > 100
            if misbehaves and "silent" in modes:
                continue
            if misbehaves and "slow" in modes and questions == 103:
                time.sleep(3)
            if misbehaves and "dying" in modes and questions == 110:
                sys.exit("broken pipe of mine")
            moves = position.moves(modes)
            best = min(moves, default=None)
            best = best and (best if protocol == "usi" else moves[best])
            if misbehaves and "illegal" in modes:
                best = "9i9h"
            if best is None or misbehaves and "resign" in modes:
                best = "resign"
            say("info depth 1 score cp 100 pv " + best)
            say("bestmove " + best)
        elif line == "quit":
            return


class Othello:
    def __init__(self, size, cells="", black=True):
        self.size, self.cells, self.black = size, list(cells), black

    def turned(self, at):
        own, other = ("X", "O") if self.black else ("O", "X")
        found = []
        if self.cells[at] in "XO":
            return found
        row, column = divmod(at, self.size)
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                r, c, line = row + down, column + right, []
                while 0 <= r < self.size and 0 <= c < self.size and self.cells[r * self.size + c] == other:
                    line.append(r * self.size + c)
                    r, c = r + down, c + right
                if line and 0 <= r < self.size and 0 <= c < self.size and self.cells[r * self.size + c] == own:
                    found += line
        return found

    def legal(self):
        return [at for at in range(len(self.cells)) if self.turned(at)]

    def name(self, at):
        return f"{'ABCDEFGH'[at % self.size]}{at // self.size + 1}"


def gtp(modes):
    board, stack, size, questions = None, [], 8, 0
    commands = "name version list_commands boardsize set_game clear_board play undo reg_genmove small-setup_board quit".split()
    if "deaf" in modes:
        commands.remove("small-setup_board")
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        answer = "="
        if words[0] == "name":
            answer = "= Small GTP"
        elif words[0] == "version":
            answer = "= 1"
        elif words[0] == "list_commands":
            answer = "= " + "\n".join(commands)
        elif words[0] == "boardsize":
            size = int(words[1])
            answer = "? unacceptable size" if "other" in modes else "="
        elif words[0] == "small-setup_board":
            board, stack = Othello(size, words[1], words[2] == "X"), []
        elif words[0] == "play":
            at = (int(words[2][1:]) - 1) * size + "abcdefgh".index(words[2][0])
            turned = board.turned(at) if (words[1] == "black") == board.black else []
            if "added" in modes and at == 0 and not turned and board.cells[0] not in "XO":
                turned = [at]
            if turned:
                stack.append(board)
                cells = list(board.cells)
                for square in [*turned, at]:
                    cells[square] = "X" if board.black else "O"
                board = Othello(size, cells, not board.black)
            else:
                answer = "? illegal move"
        elif words[0] == "undo":
            board = stack.pop()
        elif words[0] == "reg_genmove":
            questions += 1
            moves = board.legal()
            answer = "= " + (min(map(board.name, moves)) if moves else "pass")
            if questions > 100 and "illegal" in modes:
                answer = "= pass"
        elif words[0] == "quit":
            return
        say(answer + "\n")


if __name__ == "__main__":
    protocol, *modes = sys.argv[1:]
    gtp(modes) if protocol == "gtp" else usi(protocol, modes)
