#!/usr/bin/env bash
# Measures 'solver serve': batches of 1,000 positions, single requests at full speed and at about 2,000 a
# second, and the cost of 1,000 idle clients. Queries 20,000 random rows of each table repeatedly.
#   bash benches/serve.sh TABLES [TABLE...]    (after cargo build --release; SOLVER names another program)
# Needs wrk, and NumPy to draw positions of Othello from keys that are not packed. Linux only.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
solver="${SOLVER:-$here/../target/release/solver}"
tables="$1"
shift
work=$(mktemp -d)
"$solver" --tables "$tables" serve >"$work/address" 2>/dev/null &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until [ -s "$work/address" ]; do sleep 0.1; done
address=$(head -1 "$work/address")api/v1

cat >"$work/batch.lua" <<'LUA'
local lines, bodies, n = {}, {}, 0
for line in io.lines(os.getenv("POSITIONS")) do lines[#lines + 1] = line end
for i = 1, 20 do bodies[i] = table.concat(lines, "\n", i * 1000 - 999, i * 1000) end
request = function() n = n + 1; return wrk.format("POST", nil, nil, bodies[n % 20 + 1]) end
LUA
cat >"$work/single.lua" <<'LUA'
local paths, n = {}, 0
for line in io.lines(os.getenv("POSITIONS")) do
  paths[#paths + 1] = wrk.path .. "?position=" .. line:gsub(" ", "%%20"):gsub(";", "%%3b")
end
request = function() n = n + 1; return wrk.format("GET", paths[n % #paths + 1]) end
LUA
{ cat "$work/single.lua"; echo 'delay = function() return 3 end'; } >"$work/paced.lua"

for table in "$@"; do
  # Packed tables contain the same positions as the table they were packed from.
  python3 - "$tables/${table%.packed}/keys.npy" "$tables/$table/manifest.json" "$work/positions" <<'PY'
import json, sys
import numpy as np

keys, manifest, out = sys.argv[1:]
rows, columns = map(int, json.load(open(manifest))["identity"]["game"].split("-")[1].split("x"))
n, keys = rows * columns, np.load(keys, mmap_mode="r")
with open(out, "w") as file:
    for key in keys[np.random.default_rng(1).integers(0, len(keys), 20_000)]:
        occupied, mover = int(key) >> n, int(key) & (1 << n) - 1
        signs = ("X" if mover >> i & 1 else "O" if occupied >> i & 1 else "-" for i in range(n))
        file.write("".join(signs) + " X;\n")
PY
  export POSITIONS="$work/positions"
  run() { wrk -t1 "-c$1" -d8s --latency -s "$work/$2.lua" "$address/$table" | grep -E '^ +(50|99)%|Requests/sec:|Non-2xx' | tr '\n' ' '; }
  run 4 batch >/dev/null
  echo "$table, batches of 1,000:   $(run 4 batch)"
  echo "$table, singles:            $(run 8 single)"
  echo "$table, paced singles:      $(run 8 paced)"
done

python3 - "$address" $server <<'PY'
import re, socket, sys, time
from urllib.parse import urlsplit

address, server = sys.argv[1:]
def allocated():
    return int(re.search(r"RssAnon:\s+(\d+)", open(f"/proc/{server}/status").read()).group(1))
before, at, clients = allocated(), urlsplit(address), []
for _ in range(1000):
    clients.append(socket.create_connection((at.hostname, at.port)))
    clients[-1].sendall(b"GET /api/v1/tables HTTP/1.1\r\nhost: localhost\r\n\r\n")
for client in clients:
    assert client.recv(65536).startswith(b"HTTP/1.1 200")
time.sleep(1)
print(f"1,000 idle clients: {(allocated() - before) / 1000:.1f} MB")
PY
