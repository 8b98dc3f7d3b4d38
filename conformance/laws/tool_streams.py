"""Tool calls as they arrive: their numbers, the first fragment of each, and the fragments that follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.laws.calls import offered
from conformance.laws.conditions import readable, streamed
from conformance.laws.registry import Violation, law
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise


@dataclass(frozen=True, slots=True)
class Fragment:
    """One piece of a call: its place (choice and call index, None where there is none) and what it carries."""

    choice: int
    index: int | None
    id: Any
    name: Any
    arguments: Any


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _pieces(choices: Any, member: str) -> Iterator[Fragment]:
    for position, item in enumerate(_objects(choices)):
        number = _number(item.get("index"))
        carrier = item.get(member)
        for part in _objects(carrier.get("tool_calls") if isinstance(carrier, dict) else None):
            function = part.get("function")
            function = function if isinstance(function, dict) else {}
            yield Fragment(
                position if number is None else number,
                _number(part.get("index")),
                part.get("id"),
                function.get("name"),
                function.get("arguments"),
            )


def fragments(x: Exchange) -> list[Fragment]:
    """Every piece of every call, in the order in which they came; in a whole reply one piece is one call."""
    if x.asks_stream:
        return [piece for chunk in x.chunks for piece in _pieces(chunk.get("choices"), "delta")]
    body = x.json.value
    return list(_pieces(body.get("choices") if isinstance(body, dict) else None, "message"))


def _by_call(x: Exchange) -> list[list[Fragment]]:
    """The pieces of each call that has a number (one without is judged by the schema), in the order of first pieces.

    A piece belongs to the last call with its number, unless its id shows that it begins another.
    """
    found: list[list[Fragment]] = []
    last: dict[tuple[int, int], list[Fragment]] = {}
    for piece in fragments(x):
        if piece.index is None:
            continue
        place = (piece.choice, piece.index)
        if x.asks_stream and place in last and not _begins_another(piece, last[place][0]):
            last[place].append(piece)
        else:
            last[place] = [piece]
            found.append(last[place])
    return found


def _begins_another(piece: Fragment, first: Fragment) -> bool:
    both = isinstance(piece.id, str) and isinstance(first.id, str)
    return both and bool(piece.id) and bool(first.id) and piece.id != first.id


def _streams_calls(x: Exchange) -> bool:
    return streamed(x) and bool(_by_call(x))


@law("tools.first-fragment-names-the-call", applies=_streams_calls)
def first_fragment_names_the_call(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The first fragment of each streamed call has its id and the whole of its name."""
    names = set(offered(x))
    for first, *later in _by_call(x):
        index = first.index
        if not isinstance(first.id, str) or not first.id:
            yield Violation(f"the first fragment of call {index} has no id", "an id", repr(first.id))
        if not isinstance(first.name, str) or not first.name:
            yield Violation(f"the first fragment of call {index} has no name", "the function's name", repr(first.name))
        elif first.name not in names and any(piece.name for piece in later):
            parts = "".join(str(piece.name) for piece in (first, *later) if piece.name)
            yield Violation(
                f"the name of call {index} comes in pieces", "the whole name first", f"{first.name!r} of {parts!r}"
            )


@law("tools.id-and-name-come-once", applies=_streams_calls)
def id_and_name_come_once(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Fragments of a call after its first repeat neither its id nor its name."""
    for first, *later in _by_call(x):
        index = first.index
        for member in ("id", "name"):
            value = getattr(first, member)
            again = sum(bool(value) and getattr(piece, member) == value for piece in later)
            if again:
                times = f"{again} times more"
                yield Violation(f"the {member} of call {index} is repeated", "only in the first fragment", times)


@law("tools.calls-arrive-complete", applies=_streams_calls)
def calls_arrive_complete(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A streamed call stands in one delta with all of its arguments (id and name are judged as its first fragment)."""
    for pieces in _by_call(x):
        first, *later = pieces
        if later:
            words = f"call {first.index} comes in {len(pieces)} fragments"
            yield Violation(words, "one delta", shortened([piece.arguments for piece in pieces]))
        elif first.arguments is None:
            yield Violation(f"the delta of call {first.index} is not complete", "all of its arguments", "none")


def _has_numbers(x: Exchange) -> bool:
    return readable(x) and bool(_by_call(x))


@law("tools.indices-run-from-zero", applies=_has_numbers)
def indices_run_from_zero(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The calls of each choice are numbered 0, 1, 2, … without gaps, and in a whole reply in their order."""
    found: dict[int, list[int]] = {}
    for first, *_ in _by_call(x):
        found.setdefault(first.choice, []).append(first.index or 0)
    for numbers in found.values():
        seen = sorted(numbers) if x.asks_stream else numbers
        if seen != list(range(len(numbers))):
            yield Violation("the calls are not numbered from 0", str(list(range(len(numbers)))), str(numbers))
