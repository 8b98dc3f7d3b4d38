"""`conformance judge`: the laws over traffic that is already recorded. Sends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import spec
from conformance.cli.options import config_option, known_profile, spec_dir_option, target_settings
from conformance.cli.progress import summary
from conformance.cli.terms import terms_of, terms_options
from conformance.plan import make_plan
from conformance.plugin import BUDGET
from conformance.record import Ending
from conformance.run import conclude, now
from conformance.settings import SETTINGS, Settings
from conformance.target import Target
from conformance.traffic_files import CHAT, TrafficError, gather
from conformance.wire.journal import read_exchanges


@click.command("judge")
@spec_dir_option
@config_option
@click.option("--profile", callback=known_profile, help="The document to judge against. Default: that of the run.")
@click.option("--strict", is_flag=True, help="A should counts as a must.")
@terms_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for record and reports. Default: the run's own folder.",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def command(files: tuple[Path, ...], **given: Any) -> int:
    """Judge recorded traffic: runs' folders, their exchanges.jsonl and cases.jsonl, or HAR archives."""
    folder = files[0]
    whole_run = len(files) == 1 and folder.is_dir()
    if whole_run and not (folder / SETTINGS).exists():
        raise click.UsageError(f"{folder} is not a run's folder: it has no {SETTINGS}")
    out = given["out"] or (folder if whole_run else None)
    if out is None:
        raise click.UsageError("where shall record and reports go? Give --out.")
    policy = target_settings({**given, "name": None}).policy
    settings = _settings(files, out, {**given, "strict": given["strict"] or policy.get("level") == "should"})
    terms = terms_of(policy, given["waivers"], given["baseline"], settings.target)
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    record = conclude(settings, profile, make_plan(settings), now(), 0.0, Ending(), terms)
    click.echo(summary(record, out))
    status: int = record["gate"]["status"]
    return status


def _settings(files: Sequence[Path], out: Path, given: dict[str, Any]) -> Settings:
    """The recorded run's own settings where there are any, and its traffic in `out`."""
    before = [path / SETTINGS if path.is_dir() else path.parent / SETTINGS for path in files]
    known = next((Settings.read(path.parent) for path in before if path.exists()), None)
    profile = given["profile"] or (known.profile if known else None)
    if profile is None:
        raise click.UsageError("which document? Give --profile.")
    if out not in files:
        _copy(files, out, known)
    settings = known or _guessed(profile, out)
    settings = replace(
        settings,
        profile=profile,
        spec_dir=given["spec_dir"] or settings.spec_dir,
        strict=given["strict"] or settings.strict,
        out=out,
    )
    settings.write()
    return settings


def _copy(files: Sequence[Path], out: Path, known: Settings | None) -> None:
    try:
        count = gather(files, out)
    except TrafficError as error:
        raise click.UsageError(str(error)) from error
    if not count:
        raise click.UsageError("no chat exchange is recorded in there")
    (out / BUDGET).unlink(missing_ok=True)
    if known is not None and (known.out / BUDGET).exists():
        (out / BUDGET).write_bytes((known.out / BUDGET).read_bytes())


def _guessed(profile: str, out: Path) -> Settings:
    """What foreign traffic says about its target: where it was sent, and which model it asked for."""
    exchanges = read_exchanges(out)
    chat = next((x for x in exchanges if x.sent.url.partition("?")[0].endswith(CHAT)), exchanges[0])
    base_url = chat.sent.url.partition("?")[0].removesuffix(CHAT).removesuffix("/models")
    return Settings(profile, Target(base_url, str(chat.asks("model", ""))), out, command="conformance judge")
