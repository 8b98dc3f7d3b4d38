"""`conformance prove`: the suite against the reference with each fault in turn."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

import reports
import spec
from conformance import reference
from conformance.cli.options import profile_option
from conformance.cli.target import resolve_running
from conformance.cli.trouble import Trouble
from conformance.proof import table
from conformance.proof.clean import clean_runs
from conformance.proof.faults import Fault, list_faults
from conformance.proof.prove import Outcome, Proof, prove, without_fault
from conformance.proof.signatures import update
from conformance.settings import Settings
from reports.record import write_atomically


@click.command("prove")
@profile_option
@click.option("--fault", "globs", multiple=True, metavar="GLOB", help="Only these faults (repeatable).")
@click.option("--one-per-topic", is_flag=True, help="The fast subset: the first fault of every topic.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--clean", type=click.IntRange(1), metavar="N", help="Instead: N runs of the untouched reference.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the table: a page and data.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep what every fault's run recorded.")
@click.option("--update-signatures", is_flag=True, help="Keep what each fault turned red as data for diagnose.")
def command(**given: Any) -> int:
    """Prove that every check can fail: run the suite against the reference, broken in one way at a time."""
    with ExitStack() as stack:
        try:
            running = stack.enter_context(reference.running(given["profile"], "--allow-induce", "--fault-header"))
        except reference.ReferenceError as error:
            raise Trouble(f"the bundled reference did not start: {error}") from error
        settings = Settings(given["profile"], resolve_running(running.base_url), Path(), effort="exhaustive")
        if given["clean"]:
            return _clean(settings, given["clean"])
        return _prove(settings, given)


def _prove(settings: Settings, given: dict[str, Any]) -> int:
    everything = [fault for fault in list_faults() if settings.profile in fault.breaks]
    faults = _chosen(everything, given["globs"], given["one_per_topic"])
    if not faults:
        raise click.UsageError("no such fault; see python -m reference_impl --list-faults")

    def watch(outcome: Outcome) -> None:
        click.echo(table.line(outcome))

    proof = prove(faults, settings, given["workers"], watch, given["keep"])
    if len(faults) == len(everything):
        proof.unproven = without_fault(settings, everything)
    click.echo(table.headline(proof))
    for name in proof.unproven:
        click.echo(f"  no fault for {name}")
    if given["out"]:
        profile = spec.load_profile(settings.profile, settings.spec_dir)
        command = shlex.join(["conformance", *sys.argv[1:]])
        _write(given["out"], proof, table.record(proof, profile, everything, command))
    if given["update_signatures"]:
        update(proof, faults)
    return 0 if proof.whole else 1


def _chosen(faults: Sequence[Fault], globs: Sequence[str], one_per_topic: bool) -> list[Fault]:
    chosen = [fault for fault in faults if not globs or any(fnmatchcase(fault.id, glob) for glob in globs)]
    if one_per_topic:
        first: dict[str, Fault] = {}
        for fault in chosen:
            first.setdefault(fault.topic, fault)
        chosen = list(first.values())
    return chosen


def _write(out: Path, proof: Proof, record: dict[str, Any]) -> None:
    stem = f"detection-{proof.profile}"
    write_atomically(out / f"{stem}.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    write_atomically(out / f"{stem}.md", table.as_markdown(proof))
    write_atomically(out / f"{stem}.html", reports.detection_page(record))
    click.echo(f"  table: {out / stem}.html, .md and .json")


def _clean(settings: Settings, count: int) -> int:
    alarms = 0
    for run in clean_runs(settings, count, settings.target.model):
        red = [f"{name} ({red.verdict}: {red.message})" for name, red in run.red.items()] + run.errors
        alarms += bool(red)
        pace = f"{run.delay_ms} ms a token, {run.tokens_per_chunk} tokens a chunk"
        how = f"{run.effort}, seed {run.seed}, {run.workers} workers, {pace}, {run.requests} requests"
        click.echo(f"{'✗' if red else '✓'} run {run.number} ({how}){': ' + '; '.join(red) if red else ''}")
    click.echo(f"{alarms} of {count} runs raised an alarm")
    return 1 if alarms else 0
