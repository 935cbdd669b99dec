#!/usr/bin/env bash
# Measures the cost of distributing a board over processes: one process of two threads against two of one,
# beside the plain run, with the bytes sent per move and the largest memory of a process. Checks that all make
# the same bytes. With network namespaces (root, iproute2), runs two hosts over slow, lossy and cut links too.
#   bash benches/cluster.sh [SIZE...]    (after cargo build --release --features cluster; SOLVER names another program)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
solver="${SOLVER:-$here/../target/release/solver}"
[ $# -gt 0 ] || set -- 4x5 4x6
work=$(mktemp -d)
cleanup() {
    ip netns del yomikiri-a 2>/dev/null || true
    ip netns del yomikiri-b 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

python3 - "$solver" "$work" "$@" <<'PY'
import glob, hashlib, json, os, resource, shutil, signal, subprocess, sys, time

solver, work, *sizes = sys.argv[1:]

def digest(table):
    all = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(table, "*"))):
        all.update(os.path.basename(path).encode())
        with open(path, "rb") as file:
            while block := file.read(1 << 24):
                all.update(block)
    return all.hexdigest()

def timed(tables, *args):
    """Runs a command; returns seconds, peak anonymous memory of a process in MB (polled), and stdout."""
    begin, peak = time.perf_counter(), 0
    process = subprocess.Popen([solver, "--tables", tables, "-q", *args], stdout=subprocess.PIPE)
    while process.poll() is None:
        for status in glob.glob("/proc/[0-9]*/status"):
            try:
                text = open(status).read()
                if "Name:\tsolver" in text and "RssAnon" in text:
                    peak = max(peak, int(text.split("RssAnon:")[1].split()[0]))
            except OSError:
                pass
        time.sleep(0.02)
    said = process.stdout.read().decode()
    assert process.returncode == 0, args
    return time.perf_counter() - begin, peak / 1000, said

def objects(text):
    read, at = json.JSONDecoder(), 0
    while at < len(text):
        one, at = read.raw_decode(text, at)
        yield one
        at += len(text[at:]) - len(text[at:].lstrip())

for size in sizes:
    name, rows, wanted = f"othello-{size}-derived", [], None
    for label, args in [("plain, 2 threads", ["--transitions", "derived"]),
                        ("1 process of 2", ["--processes", "1", "--threads", "2"]),
                        ("2 processes of 1", ["--processes", "2", "--threads", "1"]),
                        ("the same in 300M", ["--processes", "2", "--threads", "1", "--memory", "300M"])]:
        tables = os.path.join(work, "tables")
        shutil.rmtree(tables, ignore_errors=True)
        spread = "--processes" in args
        found, peak, said = timed(tables, "enumerate", "--size", size, *args, *(["--json"] if spread else []))
        solved, more, also = timed(tables, "value-iterate", *(["--size", size, *args, "--json"] if spread else []))
        sent = sum(part["bytes_sent"] for part in objects(said + also)) if spread else 0
        gathered = timed(tables, "gather", "--size", size)[0] if spread else 0
        made = digest(os.path.join(tables, name))
        wanted = wanted or made
        assert made == wanted, f"{size}: {label} makes other bytes"
        moves = json.load(open(os.path.join(tables, name, "manifest.json")))["counts"]["table"]["transitions"]
        rows.append((found, solved, gathered))
        print(f"{size}, {label}: enumerate {found:.2f} s, value-iterate {solved:.2f} s, gather {gathered:.2f} s, no process "
              f"allocates above {max(peak, more):,.0f} MB" + (f", {sent / moves:.1f} bytes sent a move" if spread else ""), flush=True)
    (a, b, _), (c, d, _) = rows[1:3]
    print(f"{size}, two processes over one: enumerate {c / a:.2f}, value-iterate {d / b:.2f}", flush=True)
PY

# Processes are killed at random moments, ten times forwards and ten times backwards, and restarted.
python3 - "$solver" "$work" "${!#}" <<'PY'
import os, random, shutil, socket, subprocess, sys, time

solver, work, size = sys.argv[1:]
print(f"{size}, killed: ", end="", flush=True)
chance, tables = random.Random(), os.path.join(work, "killed")
base = [solver, "--tables", tables, "-q"]
for words in (["enumerate", "--size", size, "--transitions", "derived"], ["value-iterate"]):
    subprocess.run([solver, "--tables", os.path.join(work, "whole"), "-q", *words], check=True, stdout=subprocess.DEVNULL)
