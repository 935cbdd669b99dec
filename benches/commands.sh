#!/usr/bin/env bash
# Measures the commands as whole processes on 4x4 and 4x5: time and memory, the best of five.
#   bash benches/commands.sh [DIR]      (after cargo build --release; SOLVER names another program)
set -euo pipefail
solver=${SOLVER:-"$(dirname "$0")/../target/release/solver"}
root=${1:-$(mktemp -d)}

python3 - "$solver" "$root" <<'PY'
import os, resource, shutil, subprocess, sys, time

solver, root = sys.argv[1:]
for size in ("4x4", "4x5"):
    best = {}
    for run in range(5):
        tables = os.path.join(root, f"{size}-{run}")
        for args in (["enumerate", "--size", size], ["value-iterate"]):
            begin = time.perf_counter()
            subprocess.run([solver, "--tables", tables, "-q", *args], check=True,
                           stdout=subprocess.DEVNULL)
            took = time.perf_counter() - begin
            best[args[0]] = min(took, best.get(args[0], took))
        shutil.rmtree(tables)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    times = ", ".join(f"{name} {1000 * took:.0f} ms" for name, took in best.items())
    print(f"{size}: {times}; no process above {peak:.0f} MiB so far")
PY
