"""From findings to the run's record: counts, verdicts and evidence. Pure; the shape is that of `results.json`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.capabilities import Capability, discover
from conformance.cases import Case, read_cases
from conformance.clients import breaks
from conformance.curl import curl
from conformance.judge import Finding, Judge
from conformance.settings import Settings
from conformance.verdict import Observed, Verdict, verdict
from conformance.wire.exchange import Exchange
from conformance.wire.journal import read_exchanges, read_lines
from spec.model import Profile, Promise, Requirement

MOST_VIOLATIONS = 20  # of one requirement that the record spells out; the counts name all


@dataclass(slots=True)
class Judged:
    """Everything a run's folder says about each requirement."""

    exchanges: list[Exchange]
    cases: list[Case]
    capabilities: dict[str, Capability]
    findings: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    repeats: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    problems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def judge_folder(folder: Path, profile: Profile, declared: Mapping[str, bool]) -> Judged:
    """Judge all that is recorded in a run's folder."""
    exchanges = read_exchanges(folder)
    cases = read_cases(folder, exchanges)
    needed = {need for requirement in profile.requirements.values() for need in requirement.needs}
    judged = Judged(exchanges, cases, discover(declared, cases, needed))
    judge = Judge(profile)
    for exchange in exchanges:
        for finding in judge.exchange(exchange):
            if exchange.repeat_of is None:
                judged.findings[finding.requirement].append(finding)
            else:
                judged.repeats[exchange.repeat_of].append(finding)
    for case in cases:
        for finding in judge.case(case):
            if case.repeat_of is None:
                judged.findings[finding.requirement].append(finding)
            else:
                judged.repeats[case.repeat_of].append(finding)
    for finding in judge.run([x for x in exchanges if x.repeat_of is None]):
        judged.findings[finding.requirement].append(finding)
    for line in read_lines(folder / "problems.jsonl"):
        for requirement in line["requirements"]:
            judged.problems[requirement].append(line["problem"])
    return judged


def requirement_rows(
    judged: Judged, profile: Profile, settings: Settings, waived: Mapping[str, str], scope: Iterable[str]
) -> list[dict[str, Any]]:
    """The record's rows, one per promised requirement in scope, in the order of the catalogue."""
    by_id = {exchange.id: exchange for exchange in judged.exchanges}
    wanted = set(scope)
    return [
        _row(judged, profile, promise, profile.requirements[name], settings, waived.get(name), by_id)
        for name, promise in profile.promises.items()
        if name in wanted
    ]


def _row(
    judged: Judged,
    profile: Profile,
    promise: Promise,
    requirement: Requirement,
    settings: Settings,
    waiver: str | None,
    by_id: Mapping[str, Exchange],
) -> dict[str, Any]:
    findings = judged.findings.get(requirement.id, [])
    problems = judged.problems.get(requirement.id, [])
    broken = [finding.why for finding in findings if finding.outcome == "error"] + problems
    observed = Observed(
        kept=_count(findings, "kept"),
        violated=_count(findings, "violated"),
        undecided=_count(findings, "undecided"),
        broken=bool(broken),
    )
    # A field whose form is violated is there, whatever the search for its capability made of it.
    shown = requirement.judge == "schema" and observed.violated
    lacking = [] if shown else _lacking(requirement, judged.capabilities)
    outcome = verdict(
        promise.level, observed, applicable=not lacking, waived=waiver is not None, strict=settings.strict
    )
    violated = [finding for finding in findings if finding.violation is not None]
    return {
        "id": requirement.id,
        "title": requirement.title,
        "topic": requirement.topic,
        "level": promise.level,
        "basis": promise.basis,
        "where": promise.where,
        "because": promise.because,
        "judge": requirement.judge,
        "scored": requirement.id in profile.scored,
        "verdict": outcome,
        "why": _why(outcome, requirement, findings, lacking, waiver, broken, settings),
        "behaviour": _behaviour(violated, judged, by_id),
        "observations": {"kept": observed.kept, "violated": observed.violated, "undecided": observed.undecided},
        "violations": [] if lacking else [_evidence(finding, judged, by_id) for finding in violated[:MOST_VIOLATIONS]],
    }


def _behaviour(violated: Sequence[Finding], judged: Judged, by_id: Mapping[str, Exchange]) -> str | None:
    """What an endpoint does instead of keeping a promise about requests, for comparing endpoints.

    `ignored`: it answers what it must refuse; `refused`: it refuses what it must answer.
    """
    kinds = {case.id: case.kind for case in judged.cases}
    done = set()
    for finding in violated:
        statuses = {by_id[name].status for name in finding.exchanges}
        match kinds.get(finding.case or ""):
            case "refused" if statuses == {200}:
                done.add("ignored")
            case "accepted" | "within" if any(400 <= status < 500 for status in statuses):
                done.add("refused")
    return done.pop() if len(done) == 1 else None


def _count(findings: Sequence[Finding], outcome: str) -> int:
    return sum(finding.outcome == outcome for finding in findings)


def _lacking(requirement: Requirement, capabilities: Mapping[str, Capability]) -> list[str]:
    known = {name: capabilities[name] for name in requirement.needs if name in capabilities}
    return [f"{name} ({state.source})" for name, state in known.items() if state.excuses(name)]


def _why(
    outcome: Verdict,
    requirement: Requirement,
    findings: Sequence[Finding],
    lacking: Sequence[str],
    waiver: str | None,
    broken: Sequence[str],
    settings: Settings,
) -> str:
    if outcome == "not_applicable":
        return f"the endpoint does not offer {', '.join(lacking)}"
    if outcome == "waived":
        return waiver or ""
    if outcome == "error":
        return f"the suite's own check broke: {broken[0].strip().splitlines()[-1]}"
    if outcome == "inconclusive":
        reasons = list(dict.fromkeys(finding.why for finding in findings if finding.outcome == "undecided"))
        return "; ".join(reasons[:3])
    if outcome == "not_exercised":
        if requirement.judge == "untestable":
            return f"cannot be seen from outside: {requirement.reason}"
        if requirement.induce and not settings.target.induce:
            return (
                "no client can provoke it; an endpoint that supports X-Conformance-Induce: "
                f"{requirement.induce} (induce = true) lets it be exercised"
            )
        if settings.effort != "exhaustive":
            return f"its condition did not occur in this run (effort {settings.effort})"
        return "its condition did not occur in this run"
    return ""


def _evidence(finding: Finding, judged: Judged, by_id: Mapping[str, Exchange]) -> dict[str, Any]:
    assert finding.violation is not None
    return {
        "message": finding.violation.message,
        "expected": finding.violation.expected,
        "observed": finding.violation.observed,
        "exchanges": list(finding.exchanges),
        "reproduced": _reproduced(finding, judged),
        "curl": curl(by_id[finding.exchanges[-1]]) if finding.exchanges else "",
        "breaks_clients": list(breaks().get(finding.requirement, ())),
    }


def _reproduced(finding: Finding, judged: Judged) -> str:
    """How often the same requirement was violated when the same thing was sent again."""
    subject = finding.case or (finding.exchanges[0] if len(finding.exchanges) == 1 else "")
    repeats: Iterable[Finding] = (f for f in judged.repeats.get(subject, ()) if f.requirement == finding.requirement)
    times: dict[str, bool] = {}
    for repeat in repeats:
        key = repeat.case or repeat.exchanges[0]
        times[key] = times.get(key, False) or repeat.outcome == "violated"
    return f"{1 + sum(times.values())}/{1 + len(times)}"
