"""Options and checks that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import spec

F = TypeVar("F", bound=Callable[..., Any])


def known_profile(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """A profile name, or a usage error that names those there are."""
    names = spec.profile_names(ctx.params.get("spec_dir"))
    if value is None or value in names:
        return value
    raise click.BadParameter(f"{value!r} is none of {', '.join(names)}")


def spec_dir_option(command: F) -> F:
    """`--spec-dir`: vendor folders of one's own, beside the bundled ones."""
    return click.option(
        "--spec-dir",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        is_eager=True,
        help="Folder with vendor folders of your own (see spec/README.md).",
    )(command)


def profile_option(command: F) -> F:
    """`--profile`, required."""
    return click.option(
        "--profile", required=True, callback=known_profile, help="ark, serenity-edge, portable, or one of your own."
    )(command)
