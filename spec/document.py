"""The places of a vendor's document, so that none of them is forgotten.

`document.yaml` lists every sentence, table row, list of values and example with an id. A place is cited by a
promise or says `promises_nothing` with the reason. `states` repeats what the place says of a field in the words
of JSON Schema; it must be what `openapi.yaml` says, so that neither file can lose a value or a limit alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spec.derive import Derived
from spec.files import key_problems, repeated, rows
from spec.keywords import same
from spec.model import Promise
from spec.problems import Problem, SpecError


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a document: its id, the section it stands in, and what it says in our words."""

    id: str
    section: str
    says: str
    states: Mapping[str, Any] = field(default_factory=dict)
    promises_nothing: str = ""

    @property
    def where(self) -> str:
        """The place for people: section and id."""
        return f"{self.section}, {self.id}"


def as_places(path: Path, document: Any) -> dict[str, Place]:
    """The places of `document.yaml` by id; raises `SpecError` where a row is incomplete or repeated."""
    content = rows(path, document, "id")
    problems = repeated(path, [row["id"] for row in content])
    for row in content:
        problems += key_problems(path, row["id"], row, ("id", "section", "says"), ("states", "promises_nothing"))
    if problems:
        raise SpecError(problems)
    return {row["id"]: Place(**row) for row in content}


def cited_problems(folder: Path, places: Mapping[str, Place], promises: Mapping[str, Promise]) -> list[Problem]:
    """A problem for each place that no promise cites, and for each that is cited though it promises nothing."""
    path, cited = str(folder / "document.yaml"), {place for one in promises.values() for place in one.places}
    problems = []
    for place in places.values():
        if place.id not in cited and not place.promises_nothing:
            message = (
                f"no promise cites this place ({place.section}: {place.says}) Name it under `places:` of a promise, "
                "or say `promises_nothing: <reason>`"
            )
            problems.append(Problem(path, place.id, message))
        if place.id in cited and place.promises_nothing:
            message = "a promise cites this place, so remove `promises_nothing`, or the citation"
            problems.append(Problem(path, place.id, message))
    return problems


def stated_problems(folder: Path, places: Mapping[str, Place], derived: Iterable[Derived]) -> list[Problem]:
    """A problem for each statement of a place that the OpenAPI document does not make, and the other way round."""
    openapi, document = str(folder / "openapi.yaml"), str(folder / "document.yaml")
    found: dict[tuple[str, str], list[Any]] = {}
    for item in derived:
        for name, keyword, value in item.stated():
            found.setdefault((name, keyword), []).append(value)
    problems = []
    for place in places.values():
        for keyword, value in place.states.items():
            values = found.get((place.id, keyword), [])
            if not any(same(value, other) for other in values):
                has = ", ".join(map(repr, values)) or "nothing"
                message = (
                    f"the document ({place.section}: {place.says}) states {keyword} {value!r}, but the schema has "
                    f"{has}; correct the schema, or `states` in document.yaml"
                )
                problems.append(Problem(openapi, place.id, message))
    for (name, keyword), values in found.items():
        if name in places and keyword not in places[name].states:
            message = (
                f"the schema has {keyword} {values[0]!r}; write it under `states:` or, if the document does not "
                "say it, remove it from openapi.yaml"
            )
            problems.append(Problem(document, name, message))
    return problems
