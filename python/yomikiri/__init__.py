"""Exact values of small board games, and how good a policy is, exactly.

    import yomikiri as ym
    table = ym.solve("othello-4x4")         # builds the table, or opens what is there
    values = table.lookup(planes)           # planes, bitboards, keys or texts
    values.score, values.q, values.optimal  # NumPy arrays
    report = ym.evaluate(table, policy)     # policy: a callable on a batch, or a name
    report.metrics["result_kept"]

All values are those of the player to move (the mover): an outcome is 1 (a win), 0 (a draw) or -1
(a loss), a score is a final difference of discs. Actions are numbers: ``row * columns + column`` in
Othello, a1 at the top left being 0, and the number of squares for a pass.
"""

from ._core import PolicyError, PositionError, TableError, YomikiriError, __version__
from ._games import Game, Position, Positions, game
from ._measure import Comparison, Match, Report, compare, evaluate, exploitability, match
from ._tables import Batch, Table, Values, open, solve


def env(game_or_table="othello-4x4", **options):
    """A Gymnasium environment of one player; see `yomikiri.envs.SinglePlayer`."""
    from .envs import SinglePlayer

    return SinglePlayer(game_or_table, **options)


def aec_env(game_or_table="othello-4x4", **options):
    """A PettingZoo AEC environment of both players; see `yomikiri.envs.TwoPlayers`."""
    from .envs import TwoPlayers

    return TwoPlayers(game_or_table, **options)


def bind(core, name: str | None = None):
    """This package for games of one's own: ``core`` is a module that was made by ``yomikiri_python::module``
    (``docs/python.md``). Gives a package like this one, ``name``, that knows these games too."""
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
