"""What differs between two profiles, field by field and promise by promise, generated from their data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from spec.facts import by_field
from spec.files import SPEC_DIR, key_problems, read_yaml, repeated, rows
from spec.keywords import same
from spec.model import Profile, Promise
from spec.problems import Problem, SpecError

NOT_LISTED = "not listed"
NOT_PROMISED = "not promised"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: `about` is `part.field` or a requirement id; `advice` is what a portable client does."""

    kind: Literal["field", "status", "promise"]
    about: str
    left: str
    right: str
    advice: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What a portable client does about the differences whose `about` matches one of `covers` (globs)."""

    id: str
    covers: tuple[str, ...]
    do: str


def compare(left: Profile, right: Profile, advice: Sequence[Advice] | None = None) -> list[Difference]:
    """Every difference between two profiles; `advice` is that of the package if left out."""
    rules = load_advice() if advice is None else advice
    found = [*_fields(left, right), *_statuses(left, right), *_promises(left, right)]
    return [
        Difference(kind, about, ours, theirs, advice_for(about, rules))  # type: ignore[arg-type]
        for kind, about, ours, theirs in found
    ]


def load_advice(spec_dir: Path | None = None) -> list[Advice]:
    """The rows of `portable.yaml`; raises `SpecError` where one is incomplete."""
    path = (spec_dir or SPEC_DIR) / "portable.yaml"
    content = rows(path, read_yaml(path), "id")
    problems: list[Problem] = repeated(path, [row["id"] for row in content])
    for row in content:
        problems += key_problems(path, row["id"], row, ("id", "covers", "do"), ())
    if problems:
        raise SpecError(problems)
    return [Advice(row["id"], tuple(row["covers"]), row["do"]) for row in content]


def advice_for(about: str, rules: Sequence[Advice]) -> str:
    """The advice of the first row that covers a field or requirement, or nothing."""
    return next((rule.do for rule in rules if any(fnmatchcase(about, glob) for glob in rule.covers)), "")


def as_json(left: Profile, right: Profile, differences: Sequence[Difference]) -> str:
    """The differences as JSON, with the names of the two profiles."""
    content = {"left": left.name, "right": right.name, "differences": [asdict(one) for one in differences]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def as_markdown(left: Profile, right: Profile, differences: Sequence[Difference]) -> str:
    """The differences as Markdown tables, one for fields, one for statuses, one for promises."""
    headings = {"field": "Fields", "status": "Statuses", "promise": "Promises"}
    lines = [f"# {left.title} and {right.title}", ""]
    for kind, heading in headings.items():
        table = [one for one in differences if one.kind == kind]
        if not table:
            continue
        lines += [f"## {heading}", "", f"| | {left.title} | {right.title} | A portable client |", "|---|---|---|---|"]
        lines += [
            "| " + " | ".join(map(_cell, (f"`{one.about}`", one.left, one.right, one.advice))) + " |" for one in table
        ]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _fields(left: Profile, right: Profile) -> list[tuple[str, str, str, str]]:
    ours, theirs = by_field(left.openapi), by_field(right.openapi)
    return [
        ("field", f"{part}.{field}", ours.get((part, field), NOT_LISTED), theirs.get((part, field), NOT_LISTED))
        for part, field in dict.fromkeys([*ours, *theirs])
        if ours.get((part, field)) != theirs.get((part, field))
    ]


def _statuses(left: Profile, right: Profile) -> list[tuple[str, str, str, str]]:
    ours, theirs = _responses(left), _responses(right)
    return [
        ("status", f"status.{status}", ours.get(status, NOT_LISTED), theirs.get(status, NOT_LISTED))
        for status in sorted({*ours, *theirs})
        if (status in ours) != (status in theirs)
    ]


def _responses(profile: Profile) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in profile.openapi["paths"].values():
        for status, response in path["post"]["responses"].items():
            target = response
            for step in response.get("$ref", "#").removeprefix("#").strip("/").split("/"):
                target = profile.openapi if target is response and step else target
                target = target[step] if step else target
            found[str(status)] = str(target["description"])
    return found


def _promises(left: Profile, right: Profile) -> list[tuple[str, str, str, str]]:
    found = []
    for name in dict.fromkeys([*left.promises, *right.promises]):
        if name in left.constraints or name in right.constraints:
            continue  # the fields say it already
        ours, theirs = left.promises.get(name), right.promises.get(name)
        if ours is None or theirs is None or ours.level != theirs.level or not _same_params(ours, theirs):
            found.append(("promise", name, _promise(ours), _promise(theirs)))
    return found


def _same_params(left: Promise, right: Promise) -> bool:
    return same(dict(left.params), dict(right.params))


def _promise(promise: Promise | None) -> str:
    if promise is None:
        return NOT_PROMISED
    params = _params(promise.params)
    return f"{promise.level} ({promise.basis})" + (f": {params}" if params else "")


def _params(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in params.items())
