"""Puts a judged run into the one canonical record that every report is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import conformance
from conformance.capabilities import NOT_ASKED
from conformance.reply import reply_of
from conformance.results import Judged
from conformance.settings import Settings
from conformance.verdict import (
    CONFORMANT,
    INTERRUPTED,
    NON_CONFORMANT,
    NOT_ENOUGH,
    SUITE_FAILED,
    VERDICTS,
    RunVerdict,
    Verdict,
    run_verdict,
)
from conformance.wire.budget import Spent
from spec.model import Profile


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended beside its findings. `sentence` replaces the usual summary where something cut it short."""

    interrupted: bool = False
    stopped: str = ""
    sentence: str = ""
    unusable: bool = False


def build(
    settings: Settings,
    profile: Profile,
    judged: Judged,
    rows: Sequence[Mapping[str, Any]],
    spent: Spent,
    started: str,
    ended: str,
    wall_s: float,
    ending: Ending,
    waivers: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The content of `results.json`."""
    counts = Counter(row["verdict"] for row in rows)
    overall = _overall(rows, profile, ending)
    status = _status(overall, counts, ending)
    return {
        "schema": 1,
        "suite": {
            "name": conformance.NAME,
            "version": conformance.__version__,
            "catalogue_sha256": profile.catalogue_sha256,
        },
        "profile": profile.name,
        "edition": profile.edition,
        "effort": settings.effort,
        "target": _target(settings, judged),
        "started": started,
        "ended": ended,
        "seed": settings.seed,
        "workers": settings.workers,
        "only": list(settings.only),
        "command": settings.command,
        "verdict": overall,
        "exit_status": status,
        "reason": ending.sentence or _reason(overall, rows, settings, ending),
        "counts": {name: counts.get(name, 0) for name in VERDICTS},
        "cost": _cost(judged, spent, wall_s),
        "notes": _notes(rows, settings, judged, ending),
        "requirements": list(rows),
        "waivers": list(waivers),
    }


def _musts(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["level"] == "must" and row["scored"]]


def _overall(rows: Sequence[Mapping[str, Any]], profile: Profile, ending: Ending) -> RunVerdict:
    musts = _musts(rows)
    counts: Counter[Verdict] = Counter(row["verdict"] for row in musts)
    if any(row["verdict"] == "fail" for row in rows):  # in strict runs a should fails too
        counts["fail"] = max(1, counts["fail"])
    unprovokable = sum(row["verdict"] == "not_exercised" and is_unprovokable(row["id"], profile) for row in musts)
    overall = run_verdict(dict(counts), unprovokable)
    if overall == "conformant" and (ending.interrupted or ending.stopped or ending.unusable):
        return "incomplete"
    return overall


def is_unprovokable(requirement: str, profile: Profile) -> bool:
    """Whether no client can bring about what the requirement is about."""
    row = profile.requirements[requirement]
    return row.judge == "untestable" or bool(row.induce)


def _status(overall: RunVerdict, counts: Mapping[str, int], ending: Ending) -> int:
    if ending.interrupted:
        return INTERRUPTED
    if overall == "non-conformant":
        return NON_CONFORMANT
    if counts.get("error"):
        return SUITE_FAILED
    return CONFORMANT if overall == "conformant" else NOT_ENOUGH


def _reason(overall: RunVerdict, rows: Sequence[Mapping[str, Any]], settings: Settings, ending: Ending) -> str:
    musts = _musts(rows)
    passed = sum(row["verdict"] == "pass" for row in musts)
    scope = f"{len(musts)} musts" if not settings.only else f"the {len(musts)} musts selected"
    if overall == "non-conformant":
        failed = [row for row in rows if row["verdict"] == "fail"]
        return f"{len(failed)} of {scope} violated: {', '.join(row['id'] for row in failed[:3])}" + (
            " …" if len(failed) > 3 else "."
        )
    if ending.interrupted:
        return f"Interrupted; {passed} of {scope} were seen kept by then."
    if ending.stopped:
        return f"Stopped: {ending.stopped}; {passed} of {scope} were seen kept by then."
    if overall == "conformant":
        unseen = sum(row["verdict"] == "not_exercised" for row in musts)
        tail = f"; {unseen} describe conditions that no client can provoke" if unseen else ""
        return f"{passed} of {scope} seen kept, none violated{tail}."
    undecided = [row["id"] for row in musts if row["verdict"] in ("inconclusive", "not_exercised", "error", "waived")]
    return f"{passed} of {scope} seen kept, none violated, but not enough was judged: {', '.join(undecided[:3])}" + (
        " …" if len(undecided) > 3 else "."
    )


def _target(settings: Settings, judged: Judged) -> dict[str, Any]:
    target = settings.target
    return {
        "base_url": target.base_url,
        "model": target.model,
        "models": {"vision": target.vision_model, "reasoning": target.reasoning_model},
        "induce": target.induce,
        "capabilities": {
            name: {"state": capability.state, "source": capability.source}
            for name, capability in judged.capabilities.items()
        },
    }


def _cost(judged: Judged, spent: Spent, wall_s: float) -> dict[str, Any]:
    replies = [reply for reply in map(reply_of, judged.exchanges) if reply]
    return {
        "requests": len(judged.exchanges),
        "prompt_tokens": sum(reply.prompt_tokens or 0 for reply in replies),
        "completion_tokens": sum(reply.completion_tokens or 0 for reply in replies),
        "wall_s": round(wall_s, 3),
        "waiting_s": round(spent.waiting_s, 3),
    }


def _notes(rows: Sequence[Mapping[str, Any]], settings: Settings, judged: Judged, ending: Ending) -> list[str]:
    notes = []
    if ending.stopped:
        notes.append(f"The run stopped sending early: {ending.stopped}.")
    if ending.interrupted:
        notes.append("The run was interrupted; what it had seen is judged here.")
    if settings.only:
        notes.append(f"Only {', '.join(settings.only)} was asked for; the rest of the document was not judged.")
    if settings.effort == "smoke":
        notes.append("A smoke run looks at a part of the document only.")
    unseen = [row for row in rows if row["verdict"] == "not_exercised" and row["level"] == "must"]
    if unseen:
        notes.append("Musts that were not exercised: " + ", ".join(row["id"] for row in unseen) + ".")
    known = judged.capabilities.items()
    unknown = [name for name, found in known if found.state == "unknown" and found.source != NOT_ASKED]
    if unknown:
        notes.append(f"Whether the endpoint offers {', '.join(unknown)} is not known.")
    if settings.target.key() is None:
        notes.append("No API key was used, so nothing about keys could be asked.")
    return notes
