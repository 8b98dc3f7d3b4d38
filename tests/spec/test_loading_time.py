"""Loading is quick, because every worker process does it."""

from __future__ import annotations

import subprocess
import sys

from spec import bench


def test_loading_everything_takes_well_under_a_second_of_computing():
    code = (
        "import time, spec; start = time.process_time();"
        "[spec.load_profile(name) for name in spec.profile_names()];"
        "print(time.process_time() - start)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert float(done.stdout) < 0.8


def test_the_benchmark_prints_its_figures(capsys):
    bench.main()
    printed = capsys.readouterr().out
    for word in ("ark", "serenity-edge", "portable", "check_all", "everything", "ms"):
        assert word in printed
    assert "0 problems" in printed
