"""Options and checks that several commands share."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

import spec
from conformance.config import ConfigError, load_config
from conformance.config.file import find_config

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


def config_option(command: F) -> F:
    """`--config`: the settings file, where it is not `conformance.toml` or `pyproject.toml` of this folder."""
    return click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Settings file. Default: conformance.toml, or [tool.conformance] in pyproject.toml.",
    )(command)


@dataclass(frozen=True, slots=True)
class FileSettings:
    """What a settings file says for this call: the named target, run defaults and the policy."""

    target: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None


def target_settings(given: Mapping[str, Any]) -> FileSettings:
    """Read the settings file that `--config`, `--target` and the current folder point to."""
    path = given["config"] or find_config(Path.cwd())
    if path is None:
        if given["name"]:
            raise click.UsageError("--target needs a settings file (see conformance init)")
        return FileSettings()
    try:
        content = load_config(path)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    targets = content.get("targets", {})
    name = given["name"]
    if name is None:
        return FileSettings({}, content.get("run", {}), content.get("policy", {}), path)
    if name not in targets:
        near = difflib.get_close_matches(name, targets, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else f"; it has {', '.join(targets) or 'none'}"
        raise click.UsageError(f"{path} has no target {name!r}{hint}")
    target = {**targets[name], "name": name}
    return FileSettings(target, {**content.get("run", {}), **target.pop("run", {})}, content.get("policy", {}), path)


def profile_of(given: Mapping[str, Any], file: FileSettings) -> str:
    """The profile that the options or the target name, or a usage error."""
    profile: str | None = given["profile"] or file.target.get("profile")
    if profile is None:
        raise click.UsageError("which document? Give --profile, or --target with a settings file.")
    names = spec.profile_names(given.get("spec_dir"))
    if profile not in names:
        raise click.UsageError(f"{file.path}: the profile {profile!r} is none of {', '.join(names)}")
    return profile
