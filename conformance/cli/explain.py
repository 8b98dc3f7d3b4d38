"""`conformance explain`: one requirement, from its sentence to the law that judges it."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import click

import spec
from conformance.cli.options import spec_dir_option
from conformance.coverage import everything
from conformance.laws import CASE_LAWS, EXCHANGE_LAWS, RUN_LAWS
from conformance.proof.signatures import proving
from conformance.target import Target
from conformance.traffic.bodies import Bodies
from conformance.traffic.carriers import assigned, carrier
from conformance.traffic.defects import defects
from spec.model import Profile, Requirement

SHOWN = 5


@click.command("explain")
@spec_dir_option
@click.argument("requirement_id", metavar="ID")
def command(spec_dir: Path | None, requirement_id: str) -> None:
    """Explain a requirement: its sentence, who promises it and where, how it is judged, asked and proven."""
    profiles = [spec.load_profile(name, spec_dir) for name in spec.profile_names(spec_dir)]
    known: dict[str, Requirement] = {}
    for profile in profiles:
        known |= profile.requirements
    if requirement_id not in known:
        near = difflib.get_close_matches(requirement_id, known, n=5, cutoff=0.5)
        hint = f"; did you mean {', '.join(near)}?" if near else "; see conformance list"
        raise click.UsageError(f"no requirement {requirement_id!r}{hint}")
    click.echo("\n".join(_lines(known[requirement_id], profiles)))


def _lines(requirement: Requirement, profiles: list[Profile]) -> list[str]:
    lines = [requirement.id, f"  {requirement.title}", f"  topic {requirement.topic}"]
    for profile in profiles:
        promise = profile.promised(requirement.id)
        if promise is None:
            lines.append(f"  {profile.name}: not promised")
            continue
        lines.append(f"  {profile.name}: {promise.level}, {promise.basis}: {promise.where}")
        if promise.because:
            lines.append(f"    because {promise.because}")
        if promise.params:
            lines.append(f"    with {', '.join(f'{name} = {value}' for name, value in promise.params.items())}")
    lines += [f"  {line}" for line in _judged(requirement)]
    promising = [profile for profile in profiles if profile.promised(requirement.id)]
    if requirement.judge != "untestable" and promising:
        lines += [f"  {line}" for line in (*_asked(requirement.id, promising[0]), *_proven(requirement.id, promising))]
    if requirement.needs:
        lines.append(f"  applies where the endpoint offers {', '.join(requirement.needs)}")
    if requirement.induce:
        lines.append(f"  provoked by X-Conformance-Induce: {requirement.induce}")
    return lines


def _asked(requirement: str, profile: Profile) -> list[str]:
    """Which probes make it observable, and what one of its requests looks like."""
    probes = [probe.probe for probe in everything(profile).probes if requirement in probe.requirements]
    more = f" and {len(probes) - SHOWN} more" if len(probes) > SHOWN else ""
    lines = [f"asked by {', '.join(probes[:SHOWN])}{more}"]
    constraint = profile.constraints.get(requirement)
    if constraint is not None and constraint.part == "request":
        bodies = Bodies(profile, Target("", "MODEL"), lambda: "4f3a9c02d1e7")
        name = next(name for name, ids in assigned(profile).items() if requirement in ids)
        for defect in defects(constraint, carrier(name, bodies))[:1]:
            body = json.dumps(defect.body, ensure_ascii=False)
            lines.append(f"sample request ({defect.words}): {body if len(body) < 800 else body[:800] + '…'}")
    return lines


def _proven(requirement: str, profiles: list[Profile]) -> list[str]:
    """Which faults of the bundled reference turn it red."""
    faults = dict.fromkeys(fault for profile in profiles for fault in proving(profile).get(requirement, ()))
    return [f"proven by {', '.join(list(faults)[:SHOWN])}"] if faults else []


def _judged(requirement: Requirement) -> list[str]:
    if requirement.judge == "untestable":
        return [f"cannot be tested from outside: {requirement.reason}"]
    if requirement.judge == "schema":
        return ["judged wherever an answer or a refusal shows the field (derived from the OpenAPI document)"]
    laws = [table[requirement.id] for table in (EXCHANGE_LAWS, RUN_LAWS) if requirement.id in table]
    laws += [law for kind in CASE_LAWS.values() for law in kind if law.requirement == requirement.id]
    return [f"law: {law.text}" for law in laws] or ["judged by the cases of its probes"]
