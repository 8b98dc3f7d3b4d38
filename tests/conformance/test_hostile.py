"""Whatever an endpoint does, a run ends by itself, small, with status 1 or 5, a sentence, and whole files.

Every behaviour meets a process of its own, so that its memory can be measured; four go on at a time.
"""

import hashlib
import json
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.endpoints import serving
from tests.conformance.hostile import BEHAVIOURS, STREAMS

MEGABYTES = 500
SECONDS = 120
AT_ONCE = 4
PARTS = 97  # so many that the probes of streaming are alone in theirs
STREAMING = int.from_bytes(hashlib.sha256(b"probe_streaming.py").digest()[:4]) % PARTS + 1


def certify(name, out):
    """One run, short: the first request, and then the probes of streaming."""
    with serving(BEHAVIOURS[name]) as url:
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, "run", "--profile", "serenity-edge", "--base-url", url, "--model", "m",
             "--only", "stream.*", "--only", "chunk.*", "--only", "wire.*", "--shard", f"{STREAMING}/{PARTS}",
             "--timeout", "1", "--max-requests", "10", "--max-time", "40", "--out", str(out)],
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        return done, time.monotonic() - started


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """Behaviour → what came of it, for those that are tested."""
    names = [item.callspec.params["name"] for item in request.session.items if item.path == request.path]
    out = tmp_path_factory.mktemp("hostile")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: (pool.submit(certify, name, out / str(i)), out / str(i)) for i, name in enumerate(names)}
        pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_run_survives(name, runs):
    future, out = runs[name]
    done, taken = future.result()
    peak = done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in (1, 5), done.stderr
    assert taken < SECONDS
    assert int(peak) < MEGABYTES * 1024, f"{int(peak) // 1024} MB"
    assert done.stdout.startswith(("NON-CONFORMANT", "INCOMPLETE"))
    assert "\x1b" not in done.stdout
    check_files(out, done.returncode)
    if name in STREAMS:
        check_evidence(out)


# VmHWM, not getrusage's ru_maxrss: the latter begins at the peak of the process that was forked from (execve(2)).
MEASURED = """
import re, sys
from pathlib import Path
from conformance.cli import cli
from conformance.cli.trouble import guarded
status = guarded(cli, sys.argv[1:])
print(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1], file=sys.stderr)
sys.exit(status)
"""


def check_files(out, status):
    record = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert record["exit_status"] == status
    assert record["reason"]
    for line in (out / "exchanges.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)
    ElementTree.parse(out / "junit.xml")
    assert "<script>alert" not in (out / "report.html").read_text(encoding="utf-8")


def check_evidence(out):
    """The misbehaviour was met, and something was violated or could not be decided by it."""
    record = json.loads((out / "results.json").read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in (out / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()]
    assert any('"stream":true' in line["request"]["body"] for line in lines)
    seen = [row for row in record["requirements"] if row["verdict"] in ("fail", "warn", "inconclusive")]
    assert seen
    assert all(row["violations"] or row["why"] for row in seen)
