#!/usr/bin/env python3
"""Writes the tables of docs/results/scale.md from its constants, its measurements and the states of every layer.

    cargo run --release --example how_many -- 5x6 > 5x6.csv    # for each board; the rows go into benches/how_many.csv
    python3 benches/scale.py                                   # replaces the text between the page's marks

Constants and measurements are read from the tables below "Constants" and "Measured" of the page itself.
"""
import csv, json, math, pathlib, re

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs/results/scale.md"
text = page.read_text(encoding="utf-8")


def rows_below(heading):
    part = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line.strip()[1:-1] for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]


def number(cell):
    return float(cell.replace(",", "")) if cell else None


c = {row[0].strip("`"): number(row[1]) for row in rows_below("Constants")}
measured = {(row[0], int(row[1])): [number(cell) for cell in row[2:4]] for row in rows_below("Measured")}
boards = {}
with open(root / "benches/how_many.csv", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        layer = {name: float(value) for name, value in row.items() if name != "board"}
        boards.setdefault(row["board"], []).append(layer)


def crowding(blocks, workers):
    """Returns the load of the fullest worker over the mean, for blocks of equal size assigned at random."""
    mean = blocks / workers
    if workers == 1 or mean > 1e6:
        return 1.0
    # The smallest load that less than half a worker is expected to exceed.
    probability, below, load = math.exp(-mean), 0.0, 0
    if probability == 0.0:
        return 1 + math.sqrt(2 * math.log(workers) / mean)
    while (below := below + probability) < 1 - 0.5 / workers:
        load += 1
        probability *= mean / load
    return max(load, 1) / mean


def cost(layer, machines, workers):
    """Returns a layer's seconds forwards and backwards, and bytes. CPU, network or disk is the bottleneck."""
    p, all_workers = machines, machines * workers
    states, moves = layer["states"], layer["moves"]
    blocks = layer["blocks"] / c["images"]
    crowded, machine_crowded = crowding(blocks, all_workers), crowding(blocks, p)
    away = (p - 1) / p
    sent = [c["forwards_bytes"] * moves, c["backwards_bytes"] * moves]
    kept = [c["state_bytes"] * states, c["value_bytes"] * states]
    work = [c["move_seconds"] * moves + c["state_seconds"] * states, c["value_seconds"] * moves]
    network = [away * bytes / p / c["network"] for bytes in sent]
    # Received data may pass through a file, written and read once; states are written and read once more.
    disk = [(2 * c["spool"] * kept[0] + 2 * kept[0]) / p / c["disk"], (kept[0] + 2 * kept[1]) / p / c["disk"]]
    even = [[work[way] / all_workers, network[way], disk[way]] for way in (0, 1)]
    paces = [[pace[0] * crowded, *(one * machine_crowded for one in pace[1:])] for pace in even]
    return {"crowded": crowded, "sent": sum(sent) * away, "kept": sum(kept), "paces": paces,
            "seconds": [max(pace) for pace in paces], "even": sum(max(pace) for pace in even)}


def amount(value, units=(("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))):
    for unit, size in units:
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} "


def count(value):
    if value < 1e7:
        return f"{value:,.0f}"
    exponent = int(math.log10(value))
    return f"{value / 10 ** exponent:.2f} · 10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def time(seconds):
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def interval(layer):
    return "counted" if not layer["samples"] else f"{count(layer['low'])} to {count(layer['high'])}"


def whole(layers):
    """Returns a board's states and moves, and half the width of the 95 % interval of the states."""
    states, moves = (sum(layer[name] for layer in layers) for name in ("states", "moves"))
    # Layers are drawn independently.
    return states, moves, math.sqrt(sum(((layer["high"] - layer["low"]) / 2) ** 2 for layer in layers))


def answer():
    out = ["| board | machines | states | hours, as it is | hours, were blocks shared evenly | sent over the network "
           "| disk, a machine | memory, a machine | money |", "|---|---|--:|--:|--:|--:|--:|--:|--:|"]
    for board, machines, workers in [("4x7", 1, 2), ("4x7", 1, 8), ("5x6", 1, 8), ("5x6", 4, 8), ("5x6", 16, 8)]:
        rows, columns = map(int, board.split("x"))
        if len(boards.get(board, [])) < rows * columns - 4:
            continue  # Sampling is incomplete; full boards, which have no moves and are few, may be missing.
        costs = [cost(layer, machines, workers) for layer in boards[board]]
        states, _, half = whole(boards[board])
        seconds, even = sum(sum(one["seconds"]) for one in costs), sum(one["even"] for one in costs)
        kept, sent = sum(one["kept"] for one in costs), sum(one["sent"] for one in costs)
        largest = max(layer["states"] for layer in boards[board])
        disk = (kept + c["spool"] * c["state_bytes"] * largest) / machines
        memory = c["values_share"] * c["value_bytes"] * largest / machines + workers * c["worker_memory"]
        money = machines * seconds / 3600 * c["price"]
        out.append(f"| {board.replace('x', '×')} | {machines} of {workers} workers "
                   f"| {count(states)} ± {100 * half / states:.1f} % | {seconds / 3600:.2g} | {even / 3600:.2g} "
                   f"| {amount(sent)}B | {amount(disk)}B | {amount(memory)}B | {money:,.2f} USD |")
    return out


def by_layer(board):
    out = ["| discs | states | 95 % interval | moves | crowding | forwards | backwards | paced by | sent | kept |",
           "|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|"]
    for layer in boards.get(board, []):
        if layer["states"] < 1e6 and layer["discs"] < 20:
            continue
        one = cost(layer, int(c["machines"]), int(c["workers"]))
        names = ["processors", "network", "disk"]
        slow = sorted({names[pace.index(max(pace))] for pace in one["paces"]})
        forwards, backwards = (time(seconds) for seconds in one["seconds"])
        out.append(f"| {layer['discs']:.0f} | {count(layer['states'])} | {interval(layer)} | {count(layer['moves'])} "
                   f"| {one['crowded']:.2f} | {forwards} | {backwards} | {', '.join(slow)} | {amount(one['sent'])}B "
                   f"| {amount(one['kept'])}B |")
    return out


def check():
    out = ["| board | discs | states, counted | predicted | off | seconds, measured | predicted | off |",
           "|---|--:|--:|--:|--:|--:|--:|--:|"]
    predicted = {(board, int(layer["discs"])): layer for board, layers in boards.items() for layer in layers}
    for (board, discs), (states, seconds) in measured.items():
        layer = predicted.get((board, discs))
        if layer is None:
            continue
        off = layer["states"] / states - 1
        line = f"| {board.replace('x', '×')} | {discs} | {states:,.0f} | {layer['states']:,.0f} | {100 * off:+.1f} % |"
        if seconds:
            work = (c["move_seconds"] * layer["moves"] + c["state_seconds"] * layer["states"]) / 2
            line += f" {seconds:.1f} | {work:.1f} | {100 * (work / seconds - 1):+.0f} % |"
        else:
            line += " | | |"
        out.append(line)
    return out


def intervals():
    """Returns a table of the number of intervals that contain the exact count, where that is known."""
    counted = {key: states for key, (states, _) in measured.items()}
    for board, layers in json.loads((root / "tests/data/othello-layers.json").read_text()).items():
        counted |= {(board, layer["discs"]): layer["states"] for layer in layers["layers"]}
    out = ["| board | layers drawn | intervals that hold what was counted | largest error of a layer |",
           "|---|--:|--:|--:|"]
    for board, layers in boards.items():
        drawn = [layer for layer in layers if layer["samples"] and (board, layer["discs"]) in counted]
        true = [counted[board, layer["discs"]] for layer in drawn]
        held = sum(layer["low"] <= states <= layer["high"] for layer, states in zip(drawn, true))
        worst = max((abs(layer["states"] / states - 1) for layer, states in zip(drawn, true)), default=None)
        if drawn:
            out.append(f"| {board.replace('x', '×')} | {len(drawn)} | {held} | {100 * worst:.1f} % |")
    return out


tables = {"answer": answer, "check": check, "intervals": intervals,
          "5x6": lambda: by_layer("5x6"), "4x7": lambda: by_layer("4x7")}
for name, make in tables.items():
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
    assert marks.search(text), f"{page}: no marks of '{name}'"
    text = marks.sub(lambda found: found[1] + "\n".join(make()) + "\n" + found[2], text)
page.write_text(text, encoding="utf-8")
