"""`conformance merge`: join the shards of one run."""

from __future__ import annotations

from pathlib import Path

import click

import spec
from conformance.cli.progress import summary
from conformance.merge import MergeError, merge
from conformance.plan import make_plan
from conformance.record import Ending
from conformance.run import Terms, conclude, now


@click.command("merge")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder of the whole.")
@click.argument("shards", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(out: Path, shards: tuple[Path, ...]) -> int:
    """Join all shards of one run and judge the whole; missing, doubled or foreign shards are refused."""
    try:
        settings = merge(shards, out)
    except MergeError as error:
        raise click.UsageError(str(error)) from error
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    record = conclude(settings, profile, make_plan(settings), now(), 0.0, Ending(), Terms())
    click.echo(summary(record, out))
    status: int = record["gate"]["status"]
    return status
