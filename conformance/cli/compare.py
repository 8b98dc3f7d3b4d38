"""`conformance diff`, `matrix` and `history`: several runs beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import reports

F = TypeVar("F", bound=Callable[..., Any])
RUN = click.Path(exists=True, file_okay=False, path_type=Path)


def _out(command: F) -> F:
    """`--out FILE`: write there instead of standard output."""
    return click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")(command)


def _deliver(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        out.write_text(text, encoding="utf-8")
        click.echo(out)


@click.command("diff")
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@_out
@click.argument("before", metavar="A", type=RUN)
@click.argument("after", metavar="B", type=RUN)
def diff(form: str, out: Path | None, before: Path, after: Path) -> int:
    """What changed from run A to run B; status 1 where a promise that was kept is now broken."""
    found = reports.diff(before, after)
    text = found.markdown() if form == "markdown" else json.dumps(found.as_dict(), indent=1, ensure_ascii=False)
    _deliver(text, out)
    return int(found.regressed)


@click.command("matrix")
@click.option("--format", "form", type=click.Choice(["markdown", "html", "csv"]), default="markdown", show_default=True)
@_out
@click.argument("runs", metavar="RUN…", nargs=-1, required=True, type=RUN)
def matrix(form: str, out: Path | None, runs: tuple[Path, ...]) -> None:
    """Requirements by endpoints: what each one does, and where they differ."""
    found = reports.matrix(runs)
    _deliver({"markdown": found.markdown, "html": found.html, "csv": found.csv}[form](), out)


@click.command("history")
@click.option("--format", "form", type=click.Choice(["markdown", "html"]), default="markdown", show_default=True)
@_out
@click.argument("folder", metavar="DIR", type=RUN)
def history(form: str, out: Path | None, folder: Path) -> None:
    """Every run below a folder, by target and in order of time."""
    found = reports.history(folder)
    _deliver(found.html() if form == "html" else found.markdown(), out)
