"""One certification: plan, preflight, probes, judgement, record, reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import reports
import reports.record
import spec
from conformance.config.waivers import Waiver, stale, waived_ids
from conformance.gate import Policy, judge_gate
from conformance.plan import Plan, make_plan
from conformance.plugin import BUDGET, PROBLEMS, make_session
from conformance.preflight import Preflight, preflight
from conformance.proof.signatures import nearest, proving
from conformance.record import Ending, build, is_unprovokable
from conformance.results import Judged, judge_folder, requirement_rows
from conformance.session import run_probes
from conformance.settings import Settings
from conformance.wire.budget import Budget
from conformance.wire.journal import CASES, EXCHANGES
from spec.model import Profile


def now() -> str:
    """The time in UTC, as the record writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides the exit status beside the verdict: a policy, known failures, an earlier run."""

    policy: Policy = field(default_factory=Policy)
    waivers: Sequence[Waiver] = ()
    baseline: Mapping[str, Any] | None = None


def run(
    settings: Settings,
    *watchers: Any,
    terms: Terms | None = None,
    on_plan: Callable[[Plan], None] = lambda plan: None,
) -> dict[str, Any]:
    """Certify a target; returns the record, which is also in the run's folder beside the evidence.

    Raises `spec` errors for an unusable specification and RuntimeError when the probes cannot be collected.
    """
    started, clock = now(), time.monotonic()
    settings.out.mkdir(parents=True, exist_ok=True)
    if settings.resume:
        Budget(settings.out / BUDGET, settings.caps).reopen()
    else:
        _make_room(settings.out)
    settings.write()
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    plan = make_plan(settings)
    on_plan(plan)
    try:
        ending = _send(settings, profile, *watchers)
    except KeyboardInterrupt:
        ending = Ending(interrupted=True)
    return conclude(settings, profile, plan, started, time.monotonic() - clock, ending, terms or Terms())


def _send(settings: Settings, profile: Profile, *watchers: Any) -> Ending:
    first = _preflight(settings, profile)
    if not first.go:
        return Ending(sentence=first.sentence, unusable=True)
    code = run_probes(settings, *watchers)
    if code is pytest.ExitCode.INTERRUPTED:
        return Ending(interrupted=True)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"the probes ended with pytest's status {int(code)}")
    return Ending()


def _make_room(out: Path) -> None:
    """An earlier run's files must not be mixed into this one."""
    for name in (EXCHANGES, CASES, PROBLEMS, BUDGET, reports.record.RESULTS):
        (out / name).unlink(missing_ok=True)


def _preflight(settings: Settings, profile: Profile) -> Preflight:
    session = make_session(settings, profile)
    try:
        return preflight(session, profile)
    except pytest.skip.Exception:  # a cap was reached before the first answer; the budget says which
        return Preflight(False)
    finally:
        session.client.close()
        session.exchanges.close()
        session.cases.close()


def conclude(
    settings: Settings,
    profile: Profile,
    plan: Plan,
    started: str,
    wall_s: float,
    ending: Ending,
    terms: Terms,
) -> dict[str, Any]:
    """Judge what is in the run's folder, and write the record and its renderings."""
    day = datetime.now(UTC).date()
    judged = judge_folder(settings.out, profile, settings.target.capabilities)
    spent = Budget(settings.out / BUDGET, settings.caps).read()
    if spent.stopped:
        ending = replace(ending, stopped=spent.stopped)
    wanted = scope(settings, profile, plan, judged)
    rows = requirement_rows(judged, profile, settings, waived_ids(terms.waivers, wanted, day), wanted)
    faults = proving(profile)
    rows = [{**row, "proven_by": faults.get(row["id"], [])} for row in rows]
    waivers = [waiver.to_json() for waiver in terms.waivers]
    record = build(settings, profile, judged, rows, spent, started, now(), wall_s, ending, waivers)
    gate = judge_gate(
        record,
        stale=stale(terms.waivers, rows, profile.promises, day),
        baseline=terms.baseline,
        policy=terms.policy,
        unprovokable=[name for name in wanted if is_unprovokable(name, profile)],
        cut_short=bool(ending.stopped or ending.unusable),
    )
    record["gate"] = asdict(gate)
    record["diagnosis"] = [likeness.to_json() for likeness in nearest(profile.name, rows)]
    reports.write_results(settings.out, record)
    reports.render(settings.out)
    return record


def scope(settings: Settings, profile: Profile, plan: Plan, judged: Judged) -> list[str]:
    """The requirements that a run answers for: all that is promised, or the part that was asked for.

    A smoke run answers for what its probes show, less what needs a capability and was not shown by them.
    """
    if settings.only:
        return [name for name in profile.promises if any(fnmatchcase(name, glob) for glob in settings.only)]
    if settings.effort == "smoke":
        return [
            name
            for name in profile.promises
            if name in plan.requirements and (name in judged.findings or not profile.requirements[name].needs)
        ]
    return list(profile.promises)
