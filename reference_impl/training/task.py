"""What a text dialogue is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """A question, its answer, and what a thinking model may note before it answers."""

    question: str
    answer: str
    thought: str = ""
