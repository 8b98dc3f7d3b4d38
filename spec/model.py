"""The vocabulary of a specification: requirements, promises, constraints and profiles.

Nothing here knows a vendor. `spec.loader` fills these from the YAML files and refuses what does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from spec.keywords import keyword_holds
from spec.paths import Items, Member, Step, When, select

__all__ = [
    "Basis",
    "Constraint",
    "Items",
    "Judge",
    "Level",
    "Member",
    "Part",
    "Profile",
    "Promise",
    "Requirement",
    "Step",
    "When",
]

Level = Literal["must", "should", "may"]
Basis = Literal["stated", "example", "implied", "reading"]
Judge = Literal["law", "probe", "schema", "untestable"]
Part = Literal["request", "response", "chunk", "error"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One vendor-neutral sentence that an endpoint may keep or break.

    `judge` says who decides: a passive `law`, a `probe` that sends what makes it observable, the `schema`
    (derived from an OpenAPI document), or nobody (`untestable`, with `reason`).
    `needs` names capabilities without which the requirement does not apply (`vision`, `reasoning`, …).
    `induce` names the condition of the `X-Conformance-Induce` header that provokes it where no client can.
    """

    id: str
    title: str
    topic: str
    judge: Judge
    reason: str = ""
    needs: tuple[str, ...] = ()
    induce: str = ""


@dataclass(frozen=True, slots=True)
class Promise:
    """One vendor's commitment to one requirement.

    `places` are ids of the vendor's `document.yaml`; `where` is the same for people. `because` says why no
    other reading is possible (an implied `must`) or why this one is taken (`reading`, an id of `readings.yaml`).
    """

    requirement: str
    level: Level
    basis: Basis
    places: tuple[str, ...]
    where: str
    params: Mapping[str, Any] = field(default_factory=dict)
    because: str = ""
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a derived requirement demands of the JSON value at a place.

    `path` leads from the root of `part` to the value that `keyword` (a JSON Schema keyword) applies to:
    for `required`, to the object that must have the member `value`. `schema` is the resolved schema there.
    """

    part: Part
    path: tuple[Step, ...]
    keyword: str
    value: Any
    schema: Mapping[str, Any]
    #: Where the request has a value at this path, the document leaves the reply's shape open.
    unless: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()

    def targets(self, instance: Any) -> Iterator[tuple[str, Any]]:
        """Every (JSON pointer, value) of `instance` that the constraint is about."""
        return select(instance, self.path)

    def holds(self, value: Any) -> bool:
        """Whether one target keeps the constraint; a value of a type the keyword is not about does."""
        return keyword_holds(self.keyword, self.value, value, self.schema)


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything a run is judged against: one vendor, or what several promise in common (`portable`)."""

    name: str
    title: str
    vendors: tuple[str, ...]
    edition: str
    scored: frozenset[str]
    openapi: Mapping[str, Any]
    requirements: Mapping[str, Requirement]
    promises: Mapping[str, Promise]
    constraints: Mapping[str, Constraint]
    request_fields: frozenset[str]
    catalogue_sha256: str

    def promised(self, requirement: str) -> Promise | None:
        """The promise for a requirement id, or None where the document does not make it."""
        return self.promises.get(requirement)

    def accepts(self, field_path: str) -> bool:
        """Whether the document lists a request field, by dotted path (`stream_options.include_usage`)."""
        return field_path in self.request_fields
