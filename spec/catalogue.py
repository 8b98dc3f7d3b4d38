"""Loads the vendor-neutral catalogue: `requirements/<topic>.yaml` and `readings.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from spec.files import key_problems, read_yaml, repeated, rows
from spec.model import Judge, Requirement
from spec.problems import Problem, SpecError

#: Without one of these an endpoint need not keep the requirements that name it.
CAPABILITIES = frozenset(
    {"tools", "vision", "reasoning", "sessions", "credits", "json", "keys", "multiple-choices", "https-images"}
)
#: Values of the `X-Conformance-Induce` request header.
INDUCIBLE = frozenset(
    {
        "rate_limit",
        "overload",
        "upstream_error",
        "timeout",
        "midstream_error",
        "inference_timeout",
        "content_filter",
    }
)
_ID = re.compile(r"[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*")
_WRITTEN_JUDGES = tuple(judge for judge in get_args(Judge) if judge != "schema")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a point that the documents leave open is read, and why; `id` is `AMB-NN`."""

    id: str
    point: str
    reading: str
    why: str


def load_requirements(spec_dir: Path) -> dict[str, Requirement]:
    """All written requirements by id, in the order of files and rows; raises `SpecError` with every fault."""
    problems: list[Problem] = []
    found: dict[str, Requirement] = {}
    for path in sorted((spec_dir / "requirements").glob("*.yaml")):
        content = rows(path, read_yaml(path), "id")
        problems += repeated(path, [row["id"] for row in content])
        for row in content:
            faults = _row_problems(path, row)
            if not faults and row["id"] in found:
                faults = [Problem(str(path), row["id"], "another file has this id; ids are unique")]
            problems += faults
            if not faults:
                found[row["id"]] = Requirement(
                    id=row["id"],
                    title=row["title"],
                    topic=path.stem,
                    judge=row["judge"],
                    reason=row.get("reason", ""),
                    needs=tuple(row.get("needs", ())),
                    induce=row.get("induce", ""),
                )
    if problems:
        raise SpecError(problems)
    return found


def load_readings(spec_dir: Path) -> dict[str, Reading]:
    """The readings by id; raises `SpecError` where a row is incomplete."""
    path = spec_dir / "readings.yaml"
    content = rows(path, read_yaml(path), "id")
    problems = repeated(path, [row["id"] for row in content])
    for row in content:
        problems += key_problems(path, row["id"], row, ("id", "point", "reading", "why"), ())
    if problems:
        raise SpecError(problems)
    return {row["id"]: Reading(**row) for row in content}


def unjudged(requirements: Mapping[str, Requirement], judged: frozenset[str] | set[str]) -> list[str]:
    """The testable written requirements that none of the registered laws and probes (`judged`) decides."""
    return [
        requirement.id
        for requirement in requirements.values()
        if requirement.judge in ("law", "probe") and requirement.id not in judged
    ]


def _row_problems(path: Path, row: Mapping[str, object]) -> list[Problem]:
    name = str(row["id"])
    problems = key_problems(path, name, row, ("id", "title", "judge"), ("reason", "needs", "induce"))
    if problems:
        return problems

    def refuse(message: str) -> None:
        problems.append(Problem(str(path), name, message))

    if not _ID.fullmatch(name) or name.split(".")[0] != path.stem:
        refuse(f"the id must be `{path.stem}.` and words in lower case joined by dashes")
    if row["judge"] not in _WRITTEN_JUDGES:
        refuse(f"`judge` must be one of {', '.join(_WRITTEN_JUDGES)}")
    if (row["judge"] == "untestable") != bool(row.get("reason")):
        refuse("`reason` says why nothing outside can see it: needed with `judge: untestable`, and only there")
    for capability in row.get("needs", ()):  # type: ignore[attr-defined]
        if capability not in CAPABILITIES:
            refuse(f"unknown capability `{capability}`; known: {', '.join(sorted(CAPABILITIES))}")
    if "induce" in row and row["induce"] not in INDUCIBLE:
        refuse(f"`induce` must be one of {', '.join(sorted(INDUCIBLE))}")
    if not str(row["title"]).endswith("."):
        refuse("`title` is one plain sentence and ends with a full stop")
    return problems
