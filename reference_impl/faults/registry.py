"""The catalogue of faults. A fault is one or a few functions at the hooks of `hooks.py`.

Its docstring says in a sentence what is wrong; `breaks` names, for each dialect in which the fault makes
sense, the requirements that must turn red.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from reference_impl.faults.hooks import Hook, Planted

Change = TypeVar("Change", bound=Callable[..., Any])


class UnknownFault(ValueError):
    """No fault has this id, or it makes no sense in this dialect."""


@dataclass(frozen=True, slots=True)
class Part:
    """One function of a fault at one hook."""

    hook: Hook
    change: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One planted defect."""

    id: str
    sentence: str
    breaks: Mapping[str, tuple[str, ...]]
    citations: tuple[str, ...]
    topic: str
    parts: list[Part] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For `--list-faults --json`."""
        return {
            "id": self.id,
            "sentence": self.sentence,
            "topic": self.topic,
            "breaks": {dialect: list(ids) for dialect, ids in self.breaks.items()},
            "citations": list(self.citations),
        }


_FAULTS: dict[str, Fault] = {}

_CITATIONS: Mapping[str, tuple[str, ...]] = {
    fault_id: tuple(threads)
    for fault_id, threads in json.loads(Path(__file__).with_name("citations.json").read_text("utf-8")).items()
}
"""Public issue threads (OWNER/REPOSITORY#NUMBER) in which a fault has been seen, by fault id."""


def fault(
    fault_id: str,
    hook: Hook,
    *,
    both: Sequence[str] | None = None,
    ark: Sequence[str] | None = None,
    serenity_edge: Sequence[str] | None = None,
) -> Callable[[Change], Change]:
    """Register the decorated function as a fault of the dialects for which requirement ids are given.

    `both` gives them for both dialects at once.
    """

    def register(change: Change) -> Change:
        pairs = (("ark", ark or both), ("serenity-edge", serenity_edge or both))
        breaks = {dialect: tuple(ids) for dialect, ids in pairs if ids is not None}
        sentence = " ".join((inspect.getdoc(change) or "").split())
        add(fault_id, sentence, breaks, hook, change, change.__module__.rpartition(".")[2])
        return change

    return register


def add(
    fault_id: str,
    sentence: str,
    breaks: Mapping[str, tuple[str, ...]],
    hook: Hook,
    change: Callable[..., Any],
    topic: str,
) -> None:
    """Register a fault of one function; `breaks` has the requirement ids by dialect."""
    if fault_id in _FAULTS:
        raise ValueError(f"two faults have the id {fault_id}")
    if not sentence or not breaks:
        raise ValueError(f"the fault {fault_id} needs a sentence and what it breaks")
    citations = _CITATIONS.get(fault_id, ())
    _FAULTS[fault_id] = Fault(fault_id, sentence, breaks, citations, topic, [Part(hook, change)])


def also(fault_id: str, hook: Hook) -> Callable[[Change], Change]:
    """Add the decorated function to a fault that needs a second hook."""

    def register(change: Change) -> Change:
        _FAULTS[fault_id].parts.append(Part(hook, change))
        return change

    return register


def catalogue() -> list[Fault]:
    """Every fault, by id."""
    package = importlib.import_module("reference_impl.faults")
    for module in pkgutil.iter_modules(package.__path__, "reference_impl.faults."):
        importlib.import_module(module.name)
    return sorted(_FAULTS.values(), key=lambda entry: entry.id)


def select(ids: Iterable[str], dialect: str) -> tuple[Planted, ...]:
    """The functions of the named faults, in the order given; raises UnknownFault."""
    known = {entry.id: entry for entry in catalogue()}
    parts: list[Planted] = []
    for fault_id in ids:
        entry = known.get(fault_id)
        if entry is None:
            raise UnknownFault(f"there is no fault {fault_id!r}; see --list-faults")
        if dialect not in entry.breaks:
            raise UnknownFault(f"the fault {fault_id!r} makes no sense for {dialect}")
        parts += entry.parts
    return tuple(parts)
