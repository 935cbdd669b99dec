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

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

try:
    from ._core import PolicyError, PositionError, TableError, YomikiriError, __version__
except ModuleNotFoundError as error:
    if error.name != f"{__name__}._core":
        raise
    raise ImportError(
        "yomikiri is not compiled here: these are its sources. Run `pip install ./python` in the repository, which needs "
        "Rust (https://rustup.rs), or `pip install yomikiri` for a wheel", name=__name__, path=__file__) from None

from ._games import Game, GameRecord, Position, Positions, game, read_games
from ._gymnasium import register_with_import
from ._measure import Comparison, Match, Report, Review, compare, evaluate, exploitability, match, policy, review
from ._tables import Batch, Dataset, Table, Values, open, open_or_solve, solve, solve_listed
from ._walk import GameError


if __name__ == "yomikiri":  # not a package that `bind` made
    register_with_import()
del register_with_import


if TYPE_CHECKING:
    from . import envs as envs
    from . import openspiel as openspiel
    from . import pgx as pgx
    from .envs import SinglePlayer as env
    from .envs import TwoPlayers as aec_env
else:

    def env(game_or_table="othello-4x4", **options):
        """Returns a Gymnasium environment of one player; see `yomikiri.envs.SinglePlayer`."""
        from .envs import SinglePlayer

        return SinglePlayer(game_or_table, **options)

    def aec_env(game_or_table="othello-4x4", **options):
        """Returns a PettingZoo AEC environment of both players; see `yomikiri.envs.TwoPlayers`."""
        from .envs import TwoPlayers

        return TwoPlayers(game_or_table, **options)

    def __getattr__(name):
        if name in ("envs", "openspiel", "pgx"):  # These import more than NumPy.
            import importlib

            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def bind(core: ModuleType, name: str | None = None) -> ModuleType:
    """Returns a package like this one, named ``name``, that also knows the games of ``core``: a module made
    by ``yomikiri_python::module`` (``docs/python.md``)."""
    import importlib.util
    import sys
    from pathlib import Path

    name = name or f"yomikiri_{core.__name__.rpartition('.')[2]}"
    if name not in sys.modules:
        here = Path(__file__)
        spec = importlib.util.spec_from_file_location(name, here, submodule_search_locations=[str(here.parent)])
        assert spec is not None and spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[name], sys.modules[f"{name}._core"], vars(package)["_core"] = package, core, core
        spec.loader.exec_module(package)
    return sys.modules[name]


__all__ = [
    "Batch", "Comparison", "Dataset", "Game", "GameError", "GameRecord", "Match", "PolicyError", "Position", "PositionError", "Positions", "Report", "Review",
    "Table", "TableError", "Values", "YomikiriError", "__version__", "aec_env", "bind", "compare", "env", "evaluate",
    "exploitability", "game", "match", "open", "open_or_solve", "policy", "read_games", "review", "solve",
]
