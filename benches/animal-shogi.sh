#!/usr/bin/env bash
# Animal shogi whole: enumerated, solved, its totals held against the published ones, and the page
# docs/results/animal-shogi.md written anew; then packed. Takes some minutes, 1 GB of memory and 2 GB of disk.
#   bash benches/animal-shogi.sh [DIR]      (after cargo build --release; SOLVER names another program)
# PEER names a command that makes the table of clausecker/dobutsu, the best program known to us: it is run
# afterwards, in the same sitting, and the ratio of processor times is printed.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root=${1:-$(mktemp -d)}

PEER=${PEER:-} python3 - "${SOLVER:-$here/../target/release/solver}" "$root" "$here/../tests/data/animal-shogi.json" <<'PY'
import json, os, resource, shlex, subprocess, sys, time

solver, root, truth_file = sys.argv[1:]
truth = json.load(open(truth_file))

spent = {}

def timed(what, command):
    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent[what] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what}: {time.perf_counter() - begin:.0f} s, {cpu:.0f} s of processors; "
          f"no process above {after.ru_maxrss / 2**20:.2f} GiB so far", flush=True)
    return done.stdout

def run(*args):
    return timed(args[0], [solver, "--tables", root, "-q", *args])

def size_of(table):
    directory = os.path.join(root, table)
    return sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))

made = json.loads(run("enumerate", "--game", "animal-shogi", "--json"))["manifest"]
counts = made["counts"]
assert counts["table"]["states"] == truth["total"]
assert counts["terminals_won"] == truth["catch"]
assert counts["table"]["terminals"] == truth["catch"] + truth["try_"]
assert counts["table"]["transitions"] == truth["edges"]
for ply, (total, catch, tried, _) in zip(made["layers"], truth["new_at_ply_total_catch_try_nonterminal"]):
    assert ply["table"]["states"] == total and ply["terminals_won"] == catch
    assert ply["table"]["terminals"] == catch + tried

solution = json.loads(run("value-iterate", "animal-shogi", "--json"))["solution"]
root_value = solution["roots"][0]
assert (root_value["outcome"], root_value["distance"]) == (-1, truth["root"]["distance"])

counted = json.loads(run("info", "animal-shogi", "--values", "--json"))["values"]
won, lost = (sum(counted[name]["by_distance"]) for name in ("won", "lost"))
drawn = counted["drawn"]["without_end"]
assert (won, lost, drawn) == (
    truth["total_W"], truth["total_L"], truth["nonterminal_D"])
longest = counted["longest"]
assert longest == truth["max_distance"]
print(f"{won:,} won, {lost:,} lost, {drawn:,} drawn; the first player loses in "
      f"{root_value['distance']}, the longest game takes {longest} plies")

size = size_of("animal-shogi")
assert size <= 350e6, size
print(f"the table has {size / 1e6:.1f} MB")

ply_rows = "".join(
    f"{ply:>3}  {row['table']['states']:>11,}  {row['table']['terminals']:>11,}  {row['terminals_won']:>11,}"
    f"  {row['table']['transitions']:>11,}\n" for ply, row in enumerate(made["layers"]))
page = f"""# Animal shogi, solved

**Question.** Who wins Dōbutsu shōgi (3×4), and how many positions has it? For people who compare their counts with ours.

**Answer.** White, in 78 plies. This page counts every position that can be reached from the start and its value under best play: outcome, and plies to the end, the winner shortening the
game and the loser prolonging it. Positions are counted as the player to move sees them, a position and its mirror image once. [Rules and conventions](../games/animal-shogi.md); infinite
play is a draw.

    bash benches/animal-shogi.sh     # writes this page, and compares all totals with those of Tanaka 2009 (tests/data/animal-shogi.json)

* {counts['table']['states']:,} positions, {counts['table']['terminals']:,} of them over:
  {truth['catch']:,} with a lion to capture, {truth['try_']:,} after a try.
* {counts['table']['transitions']:,} transitions, moves out of the others.
* {won:,} won, {lost:,} lost, {drawn:,} drawn.
* The first player loses in {root_value['distance']} plies. The longest game takes {longest}.
* The solved table takes {size / 1e6:.0f} MB. `solver verify animal-shogi` proves every value.

## By plies from the start

```text
ply    positions         over          won  transitions
{ply_rows}```

## By outcome and plies to the end

{run("info", "animal-shogi", "--values").split("### By plies to the end")[1].strip()}
"""
with open(os.path.join(os.path.dirname(truth_file), "../../docs/results/animal-shogi.md"), "w") as out:
    out.write(page)

run("pack", "animal-shogi", "--name", "animal-shogi-packed")
packed = size_of("animal-shogi-packed")
assert packed <= 120e6, packed
print(f"the packed table has {packed / 1e6:.1f} MB")

own = spent["enumerate"] + spent["value-iterate"]
print(f"{own:.0f} s of processors for every position, outcome and distance")
if os.environ["PEER"]:
    timed("peer", shlex.split(os.environ["PEER"]))
    print(f"{own / spent['peer']:.2f} times the peer's {spent['peer']:.0f} s")
PY
