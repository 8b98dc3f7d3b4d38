"""Mutates the code that judges, in a copy, and asks whether its tests notice.

`python tests/mutation/mutants.py FOLDER [MODULE …]` copies the repository into FOLDER, lets cosmic-ray make its
mutants there, one module after another (by default all of mutants.toml), and runs the module's own tests on each.
A mutant that its tests do not notice must stand in survivors.yaml with a reason; one that does not ends the run
with status 1. What is listed and was noticed after all is said, and is no failure.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from cosmic_ray.config import ConfigDict, serialize_config
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.mutation.noise import places, reason_at

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COPIED = ("conformance", "reports", "spec", "reference_impl", "tests", "pyproject.toml", "README.md")
COSMIC_RAY, FILTER = (str(Path(sys.executable).with_name(name)) for name in ("cosmic-ray", "cr-filter-operators"))

#: A mutant by what it does: the lines that it takes away, and those that it puts there, each joined into one.
Mutant = tuple[str, str]


def copy(to: Path) -> None:
    """The working tree's code and tests, since mutants are made in place."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, to / name)


def test_command(tests: list[str]) -> list[str]:
    """pytest over the module's tests; without plugins, which take longer to load than these tests to run."""
    files = [f"tests/conformance/{word}.py" if word.startswith("test_") else word for word in tests]
    return [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]


def call(*words: str, cwd: Path) -> None:
    """Run a command of ours in the copy; its complaint ends the run."""
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONHASHSEED": "0", "PYTHONPATH": str(cwd)}
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **alone}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}\n{done.stdout}{done.stderr}")


def skip_noise(db: WorkDB, module: Path) -> None:
    """Mark what is not worth a run as skipped, with the reason."""
    left_alone = places(module)
    for item in db.pending_work_items:
        (mutation,) = item.mutations
        if reason := reason_at(mutation.start_pos, mutation.end_pos, left_alone):
            db.set_result(item.job_id, WorkResult(output=reason, worker_outcome=WorkerOutcome.SKIPPED))


def mutate(where: Path, module: str, config: dict[str, Any], tests: list[str]) -> list[WorkResult]:
    """All mutants of a module, made and tested."""
    tree, session = where / "tree", where / (module.replace("/", ".") + ".sqlite")
    command = test_command(tests)
    call(*command, cwd=tree)  # the tests pass without a mutation, and leave compiled files that make mutants cheap
    settings = ConfigDict({**config, "module-path": module, "test-command": shlex.join(command)})
    file = session.with_suffix(".toml")
    file.write_text(serialize_config(settings), encoding="utf-8")
    call(COSMIC_RAY, "init", "--force", str(file), str(session), cwd=tree)
    call(FILTER, str(session), str(file), cwd=tree)
    with use_db(session) as db:
        skip_noise(db, tree / module)
    call(COSMIC_RAY, "exec", str(file), str(session), cwd=tree)
    with use_db(session) as db:
        results = [result for _, result in db.results]
        tested = [
            result for result in results if result.worker_outcome in (WorkerOutcome.SKIPPED, WorkerOutcome.NORMAL)
        ]
        if len(tested) != db.num_work_items:
            raise SystemExit(f"{module}: {db.num_work_items - len(tested)} mutants could not be tested")
    return results


def read(diff: str) -> Mutant:
    """The lines taken away and put there, without indentation."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    return tuple(" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")  # type: ignore[return-value]


def listed(module: str) -> dict[Mutant, str]:
    """The survivors that are accepted, with their reasons."""
    entries = (yaml.safe_load((HERE / "survivors.yaml").read_text(encoding="utf-8")) or {}).get(module, [])
    return {(entry["line"], becomes): entry["reason"] for entry in entries for becomes in entry["becomes"]}


def report(module: str, results: list[WorkResult], seconds: float) -> Iterator[str]:
    """Print a module's figures, and yield what is wrong."""
    skipped = [result for result in results if result.worker_outcome == WorkerOutcome.SKIPPED]
    made = [result for result in results if result.worker_outcome != WorkerOutcome.SKIPPED]
    survivors = Counter(read(result.diff or "") for result in made if not result.is_killed)
    reasons = listed(module)
    new = {mutant: count for mutant, count in survivors.items() if mutant not in reasons}
    print(
        f"{module}: {len(made)} mutants, {len(made) - survivors.total()} killed, "
        f"{survivors.total() - sum(new.values())} listed, {sum(new.values())} new; "
        f"{len(skipped)} not made; {seconds:.0f} s",
        flush=True,
    )
    for line, becomes in new:
        print(f"  survived: {line}\n        as: {becomes}", flush=True)
        yield f"{module}: {becomes}"
    for line, becomes in reasons.keys() - survivors.keys():
        print(f"  listed, and killed or gone: {line}\n                          as: {becomes}", flush=True)


def main(folder: str, *modules: str) -> int:
    """Mutate these modules, or all; 1 where a mutant survived that is not listed."""
    settings = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))
    where = Path(folder).resolve()
    copy(where / "tree")
    wrong = []
    for module in modules or settings["tests"]:
        start = time.monotonic()
        results = mutate(where, module, settings["cosmic-ray"], settings["tests"][module])
        wrong += report(module, results, time.monotonic() - start)
    print(f"{len(wrong)} survivors that are not listed in {HERE.name}/survivors.yaml")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
