"""`conformance merge`: join the shards of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import spec
from conformance.cli.options import config_option, target_settings
from conformance.cli.progress import summary
from conformance.cli.terms import terms_of, terms_options
from conformance.merge import MergeError, merge
from conformance.plan import make_plan
from conformance.record import Ending
from conformance.run import Terms, conclude
from conformance.target import Target


@click.command("merge")
@config_option
@terms_options
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder of the whole.")
@click.argument("shards", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(shards: tuple[Path, ...], **given: Any) -> int:
    """Join all shards of one run and judge the whole; missing, doubled or foreign shards are refused."""
    file = target_settings({**given, "name": None})
    waivers = given["waivers"] or file.run.get("waivers")
    return join(given["out"], shards, lambda target: terms_of(file.policy, waivers, given["baseline"], target))


def join(out: Path, shards: Sequence[Path], terms: Callable[[Target], Terms]) -> int:
    """Merge, judge the whole, print its summary; returns its status. Raises UsageError for parts that do not fit."""
    try:
        settings, started, wall_s = merge(shards, out)
    except MergeError as error:
        raise click.UsageError(str(error)) from error
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    record = conclude(settings, profile, make_plan(settings), started, wall_s, Ending(), terms(settings.target))
    click.echo(summary(record, out))
    status: int = record["gate"]["status"]
    return status
