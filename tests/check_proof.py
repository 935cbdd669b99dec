"""Checks a certificate, a semi-strong table or labels with Python's standard library alone.

    check_proof.py FILE [--sample N] [--seed S] [--all]

Written from docs/proof-format.md. The program walks a whole proof and reads all labels. It searches a sample of the
positions below a proof (default: 100 of each walk) or of Othello labels, or all of them.
"""

import argparse
import random
import re
import struct
import sys
import zlib

HEADER = "<7sBBBBBbBHQQIIII"


def refuse(reason):
    sys.exit(f"REFUSED: {reason}")


def require(condition, reason):
    if not condition:
        refuse(reason)


class Rules:
    """Rules of Othello. A board is a pair of sets: the discs of the mover and of the opponent."""

    def __init__(self, rows, columns, to_winner):
        self.rows, self.columns, self.to_winner = rows, columns, to_winner
        self.board = [8 * r + c for r in range(rows) for c in range(columns)]
        steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
        self.rays = {}
        for square in self.board:
            rays = []
            for dr, dc in steps:
                r, c, ray = square // 8 + dr, square % 8 + dc, []
                while 0 <= r < rows and 0 <= c < columns:
                    ray.append(1 << (8 * r + c))
                    r, c = r + dr, c + dc
                if len(ray) > 1:
                    rays.append(ray)
            self.rays[square] = rays
        symmetries = [(up, left, turn) for up in (0, 1) for left in (0, 1) for turn in ((0, 1) if rows == columns else (0,))]
        # For each symmetry, the image of each set of squares of each row.
        self.images = [[self.images_of_row(row, *symmetry) for row in range(rows)] for symmetry in symmetries]

    def images_of_row(self, row, up, left, turn):
        places = []
        for column in range(self.columns):
            r = self.rows - 1 - row if up else row
            c = self.columns - 1 - column if left else column
            places.append(1 << (8 * c + r if turn else 8 * r + c))
        return [sum(place for i, place in enumerate(places) if part >> i & 1) for part in range(1 << self.columns)]

    def is_valid(self, board):
        mover, opponent = board
        return not mover & opponent and not (mover | opponent) & ~sum(1 << square for square in self.board)

    def moves(self, board):
        """Returns the boards after each move, in ascending order of the squares, seen by the opponent."""
        mover, opponent = board
        filled, boards = mover | opponent, []
        for square in self.board:
            if filled >> square & 1:
                continue
            turned = 0
            for ray in self.rays[square]:
                if ray[0] & opponent:
                    run = 0
                    for bit in ray:
                        if bit & opponent:
                            run |= bit
                        else:
                            turned |= run if bit & mover else 0
                            break
            if turned:
                boards.append((opponent ^ turned, mover | turned | 1 << square))
        return boards

    def replies(self, board):
        """Returns the boards after each action, a pass included."""
        return self.moves(board) or [board[::-1]]

    def is_over(self, board):
        return not self.moves(board) and not self.moves(board[::-1])

    def empties(self, board):
        return len(self.board) - (board[0] | board[1]).bit_count()

    def score(self, board):
        """Returns the mover's score of a finished game."""
        difference = board[0].bit_count() - board[1].bit_count()
        if self.to_winner and difference:
            difference += self.empties(board) if difference > 0 else -self.empties(board)
        return difference

    def canonical(self, board):
        parts = [[discs >> 8 * row & 255 for row in range(self.rows)] for discs in board]
        return min(tuple(sum(rows[row][part[row]] for row in range(self.rows)) for part in parts) for rows in self.images)

    def search(self, board, alpha=-65, beta=65):
        """Returns the mover's score if it is between the bounds, otherwise a bound of it."""
        children = self.moves(board)
        if not children:
            if self.is_over(board):
                return self.score(board)
            return -self.search(board[::-1], -beta, -alpha)
        if self.empties(board) > 5:
            children.sort(key=lambda child: len(self.moves(child)))
        best = -65
        for child in children:
            best = max(best, -self.search(child, -beta, -alpha))
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best


