"""How long loading and checking take, for every worker process does it: `python -m spec.bench`."""

from __future__ import annotations

import time

from spec import load_profile, profile_names
from spec.check import check_all


def main() -> None:
    """Prints the time in milliseconds for each profile, loaded cold in this process, and for all the checks."""
    start = time.perf_counter()
    for name in profile_names():
        before = time.perf_counter()
        profile = load_profile(name)
        spent = (time.perf_counter() - before) * 1000
        print(
            f"{name:15} {spent:6.1f} ms  {len(profile.promises)} promises, {len(profile.constraints)} of them derived"
        )
    before = time.perf_counter()
    problems = check_all()
    print(f"{'check_all':15} {(time.perf_counter() - before) * 1000:6.1f} ms  {len(problems)} problems")
    print(f"{'everything':15} {(time.perf_counter() - start) * 1000:6.1f} ms")


if __name__ == "__main__":
    main()
