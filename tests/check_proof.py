"""Checks a certificate of an Othello score with Python's standard library alone.

    check_proof.py FILE [--sample N] [--seed S] [--all]

The program walks the whole certificate. It searches a sample of the leaves (default: 100 of each side), or all of them.
"""

import argparse
import random
import struct
import sys
import zlib

MAGIC, VERSION, HEADER = b"YKPROOF", 1, "<7sBBBBBbBHQQIIII"


class Rules:
    """Rules of Othello; bit 8 * row + column of a set is a square."""

    def __init__(self, rows, columns, to_winner):
        self.to_winner = to_winner
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
        images = []
        for turn in (False, True) if rows == columns else (False,):
            for up in (False, True):
                for left in (False, True):
                    images.append([])
                    for row in range(rows):
                        places = []
                        for column in range(columns):
                            r, c = rows - 1 - row if up else row, columns - 1 - column if left else column
                            places.append(1 << (8 * c + r if turn else 8 * r + c))
                        images[-1].append([sum(p for i, p in enumerate(places) if s >> i & 1) for s in range(1 << columns)])
        self.images = images

    def flips(self, mover, opponent, square):
        """Returns the discs that a move on an empty square turns."""
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
        return turned

    def children(self, mover, opponent):
        """Returns the boards after each move, in the order of the squares, seen by the opponent."""
        filled, boards = mover | opponent, []
        for square in self.board:
            if not filled >> square & 1:
                turned = self.flips(mover, opponent, square)
                if turned:
                    boards.append((opponent ^ turned, mover | turned | 1 << square))
        return boards

    def is_over(self, mover, opponent):
        return not self.children(mover, opponent) and not self.children(opponent, mover)

    def score(self, mover, opponent):
        score = mover.bit_count() - opponent.bit_count()
        if self.to_winner and score:
            score += self.empties(mover, opponent) * (1 if score > 0 else -1)
        return score

    def empties(self, mover, opponent):
        return len(self.board) - (mover | opponent).bit_count()

    def canonical(self, mover, opponent):
        rows = [(r, mover >> 8 * r & 255, opponent >> 8 * r & 255) for r in range(len(self.images[0]))]
        return min((sum(image[r][m] for r, m, _ in rows), sum(image[r][o] for r, _, o in rows)) for image in self.images)

    def search(self, mover, opponent, alpha, beta):
        """Returns the mover's score if it is between the bounds, otherwise a bound of it."""
        children = self.children(mover, opponent)
        if not children:
            if not self.children(opponent, mover):
                return self.score(mover, opponent)
            return -self.search(opponent, mover, -beta, -alpha)
        if self.empties(mover, opponent) > 5:
            children.sort(key=lambda child: len(self.children(*child)))
        best = -64
        for child in children:
            best = max(best, -self.search(*child, -beta, -alpha))
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best


def walk(rules, root, hero_moves_first, score, leaf_depth, moves):
    """Walks the hero's positions level by level; returns the leaves of the hero and of the other side."""
    hero, other = [set() for _ in range(65)], [set() for _ in range(65)]

    def add(board, hero_moves):
        children = rules.children(*board)
        if not children and rules.is_over(*board):
            result = rules.score(*board) if hero_moves else -rules.score(*board)
            if result < score:
                sys.exit(f"REFUSED: a finished game scores {result}, less than {score}")
            return
        empties, image = rules.empties(*board), rules.canonical(*board)
        if hero_moves:
            hero[empties].add(image)
        elif image not in other[empties]:
            other[empties].add(image)
            if empties > leaf_depth:
                for child in children or [board[::-1]]:
                    add(child, True)

    add(root, hero_moves_first)
    for empties in range(64, leaf_depth, -1):
        for board in sorted(hero[empties]):
            children = rules.children(*board) or [board[::-1]]
            index = next(moves, 255) if len(children) > 1 else 0
            if index >= len(children):
                sys.exit(f"REFUSED: invalid move in a position with {empties} empty squares")
            add(children[index], False)
    if next(moves, None) is not None:
        sys.exit("REFUSED: moves are left over")
    return [sorted(b for level in levels[: leaf_depth + 1] for b in level) for levels in (hero, other)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--sample", type=int, default=100, help="leaves of each side that are searched")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="search all leaves")
    options = parser.parse_args()
    with open(options.file, "rb") as file:
        data = file.read()
    size = struct.calcsize(HEADER)
    if len(data) < size:
        sys.exit("REFUSED: the file ends in its header")
    magic, version, rows, columns, to_winner, white, score, depth, zero, mover, opponent, *counts, crc, length = struct.unpack(HEADER, data[:size])
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data[size:], length + 1)
    except zlib.error as error:
        sys.exit(f"REFUSED: damaged content: {error}")
    if (magic, version, zero) != (MAGIC, VERSION, 0) or depth > 20 or to_winner > 1 or white > 1 or not (4 <= rows <= 8 and 4 <= columns <= 8):
        sys.exit("REFUSED: invalid header")
    if not stream.eof or stream.unused_data:
        sys.exit("REFUSED: the file does not end where its content does")
    if zlib.crc32(data[:40] + content) != crc or len(content) != length or sum(counts) != length:
        sys.exit("REFUSED: wrong checksum or length")
    rules = Rules(rows, columns, to_winner)
    if mover & opponent or any((mover | opponent) >> square & 1 for square in range(64) if square not in rules.board):
        sys.exit("REFUSED: invalid root position")
    for hero_first, bound, moves in ((True, score, content[: counts[0]]), (False, -score, content[counts[0] :])):
        leaves = walk(rules, (mover, opponent), hero_first, bound, depth, iter(moves))
        boards = [(board, turn) for turn, boards in ((True, leaves[0]), (False, leaves[1])) for board in boards]
        chosen = boards if options.all else random.Random(options.seed).sample(boards, min(options.sample, len(boards)))
        for board, hero_moves in chosen:
            low = bound - 1 if hero_moves else -bound
            if (rules.search(*board, low, low + 1) > low) != hero_moves:
                sys.exit(f"REFUSED: a leaf does not hold the score: {board}")
        side = "mover" if hero_first else "opponent"
        print(f"{side}: score of at least {bound} by {len(moves)} moves, {len(chosen)} of {len(boards)} leaves searched")
    print(f"score {score:+} of the {'opponent' if score < 0 else 'mover'}'s game on {rows}x{columns}")


if __name__ == "__main__":
    main()