class Walk:
    """Positions that the moves of one side, the hero, reach, with the hero's scores; maps by number of empty squares."""

    def __init__(self, rules, leaf_depth):
        self.rules, self.leaf_depth = rules, leaf_depth
        self.hero, self.other = [{} for _ in range(65)], [{} for _ in range(65)]

    def add(self, board, is_heros, score):
        if self.rules.is_over(board):
            result = self.rules.score(board) if is_heros else -self.rules.score(board)
            require(result >= score, f"a finished game scores {result}, less than {score}")
            return
        key, empties = self.rules.canonical(board), self.rules.empties(board)
        if is_heros:
            self.hero[empties][key] = max(score, self.hero[empties].get(key, score))
        elif key in self.other[empties]:
            require(self.other[empties][key] == score, "a position has two scores")
        else:
            self.other[empties][key] = score
            if empties > self.leaf_depth:
                for reply in self.rules.replies(board):
                    self.add(reply, True, score)

    def read(self, indices, gains=None):
        """Walks all levels; a position's gain is 0 without `gains`."""
        for empties in range(64, self.leaf_depth, -1):
            for key in sorted(self.hero[empties]):
                children = self.rules.replies(key)
                index = next(indices, 255) if len(children) > 1 else 0
                require(index < len(children), f"invalid move in a position with {empties} empty squares")
                if gains:
                    gain = next(gains, 255)
                    self.hero[empties][key] += gain
                    require(self.hero[empties][key] <= len(self.rules.board), "invalid score")
                self.add(children[index], False, self.hero[empties][key])

    def stored(self):
        """Yields the positions above the leaves: canonical image, whether the hero is to move, the mover's score."""
        for empties in range(self.leaf_depth + 1, 65):
            yield from ((key, True, score) for key, score in self.hero[empties].items())
            yield from ((key, False, -score) for key, score in self.other[empties].items())

    def leaves(self, is_exact):
        """Returns positions that are searched, with a lower and an upper bound of the mover's score."""
        bounds = []
        for empties in range(self.leaf_depth + 1):
            bounds += [(key, score, 65) for key, score in self.hero[empties].items()]
            bounds += [(key, -score if is_exact else -65, -score) for key, score in self.other[empties].items()]
        if is_exact:
            for key, score in self.other[self.leaf_depth + 1].items():
                ends = [self.rules.score(reply) for reply in self.rules.moves(key) if self.rules.is_over(reply)]
                if self.rules.moves(key) and score not in ends:
                    bounds.append((key, -score, 65))
        return sorted(bounds)


def check_scores(rules, walks, leaf_depth):
    """Checks that the scores of a semi-strong table agree with each other."""
    exact = {}
    for walk in walks:
        leaves = [(key, False, -score) for level in walk.other[: leaf_depth + 1] for key, score in level.items()]
        for key, _, score in [*walk.stored(), *leaves]:
            require(exact.setdefault(key, score) == score, "a position has two scores")

    def after(reply):
        return rules.score(reply) if rules.is_over(reply) else exact.get(rules.canonical(reply))

    for walk in walks:
        for key, is_heros, score in walk.stored():
            if is_heros:
                scores = [-value for reply in rules.replies(key) if (value := after(reply)) is not None]
                require(max(scores, default=score) <= score, "a move leads to a better score than the position's")
                continue
            scores = []
            for reply in rules.replies(key):
                empties = rules.empties(reply)
                if rules.is_over(reply):
                    scores.append(rules.score(reply))
                elif empties > leaf_depth:
                    scores.append(walk.hero[empties][rules.canonical(reply)])
            is_searched = rules.empties(key) == leaf_depth + 1 and rules.moves(key)
            require(is_searched or min(scores) == -score, "no reply reaches the score of a position")


def choose(positions, options):
    if options.all:
        return positions
    return random.Random(options.seed).sample(positions, min(options.sample, len(positions)))


