"""Mutations that no test could notice, or that change only how much evidence a report shows; they are not made.

Each is a place in a module, with the reason in words; the reasons are counted in what the run prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import parso
from parso.tree import NodeOrLeaf

ANNOTATION = "an annotation: nothing evaluates it"
CACHE = "a cache: speed, and no verdict"
STAR = "the star of a signature: whether a parameter may be given by its place"
FROZEN = "frozen or slots: a guard against slips of ours"
WIDTH = "how many characters of evidence are shown"
#: Calls whose arguments are words for people.
WORDS = ("Violation", "Undecided", "shortened")

Place = tuple[tuple[int, int], tuple[int, int], str]


def _is_words(node: NodeOrLeaf) -> bool:
    return node.type == "atom_expr" and node.children[0].type == "name" and node.children[0].value in WORDS


def _walk(node: NodeOrLeaf, in_words: bool = False) -> Iterator[Place]:
    if node.type in ("param", "funcdef") and node.annotation:
        yield node.annotation.start_pos, node.annotation.end_pos, ANNOTATION
    elif node.type == "annassign":
        yield node.children[1].start_pos, node.children[1].end_pos, ANNOTATION
    elif node.type == "decorator" and node.children[1].get_code().startswith(("lru_cache", "cache")):
        yield node.start_pos, node.end_pos, CACHE
    elif node.type == "decorator" and node.children[1].get_code().startswith("dataclass("):
        yield node.children[1].children[1].start_pos, node.end_pos, FROZEN
    elif node.type == "operator" and node.value == "*" and node.parent.type == "parameters":
        yield node.start_pos, node.end_pos, STAR
    elif node.type == "number" and in_words and len(node.value) > 1:
        yield node.start_pos, node.end_pos, WIDTH
    for child in getattr(node, "children", ()):
        yield from _walk(child, in_words or _is_words(node))


def places(module: Path) -> list[Place]:
    """The places of a module that are left alone: start, end, reason."""
    return list(_walk(parso.parse(module.read_text(encoding="utf-8"))))


def reason_at(start: tuple[int, int], end: tuple[int, int], left_alone: list[Place]) -> str | None:
    """Why a mutation there is not made, None where it is."""
    return next((why for first, last, why in left_alone if first <= start and end <= last), None)