for command in ("enumerate", "value-iterate"):
    kills = rounds = 0
    while True:
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        with open(os.path.join(work, "ports"), "w") as file:
            file.writelines(f"127.0.0.1:{s.getsockname()[1]}\n" for s in sockets)
        for s in sockets:
            s.close()
        both = [subprocess.Popen([*base, command, "--size", size, "--hosts", os.path.join(work, "ports"), "--process", str(k),
                                  "--threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for k in (0, 1)]
        if kills < 10:
            time.sleep(chance.uniform(0.3, 2.5))
            killed = both[chance.randrange(2)]
            kills += killed.poll() is None
            killed.kill()
        begin = time.monotonic()
        said = [p.communicate()[1].decode() for p in both]
        assert time.monotonic() - begin < (15 if kills < 10 else 600), "the other hangs"
        assert all(len(line.splitlines()) <= 1 for line in said), said
        rounds += 1
        if all(p.returncode == 0 for p in both):
            if kills >= 10:
                break
            # It finished before it was killed often enough: start again.
            shutil.rmtree(tables, ignore_errors=True)
            if command == "value-iterate":
                states = [*base, "enumerate", "--size", size, "--processes", "2", "--threads", "1"]
                subprocess.run(states, check=True, stdout=subprocess.DEVNULL)
    print(f"{command} {kills} times in {rounds} runs, ", end="", flush=True)
subprocess.run([*base, "gather", "--size", size], check=True, stdout=subprocess.DEVNULL)
name = f"othello-{size}-derived"
subprocess.run(["diff", "-r", os.path.join(tables, name), os.path.join(work, "whole", name)], check=True)
print("the same bytes", flush=True)
shutil.rmtree(tables)
shutil.rmtree(os.path.join(work, "whole"))
PY

if [ "$(id -u)" != 0 ] || ! ip netns add yomikiri-a 2>/dev/null; then
    echo "no network namespaces: root and iproute2 are needed"
    exit 0
fi
ip netns add yomikiri-b
ip link add ya netns yomikiri-a type veth peer name yb netns yomikiri-b
ip -n yomikiri-a addr add 10.99.0.1/24 dev ya
ip -n yomikiri-b addr add 10.99.0.2/24 dev yb
for end in a b; do
    ip -n yomikiri-$end link set lo up
    ip -n yomikiri-$end link set y$end up
done
printf '10.99.0.1:7101\n10.99.0.2:7101\n' >"$work/hosts"

both() {
    ip netns exec yomikiri-a "$solver" --tables "$work/$1" -q "${@:2}" --hosts "$work/hosts" --process 0 >/dev/null &
    local first=$!
    ip netns exec yomikiri-b "$solver" --tables "$work/$1" -q "${@:2}" --hosts "$work/hosts" --process 1 >/dev/null
    wait $first
}
"$solver" --tables "$work/one" -q enumerate --size 4x5 --transitions derived >/dev/null
"$solver" --tables "$work/one" -q value-iterate >/dev/null
spread() {
    rm -rf "$work/two"
    local begin end
    begin=$(date +%s.%N)
    both two enumerate --size 4x5
    both two value-iterate --size 4x5
    end=$(date +%s.%N)
    "$solver" --tables "$work/two" -q gather --size 4x5 >/dev/null
    diff -r "$work/one/othello-4x5-derived" "$work/two/othello-4x5-derived"
    printf '4x5 by two hosts, link %s: %.1f s, the same bytes\n' "$1" "$(awk "BEGIN { print $end - $begin }")"
}
spread "as it is"
printf '10.98.0.1:7101\n10.98.0.2:7101\n' >"$work/hosts"
for link in delay=0.02 "delay=0.005 loss=0.02" rate=100e6; do
    # shellcheck disable=SC2086
    python3 "$here/link.py" yomikiri-a 10.98.0.1 yomikiri-b 10.98.0.2 $link >"$work/link" 2>"$work/carried" &
    emulator=$!
    until grep -q ready "$work/link"; do
        kill -0 $emulator 2>/dev/null || { cat "$work/carried"; exit 1; }
        sleep 0.1
    done
    spread "$link"
    kill $emulator
    wait $emulator || true
    tail -1 "$work/carried"
done
printf '10.99.0.1:7101\n10.99.0.2:7101\n' >"$work/hosts"
rm -rf "$work/two"
(both two enumerate --size 4x6 2>"$work/said" || true) &
sleep 2
begin=$(date +%s)
ip -n yomikiri-a link set ya down
wait
echo "4x6 by two hosts, cut after 2 s: both have stopped $(($(date +%s) - begin)) s later, and say:"
cat "$work/said"
