"""`conformance list`: the requirements of a profile."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

import spec
from conformance.cli.options import profile_option, spec_dir_option
from conformance.coverage import unjudged
from spec.model import Profile


@click.command("list")
@spec_dir_option
@profile_option
@click.option("--topic", help="Only this topic.")
@click.option("--unjudged", "only_unjudged", is_flag=True, help="Only testable requirements that nothing judges.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("globs", nargs=-1)
def command(
    spec_dir: Path | None, profile: str, topic: str | None, only_unjudged: bool, as_json: bool, globs: tuple[str, ...]
) -> None:
    """List what a document promises: id, level, basis, how it is judged, and where it stands."""
    loaded = spec.load_profile(profile, spec_dir)
    ids = unjudged(loaded) if only_unjudged else list(loaded.promises)
    wanted = [
        name
        for name in ids
        if (not globs or any(fnmatchcase(name, glob) for glob in globs))
        and (topic is None or loaded.requirements[name].topic == topic)
    ]
    if as_json:
        click.echo(json.dumps([_row(loaded, name) for name in wanted], indent=1))
    else:
        _print(loaded, wanted)


def _row(profile: Profile, name: str) -> dict[str, str]:
    requirement, promise = profile.requirements[name], profile.promises[name]
    return {
        "id": name,
        "title": requirement.title,
        "topic": requirement.topic,
        "level": promise.level,
        "basis": promise.basis,
        "judge": requirement.judge,
        "where": promise.where,
    }


def _print(profile: Profile, names: Iterable[str]) -> None:
    table = Table("id", "level", "basis", "judge", "where", title=profile.title, title_justify="left")
    count = 0
    for name in names:
        row = _row(profile, name)
        table.add_row(row["id"], row["level"], row["basis"], row["judge"], row["where"])
        count += 1
    Console().print(table)
    click.echo(f"{count} requirements")
