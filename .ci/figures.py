"""Runs forty commands that measure, and compares what two versions of the program answered.

    python3 .ci/figures.py run SOLVER OUT [PYTHON]   # PYTHON: an interpreter that imports yomikiri
    python3 .ci/figures.py compare OUT_BEFORE OUT_AFTER

Each command's output is one file in OUT. `compare` names every figure that differs, and the fields that only one
version has. A change that is meant to keep figures is run against the commit before it.
"""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# A transcript of 4x4 that is played to the end, boards on the way, and positions of 8x8 near the end.
TRANSCRIPT = "b1a1a2c1d4a3d1b4a4c4"
BOARDS = """\
-XOOXXO-XOXXOOOO X;
X-O-XXXXOXXX-XXX O;
--X--XXOXXO---XO O;
--X--OXO-OXX-OX- O;
----XXX--XO----- O;
-----OX--XXX---- O;
"""
LATE = """\
XXXOOOOOOOOXOOOO-OXXXOOOXXOOOOOOXX-OOOOOO-XOOOOO--OXXOOOXXXXXXXX O;
XX-XOOO-OOXXXOO-X-OXOXOXXOOXOXXXXXOXOOXXXOXXXXXXXOOOOOXXX-OXXXXX O;
XO-XXX-OOOOOOOOOOOOOXXXOOOXXOXXOOXXOOXXOOXXXOXXXOOOOXXXO-X-OXXXO X;
XXXXXXOXXOOXOOO-XOXXOXOOOOXOXOOO-OOXOXOOXOOOOXOOOOOXXXOOX--XXXXO X;
"""

# Tables that no command below makes by itself.
TABLES = [["enumerate", "minishogi", "--max-depth", "3", "--name", "minishogi-plies-3"], ["value-iterate"]]

POLICIES = "random,greedy,weights,n-least:2,alphabeta:2,mcts:50,perfect"

COMMANDS = [
    # Reports of whole tables, of parts, and of bounded tables.
    ["report", "4x4", "--json"],
    ["report", "4x4", "--policy", POLICIES, "--json"],
    ["report", "4x4", "--policy", POLICIES, "--metrics"],
    ["report", "4x4", "--policy", POLICIES, "--full", "--by", "layer,moves,distance,value"],
    ["report", "4x4", "--policy", POLICIES, "--markdown"],
    ["report", "4x4", "--policy", POLICIES, "--canonical", "--json"],
    ["report", "4x4", "--policy", POLICIES, "--split", "test", "--json"],
    ["report", "4x4", "--policy", POLICIES, "--split", "train", "--json"],
    ["report", "4x4", "--policy", "greedy,weights", "--mistakes", "10", "--json"],
    ["report", "4x4", "--policy", "greedy", "--mistakes", "10", "--no-games", "--json"],
    ["report", "4x4", "--policy", "greedy,random", "--csv", "FILE.csv"],
    ["report", "4x4", "--policy", "greedy", "--canonical", "--csv", "FILE.csv"],
    ["report", "4x5", "--policy", "random,greedy,weights", "--canonical", "--json"],
    ["report", "animal-shogi-3x3", "--json"],
    ["report", "animal-shogi-3x3", "--policy", "random,mate:200", "--no-games", "--json"],
    ["report", "animal-shogi-3x3", "--policy", "random", "--split", "test", "--json"],
    ["report", "minishogi-plies-3", "--policy", "random,mate:20", "--json"],
    # Positions of a file, of samples and of games.
    ["report", "4x4", "--policy", POLICIES, "--positions", "BOARDS", "--json"],
    ["report", "4x4", "--policy", "greedy,weights", "--positions", "TRANSCRIPT", "--json"],
    ["report", "8x8", "--policy", "random,greedy,weights", "--positions", "LATE", "--json"],
    ["report", "8x8", "--policy", "random,greedy,weights", "--sample", "50", "--empty-squares", "4..8", "--json"],
    ["report", "4x4", "--policy", "greedy", "--sample", "100", "--json"],
    ["report", "4x4", "--policy", "greedy", "--games-of", "weights", "--games", "20", "--json"],
    ["report", "6x6", "--policy", "greedy", "--games-of", "weights", "--empty-squares", "1..8", "--csv", "FILE.csv"],
    # Comparisons and matches.
    ["compare", "4x4", "greedy", "random", "--json"],
    ["compare", "4x4", "greedy", "weights", "--worst", "20", "--json"],
    ["compare", "4x4", "greedy", "weights", "--split", "test"],
    ["compare", "4x4", "mcts:20:{}", "random", "--seeds", "0,1", "--json"],
    ["compare", "animal-shogi-3x3", "mate:200", "random", "--json"],
    ["match", "4x4", "greedy", "random", "--openings", "3", "--json"],
    ["match", "animal-shogi-3x3", "mate:200", "random", "--json"],
    ["match", "6x6", "greedy", "weights", "--sample", "20", "--random-plies", "4", "--json"],
    # Exports.
    ["export", "4x4", "--out", "FILE.csv"],
    ["export", "4x4", "--split", "test", "--out", "FILE.jsonl"],
    ["export", "animal-shogi-3x3", "--decisive-only", "--out", "FILE.csv"],
    ["export", "4x4", "--positions", "BOARDS", "--out", "FILE.jsonl"],
    ["export", "8x8", "--positions", "LATE", "--out", "FILE.jsonl"],
    # Python.
    "print(json.dumps(ym.evaluate('othello-4x4', 'greedy', first, names=[None, 'first']).json))",
    "print(json.dumps(ym.compare('othello-4x4', 'greedy', first, names=[None, 'first']).json))",
    "print(ym.evaluate('othello-4x4', 'greedy', positions=BOARDS).to_pandas('positions').to_csv(index=False))",
]

