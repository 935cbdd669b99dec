"""Code in the pages: every block marked `python` runs, one after the other in an empty directory.

A block with another word beside `python` needs that package. Where it is missing, `STAND_IN` takes the place of the
names that later blocks use.
"""

import importlib.util
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: A module that has what PyTorch's have: `training`, `eval` and `train`.
STAND_IN = '''
class StandIn:
    training = True

    def __init__(self):
        self.weights = np.zeros((32, 17), np.float32)

    def train(self, mode=True):
        self.training = mode
        return self

    def eval(self):
        return self.train(False)

    def __call__(self, planes):
        assert not self.training, "measured in training mode"
        return planes.reshape(len(planes), -1) @ self.weights

network = StandIn()

def step(planes, policy):
    network.weights += 1e-3 * planes.reshape(len(planes), -1).T @ (policy - 1 / 17)

q_network, target = StandIn().eval(), StandIn().eval()

def q_values(network, planes):
    return network(planes)

def learn(planes, actions, goals):
    rows = np.zeros((len(planes), 17), np.float32)
    rows[range(len(planes)), actions] = goals - q_network(planes)[range(len(planes)), actions]
    q_network.weights += 1e-3 * planes.reshape(len(planes), -1).T @ rows

def update_target():
    target.weights = q_network.weights.copy()
'''


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "python/README.md"])
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("YOMIKIRI_TABLES", raising=False)
    blocks = re.findall(r"^```python(?: (\w+))?\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    expected = os.environ.get("YOMIKIRI_FRAMEWORKS", "").split()
    names, stands_in = {}, False
    for needs, block in blocks:
        if needs and importlib.util.find_spec(needs) is None:
            assert needs not in expected, needs
            if needs == "torch" and not stands_in:
                exec(STAND_IN, names)
                stands_in = True
            continue
        exec(compile(block, page, "exec"), names)
    if page == "docs/python.md":
        assert names["curve"][-1] > 0.4 and names["scalars"]["ym/result_kept"] == names["curve"][-1]
        assert len(names["q_curve"]) == 4 and names["q_curve"][-1] > 0.4, names["q_curve"]
