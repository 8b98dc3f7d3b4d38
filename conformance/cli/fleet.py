"""`conformance fleet`: many targets of a settings file, or the shards of them, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from conformance.cli.merge import join
from conformance.cli.options import config_option, target_settings
from conformance.cli.terms import terms_of
from conformance.cli.trouble import Trouble
from conformance.config import ConfigError, load_config
from conformance.config.file import find_config
from conformance.fleet import Ended, Member, Processes, on_ray, worst
from conformance.run import Terms
from conformance.settings import SETTINGS
from conformance.target import Target

REPORTS = Path("conformance-reports")


@click.command("fleet", context_settings={"auto_envvar_prefix": "CONFORMANCE", "ignore_unknown_options": True})
@config_option
@click.option(
    "--target",
    "names",
    multiple=True,
    envvar="CONFORMANCE_TARGET",
    help="A [targets.NAME] of the settings file (repeatable). Default: all.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=REPORTS,
    show_default=True,
    help="Each target gets a folder of its own in it.",
)
@click.option("--shards", type=click.IntRange(1, 256), default=1, show_default=True, help="Cut each run into N parts.")
@click.option("--at-once", type=click.IntRange(1, 256), default=4, show_default=True, help="How many run at a time.")
@click.option("--ray", "use_ray", is_flag=True, help="Run on the Ray cluster of RAY_ADDRESS (extra: ray).")
@click.option("--ray-workers", type=click.IntRange(1), help="With --ray: start a local Ray of so many workers.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def command(**given: Any) -> int:
    """Run several targets, each with its own limits and folder; OPTIONS are those of run, for all of them."""
    path = given["config"] or find_config(Path.cwd())
    if path is None:
        raise click.UsageError("a fleet needs a settings file (see conformance init)")
    names = given["names"] or tuple(_targets(path))
    words = (*_config_words(given["config"]), *given["options"])
    members = planned(names, given["out"], words, given["shards"])
    if given["use_ray"]:
        if path.name == "pyproject.toml":
            raise click.UsageError("--ray needs a conformance.toml, which is handed to every worker")
        bare = planned(names, given["out"], given["options"], given["shards"])
        try:
            ended = on_ray(bare, path.read_text(encoding="utf-8"), given["ray_workers"])
        except ModuleNotFoundError as error:
            raise Trouble("--ray needs the extra: pip install 'chat-completions-conformance[ray]'") from error
    else:
        ended = Processes(given["at_once"], _tell).run(members)
    return finish(ended) if given["shards"] == 1 else _merged(names, ended, given)


def planned(names: Sequence[str], out: Path, words: Sequence[str], shards: int = 1) -> list[Member]:
    """One member for each target and shard."""
    return [
        Member(
            name if shards == 1 else f"{name} {index}/{shards}",
            out / name if shards == 1 else out / name / f"shard-{index}",
            ("--target", name, *words, *(() if shards == 1 else ("--shard", f"{index}/{shards}"))),
        )
        for name in names
        for index in range(1, shards + 1)
    ]


def finish(ended: Sequence[Ended]) -> int:
    """Print what every member found; returns the status of them all."""
    for one in ended:
        click.echo(f"{one.member.name} ({one.status}): {one.said.strip()}")
    return worst([one.status for one in ended])


def run_targets(ctx: click.Context, given: dict[str, Any]) -> int:
    """`conformance run` with several `--target`: the same run for each, every one in its own folder."""
    if given["base_url"]:
        raise click.UsageError("--base-url is one endpoint; several targets have theirs in the settings file")
    words: list[str] = []
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        separate = ("name", "out", "resume", "baseline")
        if source is not click.core.ParameterSource.COMMANDLINE or parameter.name in separate:
            continue
        value = ctx.params[parameter.name or ""]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0])
            continue
        if parameter.name == "shard":
            value = "/".join(map(str, value))
        for one in value if parameter.multiple else (value,):
            words += [parameter.opts[0], str(one)]
    members = []
    for name in given["name"]:
        own = list(words)
        if given["baseline"]:
            own += ["--baseline", str(given["baseline"] / name)]
        out = (given["resume"] or given["out"] or REPORTS) / name
        if given["resume"] and (out / SETTINGS).exists():
            own += ["--resume", str(out)]
        members.append(Member(name, out, ("--target", name, *own)))
    return finish(Processes(4, _tell).run(members))


def _merged(names: Sequence[str], ended: Sequence[Ended], given: dict[str, Any]) -> int:
    statuses = []
    for name in names:
        parts = [one for one in ended if one.member.out.parent == given["out"] / name]
        bad = [one for one in parts if one.status not in (0, 1, 5)]
        if bad:
            statuses.append(finish(bad))
            continue
        click.echo(f"{name}: ", nl=False)
        parts_of = [one.member.out for one in parts]
        statuses.append(join(given["out"] / name, parts_of, _terms(given["config"], name)))
    return worst(statuses)


def _terms(config: Path | None, name: str) -> Callable[[Target], Terms]:
    file = target_settings({"config": config, "name": name})
    return lambda target: terms_of(file.policy, file.run.get("waivers"), None, target)


def _targets(path: Path) -> list[str]:
    try:
        names = list(load_config(path, os.environ).get("targets", {}))
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    if not names:
        raise click.UsageError(f"{path} has no targets")
    return names


def _config_words(path: Path | None) -> tuple[str, ...]:
    return ("--config", str(path)) if path else ()


def _tell(line: str) -> None:
    click.echo(line, err=True)
