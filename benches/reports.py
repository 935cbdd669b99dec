"""Times reports as whole processes, several programs in turn, and compares their figures.

    python3 benches/reports.py [ROW...] [-- SOLVER...]      (after cargo build --release)

Prints the least user CPU time of each program, and its ratio to the first one's. Each makes its tables in a directory
of its own, below TABLES if they shall be kept. RUNS is the number of runs, 3 without it.

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


def convolutional(path, channels=32):
    """Writes a network for 4x5 with random weights: four convolutions, then a policy of 21 actions."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    random = np.random.default_rng(0)
    nodes, weights, last = [], [], "planes"
    for at in range(4):
        size = (channels, channels if at else 2, 3, 3)
        weights.append((f"w{at}", random.normal(0, 1 / np.sqrt(9 * size[1]), size)))
        nodes.append(helper.make_node("Conv", [last, f"w{at}"], [f"c{at}"], pads=[1, 1, 1, 1], strides=[1, 1], dilations=[1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{at}"], [f"r{at}"]))
        last = f"r{at}"
    weights.append(("head", random.normal(0, 1 / np.sqrt(20 * channels), (20 * channels, 21))))
    nodes.append(helper.make_node("Flatten", [last], ["flat"]))
    nodes.append(helper.make_node("MatMul", ["flat", "head"], ["policy"]))
    shape = lambda name, *sizes: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *sizes])
    stored = [numpy_helper.from_array(array.astype("f4"), name) for name, array in weights]
    graph = helper.make_graph(nodes, "convolutions", [shape("planes", 2, 4, 5)], [shape("policy", 21)], stored)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def asked(solver, tables, *args):
    """Returns what a report says of each policy, and its user CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [solver, "--tables", tables, "-q", "report", "--json", *args]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return {one["policy"]: one for one in json.loads(text)["metrics"]}, took


def close(one, other):
    return one == other or None not in (one, other) and abs(one - other) < 1e-8 * max(1, abs(one))


def row(name, solvers, tables, runs):
    """Times a row, and checks that all programs give the figures that are known, and each other's."""
    tables = [os.path.join(tables, str(at)) for at in range(len(solvers))]
    args, known = ["--game", "animal-shogi-3x3"], LOOPS
    if name == "network":
        os.makedirs(tables[0], exist_ok=True)
        model = os.path.join(tables[0], "convolutional.onnx")
        convolutional(model)
        args, known = ["--table", "othello-4x5", "--no-games", "--policy", f"onnx:{model}"], {}
        for solver, own in zip(solvers, tables):
            for command in ["enumerate", "--size", "4x5"], ["value-iterate", "othello-4x5"]:
                subprocess.run([solver, "--tables", own, "-q", *command], check=True, stdout=subprocess.DEVNULL)
    # The first round makes tables that are missing.
    first = [asked(solver, own, *args)[0] for solver, own in zip(solvers, tables)]
    times = [[] for _ in solvers]
    for _ in range(runs):
        for solver, own, took in zip(solvers, tables, times):
            found, seconds = asked(solver, own, *args)
            took.append(seconds)
            for policy, figures in known.items():
                for figure, value in figures.items():
                    assert close(found[policy][figure], value), (solver, policy, figure, found[policy][figure], value)
            for policy, figures in first[0].items():
                for figure in figures.keys() & found[policy].keys() - {"policy"}:
                    assert close(found[policy][figure], figures[figure]), (solver, policy, figure)
    for solver, took in zip(solvers, times):
        print(f"{name}: {min(took):.2f} s, {min(took) / min(times[0]):.2f}, {solver}", flush=True)


def main():
    before, _, after = " ".join(sys.argv[1:]).partition("--")
    solvers = after.split() or [os.path.join(HERE, "../target/release/solver")]
    names = before.split() or ["loops", "network"]
    if unknown := set(names) - {"loops", "network"}:
        sys.exit(f"unknown rows {' '.join(sorted(unknown))}: expected loops or network")
    with tempfile.TemporaryDirectory() as tables:
        for name in names:
            row(name, solvers, os.environ.get("TABLES", tables), int(os.environ.get("RUNS", 3)))


if __name__ == "__main__":
    main()
