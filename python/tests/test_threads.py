"""Threads that outlive the main one, and forked processes; each in an interpreter of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

NETWORK = Path(__file__).parents[2] / "tables" / "policies" / "td-othello-4x4.onnx"

BEGIN = """
import os, signal, sys, threading, time, warnings
import numpy as np
import yomikiri as ym

warnings.simplefilter("ignore")
table = ym.solve("othello-4x4", tables=sys.argv[1], progress=False)

def asked(planes):
    time.sleep(0.02)
    return np.zeros((len(planes), 17), np.float32)
"""

DAEMON = BEGIN + """
def go():
    ym.evaluate(table, asked, games=False)
    print("not cancelled")

threading.Thread(target=go, daemon=True).start()
time.sleep(float(sys.argv[2]))
print("the end", flush=True)
"""

FORKED = BEGIN + """
def go():
    ym.evaluate(table, lambda planes: np.zeros((len(planes), 17)), games=False)

thread = threading.Thread(target=go)
thread.start()
children = []
for _ in range(30):
    children.append(os.fork())
    if children[-1] == 0:
        signal.alarm(30)
        go()
        os._exit(7)
    time.sleep(0.0003)
thread.join()
assert all(os.waitpid(child, 0)[1] == 7 << 8 for child in children)
print("the end", flush=True)
"""

MODEL = BEGIN + """
ym.evaluate(table, sys.argv[2], games=False)
child = os.fork()
if child == 0:
    signal.alarm(30)
    try:
        ym.evaluate(table, sys.argv[2], games=False)
    except ym.PolicyError as error:
        os._exit(7 if "spawn" in str(error) else 8)
assert os.waitpid(child, 0)[1] == 7 << 8
print("the end", flush=True)
"""


def run(program, *arguments):
    ran = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "the end\n", ""), ran


@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_the_main_thread_may_end_while_another_evaluates(table, tables, seconds):
    run(DAEMON, tables, seconds)


def test_a_process_forked_during_the_first_evaluation_evaluates(table, tables):
    run(FORKED, tables)


def test_a_model_in_a_process_forked_from_one_with_models_is_refused(table, tables):
    run(MODEL, tables, f"onnx:{NETWORK}")