PYTHON = """
import json
import numpy as np
import yomikiri as ym

def first(planes, legal):
    return {"actions": legal.argmax(axis=1)}

BOARDS = %r
"""


def run(solver, out, python):
    out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0"}
    with tempfile.TemporaryDirectory() as place:
        files = {"TRANSCRIPT": TRANSCRIPT + "\n", "BOARDS": BOARDS, "LATE": LATE}
        for name, text in files.items():
            (Path(place) / name).write_text(text)
        for command in TABLES:
            subprocess.run([solver, "--quiet", *command], cwd=place, env=environment, check=True, capture_output=True)
        for number, command in enumerate(COMMANDS):
            file = next((word for word in command if word.startswith("FILE")), None)
            if isinstance(command, str):
                if python is None:
                    continue
                arguments = [python, "-c", PYTHON % BOARDS.splitlines() + command]
                file = None
            else:
                arguments = [solver, "--quiet", *(word.replace("FILE", f"{number:02}") for word in command)]
            done = subprocess.run(arguments, cwd=place, env=environment, capture_output=True, text=True, check=False)
            text = done.stdout if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr}"
            if file and done.returncode == 0:
                path = Path(place) / file.replace("FILE", f"{number:02}")
                text = path.read_text()
            (out / f"{number:02}.txt").write_text(text)


def leaves(value, path=""):
    """Yields the numbers and texts of a document with their paths."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, f"{path}.{name}")
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from leaves(part, f"{path}[{at}]")
    else:
        yield path, value


def documents(text):
    """Returns the leaves of JSON, of lines of JSON, of CSV, or the lines of a text."""
    try:
        return dict(leaves(json.loads(text)))
    except ValueError:
        pass
    lines = text.splitlines()
    try:
        return dict(leaves([json.loads(line) for line in lines]))
    except ValueError:
        pass
    rows = list(csv.reader(io.StringIO(text)))
    if len({len(row) for row in rows}) == 1 and len(rows[0]) > 3:
        return dict(leaves({name: list(column) for name, *column in zip(*rows)}))
    return dict(leaves(lines))


def compare(before, after):
    for number, command in enumerate(COMMANDS):
        name = f"{number:02}.txt"
        texts = [(place / name).read_text() if (place / name).exists() else "" for place in (before, after)]
        words = command if isinstance(command, str) else "solver " + " ".join(command)
        if texts[0] == texts[1]:
            print(f"same       {hashlib.sha256(texts[0].encode()).hexdigest()[:12]}  {words}")
            continue
        old, new = map(documents, texts)
        differing = [path for path in old if path in new and old[path] != new[path]]
        print(f"{'DIFFERENT' if differing else 'other form':10} {words}")
        for path in differing[:12]:
            print(f"    {path}: {old[path]!r} -> {new[path]!r}")
        if len(differing) > 12:
            print(f"    and {len(differing) - 12} more")
        for what, some, others in [("no longer", old, new), ("new", new, old)]:
            paths = [path for path in some if path not in others]
            if paths:
                print(f"    {what}: {len(paths)} fields, such as {', '.join(paths[:4])}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", solver, out, *python]:
            run(str(Path(solver).resolve()), Path(out).resolve(), python[0] if python else None)
        case ["compare", before, after]:
            compare(Path(before), Path(after))
        case _:
            sys.exit(__doc__)
