"""Many endpoints in one call, and many shards of one: each is a `conformance run` of its own, in its own process.

Nothing is scheduled here. Beside each other they run as processes of this machine, or as tasks of a Ray cluster,
which brings back what each has written, so that no shared disk is needed.
"""

from __future__ import annotations

import importlib
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from conformance.verdict import (
    CONFORMANT,
    INTERRUPTED,
    NON_CONFORMANT,
    NOT_ENOUGH,
    SUITE_FAILED,
    WRONG_USAGE,
)

WORST_FIRST = (INTERRUPTED, SUITE_FAILED, WRONG_USAGE, NON_CONFORMANT, NOT_ENOUGH)


@dataclass(frozen=True, slots=True)
class Member:
    """One run of a fleet: a target or a shard of it, its folder, and the options beside these."""

    name: str
    out: Path
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a member ended, and what it said."""

    member: Member
    status: int
    said: str


def worst(statuses: Sequence[int]) -> int:
    """The status of a fleet: conformant only where every member is."""
    return next((status for status in WORST_FIRST if status in statuses), CONFORMANT)


class Processes:
    """Runs members as processes of this machine, so many at once."""

    def __init__(self, at_once: int, tell: Callable[[str], None]) -> None:
        self.at_once = at_once
        self.tell = tell
        self._running: set[subprocess.Popen[str]] = set()
        self._interrupted = False
        self._lock = threading.Lock()

    def run(self, members: Sequence[Member]) -> list[Ended]:
        """Run all members; an interrupt is handed on to each, and their partial reports are waited for."""
        with ThreadPoolExecutor(self.at_once) as pool:
            futures = [pool.submit(self._one, member) for member in members]
            try:
                return [future.result() for future in futures]
            except KeyboardInterrupt:
                self._interrupt()
                return [future.result() for future in futures]

    def _one(self, member: Member) -> Ended:
        with self._lock:
            if self._interrupted:
                return Ended(member, INTERRUPTED, "not started")
            process = subprocess.Popen(
                command(member), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
            )
            self._running.add(process)
        with process:
            assert process.stderr is not None
            assert process.stdout is not None
            listener = threading.Thread(target=self._listen, args=(member.name, process.stderr), daemon=True)
            listener.start()
            said = process.stdout.read()
            status = process.wait()
            listener.join()
        with self._lock:
            self._running.discard(process)
        return Ended(member, status if status >= 0 else SUITE_FAILED, said)

    def _listen(self, name: str, lines: IO[str]) -> None:
        for line in lines:
            self.tell(f"[{name}] {line.rstrip()}")

    def _interrupt(self) -> None:
        with self._lock:
            self._interrupted = True
            for process in self._running:
                process.send_signal(signal.SIGINT)


def command(member: Member) -> list[str]:
    """The command line of a member."""
    return [sys.executable, "-m", "conformance", "run", *member.words, "--out", str(member.out)]


def on_ray(members: Sequence[Member], settings_file: str, workers: int | None) -> list[Ended]:
    """Run every member as a Ray task; keys are read from the environment of Ray's workers, never handed over.

    With `workers`, a local Ray of so many is started; otherwise the cluster of `RAY_ADDRESS` is used.
    Raises ModuleNotFoundError without the `ray` extra.
    """
    ray: Any = importlib.import_module("ray")
    options: dict[str, Any] = {"num_cpus": workers} if workers else {"address": os.environ.get("RAY_ADDRESS", "auto")}
    ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, **options)
    try:
        remote = ray.remote(num_cpus=1, max_retries=0)(_elsewhere)
        tasks = [remote.remote(member.words, settings_file) for member in members]
        return [_brought_back(member, *ray.get(task)) for member, task in zip(members, tasks, strict=True)]
    finally:
        ray.shutdown()


def _elsewhere(words: Sequence[str], settings_file: str) -> tuple[int, str, bytes]:
    """One member on whatever machine this is: its status, what it said, and its folder as a zip."""
    with tempfile.TemporaryDirectory() as scratch:
        config, out = Path(scratch) / "conformance.toml", Path(scratch) / "out"
        config.write_text(settings_file, encoding="utf-8")
        member = Member("", out, (*words, "--config", str(config)))
        done = subprocess.run(
            command(member), capture_output=True, text=True, check=False, cwd=scratch, start_new_session=True
        )
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(out.rglob("*")):
                archive.write(path, path.relative_to(out))
    return done.returncode, done.stdout or done.stderr, packed.getvalue()


def _brought_back(member: Member, status: int, said: str, packed: bytes) -> Ended:
    member.out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(member.out)
    return Ended(member, status if status >= 0 else SUITE_FAILED, said)
