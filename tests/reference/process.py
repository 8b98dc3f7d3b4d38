"""The reference implementation as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = [sys.executable, "-m", "reference_impl"]
Running = tuple[str, subprocess.Popen[str]]


@contextmanager
def started(*options: str, model: str = "tiny-random", **environment: str) -> Iterator[Running]:
    """The base URL that the first line of output names, and the process."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    with subprocess.Popen(
        [*COMMAND, "--model-path", model, *options], stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.fullmatch(r"listening (http://127\.0\.0\.1:\d+/(?:api/)?v1)\n", line)
            assert found, line
            yield found[1], process
        finally:
            process.terminate()
            process.wait(30)


def resident_bytes(process: subprocess.Popen[str]) -> int:
    """Memory of the process that is in RAM."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+([0-9]+) kB", status)
    assert found
    return int(found[1]) * 1024
