#!/usr/bin/env bash
# Enumerates and solves minishogi from the start to PLIES plies, and every known mate with all moves of up to
# MATE_PLIES plies; searches every known mate by checks. Reports time, memory and the number of positions.
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

def asked(*command):
    ran = subprocess.run([solver, "--tables", tables, *command, "--json"],
                         check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ran.stdout)

made, value, (enumerating, solving) = solved("--max-depth", plies)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
print(f"{plies} plies from the start: {made['manifest']['counts']['table']['states']:,} positions, "
      f"enumerate {enumerating:.1f} s, value-iterate {solving:.1f} s; no process above {peak:.2f} GiB")

for position in positions:
    sfen = position["sfen"]
    mate = asked("solve", "minishogi", sfen, "--search")
    by_checks, length = position.get("tsume_checks_only_plies"), position["mate_plies"]
    if by_checks:
        found = mate["by_checks"]
        assert (found["plies"], found["is_shortest"]) == (by_checks, True), (sfen, found)
        assert found["line"][0] in position["tsume_first_moves"], (sfen, found)
    if length and length <= 9:
        assert mate["distance"] == length, (sfen, mate)
        assert mate["principal_variation"][0] in position["optimal_first_moves_usi"], (sfen, mate)
    print(f"{sfen}: win in {length}, by checks in {by_checks}, by search: "
          f"{mate['nodes']:,} positions, {mate['seconds']:.3f} s", flush=True)
    if not length or length > int(mate_plies):
        continue
    made, value, took = solved("--root", sfen, "--max-depth", str(length))
    if made is None:
        print(f"{sfen}: win in {length}, by table: {value}", flush=True)
        continue
    states = made["manifest"]["counts"]["table"]["states"]
    found = value["roots"][0]
    assert (found["outcome"], found["distance"]) == (1, length), (sfen, found)
    answer = asked("query", made["table"], sfen)
    best = {m["move"] for m in answer["moves"] if m["result"] == "win" and m["distance"] == length}
    assert best == set(position["optimal_first_moves_usi"]), (sfen, best)
    print(f"{sfen}: win in {length}, by table: {states:,} positions, {sum(took):.1f} s", flush=True)
shutil.rmtree(tables, ignore_errors=True)
PY
