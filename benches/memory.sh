#!/usr/bin/env bash
# Enumerates and solves a board with and without a memory limit, with moves stored and derived. Fails if a run
# allocates more than its limit or makes a different table. Linux only.
#   bash benches/memory.sh [SIZE] [LIMIT]    (after cargo build --release; SOLVER names another program)
# Defaults: 4x6 and 500M. 5x5 and 1G takes 12 GB of disk.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
TABLES=$(mktemp -d)
trap 'rm -rf "$TABLES"' EXIT

python3 - "${SOLVER:-$here/../target/release/solver}" "$TABLES" "${1:-4x6}" "${2:-500M}" <<'PY'
import json, os, shutil, subprocess, sys, time

solver, tables, size, limit = sys.argv[1:]
most = int(limit[:-1]) * {"M": 10**6, "G": 10**9}[limit[-1]]

def run(*args):
    """Returns the seconds that a command takes, and its peak of allocated memory in bytes."""
    begin, peak = time.perf_counter(), 0
    process = subprocess.Popen([solver, "--tables", tables, "-q", *args], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                anonymous = [line.split()[1] for line in status if line.startswith("RssAnon")]
        except ProcessLookupError:
            anonymous = []
        peak = max([peak, *(1024 * int(kilobytes) for kilobytes in anonymous)])
        time.sleep(0.02)
    if process.returncode != 0:
        sys.exit(f"{args}: exit code {process.returncode}")
    return time.perf_counter() - begin, peak

print("| moves | memory | enumerate | value-iterate |\n|---|---|---|---|")
for transitions, suffix in [("stored", ""), ("derived", "-derived")]:
    place, made = os.path.join(tables, f"othello-{size}{suffix}"), []
    for bound in [[], ["--memory", limit]]:
        enumerated = run("enumerate", "--size", size, "--transitions", transitions, *bound)
        solved = run("value-iterate", *bound, f"othello-{size}{suffix}")
        figures = " | ".join(f"{seconds:.1f} s, {peak / 1e6:.0f} MB" for seconds, peak in [enumerated, solved])
        print(f"| {transitions} | {limit if bound else 'any'} | {figures} |", flush=True)
        assert not bound or max(enumerated[1], solved[1]) <= most, "more was allocated than was allowed"
        with open(os.path.join(place, "manifest.json")) as manifest:
            made.append(json.load(manifest)["arrays"])
        shutil.rmtree(place)
    assert made[0] == made[1], "memory changes the table"
PY
