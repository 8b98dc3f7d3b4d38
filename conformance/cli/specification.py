"""`conformance spec`: look at the data that the vendors' documents became."""

from __future__ import annotations

from pathlib import Path

import click

import spec
from conformance.cli.options import spec_dir_option
from spec import diff as differences


@click.group("spec")
def command() -> None:
    """Compare two profiles, or check a vendor folder."""


@command.command("diff")
@spec_dir_option
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@click.argument("left")
@click.argument("right")
def diff(spec_dir: Path | None, form: str, left: str, right: str) -> None:
    """Every difference between two documents, field by field, and what a portable client should do."""
    names = spec.profile_names(spec_dir)
    for name in (left, right):
        if name not in names:
            raise click.UsageError(f"{name!r} is none of {', '.join(names)}")
    one, other = spec.load_profile(left, spec_dir), spec.load_profile(right, spec_dir)
    found = differences.compare(one, other)
    render = differences.as_markdown if form == "markdown" else differences.as_json
    click.echo(render(one, other, found))


@command.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def check(folder: Path) -> int:
    """Check a vendor folder: every message says the file, the row and what to do."""
    from spec.check import check_vendor

    problems = check_vendor(folder)
    for problem in problems:
        click.echo(str(problem))
    click.echo(f"{len(problems)} problems" if problems else "nothing to complain about")
    return 4 if problems else 0
