"""Derives everything in an export of targets again, from rules of Othello written plainly here.

    python3 check.py DIRECTORY [FILE...] [-- DIRECTORY [FILE...]]...

DIRECTORY holds arrays with every column; each FILE (.npz, .parquet, .jsonl, .csv, .obf) must hold the
same. Prints the number of rows checked in each directory. All are of one board, whose positions are
evaluated once.
"""

import csv
import json
import sys
import zlib
from functools import cache
from pathlib import Path

import numpy as np

rows, columns = json.loads((Path(sys.argv[1]) / "targets.json").read_text())["board"]
squares = rows * columns


def load(directory, card):
    """Returns every column of a directory of arrays, from shards if any, after verifying the checksums."""
    for name, file in card["files"].items():
        data = (directory / name).read_bytes()
        assert len(data) == file["bytes"] and zlib.crc32(data) == int(file["crc32"], 16), name
    found = {}
    for column in card["columns"]:
        names = [n for n in card["files"] if n.split("-")[0].removesuffix(".npy") == column["name"]]
        parts = [np.load(directory / name, mmap_mode="r") for name in sorted(names)]
        assert all(p.dtype == column["dtype"] and list(p.shape[1:]) == column["shape"] for p in parts)
        found[column["name"]] = np.concatenate(parts)
        assert len(found[column["name"]]) == card["rows"], column["name"]
    return found


# The rules: squares are numbers, a board is two sets of them.
LINES = {}
for square in range(squares):
    r, c = divmod(square, columns)
    LINES[square] = []
    for dr, dc in [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]:
        line, y, x = [], r + dr, c + dc
        while 0 <= y < rows and 0 <= x < columns:
            line.append(y * columns + x)
            y, x = y + dr, x + dc
        LINES[square].append(line)


def flips(mine, theirs, square):
    turned = set()
    for line in LINES[square]:
        run = []
        for other in line:
            if other in theirs:
                run.append(other)
            else:
                if other in mine:
                    turned.update(run)
                break
    return turned


@cache
def successors(mine, theirs):
    """Returns every action with the board after it as the opponent sees it; empty when the game is over."""

    def placed(mine, theirs):
        for square in range(squares):
            turned = flips(mine, theirs, square) if square not in mine | theirs else set()
            if turned:
                yield square, (theirs - turned, mine | turned | {square})

    moves = dict(placed(mine, theirs))
    if not moves and any(placed(theirs, mine)):
        moves = {squares: (theirs, mine)}
    return moves


@cache
def value(mine, theirs):
    """Returns the score for the mover and the plies to the end: won and drawn games short, lost ones long."""
    moves = successors(mine, theirs)
    if not moves:
        return len(mine) - len(theirs), 0
    values = [(-score, plies + 1) for score, plies in (value(*after) for after in moves.values())]
    return max(values, key=lambda v: (v[0], v[1] if v[0] < 0 else -v[1]))


def board(text):
    text = text.decode()
    black, white = (frozenset(i for i, s in enumerate(text[:squares]) if s == sign) for sign in "XO")
    side = " X;".find(text[squares + 1]) - 1 if text[squares + 1] == "X" else 1
    return ((black, white) if side == 0 else (white, black)), side


# The hash that assigns splits.
M = (1 << 64) - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M
    return x ^ x >> 31


