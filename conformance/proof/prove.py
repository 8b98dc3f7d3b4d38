"""One fault at a time: run the probes it concerns, and hold what turned red against what should."""

from __future__ import annotations

import fnmatch
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import yaml

import spec
from conformance.bounds import per_request
from conformance.coverage import everything
from conformance.plan import PlannedProbe
from conformance.proof.faults import Fault
from conformance.results import judge_folder, requirement_rows
from conformance.session import run_probes
from conformance.settings import Settings
from conformance.target import Target

FAULT_HEADER = "x-reference-fault"
SMALL = 30  # requests of a probe; those that send more are asked last, if nothing else shows the fault


@dataclass(frozen=True, slots=True)
class Red:
    """A requirement that turned red: its verdict, how often, and the first violation's message."""

    verdict: str
    message: str
    violated: int
    reproduced: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fault turned red. `allowed` are reviewed consequences; `unrelated` should not have turned red."""

    fault: str
    named: tuple[str, ...]
    red: Mapping[str, Red]
    missed: tuple[str, ...]
    unrelated: tuple[str, ...]
    errors: tuple[str, ...]
    requests: int
    seconds: float

    @property
    def proven(self) -> bool:
        """Everything named turned red, and nothing that has no reason to."""
        return bool(self.named) and not (self.missed or self.unrelated or self.errors)


@dataclass(slots=True)
class Proof:
    """All outcomes of a profile, and the requirements that no fault has proven."""

    profile: str
    outcomes: list[Outcome] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def whole(self) -> bool:
        """Every fault is proven and every testable requirement has one."""
        return bool(self.outcomes) and not self.unproven and all(outcome.proven for outcome in self.outcomes)


NO_FAULT = "requirements without a fault"  # a key of the reviewed list


@cache
def consequences() -> Mapping[str, Mapping[str, str]]:
    """The reviewed list of what a fault also turns red: fault or glob → requirement or glob → reason."""
    text = (files("conformance.proof") / "consequences.yaml").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, str]] = yaml.safe_load(text) or {}
    return loaded


def consequence(fault: str, requirement: str) -> str | None:
    """The reviewed reason why a fault also turns a requirement red that it does not name; None where there is none."""
    for key, reasons in consequences().items():
        if fnmatch.fnmatchcase(fault, key):
            for glob, reason in reasons.items():
                if fnmatch.fnmatchcase(requirement, glob):
                    return reason
    return None


def observe(settings: Settings) -> tuple[dict[str, Red], list[str], int]:
    """Run the selected probes, and judge every requirement of the profile by all that the folder holds.

    Returns what turned red, what the suite itself broke on, and how many requests were sent.
    """
    settings.out.mkdir(parents=True, exist_ok=True)
    settings.write()
    run_probes(settings)
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    judged = judge_folder(settings.out, profile, settings.target.capabilities)
    rows = requirement_rows(judged, profile, settings, {}, profile.promises)
    red = {row["id"]: _red(row) for row in rows if row["verdict"] in ("fail", "warn")}
    errors = [f"{row['id']}: {row['why']}" for row in rows if row["verdict"] == "error"]
    return red, errors, len(judged.exchanges)


def _red(row: Mapping[str, Any]) -> Red:
    first = row["violations"][0] if row["violations"] else {"message": "", "reproduced": ""}
    return Red(row["verdict"], first["message"], row["observations"]["violated"], first["reproduced"])


@lru_cache(maxsize=4)
def _probes(profile: str) -> tuple[PlannedProbe, ...]:
    """Every probe of the profile, cheapest first; collected once in each worker process."""
    plan = everything(spec.load_profile(profile))
    return tuple(sorted(plan.probes, key=lambda probe: (_price(probe), probe.name)))


def _price(probe: PlannedProbe) -> int:
    """How long a probe takes, in tokens that the reference must produce; reading is about ten times as fast."""
    bound = per_request(probe.probe, Target("", "")).times(probe.requests)
    return bound.completion + bound.prompt // 10


def cheapest_cover(named: Iterable[str], probes: Sequence[PlannedProbe]) -> tuple[str, ...]:
    """The names of few and cheap probes that between them make all named requirements observable."""
    missing, chosen = set(named), []
    for probe in probes:
        if missing & probe.requirements:
            chosen.append(probe.name)
            missing -= probe.requirements
    return tuple(chosen)


def prove_one(fault: Fault, settings: Settings, keep: Path | None = None) -> Outcome:
    """The suite against the reference with one fault.

    The cheapest probes that can see it are asked first; where they do not, the others that concern it.
    """
    started = time.monotonic()
    named = fault.breaks[settings.profile]
    probes = _probes(settings.profile)
    first = cheapest_cover(named, probes)
    others = [p for p in probes if p.name not in first and p.requirements & set(named)]
    small = tuple(p.name for p in others if p.requests <= SMALL)
    large = tuple(p.name for p in others if p.requests > SMALL)
    red: dict[str, Red] = {}
    errors: list[str] = []
    requests = 0
    for number, stage in enumerate((first, small, large)):
        if not stage or (number and all(name in red for name in named)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            headers = {**settings.target.headers, FAULT_HEADER: f"{fault.id}/{Path(folder).name}"}
            target = replace(settings.target, headers=headers)
            own = zlib.crc32(f"{fault.id}/{number}".encode())  # prompts that no fault before has left in the cache
            here = replace(settings, out=Path(folder), probes=stage, target=target, belief_repeats=0, seed=own)
            seen, broken, sent = observe(here)
            if keep is not None:
                shutil.copytree(folder, keep / str(number), dirs_exist_ok=True)
        red, errors, requests = {**seen, **red}, errors + broken, requests + sent
    return Outcome(
        fault=fault.id,
        named=named,
        red=red,
        missed=tuple(name for name in named if name not in red),
        unrelated=tuple(name for name in red if name not in named and consequence(fault.id, name) is None),
        errors=tuple(errors),
        requests=requests,
        seconds=time.monotonic() - started,
    )


def prove(
    faults: Sequence[Fault],
    settings: Settings,
    workers: int,
    watch: Callable[[Outcome], None] = lambda outcome: None,
    keep: Path | None = None,
) -> Proof:
    """Every fault in turn, over worker processes; `watch` sees each outcome as it comes.

    What is counted per key (credits) would be disturbed by other workers, and is proven alone at the end.
    """
    started = time.monotonic()
    proof = Proof(settings.profile)
    requirements = spec.load_profile(settings.profile).requirements
    alone = [f for f in faults if any("credits" in requirements[name].needs for name in f.breaks[settings.profile])]
    for several, at_once in (([f for f in faults if f not in alone], workers), (alone, 1)):
        with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
            futures = [pool.submit(prove_one, f, settings, keep / f.id if keep else None) for f in several]
            for future in as_completed(futures):
                proof.outcomes.append(future.result())
                watch(future.result())
    proof.outcomes.sort(key=lambda outcome: outcome.fault)
    proof.seconds = time.monotonic() - started
    return proof


def without_fault(settings: Settings, faults: Iterable[Fault]) -> list[str]:
    """Testable requirements of the profile that no fault names, less those that are reviewed as such."""
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    named = {name for fault in faults for name in fault.breaks.get(settings.profile, ())}
    named |= set(consequences().get(NO_FAULT, {}))
    return [name for name in profile.promises if profile.requirements[name].judge != "untestable" and name not in named]
