"""Solves small board games exactly and measures policies against the exact values.

    import yomikiri as ym
    table = ym.solve("othello-4x4")         # builds the table, or opens an existing one
    values = table.lookup(planes)           # planes, bitboards, keys or texts
    values.score, values.q, values.optimal  # NumPy arrays
    report = ym.evaluate(table, policy)     # policy: a callable on a batch, or a name
    report.metrics["result_kept"]

All values are from the view of the player to move (the mover): an outcome is 1 (win), 0 (draw) or -1
(loss), a score is the final disc difference. Actions are integers: ``row * columns + column`` in
Othello, where a1 (top left) is 0, and the number of squares for a pass.
"""

from ._core import PolicyError, PositionError, TableError, YomikiriError, __version__
from ._games import Game, Position, Positions, game
from ._measure import Comparison, Match, Report, compare, evaluate, exploitability, match
from ._tables import Batch, Table, Values, open, solve


def env(game_or_table="othello-4x4", **options):
    """Returns a Gymnasium environment of one player; see `yomikiri.envs.SinglePlayer`."""
    from .envs import SinglePlayer

    return SinglePlayer(game_or_table, **options)


def aec_env(game_or_table="othello-4x4", **options):
    """Returns a PettingZoo AEC environment of both players; see `yomikiri.envs.TwoPlayers`."""
    from .envs import TwoPlayers

    return TwoPlayers(game_or_table, **options)


def bind(core, name: str | None = None):
    """Returns a package like this one, named ``name``, that also knows the games of ``core``: a module made
    by ``yomikiri_python::module`` (``docs/python.md``)."""
    import importlib.util
    import sys
    from pathlib import Path

    name = name or f"yomikiri_{core.__name__.rpartition('.')[2]}"
    if name not in sys.modules:
        here = Path(__file__)
        spec = importlib.util.spec_from_file_location(name, here, submodule_search_locations=[str(here.parent)])
        package = importlib.util.module_from_spec(spec)
        sys.modules[name], sys.modules[f"{name}._core"], package._core = package, core, core
        spec.loader.exec_module(package)
    return sys.modules[name]


__all__ = [
    "Batch", "Comparison", "Game", "Match", "PolicyError", "Position", "PositionError", "Positions", "Report",
    "Table", "TableError", "Values", "YomikiriError", "__version__", "aec_env", "bind", "compare", "env", "evaluate",
    "exploitability", "game", "match", "open", "solve",
]
