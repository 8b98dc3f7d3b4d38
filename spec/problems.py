"""What is wrong with a specification, said so that its author can repair it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in the data: the file, the row in it, and what to do."""

    file: str
    row: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.row}: {self.message}" if self.row else f"{self.file}: {self.message}"


class SpecError(ValueError):
    """A specification that cannot be used; `problems` has every fault found, not only the first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
