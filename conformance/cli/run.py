"""`conformance run`: certify an endpoint."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from conformance.cli.options import profile_option, spec_dir_option
from conformance.cli.progress import Progress, summary
from conformance.cli.target import resolve
from conformance.probe import EFFORTS
from conformance.run import run
from conformance.settings import Settings
from conformance.wire.budget import Caps
from conformance.wire.limits import Limits


def _shard(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    index, slash, count = value.partition("/")
    if not slash or not index.isdigit() or not count.isdigit() or not 1 <= int(index) <= int(count):
        raise click.BadParameter(f"{value!r} is not I/N with 1 ≤ I ≤ N")
    return int(index), int(count)


@click.command("run")
@spec_dir_option
@profile_option
@click.option("--base-url", help="Up to and including /v1, as the OpenAI SDKs take it. Default: the bundled reference.")
@click.option("--model", "models", multiple=True, help="Model id. Default: the first that GET models lists.")
@click.option("--vision-model", help="Model for image requests, where it is another.")
@click.option("--reasoning-model", help="Model for reasoning requests, where it is another.")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the API key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for record and reports.")
@click.option("--only", multiple=True, metavar="ID_OR_GLOB", help="Judge only these requirements (repeatable).")
@click.option("--effort", type=click.Choice(EFFORTS), default="standard", show_default=True)
@click.option("--max-requests", type=click.IntRange(1), help="Hard cap on requests.")
@click.option("--max-tokens", type=click.IntRange(1), help="Hard cap on tokens, prompt and completion.")
@click.option("--max-time", type=click.FloatRange(1), metavar="S", help="Seconds the run may take.")
@click.option("--timeout", type=click.FloatRange(0.1), default=120.0, show_default=True, help="Seconds per exchange.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Parallel processes.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--shard", callback=_shard, default="1/1", metavar="I/N", help="Run one part of N.")
@click.option("--resume", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Continue a run.")
@click.option("--strict", is_flag=True, help="A should counts as a must.")
@click.option("--induce", is_flag=True, help="The endpoint supports the X-Conformance-Induce header.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to other machines.")
@click.option("--allow-load", is_flag=True, help="Allow probes that put load on the endpoint.")
def command(**given: Any) -> int:
    """Certify an endpoint against a vendor's document, and write record and reports."""
    with ExitStack() as stack:
        target = resolve(stack, given)
        out = given["resume"] or given["out"] or Path(f"conformance-reports/{given['profile']}")
        if given["resume"] is None and (out / "exchanges.jsonl").exists():
            _make_room(out)
        settings = Settings(
            profile=given["profile"],
            target=target,
            out=out,
            seed=given["seed"],
            effort=given["effort"],
            only=given["only"],
            workers=given["workers"],
            shard=given["shard"],
            strict=given["strict"],
            caps=Caps(
                given["max_requests"],
                given["max_tokens"],
                time.time() + given["max_time"] if given["max_time"] else None,
            ),
            limits=Limits(exchange_s=given["timeout"], idle_s=min(60.0, given["timeout"])),
            spec_dir=given["spec_dir"],
            resume=given["resume"] is not None,
            command=shlex.join(["conformance", *sys.argv[1:]]),
        )
        progress = Progress(target.base_url, settings.profile)
        record = run(settings, progress, on_plan=progress.plan)
        click.echo(summary(record, out))
        status: int = record["exit_status"]
        return status


def _make_room(out: Path) -> None:
    """An earlier run's files must not be mixed into this one."""
    for name in ("exchanges.jsonl", "cases.jsonl", "problems.jsonl", "budget.json", "results.json", "run.json"):
        (out / name).unlink(missing_ok=True)
