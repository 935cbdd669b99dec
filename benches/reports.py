"""Times reports as whole processes, several programs in turn, and compares their figures.

    python3 benches/reports.py [ROW...] [-- SOLVER...]      (after cargo build --release)

Prints the least user CPU time of each program, and its ratio to the first one's. Each makes its tables in a directory
of its own, below the directory TABLES if they shall be kept. RUNS is the number of runs, 3 without it.

Rows, all of them if none is named:
  loops    a game in which play can repeat: animal-shogi-3x3, three policies, with games and best responses
  network  a convolutional network on all positions of 4x5, answers only: minutes a run; needs
           the packages numpy and onnx
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

#: Figures of animal-shogi-3x3 by policy; tests/policies/endless.rs has games and responses on it by another road.
LOOPS = {
    "random": {"all_positions": 94521.0, "result_kept": 0.367495447, "exploited_result": 0.999421024},
    "perfect": {"all_positions": 94521.0, "result_kept": 1.0, "exploited_result": 0.0},
}


def convolutional(path):
    """Writes a network for 4x5 with random weights: four convolutions, then a policy of 21 actions."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    channels = 32
    random = np.random.default_rng(0)
    nodes, weights, last = [], [], "planes"
    for at in range(4):
        size = (channels, channels if at else 2, 3, 3)
        weights.append((f"w{at}", random.normal(0, 1 / np.sqrt(9 * size[1]), size)))
        sizes = {"pads": [1, 1, 1, 1], "strides": [1, 1], "dilations": [1, 1]}
        nodes.append(helper.make_node("Conv", [last, f"w{at}"], [f"c{at}"], **sizes))
        nodes.append(helper.make_node("Relu", [f"c{at}"], [f"r{at}"]))
        last = f"r{at}"
    weights.append(("head", random.normal(0, 1 / np.sqrt(20 * channels), (20 * channels, 21))))
    nodes.append(helper.make_node("Flatten", [last], ["flat"]))
    nodes.append(helper.make_node("MatMul", ["flat", "head"], ["policy"]))
    shape = lambda name, *sizes: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *sizes])
    stored = [numpy_helper.from_array(array.astype("f4"), name) for name, array in weights]
    graph = helper.make_graph(nodes, "convolutions", [shape("planes", 2, 4, 5)], [shape("policy", 21)], stored)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def measure(solver, tables, *args):
    """Returns the figures of each policy in a report, and the user CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [solver, "--tables", tables, "-q", "report", "--json", *args]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return {one.pop("policy"): one for one in json.loads(text)["metrics"]}, seconds


def check(found, expected, solver):
    """Compares the figures that both have."""
    for policy, figures in expected.items():
        for figure in figures.keys() & found[policy].keys():
            one, other = figures[figure], found[policy][figure]
            is_close = None not in (one, other) and abs(one - other) < 1e-8 * max(1, abs(one))
            assert one == other or is_close, (solver, policy, figure, other, one)


def run(row, solvers, root, runs):
    """Times a row, and checks that all programs give the figures that are known, and each other's."""
    tables = [os.path.join(root, str(at)) for at in range(len(solvers))]
    os.makedirs(root, exist_ok=True)
    if row == "loops":
        made, args, known = ["--game", "animal-shogi-3x3"], ["--table", "animal-shogi-3x3"], LOOPS
    else:
        model = os.path.join(root, "convolutional.onnx")
        convolutional(model)
        made, args = ["--size", "4x5"], ["--table", "othello-4x5", "--no-games", "--policy", f"onnx:{model}"]
        known = {}
    for solver, own in zip(solvers, tables):
        for command in ["enumerate", *made], ["value-iterate", args[1]]:
            subprocess.run([solver, "--tables", own, "-q", *command], check=True, stdout=subprocess.DEVNULL)
    times, first = [[] for _ in solvers], None
    for _ in range(runs):
        for solver, own, seconds in zip(solvers, tables, times):
            found, took = measure(solver, own, *args)
            seconds.append(took)
            first = first or found
            missing = [(policy, figure) for policy in known for figure in known[policy].keys() - found[policy].keys()]
            assert not missing, (solver, missing)
            check(found, known, solver)
            check(found, first, solver)
    for solver, seconds in zip(solvers, times):
        print(f"{row}: {min(seconds):.2f} s, {min(seconds) / min(times[0]):.2f}, {solver}", flush=True)


def main():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    rows = words[:end] or ["loops", "network"]
    solvers = words[end + 1 :] or [os.path.join(HERE, "../target/release/solver")]
    if unknown := set(rows) - {"loops", "network"}:
        sys.exit(f"unknown rows {' '.join(sorted(unknown))}: expected loops or network")
    with tempfile.TemporaryDirectory() as root:
        for row in rows:
            run(row, solvers, os.environ.get("TABLES", root), int(os.environ.get("RUNS", 3)))


if __name__ == "__main__":
    main()