def fnv(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 & M
    return h


def symmetries():
    """Yields the image of every square, for each symmetry of the board."""
    for transposed in [False, True] if rows == columns else [False]:
        for down in (False, True):
            for right in (False, True):

                def image(square):
                    r, c = divmod(square, columns)
                    if transposed:
                        r, c = c, r
                    r, c = rows - 1 - r if down else r, columns - 1 - c if right else c
                    return r * columns + c

                yield [1 << image(square) for square in range(squares)]


SYMMETRIES = list(symmetries())


def images(mine, theirs):
    for bit in SYMMETRIES:
        yield sum(bit[square] for square in mine), sum(bit[square] for square in theirs)


def bits(discs):
    return sum(1 << square for square in discs)


@cache
def split_of(mine, theirs, game, seed, fractions):
    occupied, own = min((mover | opponent, mover) for mover, opponent in images(mine, theirs))
    key = [occupied << squares | own] if squares <= 32 else [occupied, own]
    mover, opponent = min(images(mine, theirs))
    words = [mover << squares | opponent] if squares <= 32 else [mover, opponent]
    h = seed
    for word in [fnv(game), *words]:
        h = mix(h ^ word)
    unit, (train, validation, _) = (h >> 11) / 2**53, fractions
    split = 0 if unit < train else 1 if unit < train + validation else 2
    return key, split


def check(place, *files):
    """Checks a directory, and the files beside it, against the rules; returns a summary."""
    place = Path(place)
    card = json.loads((place / "targets.json").read_text())
    assert card["board"] == [rows, columns], place
    parameters = card["parameters"]
    fractions = tuple(parameters["split_fractions"])
    data = load(place, card)

    wanted = {}

    def is_same(name, i, expected):
        """Records the expected value of a row of a column; all are compared at the end."""
        at, values = wanted.setdefault(name, ([], []))
        at.append(i)
        values.append(expected)

    unproven = parameters["unproven"]
    for i in range(card["rows"]):
        (mine, theirs), side = board(data["board"][i])
        is_same("side", i, side)
        is_same("layer", i, len(mine | theirs))
        is_same("mover", i, bits(mine))
        is_same("opponent", i, bits(theirs))
        key, split = split_of(mine, theirs, card["game"], parameters["split_seed"], fractions)
        is_same("key", i, key[0] if len(key) == 1 else key)
        is_same("split", i, split)
        planes = np.zeros((2, squares), np.uint8)
        planes[0, list(mine)], planes[1, list(theirs)] = 1, 1
        grid = planes.reshape(2, rows, columns)
        layouts = {
            "nchw": grid,
            "nhwc": grid.transpose(1, 2, 0),
            "openspiel": np.stack([1 - grid[0] - grid[1], grid[0], grid[1]]),
            "signed": grid[0].astype(np.int8) - grid[1].astype(np.int8),
        }
        is_same("planes", i, layouts[parameters["layout"]])
        moves = successors(mine, theirs)
        legal = np.zeros(squares + 1, np.uint8)
        legal[list(moves)] = 1
        is_same("legal", i, legal)
        if unproven:
            # In a bounded table the bounds must contain the true value, and proven values must be true.
            score = value(mine, theirs)[0]
            assert data["score_lower"][i] <= score <= data["score_upper"][i]
            assert data["lower"][i] <= np.sign(score) <= data["upper"][i]
            assert data["score"][i] in (-128, score) and data["outcome"][i] in (-128, np.sign(score))
            for action, after in moves.items():
                q = -value(*after)[0]
                assert data["q_score_lower"][i][action] <= q <= data["q_score_upper"][i][action]
                assert data["q_lower"][i][action] <= np.sign(q) <= data["q_upper"][i][action]
                assert data["q_score"][i][action] in (-128, q)
            if not data["proven"][i]:
                assert not data["optimal"][i].any() and not data["policy"][i].any()
                assert data["score"][i] == -128 or (data["q_score"][i][legal == 1] == -128).any()
                continue
        score, distance = value(mine, theirs)
        is_same("score", i, score)
        is_same("outcome", i, np.sign(score))
        is_same("distance", i, distance)
        is_same("proven", i, 1)
        q = np.full(squares + 1, -128)
        for action, after in moves.items():
            q[action] = -value(*after)[0]
        is_same("q_score", i, q)
        is_same("q_outcome", i, np.where(q == -128, -128, np.sign(q)))
        best = (q == score) & (legal == 1)
        is_same("optimal", i, best)
        is_same("result_kept", i, (np.sign(q) == np.sign(score)) & (legal == 1))
        if parameters["policy"] == "uniform":
            policy = best / max(best.sum(), 1)
        else:
            t = parameters["policy"]["softmax_temperature"]
            policy = np.where(legal == 1, np.exp((q.astype(float) - score) / t), 0)
            policy /= policy.sum() or 1
        is_same("policy", i, policy)
        names = [f"{'abcdefgh'[a % columns]}{a // columns + 1}" if a < squares else "pass" for a in moves]
        text = " ".join(f"{n}:{q[a]:+d}" if q[a] else f"{n}:+0" for n, a in zip(names, moves))
        is_same("moves", i, text.encode())
        decisive = {"outcome": len(set(np.sign(q[legal == 1]))) > 1, "score": len(set(q[legal == 1])) > 1}
        assert parameters["decisive_by"] is None or decisive[parameters["decisive_by"]], i
        assert parameters["split"] == "all" or "split" not in data, i
        if parameters["split"] != "all":
            assert ["train", "validation", "test"][split] == parameters["split"], i

    for name, (at, values) in wanted.items():
        if name not in data:
            continue
        found, expected = data[name][at], np.array(values)
        expected = expected.reshape(found.shape)
        same = np.isclose(found, expected, atol=1e-6) if name == "policy" else found == expected
        wrong = np.flatnonzero(~same.reshape(len(at), -1).all(axis=1))
        assert len(wrong) == 0, (name, at[wrong[0]], found[wrong[0]], expected[wrong[0]])

    assert np.isclose(data["weight"].sum(), card["positions"])
    assert card["rows"] == sum(group["rows"] for group in card["counts"]["by_split"].values())
    if "split" in data:
        seen = {}
        for key, split in zip(map(str, data["key"].tolist()), data["split"]):
            assert seen.setdefault(key, split) == split, "an image of a position is in another split"

    numbers = [c["name"] for c in card["columns"] if not c["dtype"].startswith("|S")]
    texts = [c["name"] for c in card["columns"] if c["dtype"].startswith("|S")]
    missing = {"distance": 65535}


    def filled(name, found):
        """Returns a column of a text or table format as the array that it represents."""
        column = data[name]
        absent = missing.get(name, -128)

        def fill(x):
            return [fill(y) for y in x] if isinstance(x, list) else absent if x is None else x

        return np.array(fill(found), dtype=column.dtype).reshape(column.shape)


    for path in map(Path, files):
        other = json.loads(path.with_name(path.name + ".json").read_text())
        content = path.read_bytes()
        file = other["files"][path.name]
        assert len(content) == file["bytes"] and zlib.crc32(content) == int(file["crc32"], 16), path
        assert other["counts"] == card["counts"] and other["rows"] == card["rows"], path
        if path.suffix == ".npz":
            archive = np.load(path)
            assert sorted(archive.files) == sorted(data), path
            assert all(np.array_equal(archive[name], data[name]) for name in data), path
        elif path.suffix == ".parquet":
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(path)
            assert table.column_names == [c["name"] for c in card["columns"]]
            for name in data:
                found = table[name].to_pylist()
                if name in texts:
                    assert found == [text.decode() for text in data[name]], name
                else:
                    assert np.array_equal(filled(name, found), data[name]), name
        elif path.suffix == ".jsonl":
            lines = [json.loads(line) for line in content.decode().splitlines()]
            assert len(lines) == card["rows"] and all(list(line) == list(lines[0]) for line in lines)
            for name in numbers:
                assert np.array_equal(filled(name, [line[name] for line in lines]), data[name]), name
            for name in texts:
                assert [line[name].encode() for line in lines] == list(data[name]), name
        elif path.suffix == ".csv":
            lines = list(csv.DictReader(content.decode().splitlines()))
            assert len(lines) == card["rows"]
            for name in lines[0]:
                if name in texts:
                    assert [line[name].encode() for line in lines] == list(data[name]), name
                    continue
                words = [[None if w in ("", "-") else float(w) if "." in w else int(w) for w in line[name].split(" ")] for line in lines]
                assert np.array_equal(filled(name, words), data[name]), name
        else:
            expected = [
                b.decode() + "".join(f" {move};" for move in moves.decode().split())
                for b, moves in zip(data["board"], data["moves"])
            ]
            assert content.decode().splitlines() == expected, path

    return f"{card['rows']} rows, {card['positions']:.0f} positions"


groups = [[]]
for word in sys.argv[1:]:
    if word == "--":
        groups.append([])
    else:
        groups[-1].append(word)
for group in groups:
    print(check(*group))
