#!/usr/bin/env bash
# Othello boards enumerated, solved and counted: writes docs/results/othello.md, with time and memory, and compares
# every layer of 4x6 and 5x5 with tests/data/othello-layers.json.
#   bash benches/results.sh [SIZE...]        (after cargo build --release; SOLVER names another program)
# Tables are made in a directory of their own, which is removed at the end: 4x6 takes 3.4 GB, 5x5 11.1 GB. TABLES names
# a directory to make them in and to keep; tables that are there already are made anew.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
[ $# -gt 0 ] || set -- 4 4x5 4x6
if [ -z "${TABLES:-}" ]; then
    TABLES=$(mktemp -d)
    trap 'rm -rf "$TABLES"' EXIT
fi

python3 - "${SOLVER:-$here/../target/release/solver}" "$TABLES" "$here/.." "$@" <<'PY'
import json, os, subprocess, sys, time

solver, tables, root, *sizes = sys.argv[1:]
truth = json.load(open(os.path.join(root, "tests/data/othello-layers.json")))

def run(*args):
    """What a command prints, and its wall and processor time in seconds and peak memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen([solver, "--tables", tables, "-q", *args], stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{args}: exit code {process.returncode}")
    return text, (time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)

def compare(size, found):
    """Every layer with the figures of other programs."""
    known = truth[size]
    layers = [{"discs" if key == "layer" else key: value for key, value in layer.items() if key != "moves"}
              for layer in found["layers"]]
    assert layers == known["layers"], (size, [pair for pair in zip(layers, known["layers"]) if pair[0] != pair[1]])
    histogram = {score: count for score, count in known["histogram"].items() if count}
    assert found["histogram"] == histogram, size
    assert found["moves"] == known["moves"], (size, found["moves"])

def size_of(count):
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"

rows, parts = [], []
for size in sizes:
    size = size if "x" in size else f"{size}x{size}"
    name = f"othello-{size}"
    if os.path.exists(os.path.join(tables, name)):
        run("remove", name)
    _, made = run("enumerate", "--size", size)
    _, solved = run("value-iterate", name)
    checksum = run("verify", name, "--checksum")[0].split()[0]
    part, counted = run("info", name, "--values")
    found = json.loads(run("info", name, "--values", "--json")[0])["values"]
    if size in truth:
        compare(size, found)
        print(f"{size}: every layer is as in tests/data/othello-layers.json", flush=True)
    line = next(table for table in json.loads(run("list", "--json")[0])["tables"] if table["table"] == name)
    cells = [f"{wall:.1f} s | {cpu:.1f} s | {size_of(memory)}" for wall, cpu, memory in (made, solved)]
    rows.append(f"| {size} | {line['states']:,} | {found['moves']:,} | {' | '.join(cells)} | {size_of(line['bytes'])} |")
    parts.append(f"{part}\nChecksum of the table (`solver verify --checksum {name}`): `{checksum}`\n")
    print(rows[-1], flush=True)

page = f"""# Othello on small boards, solved

**Question.** Who wins Othello on 4×4, 4×5, 4×6 and 5×5, and how many positions are there? For people who compare their counts with ours, layer by layer.

**Answer.** White wins 4×4 by 8; Black wins 4×5 and 4×6 by 16 and 5×5 by 13. Every board begins at the standard start, Black to move; scores are disc
differences, empty squares count for nobody.

    bash benches/results.sh {' '.join(sys.argv[4:])}     # writes this page, and compares every layer with other programs

| board | states | moves | enumerate: wall | processor | peak memory | value-iterate: wall | processor | peak memory | table |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
{chr(10).join(rows)}

*States* are the rows of a table: states as the mover sees them, those that a symmetry of the board carries into each
other counted once. *Moves* are theirs, without passes. Peak memory includes the mapped pages of the table. Times are
those of one run on {os.cpu_count()} cores. `solver verify` proves every value.

"""
with open(os.path.join(root, "docs/results/othello.md"), "w") as out:
    out.write(page + "\n".join(parts))
PY
