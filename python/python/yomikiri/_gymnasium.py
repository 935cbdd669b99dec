"""Ids of the environments, registered with Gymnasium as soon as both packages are imported."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Sequence

#: Game of each id.
GAMES = {
    **{
        f"yomikiri/Othello{rows}x{columns}-v0": f"othello-{rows}x{columns}"
        for rows in range(4, 9)
        for columns in range(4, 9)
    },
    "yomikiri/AnimalShogi-v0": "animal-shogi",
    "yomikiri/AnimalShogi3x3-v0": "animal-shogi-3x3",
    "yomikiri/Minishogi-v0": "minishogi",
}


def register() -> None:
    """Registers all ids."""
    from gymnasium.envs import registration

    for name, game in GAMES.items():
        if name not in registration.registry:
            registration.register(name, entry_point="yomikiri.envs:SinglePlayer", kwargs={"game_or_table": game})


class _Finder:
    """Registers the ids after Gymnasium is imported, which takes longer than this package."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Finds Gymnasium as it would be found without this class."""
        if name != "gymnasium":
            return None
        sys.meta_path.remove(cls)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, cls)  # who only asks for the package may import it later
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                if cls in sys.meta_path:
                    sys.meta_path.remove(cls)
                execute(module)
                register()

            setattr(spec.loader, "exec_module", exec_module)
        return spec


def register_with_import() -> None:
    """Registers all ids, now or when Gymnasium is imported."""
    if sys.modules.get("gymnasium") is not None:
        register()
    elif "gymnasium" not in sys.modules and _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
