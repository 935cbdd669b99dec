"""Times queries as processes of their own, with the table out of the page cache.

    python3 benches/cold.py TABLES NAME [NAME...]

Queries the same twenty positions of each Othello table, drawn from the keys of the first, which must
not be packed. Evicts every file of a table from the page cache before each query. Fails if tables disagree.
"""

import json
import os
import random
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

SOLVER = Path(__file__).parent.parent / "target/release/solver"


def positions(table, count=20):
    """Yields positions drawn from a table's keys: occupied squares above as many bits of the mover's discs."""
    rows, columns = map(int, json.loads((table / "manifest.json").read_text())["identity"]["game"].rsplit("-", 1)[1].split("x"))
    squares, draw = rows * columns, random.Random(3)
    with open(table / "keys.npy", "rb") as keys:
        size = keys.seek(0, os.SEEK_END)
        for _ in range(count):
            keys.seek(draw.randrange(128, size, 8))
            (key,) = struct.unpack("<Q", keys.read(8))
            taken, own = key >> squares, key & (1 << squares) - 1
            yield "".join("X" if own >> at & 1 else "O" if taken >> at & 1 else "-" for at in range(squares)) + " X;"


def forget(table):
    for path in table.iterdir():
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def ask(tables, name, text):
    """Returns the milliseconds of a query, and the score."""
    begun = time.perf_counter()
    done = subprocess.run([SOLVER, "--tables", tables, "query", name, text, "--json"], stdout=subprocess.PIPE, check=True)
    spent = 1e3 * (time.perf_counter() - begun)
    return spent, json.loads(done.stdout)["score"]


tables, names = Path(sys.argv[1]), sys.argv[2:]
texts = list(positions(tables / names[0]))
begun = time.perf_counter()
subprocess.run([SOLVER, "--version"], stdout=subprocess.DEVNULL, check=True)
print(f"a process that only says its version: {1e3 * (time.perf_counter() - begun):.1f} ms")
found = {}
for name in names:
    cold, warm = [], []
    for text in texts:
        forget(tables / name)
        spent, score = ask(tables, name, text)
        cold.append(spent)
        warm.append(ask(tables, name, text)[0])
        assert found.setdefault(text, score) == score, f"{name} disagrees with {names[0]} on {text}"
    print(f"{name}: from cold {statistics.median(cold):.1f} ms, at most {max(cold):.1f}; in memory {statistics.median(warm):.1f} ms")
