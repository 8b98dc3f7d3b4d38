"""`conformance diagnose`: the nearest known faults behind a run's findings."""

from __future__ import annotations

from pathlib import Path

import click

import reports
from conformance.proof.signatures import nearest


@click.command("diagnose")
@click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Name the known public faults that a run's findings look like, with citations; silent where nothing is near."""
    results = reports.load_run(folder).results
    found = nearest(results["profile"], results["requirements"])
    if not found:
        click.echo("nothing in this run looks like a known fault")
    for likeness in found:
        click.echo(f"{likeness.agreement:.0%} {likeness.fault}: {likeness.sentence}")
        click.echo(f"     seen in {', '.join(likeness.citations) or 'no public report that we know'}")
        click.echo(f"     by {', '.join(likeness.requirements)}")
