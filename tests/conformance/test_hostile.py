"""Whatever an endpoint does, a run ends by itself, small, with status 1 or 5, a sentence, and whole files."""

import json
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import pytest

from tests.conformance.endpoints import serving
from tests.conformance.hostile import BEHAVIOURS

MEGABYTES = 500
SECONDS = 60



@pytest.mark.slow
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_run_survives(name, tmp_path):
    with serving(BEHAVIOURS[name]) as url:
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, "run", "--profile", "serenity-edge", "--base-url", url, "--model", "m",
             "--only", "stream.*", "--only", "chunk.*", "--timeout", "1", "--max-requests", "8",
             "--out", str(tmp_path / "out")],
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        taken = time.monotonic() - started
    peak = done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in (1, 5), done.stderr
    assert taken < SECONDS
    assert int(peak) < MEGABYTES * 1024, f"{int(peak) // 1024} MB"
    assert done.stdout.startswith(("NON-CONFORMANT", "INCOMPLETE"))
    assert "\x1b" not in done.stdout
    check_files(tmp_path / "out", done.returncode)


MEASURED = """
import resource, sys
from conformance.cli import cli
from conformance.cli.trouble import guarded
status = guarded(cli, sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
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
