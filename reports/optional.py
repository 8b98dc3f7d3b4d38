"""Libraries that only some formats need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class MissingDependency(RuntimeError):
    """A library of the `report` extra is not installed; the message says how to install it."""


def needed(module: str, purpose: str) -> ModuleType:
    """The module, or MissingDependency with the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingDependency(
            f"{purpose} needs {package}, which is not installed: pip install 'chat-completions-conformance[report]'"
        ) from None
