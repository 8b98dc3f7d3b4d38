"""Starts the bundled reference implementation as a process of its own, and stops it again."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

KEY_VARIABLE = "CONFORMANCE_REFERENCE_KEY"
DIALECTS = ("ark", "serenity-edge")
START_S = 120.0


class ReferenceError(RuntimeError):
    """The reference did not come up; the message says why."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A running reference."""

    base_url: str
    process: subprocess.Popen[str]


@contextmanager
def running(dialect: str, *arguments: str, log: str | None = None) -> Iterator[Reference]:
    """The reference for a dialect on a free loopback port, with a random key in `KEY_VARIABLE`.

    `arguments` are added to its command line. Raises `ReferenceError` when it does not come up.
    """
    os.environ.setdefault(KEY_VARIABLE, secrets.token_urlsafe(24))
    command = [
        sys.executable,
        "-m",
        "reference_impl",
        "--dialect",
        dialect,
        "--api-key-env",
        KEY_VARIABLE,
        "--stop-at-eof",
    ]
    with serving([*command, *arguments], log=log) as served:
        yield served


@contextmanager
def serving(command: Sequence[str], *, cwd: Path | None = None, log: str | None = None) -> Iterator[Reference]:
    """Any server whose first line on standard output is `listening BASE_URL`, stopped at the end.

    Raises `ReferenceError` when it does not come up.
    """
    process = _start(command, cwd, log)
    try:
        yield Reference(_base_url(process), process)
    finally:
        _stop(process)


def _start(command: Sequence[str], cwd: Path | None, log: str | None) -> subprocess.Popen[str]:
    errors = Path(log).open("w", encoding="utf-8") if log else subprocess.PIPE  # noqa: SIM115 - the child keeps it
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        start_new_session=True,
    )
    if not isinstance(errors, int):
        errors.close()
    return process


def _base_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    killer = threading.Timer(START_S, process.kill)
    killer.start()
    line = process.stdout.readline()
    killer.cancel()
    word, _, url = line.strip().partition(" ")
    if word == "listening" and url:
        for pipe in (process.stdout, process.stderr):  # keep draining, so that the child never blocks on a full pipe
            if pipe is not None:
                threading.Thread(target=_drain, args=(pipe,), daemon=True).start()
        return url
    process.kill()
    _, errors = process.communicate()
    lines = (errors or "").strip().splitlines()
    raise ReferenceError(lines[-1] if lines else "the reference ended without a word")


def _drain(pipe: IO[str]) -> None:
    with suppress(ValueError):  # closed when the process is stopped
        for _ in pipe:
            pass


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
