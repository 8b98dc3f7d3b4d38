"""A small language for tables of instances: a valid one, and the same with one change."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

#: As a value of `change`: leave the member or item out.
DROP = object()
#: What is of no JSON type that a test expects, by the type it stands for.
WRONG = {
    "string": [7, True, ["text"], {"text": "text"}],
    "integer": ["5", 1.5, True, [5]],
    "number": ["0.5", True, [0.5]],
    "boolean": ["true", 1, [True]],
    "array": ["text", 7, {"a": 1}],
    "object": ["text", 7, [1]],
}


@dataclass(frozen=True)
class Case:
    """One instance of a part, and whether the vendor's document allows it."""

    part: str
    name: str
    instance: Any
    valid: bool

    def __str__(self) -> str:
        return f"{self.part}: {self.name}"


def change(instance: Any, **changes: Any) -> Any:
    """A copy with values put at paths: `choices__0__message__content=None`; `DROP` leaves one out."""
    result = copy.deepcopy(instance)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        target = result
        for step in steps:
            target = target[step]
        if value is DROP:
            del target[last]
        else:
            target[last] = value
    return result


class Table:
    """Collects cases of one part, each made from `base` by one change."""

    def __init__(self, part: str, base: Any) -> None:
        self.part, self.base, self.cases = part, base, [Case(part, "the plain one", base, True)]

    def good(self, name: str, base: Any = None, **changes: Any) -> None:
        self._add(name, True, base, changes)

    def bad(self, name: str, base: Any = None, **changes: Any) -> None:
        self._add(name, False, base, changes)

    def typed(self, path: str, kind: str, base: Any = None) -> None:
        """Values of other types at a path are wrong."""
        for value in WRONG[kind]:
            self._add(f"{path} is {value!r}", False, base, {path: value})

    def required(self, *paths: str, base: Any = None) -> None:
        """Without a member the instance is wrong."""
        for path in paths:
            self._add(f"no {path}", False, base, {path: DROP})

    def optional(self, *paths: str, base: Any = None) -> None:
        """Without a member the instance is as good."""
        for path in paths:
            self._add(f"no {path}", True, base, {path: DROP})

    def one_of(self, path: str, values: list[Any], base: Any = None) -> None:
        """Each value is right, and another word, another case and nothing are wrong."""
        for value in values:
            self._add(f"{path} is {value!r}", True, base, {path: value})
        for value in ("other", str(values[0]).upper(), ""):
            self._add(f"{path} is {value!r}", False, base, {path: value})

    def between(self, path: str, low: float, high: float, beyond: float = 0.01, base: Any = None) -> None:
        """Both ends are right, what is just beyond them is wrong."""
        for value in (low, high):
            self._add(f"{path} is {value}", True, base, {path: value})
        for value in (low - beyond, high + beyond, high * 1000):
            self._add(f"{path} is {value}", False, base, {path: value})

    def _add(self, name: str, valid: bool, base: Any, changes: dict[str, Any]) -> None:
        instance = change(self.base if base is None else base, **changes)
        self.cases.append(Case(self.part, name, instance, valid))
