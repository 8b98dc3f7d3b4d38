"""`conformance judge`: the laws over traffic that is already recorded. Sends nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

import spec
from conformance.cli.options import known_profile, spec_dir_option
from conformance.cli.progress import summary
from conformance.plan import make_plan
from conformance.record import Ending
from conformance.run import Terms, conclude, now
from conformance.settings import SETTINGS, Settings


@click.command("judge")
@spec_dir_option
@click.option("--profile", callback=known_profile, help="Judge against another document than the run did.")
@click.option("--strict", is_flag=True, help="A should counts as a must.")
@click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(spec_dir: Path | None, profile: str | None, strict: bool, folder: Path) -> int:
    """Judge a run's recorded exchanges again, and write its record and reports anew."""
    if not (folder / SETTINGS).exists():
        raise click.UsageError(f"{folder} is not a run's folder: it has no {SETTINGS}")
    settings = Settings.read(folder)
    settings = replace(
        settings, profile=profile or settings.profile, spec_dir=spec_dir or settings.spec_dir, strict=strict
    )
    plan = make_plan(settings)
    loaded = spec.load_profile(settings.profile, settings.spec_dir)
    record = conclude(settings, loaded, plan, now(), 0.0, Ending(), Terms())
    click.echo(summary(record, folder))
    status: int = record["gate"]["status"]
    return status
