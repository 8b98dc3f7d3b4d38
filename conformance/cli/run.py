"""`conformance run`: certify an endpoint."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import spec
from conformance.cli.fleet import run_targets
from conformance.cli.options import config_option, known_profile, profile_of, spec_dir_option, target_settings
from conformance.cli.progress import Progress, summary
from conformance.cli.target import resolve
from conformance.cli.terms import terms_of, terms_options
from conformance.probe import EFFORTS
from conformance.run import Terms, run
from conformance.settings import SETTINGS, Settings
from conformance.target import Target
from conformance.wire.budget import Caps
from conformance.wire.limits import Limits

DEFAULTS = {"effort": "standard", "workers": 1, "seed": 0, "timeout": 120.0}


def _shard(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    index, slash, count = value.partition("/")
    if not slash or not index.isdigit() or not count.isdigit() or not 1 <= int(index) <= int(count):
        raise click.BadParameter(f"{value!r} is not I/N with 1 ≤ I ≤ N")
    return int(index), int(count)


@click.command("run", context_settings={"auto_envvar_prefix": "CONFORMANCE"})
@spec_dir_option
@config_option
@click.option(
    "--target",
    "name",
    multiple=True,
    envvar="CONFORMANCE_TARGET",
    help="A [targets.NAME] of the settings file (repeatable: see fleet).",
)
@click.option("--profile", callback=known_profile, help="ark, serenity-edge, portable, or one of your own.")
@click.option("--base-url", help="Up to and including /v1, as the OpenAI SDKs take it. Default: the bundled reference.")
@click.option("--model", help="Model id. Default: the first that GET models lists.")
@click.option("--vision-model", help="Model for image requests, where it is another.")
@click.option("--reasoning-model", help="Model for reasoning requests, where it is another.")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the API key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for record and reports.")
@click.option("--only", multiple=True, metavar="ID_OR_GLOB", help="Judge only these requirements (repeatable).")
@click.option("--effort", type=click.Choice(EFFORTS), help="How much is asked. Default: standard.")
@click.option("--max-requests", type=click.IntRange(1), help="Hard cap on requests.")
@click.option("--max-tokens", type=click.IntRange(1), help="Hard cap on tokens, prompt and completion.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Hard cap on money (needs prices).")
@click.option("--max-time", type=click.FloatRange(1), metavar="S", help="Seconds the run may take.")
@click.option("--timeout", type=click.FloatRange(0.1), help="Seconds for one exchange. Default: 120.")
@click.option("--workers", type=click.IntRange(1, 64), help="Parallel processes. Default: 1.")
@click.option("--seed", type=click.IntRange(0), help="Default: 0.")
@click.option("--shard", callback=_shard, default="1/1", metavar="I/N", help="Run one part of N.")
@click.option("--resume", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Continue a run.")
@click.option("--strict", is_flag=True, help="A should counts as a must.")
@terms_options
@click.option("--rerun", type=click.Choice(["failed", "inconclusive"]), help="Ask again what --baseline has as such.")
@click.option("--induce", is_flag=True, help="The endpoint supports the X-Conformance-Induce header.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to other machines.")
@click.option("--allow-load", is_flag=True, help="Allow probes that put load on the endpoint.")
@click.option(
    "--reference-fault",
    "reference_faults",
    multiple=True,
    metavar="ID",
    help="Break the bundled reference in this way (python -m reference_impl --list-faults).",
)
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Certify an endpoint against a vendor's document, and write record and reports."""
    if len(given["name"]) > 1:
        return run_targets(ctx, given)
    given["name"] = given["name"][0] if given["name"] else None
    file = target_settings(given)
    options = {**DEFAULTS, **file.run, **{name: value for name, value in given.items() if value is not None}}
    profile = profile_of(given, file)
    if options.get("max_cost") and "prices" not in file.target:
        raise click.UsageError("--max-cost needs the target's prices in the settings file")
    if given["rerun"] and not given["baseline"]:
        raise click.UsageError("--rerun needs --baseline")
    if given["resume"] and not (given["resume"] / SETTINGS).exists():
        raise click.UsageError(f"{given['resume']} holds no run to resume")
    with ExitStack() as stack:
        target = resolve(stack, {**given, "profile": profile}, file.target)
        terms = terms_of(file.policy, options.get("waivers"), given["baseline"], target)
        settings = _settings(given, options, file.policy, profile, target, terms)
        if given["rerun"]:  # what was asked for again is to be mended, so that it excuses nothing
            terms = replace(terms, baseline=None)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, with a partial report
        with Progress(settings) as progress:
            record = run(settings, progress, terms=terms, on_plan=progress.plan)
        click.echo(summary(record, settings.out))
        status: int = record["gate"]["status"]
        return status


def _settings(
    given: dict[str, Any], options: dict[str, Any], policy: dict[str, Any], profile: str, target: Target, terms: Terms
) -> Settings:
    out = given["resume"] or given["out"] or Path("conformance-reports") / (target.name or profile)
    only = given["only"]
    if given["rerun"]:
        assert terms.baseline is not None
        wanted = {"failed": ("fail", "warn"), "inconclusive": ("inconclusive", "not_exercised", "error")}
        rows = terms.baseline["requirements"]
        only = tuple(row["id"] for row in rows if row["verdict"] in wanted[given["rerun"]])
        if not only:
            raise click.UsageError(f"nothing {given['rerun']} in {given['baseline']}: nothing to ask again")
    settings = Settings(
        profile=profile,
        target=target,
        out=out,
        seed=options["seed"],
        effort=options["effort"],
        only=only,
        workers=options["workers"],
        shard=given["shard"],
        strict=given["strict"] or policy.get("level") == "should",
        caps=Caps(
            options.get("max_requests"),
            options.get("max_tokens"),
            time.time() + options["max_time"] if options.get("max_time") else None,
            options.get("max_cost"),
            target.requests_per_minute,
        ),
        limits=_limits(options),
        spec_dir=given["spec_dir"],
        resume=given["resume"] is not None,
        command=shlex.join(["conformance", *sys.argv[1:]]),
        catalogue=spec.load_profile(profile, given["spec_dir"]).catalogue_sha256,
    )
    if settings.resume:
        _check_resumable(settings)
    return settings


def _limits(options: dict[str, Any]) -> Limits:
    """The settings file's limits; `--timeout` bounds the exchange, and silence with it."""
    timeout = options["timeout"]
    usual = Limits(exchange_s=timeout, first_byte_s=timeout, idle_s=min(60.0, timeout))
    return replace(usual, **options.get("limits", {}))


def _check_resumable(settings: Settings) -> None:
    """What was answered may be used again only for the same catalogue, target and seed."""
    before = Settings.read(settings.out)
    for name in ("profile", "catalogue", "seed", "effort", "only", "shard"):
        if getattr(before, name) != getattr(settings, name):
            raise click.UsageError(
                f"{settings.out} was run with {name} {getattr(before, name)!r}, not {getattr(settings, name)!r}"
            )
    same = (before.target.name, before.target.model) == (settings.target.name, settings.target.model)
    if not same or (settings.target.name != "reference" and before.target.base_url != settings.target.base_url):
        raise click.UsageError(f"{settings.out} was run against {before.target.base_url} ({before.target.model})")
