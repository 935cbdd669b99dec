"""Packages that only some functions need."""

from __future__ import annotations

import importlib


def needs(package: str, purpose: str, install: str | None = None) -> None:
    """Fails without a package, in one line that says what to install."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{purpose} needs {package}: pip install {install or package}", name=package) from None
