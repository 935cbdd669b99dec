"""Directories and progress bars of long calls."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Callable, Protocol

from ._optional import needs


def directory(tables: str | os.PathLike[str] | None) -> Path:
    """Returns the directory of tables: ``tables``, or else ``$YOMIKIRI_TABLES``, or else ``tables``."""
    return Path(tables if tables is not None else os.environ.get("YOMIKIRI_TABLES", "tables"))


class Tell(Protocol):
    """Receives the task, the units done and in total, and the number of positions answered."""

    def __call__(self, what: str, done: int, total: int | None, answered: int = 0, /) -> None: ...


class _Tqdm(Protocol):
    desc: str
    n: int

    def set_postfix_str(self, s: str, refresh: bool) -> object: ...
    def refresh(self) -> object: ...
    def close(self) -> object: ...


class _Bar:
    """A tqdm bar, drawn when work takes long."""

    def __init__(self, tqdm: Callable[..., _Tqdm], is_wanted: bool):
        self.tqdm, self.is_wanted = tqdm, is_wanted
        self.bar: _Tqdm | None = None
        self.begun = time.monotonic()

    def __call__(self, what: str, done: int, total: int | None, answered: int = 0, /) -> None:
        if not self.is_wanted and time.monotonic() - self.begun < 0.5:
            return  # Short work shows nothing.
        if self.bar is None or self.bar.desc != what:
            self.close()
            self.bar = self.tqdm(total=total, unit="states", unit_scale=True, leave=False)
            self.bar.desc = what
        self.bar.n = done if total is None else min(done, total)
        if answered:
            self.bar.set_postfix_str(f"{answered:,} positions answered", refresh=False)
        self.bar.refresh()

    def close(self) -> None:
        """Removes the bar."""
        if self.bar is not None:
            self.bar.close()


class Told:
    """Shows progress while a block runs: by default in terminals and notebooks that have tqdm."""

    def __init__(self, wanted: bool | None):
        self.bar: _Bar | None = None
        if wanted is False or wanted is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            if wanted:
                needs("tqdm", "progress=True")
            return
        self.bar = _Bar(tqdm, bool(wanted))

    def __enter__(self) -> Tell | None:
        return self.bar

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
