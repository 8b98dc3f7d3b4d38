"""What a gate asks beyond the verdict: policy, known failures and an earlier run, from options and settings file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

import reports
from conformance.config import ConfigError, Waiver, load_waivers
from conformance.gate import Policy
from conformance.rates import RateBound
from conformance.run import Terms
from conformance.target import Target

F = TypeVar("F", bound=Callable[..., Any])


def terms_options(command: F) -> F:
    """`--waivers` and `--baseline`."""
    waivers = click.option(
        "--waivers", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Known failures."
    )
    baseline = click.option(
        "--baseline", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN",
        help="Only failures that this earlier run did not have fail the gate.",
    )  # fmt: skip
    return waivers(baseline(command))


def terms_of(policy: Mapping[str, Any], waivers: str | Path | None, baseline: Path | None, target: Target) -> Terms:
    """The terms of a run against a target. Raises UsageError for a waivers file that cannot be used."""
    return Terms(
        policy=Policy(
            tuple(policy.get("required_topics", ())),
            policy.get("max_inconclusive_musts"),
            tuple(RateBound(**bound) for bound in policy.get("rates", ())),
        ),
        waivers=_waivers(waivers, target),
        baseline=reports.load_run(baseline).results if baseline else None,
    )


def _waivers(path: str | Path | None, target: Target) -> list[Waiver]:
    if path is None:
        return []
    try:
        return load_waivers(Path(path), [name for name in (target.name, target.base_url) if name])
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
