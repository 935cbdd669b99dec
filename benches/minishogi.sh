#!/usr/bin/env bash
# Enumerates and solves minishogi from the start to PLIES plies, and every known mate: by checks, and with all
# moves up to MATE_PLIES plies. Reports time, memory and the number of positions.
#   bash benches/minishogi.sh [PLIES] [MATE_PLIES] [DIR]      (after cargo build --release; SOLVER names another program)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root=${3:-$(mktemp -d)}

python3 - "${SOLVER:-$here/../target/release/solver}" "$root" "$here/../tests/data/minishogi-mates.json" \
    "${1:-7}" "${2:-3}" <<'PY'
import json, os, resource, shutil, subprocess, sys, time

solver, root, truth, plies, mate_plies = sys.argv[1:]
positions = json.load(open(truth))["positions"]
tables = os.path.join(root, "minishogi-bench")

def solved(*bound):
    """Enumerates and solves; returns the enumeration, the solution, and the seconds of each."""
    shutil.rmtree(tables, ignore_errors=True)
    begin = time.perf_counter()
    common = [solver, "--tables", tables, "-q"]
    made = subprocess.run([*common, "enumerate", "--game", "minishogi", *bound, "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        return None, made.stderr.strip(), 0
    middle = time.perf_counter()
    values = subprocess.run([*common, "value-iterate", "--json"], check=True,
                            stdout=subprocess.PIPE, text=True)
    end = time.perf_counter()
    value = json.loads(values.stdout)["solution"]
    return json.loads(made.stdout), value, (middle - begin, end - middle)

def query(table, sfen):
    asked = subprocess.run([solver, "--tables", tables, "query", table, sfen, "--json"],
                           check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(asked.stdout)

made, value, (enumerating, solving) = solved("--max-depth", plies)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
print(f"{plies} plies from the start: {made['manifest']['counts']['table']['states']:,} positions, "
      f"enumerate {enumerating:.1f} s, value-iterate {solving:.1f} s; no process above {peak:.2f} GiB")

for position in positions:
    sfen = position["sfen"]
    roads = [("full width", position["mate_plies"], position.get("optimal_first_moves_usi"), []),
             ("checks only", position.get("tsume_checks_only_plies"),
              position.get("tsume_first_moves"), ["--checks-only"])]
    for road, length, first, option in roads:
        if not length or (road == "full width" and length > int(mate_plies)):
            continue
        made, value, took = solved("--root", sfen, "--max-depth", str(length), *option)
        if made is None:
            print(f"{sfen}: mate in {length}, {road}: {value}", flush=True)
            continue
        states = made["manifest"]["counts"]["table"]["states"]
        found = value["roots"][0]
        assert (found["outcome"], found["distance"]) == (1, length), (sfen, road, found)
        answer = query(made["table"], sfen)
        best = {m["move"] for m in answer["moves"]
                if m["result"] == "win" and m["distance"] == length}
        assert best == set(first), (sfen, road, best, first)
        print(f"{sfen}: mate in {length}, {road}: {states:,} positions, {sum(took):.1f} s", flush=True)
shutil.rmtree(tables, ignore_errors=True)
PY
