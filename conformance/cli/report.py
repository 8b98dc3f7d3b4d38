"""`conformance report`: render a run's record again."""

from __future__ import annotations

from pathlib import Path

import click

import reports


@click.command("report")
@click.option("--format", "formats", multiple=True, help="html, junit, ctrf, markdown, badge, har, csv. Default: all.")
@click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(formats: tuple[str, ...], folder: Path) -> None:
    """Write a run's reports again from its record."""
    paths = reports.render(folder, formats) if formats else reports.render(folder)
    for path in paths:
        click.echo(path)
