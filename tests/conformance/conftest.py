"""The bundled reference, once per dialect for the whole session, and the command line as a person calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance import reference

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def ark() -> Iterator[reference.Reference]:
    """The reference in ARK's dialect; a request may name the fault that it meets."""
    with reference.running("ark", "--allow-induce", "--fault-header") as running:
        yield running


@pytest.fixture(scope="session")
def serenity_edge() -> Iterator[reference.Reference]:
    """The reference in Serenity Edge's dialect; a request may name the fault that it meets."""
    with reference.running("serenity-edge", "--allow-induce", "--fault-header") as running:
        yield running


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run `conformance …` in an empty folder; never lets a traceback pass."""
    root = Path(__file__).parents[2]

    def call(
        *words: str, cwd: Path = tmp_path, timeout: float = 300, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        done = subprocess.run(
            [sys.executable, "-m", "conformance", *map(str, words)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    return call
