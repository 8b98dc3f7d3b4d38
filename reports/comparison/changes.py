"""What changed from one run to another: broken, fixed, no longer decided, changed otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.record import Run, load_run
from reports.text_safety import for_markdown, for_markdown_prose
from reports.wording import VERDICT_WORDS, finding_sentence, headline

_BROKEN = ("fail", "warn")
_JUDGED = ("pass", "fail", "warn")
_LISTED = 50


@dataclass(frozen=True)
class Change:
    """One requirement in two runs; a side is None where that run did not have it."""

    id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def row(self) -> Mapping[str, Any]:
        """The requirement as the later run that has it describes it."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def verdicts(self) -> tuple[str, str]:
        """The verdict before and after; empty where the requirement was not there."""
        return (self.before or {}).get("verdict", ""), (self.after or {}).get("verdict", "")


@dataclass(frozen=True)
class Difference:
    """Everything that differs between two runs. `inputs` are (what, before, after) of what was run."""

    before: Run
    after: Run
    inputs: list[tuple[str, str, str]]
    broken: list[Change]
    fixed: list[Change]
    undecided: list[Change]
    otherwise: list[Change]
    appeared: list[Change]
    gone: list[Change]

    @property
    def regressed(self) -> bool:
        """Whether a scored promise that was not broken before is broken now."""
        return any(change.row["scored"] for change in self.broken)

    @property
    def empty(self) -> bool:
        """Whether no requirement differs."""
        return not any(rows for _, rows in self._groups())

    def _groups(self) -> list[tuple[str, list[Change]]]:
        return [
            ("Newly broken", self.broken),
            ("Fixed", self.fixed),
            ("No longer decided", self.undecided),
            ("Changed otherwise", self.otherwise),
            ("New requirements", self.appeared),
            ("Requirements gone", self.gone),
        ]

    def as_dict(self) -> dict[str, Any]:
        """The difference as JSON: ids with the verdicts before and after, by kind of change."""
        names = ("broken", "fixed", "undecided", "otherwise", "appeared", "gone")
        kinds = dict(zip(names, (rows for _, rows in self._groups()), strict=True))
        return {
            "before": self.before.name,
            "after": self.after.name,
            "inputs": {what: [old, new] for what, old, new in self.inputs},
            "regressed": self.regressed,
            **{kind: {change.id: list(change.verdicts) for change in rows} for kind, rows in kinds.items()},
        }

    def markdown(self) -> str:
        """A comment for a pull request."""
        lines = [
            f"## {_sentence(self)}",
            "",
            f"Before: {for_markdown_prose(self.before.name)}: {headline(self.before)}.",
            f"After: {for_markdown_prose(self.after.name)}: {headline(self.after)}.",
            "",
        ]
        if self.inputs:
            lines += ["| What was run | Before | After |", "|---|---|---|"]
            lines += [f"| {what} | {for_markdown(old)} | {for_markdown(new)} |" for what, old, new in self.inputs]
            lines.append("")
        for title, rows in self._groups():
            if rows:
                lines += [f"### {title} ({len(rows)})", "", *(_line(change) for change in rows[:_LISTED])]
                lines += [f"- and {len(rows) - _LISTED} more"] if len(rows) > _LISTED else []
                lines.append("")
        return "\n".join(lines)


def _sentence(difference: Difference) -> str:
    if difference.empty:
        return "No requirement changed"
    parts = [
        f"{len(rows)} {words}"
        for rows, words in (
            (difference.broken, "newly broken"),
            (difference.fixed, "fixed"),
            (difference.undecided, "no longer decided"),
        )
        if rows
    ]
    other = len(difference.otherwise) + len(difference.appeared) + len(difference.gone)
    return ", ".join([*parts, f"{other} other changes"] if other else parts)


def _line(change: Change) -> str:
    words = [VERDICT_WORDS[verdict][0] if verdict else "absent" for verdict in change.verdicts]
    levels = [side["level"] or "no level" for side in (change.before, change.after) if side]
    said = for_markdown(finding_sentence(change.row), 300) if change.verdicts[1] in _BROKEN else ""
    return f"- `{change.id}`: {words[0]} → {words[1]} ({' → '.join(dict.fromkeys(levels))}) {said}".rstrip()


def diff(before: Run | str | Path, after: Run | str | Path) -> Difference:
    """What changed between two runs (or the directories that hold them)."""
    first, second = (run if isinstance(run, Run) else load_run(run) for run in (before, after))
    kinds: dict[str, list[Change]] = {
        kind: [] for kind in ("broken", "fixed", "undecided", "otherwise", "appeared", "gone")
    }
    for id_ in dict.fromkeys([*second.by_id, *first.by_id]):
        change = Change(id_, first.by_id.get(id_), second.by_id.get(id_))
        kind = _kind(change)
        if kind:
            kinds[kind].append(change)
    return Difference(first, second, _inputs(first, second), **kinds)


def _kind(change: Change) -> str:
    before, after = change.verdicts
    if after in _BROKEN and before not in _BROKEN:
        return "broken"
    if not before:
        return "appeared"
    if not after:
        return "gone"
    if (before, after) == ("warn", "fail"):
        return "broken"
    if before in _BROKEN and after == "pass":
        return "fixed"
    if before in _JUDGED and after not in _JUDGED:
        return "undecided"
    assert change.before is not None
    assert change.after is not None
    same = before == after and change.before["level"] == change.after["level"]
    if same and (after not in _BROKEN or finding_sentence(change.before) == finding_sentence(change.after)):
        return ""
    return "otherwise"


def _inputs(before: Run, after: Run) -> list[tuple[str, str, str]]:
    old, new = before.results, after.results
    pairs = [
        ("suite version", old["suite"]["version"], new["suite"]["version"]),
        ("catalogue", old["suite"]["catalogue_sha256"][:12], new["suite"]["catalogue_sha256"][:12]),
        *((name, old[name], new[name]) for name in ("profile", "edition", "effort", "seed")),
        *((name, old["target"][name], new["target"][name]) for name in ("base_url", "model")),
    ]
    return [(name, str(one), str(other)) for name, one, other in pairs if one != other]
