"""Known failures, each with a reason, a link and an end: they still run, and they never make a run conformant."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from conformance.config.file import ConfigError, _check, _toml

LONGEST_DAYS = 90
_SCHEMA = {
    "type": "object",
    "required": ["waivers"],
    "additionalProperties": False,
    "properties": {
        "waivers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["requirement", "reason", "link", "expires"],
                "additionalProperties": False,
                "properties": {
                    "requirement": {"type": "string", "minLength": 1},
                    "target": {"type": "string"},
                    "reason": {"type": "string", "minLength": 1},
                    "link": {"type": "string", "minLength": 1},
                    "expires": {},
                    "mode": {"enum": ["known-failing", "known-flaky"]},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Waiver:
    """One entry: a requirement id or glob, for targets whose name or base URL matches."""

    requirement: str
    reason: str
    link: str
    expires: datetime.date
    target: str = "*"
    mode: Literal["known-failing", "known-flaky"] = "known-failing"

    def covers(self, requirement: str) -> bool:
        """Whether this entry is about that requirement."""
        return fnmatchcase(requirement, self.requirement)

    def to_json(self) -> dict[str, Any]:
        """The entry as the record shows it."""
        return {**asdict(self), "expires": self.expires.isoformat()}


def load_waivers(path: Path, targets: Sequence[str], today: datetime.date | None = None) -> list[Waiver]:
    """The waivers of a TOML file that are meant for a target (known by its name and its base URL).

    Raises `ConfigError` for an entry without an end, or with one more than 90 days away.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    content = _toml(path)
    _check(path, {**content, "waivers": [_plain(row) for row in content.get("waivers", [])]}, _SCHEMA, ())
    waivers = []
    for number, row in enumerate(content["waivers"], 1):
        waiver = Waiver(**{**row, "expires": _date(row["expires"], path, number)})
        if (waiver.expires - today).days > LONGEST_DAYS:
            raise ConfigError(f"{path}: waiver {number} ({waiver.requirement}) ends more than {LONGEST_DAYS} days away")
        if any(fnmatchcase(name, waiver.target) for name in targets):
            waivers.append(waiver)
    return waivers


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, datetime.date) else value for name, value in row.items()}


def _date(value: Any, path: Path, number: int) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError:
        raise ConfigError(f"{path}: waiver {number}: expires {value!r} is not a date such as 2027-01-31") from None


def waived_ids(waivers: Iterable[Waiver], promised: Iterable[str], today: datetime.date) -> dict[str, str]:
    """Requirement id → why it is waived, for entries that have not expired."""
    active = [waiver for waiver in waivers if waiver.expires >= today]
    return {
        name: f"{waiver.reason} ({waiver.link}, until {waiver.expires})"
        for name in promised
        for waiver in active
        if waiver.covers(name)
    }


def stale(
    waivers: Iterable[Waiver], rows: Sequence[Mapping[str, Any]], promised: Iterable[str], today: datetime.date
) -> list[str]:
    """Sentences about entries that must go: expired, matching nothing, or passing although known to fail."""
    promised = list(promised)
    verdicts = {row["id"]: row["verdict"] for row in rows}
    problems = []
    for waiver in waivers:
        covered = [name for name in promised if waiver.covers(name)]
        if waiver.expires < today:
            problems.append(f"the waiver of {waiver.requirement} expired on {waiver.expires}")
        elif not covered:
            problems.append(f"the waiver of {waiver.requirement} matches no promised requirement")
        elif (
            waiver.mode == "known-failing"
            and all(verdicts.get(name) == "pass" for name in covered if name in verdicts)
            and any(name in verdicts for name in covered)
        ):
            problems.append(f"the waiver of {waiver.requirement} is no longer needed: it passes")
    return problems
