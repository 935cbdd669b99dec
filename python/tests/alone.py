"""Each optional package is imported by what needs it: with NumPy alone, and with one package alone.

    python alone.py [MODULE]     # the module that is installed beside NumPy
"""

import importlib.util
import sys

import yomikiri as ym

table = ym.solve("othello-4x4")
report = ym.evaluate(table, "greedy", games=False)


def made():
    import gymnasium

    return gymnasium.make("yomikiri/Othello4x4-v0").reset(seed=0)


#: What needs which module.
FEATURES = {
    "gymnasium": [lambda: ym.env(table).reset(seed=0), made, lambda: ym.envs.SinglePlayer(table)],
    "pettingzoo": [lambda: ym.aec_env(table).reset(), lambda: ym.envs.TwoPlayers(table)],
    "pandas": [lambda: report.to_pandas()],
    "pyspiel": [lambda: ym.openspiel.game("othello-4x4").new_initial_state()],
    "tqdm": [lambda: ym.evaluate(table, "greedy", games=False, progress=True)],
    "torch": [lambda: table.lookup(__import__("torch").zeros(1, 2, 4, 4))],
}
wanted = sys.argv[1:]
assert not wanted or importlib.util.find_spec(wanted[0]), f"{wanted[0]} is not installed"
for module, calls in FEATURES.items():
    for call in calls:
        try:
            call()
        except ModuleNotFoundError as error:
            assert importlib.util.find_spec(module) is None or "\n" not in str(error), error
            assert error.name is not None and importlib.util.find_spec(error.name) is None, error
            own = call is made or module == "torch"  # of the user's own line
            assert own or f"pip install {'open_spiel' if error.name == 'pyspiel' else error.name}" in str(error), error
            assert module not in wanted, f"{module} is not enough for what needs it: {error}"
        except ym.PositionError:
            pass  # no position, but the package was enough
        else:
            assert importlib.util.find_spec(module) is not None, f"worked without {module}"
print(f"with {wanted[0] if wanted else 'NumPy alone'}: done")
