"""`conformance plan`: what a run would send. Sends nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from conformance.cli.options import profile_option, spec_dir_option
from conformance.plan import make_plan
from conformance.probe import EFFORTS
from conformance.settings import Settings
from conformance.target import Target


@click.command("plan")
@spec_dir_option
@profile_option
@click.option("--only", multiple=True, metavar="ID_OR_GLOB", help="Plan only for these requirements (repeatable).")
@click.option("--effort", type=click.Choice(EFFORTS), default="standard", show_default=True)
@click.option("--api-key-env", metavar="NAME", help="As for run: with a key, more is asked.")
@click.option("--induce", is_flag=True, help="As for run: with the induce header, more is asked.")
def command(**given: Any) -> None:
    """Print how many requests a run sends, per topic."""
    with tempfile.TemporaryDirectory() as folder:
        target = Target("http://127.0.0.1", "model", api_key_env=given["api_key_env"], induce=given["induce"])
        settings = Settings(given["profile"], target, Path(folder), effort=given["effort"], only=given["only"])
        settings.write()
        plan = make_plan(settings)
    table = Table("topic", "requests", title=f"{given['profile']}, effort {given['effort']}")
    for topic, requests in plan.by_topic().items():
        table.add_row(topic, str(requests))
    table.add_row("total", str(plan.requests), style="bold")
    Console().print(table)
    click.echo(f"{len(plan.requirements)} requirements made observable by {len(plan.probes)} probes")
