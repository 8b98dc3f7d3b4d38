"""Runs the probes through pytest, shielded from the settings, plugins and conftest files of the caller's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.plugin import RUN_VARIABLE
from conformance.settings import Settings

PROBES = Path(__file__).parent / "probes"
_FOREIGN = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG", "PYTHONWARNINGS")


@contextmanager
def _environment(settings: Settings) -> Iterator[None]:
    before = dict(os.environ)
    for name in _FOREIGN:
        os.environ.pop(name, None)
    os.environ[RUN_VARIABLE] = str(settings.out.resolve())
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    settings.target.pass_secrets(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def arguments(settings: Settings, collect_only: bool = False) -> list[str]:
    """The arguments that pytest is started with."""
    parallel = settings.workers > 1 and not collect_only
    return [
        *([str(PROBES / probe) for probe in settings.probes] or [str(PROBES)]),
        "-c",
        str(PROBES / "pytest.ini"),
        f"--rootdir={PROBES}",
        f"--confcutdir={PROBES}",
        "-p",
        "conformance.plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:terminal",
        # They look for leaks of the tests themselves, by collecting garbage again and again.
        "-p",
        "no:unraisableexception",
        "-p",
        "no:threadexception",
        # Every probe sends its own controls, so that whoever is idle may take any other's next one.
        *(("-p", "xdist.plugin", "-n", str(settings.workers), "--dist", "worksteal") if parallel else ()),
        *(("--collect-only",) if collect_only else ()),
    ]


def run_probes(settings: Settings, *plugins: Any, collect_only: bool = False) -> pytest.ExitCode:
    """Run (or only collect) the probes that the settings call for; `plugins` watch."""
    with _environment(settings):
        return pytest.ExitCode(pytest.main(arguments(settings, collect_only), plugins=list(plugins)))
