"""Loads one vendor's folder and refuses what does not fit: `openapi.yaml`, `promises.yaml`, `document.yaml`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from spec.annotations import openapi_problems
from spec.catalogue import CAPABILITIES, Reading
from spec.derive import Derived, derive, request_fields
from spec.document import Place, as_places, cited_problems, stated_problems
from spec.editions import lost_problems
from spec.files import key_problems, read_yaml, repeated, rows
from spec.model import Basis, Constraint, Level, Part, Promise, Requirement
from spec.problems import Problem, SpecError
from spec.wording import title

_TOPIC: dict[Part, str] = {"request": "request", "response": "response", "chunk": "stream", "error": "errors"}


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor's document as data; `requirements` has the derived ones and the written ones it promises."""

    name: str
    title: str
    edition: str
    openapi: Mapping[str, Any]
    places: Mapping[str, Place]
    requirements: Mapping[str, Requirement]
    promises: Mapping[str, Promise]
    constraints: Mapping[str, Constraint]
    request_fields: frozenset[str]


def load_vendor(folder: Path, requirements: Mapping[str, Requirement], readings: Mapping[str, Reading]) -> Vendor:
    """The vendor in `folder`; raises `SpecError` with every fault of its three files."""
    files = {name: read_yaml(folder / f"{name}.yaml") for name in ("openapi", "document", "promises")}
    return assemble(folder, files, requirements, readings)


def assemble(
    folder: Path,
    files: Mapping[str, Any],
    requirements: Mapping[str, Requirement],
    readings: Mapping[str, Reading],
) -> Vendor:
    """A vendor from the contents of its three files, by name without `.yaml`; raises `SpecError`."""
    openapi, content, path = files["openapi"], files["promises"], folder / "promises.yaml"
    if not isinstance(content, dict):
        raise SpecError([Problem(str(path), "", "must be a mapping with title, edition, derived and promises")])
    problems = key_problems(path, "", content, ("title", "edition", "derived", "promises"), ())
    if problems:
        raise SpecError(problems)
    problems = openapi_problems(folder / "openapi.yaml", openapi, CAPABILITIES)
    places = as_places(folder / "document.yaml", files["document"])
    derived = _derive(folder / "openapi.yaml", openapi, problems)
    problems += repeated(folder / "openapi.yaml", [item.id for item in derived])
    written = rows(path, content["promises"], "requirement")
    problems += repeated(path, [row["requirement"] for row in written])
    promises: dict[str, Promise] = {}
    for row in written:
        faults = _promise_problems(path, row, requirements, places, readings)
        problems += faults
        if not faults:
            promises[row["requirement"]] = _promise(row, places, readings)
    for item in derived:
        row = {"requirement": item.id, "places": item.places}
        row |= _default(content["derived"], item.constraint) | _weaker(item.annotation)
        faults = _promise_problems(folder / "openapi.yaml", row, None, places, readings)
        problems += faults
        if not faults:
            promises[item.id] = _promise(row, places, readings)
    problems += stated_problems(folder, places, derived)
    problems += cited_problems(folder, places, promises)
    name = folder.name.replace("_", "-")
    problems += lost_problems(folder.parent.parent, str(content["edition"]), name, promises)
    if problems:
        raise SpecError(problems)
    return Vendor(
        name=name,
        title=content["title"],
        edition=str(content["edition"]),
        openapi=openapi,
        places=places,
        requirements={
            **{name: requirements[name] for name in promises if name in requirements},
            **{item.id: _requirement(item) for item in derived},
        },
        promises=promises,
        constraints={item.id: item.constraint for item in derived},
        request_fields=request_fields(openapi),
    )


def _derive(path: Path, openapi: Any, problems: list[Problem]) -> list[Derived]:
    try:
        return derive(openapi)
    except (KeyError, TypeError, ValueError) as error:
        message = f"cannot be read as an OpenAPI document of this kind: {type(error).__name__} {error} (see README.md)"
        raise SpecError([*problems, Problem(str(path), "components", message)]) from error


def _default(derived: Mapping[str, Mapping[str, Any]], constraint: Constraint) -> dict[str, Any]:
    """What the vendor's `derived:` says for a part, and below it for a keyword of that part."""
    part = derived.get(constraint.part, {})
    plain = {key: value for key, value in part.items() if not isinstance(value, dict)}
    return {**plain, **part.get(constraint.keyword, {})}


def _weaker(annotation: Mapping[str, str]) -> dict[str, str]:
    """An annotation as promise keys; a basis without a level is a `should`, for it is never just assumed."""
    if "basis" in annotation and "level" not in annotation:
        return {"level": "should", "because": "", **annotation}
    return dict(annotation)


def _requirement(item: Derived) -> Requirement:
    constraint = item.constraint
    return Requirement(item.id, title(constraint), _TOPIC[constraint.part], "schema", needs=constraint.needs)


def _promise(row: Mapping[str, Any], places: Mapping[str, Place], readings: Mapping[str, Reading]) -> Promise:
    cited, reading = tuple(row["places"]), readings.get(row.get("reading", ""))
    return Promise(
        requirement=row["requirement"],
        level=row["level"],
        basis=row["basis"],
        places=cited,
        where="; ".join(places[name].where for name in cited),
        params=row.get("params", {}),
        because=row.get("because", "") or (reading.reading if reading else ""),
        reading=row.get("reading", ""),
    )


def _promise_problems(
    path: Path,
    row: Mapping[str, Any],
    requirements: Mapping[str, Requirement] | None,
    places: Mapping[str, Place],
    readings: Mapping[str, Reading],
) -> list[Problem]:
    name = str(row["requirement"])
    keys = ("requirement", "level", "basis", "places")
    problems = key_problems(path, name, row, keys, ("params", "because", "reading"))
    if problems:
        return problems

    def refuse(message: str) -> None:
        problems.append(Problem(str(path), name, message))

    if requirements is not None and name not in requirements:
        near = difflib.get_close_matches(name, requirements, n=3)
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        refuse(f"no requirement has this id{hint}; correct it or add a row to requirements/")
    if row["level"] not in get_args(Level):
        refuse(f"`level` must be one of {', '.join(get_args(Level))}")
    if row["basis"] not in get_args(Basis):
        refuse(f"`basis` must be one of {', '.join(get_args(Basis))}")
    if row["level"] == "must" and row["basis"] in ("example", "reading"):
        refuse(f"a `must` cannot rest on the basis `{row['basis']}`; make it a `should`")
    if row["level"] == "must" and row["basis"] == "implied" and not row.get("because"):
        refuse("an implied `must` needs `because:` saying why no other reading is possible")
    if row["basis"] == "reading" and not (row.get("reading") or row.get("because")):
        refuse("the basis `reading` needs `reading:` (an id of readings.yaml) or `because:` with its reason")
    if row.get("reading") and row["reading"] not in readings:
        refuse(f"`{row['reading']}` is not in readings.yaml; correct it or add the reading")
    if not row["places"]:
        refuse("`places` is empty; name the places of document.yaml that it rests on")
    for place in row["places"]:
        if place not in places:
            refuse(f"the place `{place}` is not in document.yaml; correct it or list the place there")
    return problems