def check_proof(data, options):
    require(len(data) >= struct.calcsize(HEADER), "the file ends in its header")
    fields = struct.unpack_from(HEADER, data)
    magic, version, rows, columns, to_winner, white, score, leaf_depth, zero, mover, opponent, *counts, crc, length = fields
    is_exact = magic == b"YKSEMIS"
    require((version, zero) == (1, 0) and to_winner < 2 and white < 2, "invalid header")
    require(4 <= rows <= 8 and 4 <= columns <= 8 and abs(score) <= rows * columns, "invalid board or score")
    require(leaf_depth <= 20 and max(counts) <= 1 << 27 and length <= 1 << 29, "invalid leaf depth, number or length")
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data[48:], length + 1)
    except zlib.error as error:
        refuse(f"damaged content: {error}")
    require(stream.eof and not stream.unused_data, "the file does not end where its content does")
    require(len(content) == length and zlib.crc32(data[:40] + content) == crc, "wrong length or checksum")
    rules, root = Rules(rows, columns, to_winner), (mover, opponent)
    require(rules.is_valid(root), "invalid root position")
    walks = [Walk(rules, leaf_depth), Walk(rules, leaf_depth)]
    walks[0].add(root, True, score)
    walks[1].add(root, False, -score)
    if is_exact:
        gains, indices = iter(content[: sum(counts)]), iter(content[sum(counts) :])
        for walk, count in zip(walks, counts):
            walk.read(indices, gains)
            stored = sum(len(level) for level in walk.hero[leaf_depth + 1 :])
            require(stored == count, f"{stored} positions, expected {count}")
        require(next(gains, None) is None and next(indices, None) is None, "records are left over")
        check_scores(rules, walks, leaf_depth)
    else:
        require(sum(counts) == length, "wrong number of moves")
        for walk, part in zip(walks, (content[: counts[0]], content[counts[0] :])):
            indices = iter(part)
            walk.read(indices)
            require(next(indices, None) is None, "moves are left over")
    for walk, side in zip(walks, ("mover", "opponent")):
        leaves = walk.leaves(is_exact)
        chosen = choose(leaves, options)
        for key, low, high in chosen:
            value = rules.search(key, low - 1 if low > -65 else high, high + 1 if high < 65 else low)
            require(low <= value <= high, f"a position scores {value}, not {low} to {high}: {key}")
        print(f"{side}: the walk ends, {len(chosen)} of {len(leaves)} positions searched")
    print(f"score {score:+} for the mover on {rows}x{columns}")


def score_of(bound):
    return (bound + 65536) >> 17


def check_labels(data, options):
    text = data[8:64].rstrip(b"\0").decode("ascii", "replace")
    words = text.split(" ")
    require(len(data) >= 64 and len(words) == 3 and text.isprintable(), "invalid header of labels")
    settings, _, game = words
    rules, squares = None, 0
    if shape := re.fullmatch("othello-([4-8])x([4-8])", game):
        rows, columns = map(int, shape.groups())
        rules, squares = Rules(rows, columns, settings == "to-winner"), rows * columns
        require(settings in ("uncounted", "to-winner"), f"invalid settings {settings}")
    records, at = [], 64
    while at + 18 <= len(data):
        high, low, count = struct.unpack_from("<QQH", data, at)
        end = at + 22 + 8 * count
        if end > len(data):
            break
        crc = int.from_bytes(data[end - 4 : end], "little")
        require(zlib.crc32(data[at : end - 4]) == crc, f"record at byte {at}: wrong checksum")
        bounds = list(struct.iter_unpack("<ii", data[at + 18 : end - 4]))
        for lower, upper in bounds:
            most = 131072 * (squares or 1)
            plies = [abs(131072 * score_of(bound) - bound) for bound in (lower, upper)]
            is_valid = -most - 65535 <= lower <= upper <= most and all(d <= 29998 or d == 65535 for d in plies)
            require(is_valid, f"record at byte {at}: invalid bounds {lower}, {upper}")
        records.append((high, low, bounds))
        at = end
    print(f"labels of {game}, {settings}: {len(records)} positions, {len(data) - at} bytes cut off")
    if not rules:
        return

    def spread(packed):
        """Returns a set of squares that is packed row by row as one of rows of 8."""
        row = (1 << rules.columns) - 1
        return sum((packed >> rules.columns * r & row) << 8 * r for r in range(rules.rows))

    boards = []
    for high, low, bounds in records:
        occupied, mover = (high >> squares, high & (1 << squares) - 1) if squares <= 32 else (high, low)
        require(not mover & ~occupied and not occupied >> squares, "invalid key")
        board = spread(mover), spread(occupied ^ mover)
        replies = [] if rules.is_over(board) else rules.replies(board)
        require(len(replies) == len(bounds), "wrong number of moves of a position")
        for lower, upper in bounds:
            require(score_of(lower) == score_of(upper), "a score that is not proven")
        boards.append((rules.empties(board), replies, [score_of(lower) for lower, _ in bounds]))
    chosen = choose(boards, options)
    for _, replies, scores in chosen:
        values = [-rules.search(reply) for reply in replies]
        require(values == scores, f"moves score {values}, not {scores}")
    print(f"{len(chosen)} positions searched")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--sample", type=int, default=100, help="positions that are searched")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="search all positions")
    options = parser.parse_args()
    with open(options.file, "rb") as file:
        data = file.read()
    if data.startswith(b"YKLABEL2"):
        check_labels(data, options)
    elif data[:7] in (b"YKPROOF", b"YKSEMIS"):
        check_proof(data, options)
    else:
        refuse("neither a proof nor labels")


if __name__ == "__main__":
    main()
