"""`python -m reports.bench [EXCHANGES]`: time, memory and size of rendering a large made-up run."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from reports.record import load_run
from reports.renderings import DEFAULT, FORMATS
from reports.synthetic import write_run


def main(exchanges: int) -> None:
    """Render a run of that many exchanges in every format and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        directory = write_run(folder, exchanges=exchanges, failures=40, requirements=500)
        recorded = (directory / "exchanges.jsonl").stat().st_size
        print(f"{exchanges} exchanges, {recorded / 1e6:.1f} MB recorded")
        for name in DEFAULT:
            started, worked = time.perf_counter(), time.process_time()
            run = load_run(directory)
            paths = []
            for file, write in FORMATS[name]:
                paths.append(directory / file)
                write(run, paths[-1])
            took, cpu = time.perf_counter() - started, time.process_time() - worked
            size = sum(Path(path).stat().st_size for path in paths)
            # Linux counts the highest resident set in KiB; it never goes down, so each line includes those above.
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            print(f"{name:9} {took:6.2f} s ({cpu:.2f} s of CPU)  {size / 1e6:7.2f} MB  peak memory {peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
