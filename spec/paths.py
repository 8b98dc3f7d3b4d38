"""Paths into a JSON value: how a constraint finds what it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Member:
    """Path step: the member `name` of an object."""

    name: str


@dataclass(frozen=True, slots=True)
class Items:
    """Path step: every item of an array."""


@dataclass(frozen=True, slots=True)
class When:
    """Path step: stay only where the object's member `member` equals `value` (a union's branch)."""

    member: str
    value: Any


Step = Member | Items | When


def select(instance: Any, path: tuple[Step, ...], pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every (JSON pointer, value) that `path` reaches; a step that does not fit the value reaches nothing."""
    if not path:
        yield pointer, instance
        return
    step, rest = path[0], path[1:]
    if isinstance(step, Items):
        if isinstance(instance, list):
            for number, item in enumerate(instance):
                yield from select(item, rest, f"{pointer}/{number}")
    elif isinstance(instance, dict):
        if isinstance(step, When):
            if step.member in instance and instance[step.member] == step.value:
                yield from select(instance, rest, pointer)
        elif step.name in instance:
            yield from select(instance[step.name], rest, f"{pointer}/{_escape(step.name)}")


def dotted(path: tuple[Step, ...]) -> str:
    """The member names of a path, as `messages.content`."""
    return ".".join(step.name for step in path if isinstance(step, Member))


def _escape(name: str) -> str:
    # RFC 6901, section 3
    return name.replace("~", "~0").replace("/", "~1")
