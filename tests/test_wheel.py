"""The built wheel carries everything: it certifies the reference from a clean environment, outside the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_runs_outside_the_checkout(tmp_path):
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    clean = tmp_path / "clean"
    run(sys.executable, "-m", "venv", clean)
    python = clean / "bin" / "python"
    constraints = ["-c", str(ROOT / "constraints.txt")]
    run(python, "-m", "pip", "install", "--quiet", *constraints, f"{wheel}[reference,report]")
    home = tmp_path / "elsewhere"
    home.mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = [clean / "bin" / "conformance", "run", "--profile", "ark", "--only", "stream.*", "--out", "report"]
    said = run(*command, cwd=home, env=environment)
    assert said.startswith("CONFORMANT")
    assert (home / "report" / "report.html").stat().st_size > 10_000
    where = run(python, "-c", "import spec, sys; print(spec.__file__)", cwd=home, env=environment)
    assert str(clean) in where
