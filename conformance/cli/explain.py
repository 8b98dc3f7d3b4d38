"""`conformance explain`: one requirement, from its sentence to the law that judges it."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

import spec
from conformance.cli.options import spec_dir_option
from conformance.laws import CASE_LAWS, EXCHANGE_LAWS, RUN_LAWS
from spec.model import Profile, Requirement


@click.command("explain")
@spec_dir_option
@click.argument("requirement_id", metavar="ID")
def command(spec_dir: Path | None, requirement_id: str) -> None:
    """Explain a requirement: its sentence, who promises it and where, how it is judged."""
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
    if requirement.needs:
        lines.append(f"  applies where the endpoint offers {', '.join(requirement.needs)}")
    if requirement.induce:
        lines.append(f"  provoked by X-Conformance-Induce: {requirement.induce}")
    return lines


def _judged(requirement: Requirement) -> list[str]:
    if requirement.judge == "untestable":
        return [f"cannot be tested from outside: {requirement.reason}"]
    if requirement.judge == "schema":
        return ["judged wherever an answer or a refusal shows the field (derived from the OpenAPI document)"]
    laws = [table[requirement.id] for table in (EXCHANGE_LAWS, RUN_LAWS) if requirement.id in table]
    laws += [law for kind in CASE_LAWS.values() for law in kind if law.requirement == requirement.id]
    return [f"law: {law.text}" for law in laws] or ["judged by the cases of its probes"]
