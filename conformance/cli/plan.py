"""`conformance plan`: what a run would send. Sends nothing."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from conformance import bounds, reference
from conformance.cli.options import config_option, known_profile, profile_of, spec_dir_option, target_settings
from conformance.cli.target import described, merge
from conformance.plan import Plan, PlannedTopic, make_plan
from conformance.probe import EFFORTS
from conformance.settings import Settings
from conformance.target import Target

LEARNED = Path(__file__).parents[1] / bounds.TABLE


@click.command("plan", context_settings={"auto_envvar_prefix": "CONFORMANCE"})
@spec_dir_option
@config_option
@click.option("--target", "name", envvar="CONFORMANCE_TARGET", help="A [targets.NAME] of the settings file.")
@click.option("--profile", callback=known_profile, help="ark, serenity-edge, portable, or one of your own.")
@click.option("--base-url", help="As for run. Default: the bundled reference.")
@click.option("--model", help="Model id: its length is part of every request.")
@click.option("--only", multiple=True, metavar="ID_OR_GLOB", help="Plan only for these requirements (repeatable).")
@click.option("--effort", type=click.Choice(EFFORTS), help="As for run. Default: standard.")
@click.option("--api-key-env", metavar="NAME", help="As for run: with a key, more is asked.")
@click.option("--induce", is_flag=True, help="As for run: with the induce header, more is asked.")
@click.option("--allow-load", is_flag=True, help="As for run: probes that put load on the endpoint.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--learn",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="RUN",
    help="Instead: keep, as data, how much these runs of the reference asked at most.",
)
def command(**given: Any) -> None:
    """Print how many requests a run sends, and at most how many tokens and how much money, per topic."""
    if given["learn"]:
        LEARNED.write_text(bounds.learn(given["learn"]), encoding="utf-8")
        click.echo(LEARNED)
        return
    file = target_settings(given)
    profile = profile_of(given, file)
    target = _target(merge(given, file.target))
    effort = given["effort"] or file.run.get("effort", "standard")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            profile, target, Path(folder), effort=effort, only=given["only"], spec_dir=given["spec_dir"]
        )
        settings.write()
        plan = make_plan(settings)
    if given["as_json"]:
        click.echo(json.dumps(_as_json(plan, target), indent=1))
        return
    Console().print(_table(plan, target, f"{profile}, effort {effort}"))
    click.echo(f"{len(plan.requirements)} requirements made observable by {len(plan.probes)} probes")
    click.echo("Tokens are upper bounds: one a byte sent, and every answer as long as its limit allows.")


def _target(merged: Mapping[str, Any]) -> Target:
    """The target as a run would see it, without asking it; the bundled reference where none is described."""
    if merged.get("base_url"):
        return described(merged)
    variable = merged.get("api_key_env")
    bundled = variable is None and not merged.get("induce")
    if bundled:
        variable = reference.KEY_VARIABLE
        os.environ.setdefault(variable, "planned")
    return described({
        **merged, "base_url": "http://127.0.0.1", "api_key_env": variable,
        "induce": bundled or merged.get("induce"), "allow_load": bundled or merged.get("allow_load"),
    })  # fmt: skip


def _table(plan: Plan, target: Target, title: str) -> Table:
    money = target.prices is not None
    currency = target.prices.currency if target.prices else ""
    columns = ["topic", "requests", "tokens at most", *([f"money at most {currency}".strip()] if money else [])]
    table = Table(*columns, title=title)
    for topic in [*plan.by_topic(target), plan.total(target)]:
        cells = [topic.topic, str(topic.requests), str(topic.tokens.prompt + topic.tokens.completion)]
        table.add_row(*cells, *([f"{topic.cost:.4f}"] if money else []), style="bold" if topic.topic == "total" else "")
    return table


def _as_json(plan: Plan, target: Target) -> dict[str, Any]:
    return {
        "topics": [_row(topic) for topic in plan.by_topic(target)],
        "total": _row(plan.total(target)),
        "probes": [{"probe": probe.probe, "requests": probe.requests} for probe in plan.probes],
    }


def _row(topic: PlannedTopic) -> dict[str, Any]:
    return {
        "topic": topic.topic,
        "requests": topic.requests,
        "prompt_tokens": topic.tokens.prompt,
        "completion_tokens": topic.tokens.completion,
        "cost": topic.cost,
    }
