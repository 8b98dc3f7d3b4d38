"""The pytest side of a run: which probes are collected, what they hold, and what is kept of their failures.

Inert unless a run's folder is named, by `--conformance-run DIR` or the variable that the command line sets.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import spec
from conformance.ask import Asker, Session
from conformance.judge import Judge
from conformance.probe import EFFORTS
from conformance.recording import Recording
from conformance.settings import Settings
from conformance.tls import verification
from conformance.traffic.bodies import Bodies
from conformance.wire.budget import Budget
from conformance.wire.client import Client
from conformance.wire.journal import CASES, EXCHANGES, Journal, JournalFull
from conformance.wire.redaction import Redactor
from spec.model import Profile

RUN_VARIABLE = "CONFORMANCE_RUN"
PROBLEMS = "problems.jsonl"
BUDGET = "budget.json"
VIOLATED = "violated"  # a report's property: a requirement that was violated in front of the probe
SETTINGS_KEY = pytest.StashKey[Settings]()
PROFILE_KEY = pytest.StashKey[Profile]()


class ConformanceViolation(AssertionError):
    """A must was violated in front of a probe; the run's record has the evidence."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--conformance-run`: the folder of a prepared run."""
    parser.addoption("--conformance-run", metavar="DIR", default=None, help="folder of a prepared conformance run")


def pytest_configure(config: pytest.Config) -> None:
    """Read the run's settings, where there are any."""
    config.addinivalue_line("markers", "probe(requirements, effort, cost, needs): a conformance probe")
    folder = config.getoption("--conformance-run") or os.environ.get(RUN_VARIABLE)
    if folder:
        settings = Settings.read(Path(folder))
        config.stash[SETTINGS_KEY] = settings
        config.stash[PROFILE_KEY] = spec.load_profile(settings.profile, settings.spec_dir)


def profile_of(config: pytest.Config) -> Profile:
    """The profile that the collected probes are parametrised for."""
    return config.stash[PROFILE_KEY]


def requirements_of(item: pytest.Item, profile: Profile) -> frozenset[str]:
    """The promised requirements that a probe makes observable (its closest mark with globs resolved)."""
    mark = item.get_closest_marker("probe")
    if mark is None:
        return frozenset()
    globs = mark.kwargs["requirements"]
    exact = {glob for glob in globs if glob in profile.promises}
    patterns = [glob for glob in globs if any(char in glob for char in "*?[")]
    return frozenset(exact | {i for i in profile.promises for p in patterns if fnmatch.fnmatchcase(i, p)})


def _wanted(item: pytest.Item, settings: Settings, profile: Profile) -> bool:
    mark = item.get_closest_marker("probe")
    if mark is None:
        return False
    if EFFORTS.index(mark.kwargs["effort"]) > EFFORTS.index(settings.effort):
        return False
    if not _has(mark.kwargs["needs"], settings):
        return False
    promised = requirements_of(item, profile)
    if settings.only:
        promised = frozenset(i for i in promised if any(fnmatch.fnmatchcase(i, glob) for glob in settings.only))
    return bool(promised) and _in_shard(item, settings.shard)


def _has(needs: str, settings: Settings) -> bool:
    match needs:
        case "":
            return True
        case "key":
            return settings.target.key() is not None
        case "induce":
            return settings.target.induce
        case "load":
            return settings.target.allow_load
    return settings.target.capabilities.get(needs, True)


def _in_shard(item: pytest.Item, shard: tuple[int, int]) -> bool:
    """Shards are cut by the names of the probe files, which are the same on every machine."""
    index, count = shard
    digest = hashlib.sha256(item.path.name.encode()).digest()
    return int.from_bytes(digest[:4]) % count == index - 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the probes that this run needs."""
    settings = config.stash.get(SETTINGS_KEY, None)
    if settings is None:
        return
    profile = profile_of(config)
    kept = [item for item in items if _wanted(item, settings, profile)]
    dropped = [item for item in items if item not in set(kept)]
    items[:] = kept
    if dropped:
        config.hook.pytest_deselected(items=dropped)


def make_session(settings: Settings, profile: Profile, worker: str = "main") -> Session:
    """Everything a process needs to send for a run."""
    target = settings.target
    redactor = Redactor(target.secrets())
    client = Client(target.base_url, settings.limits, redactor, verification(target), target.proxy)
    before = Recording(settings.out)
    return Session(
        target=target,
        judge=Judge(profile),
        client=client,
        budget=Budget(settings.out / BUDGET, settings.caps, settings.limits.exchange_s),
        exchanges=Journal(settings.out / EXCHANGES),
        cases=Journal(settings.out / CASES),
        seed=settings.seed,
        belief_repeats=settings.belief_repeats,
        worker=worker,
        recorded=before.answers if settings.resume else {},
        cases_recorded=before.cases if settings.resume else (),
        counter=before.last_exchange,
        case_counter=before.last_case,
    )


@pytest.fixture(scope="session")
def conformance_session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """The process's session."""
    settings = request.config.stash[SETTINGS_KEY]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    session = make_session(settings, profile_of(request.config), worker)
    yield session
    session.client.close()
    session.exchanges.close()
    session.cases.close()


@pytest.fixture(scope="session")
def profile(request: pytest.FixtureRequest) -> Profile:
    """The profile judged against."""
    return profile_of(request.config)


@pytest.fixture
def ask(request: pytest.FixtureRequest, conformance_session: Session) -> Iterator[Asker]:
    """Sends requests for this probe; a must that is violated fails it once it is over."""
    asker = Asker(conformance_session, probe_name(request.node), topic_of(request.node))
    yield asker
    violated = {finding.requirement for finding in asker.findings if finding.violation}
    request.node.user_properties += [(VIOLATED, name) for name in sorted(violated)]
    broken = _violated_musts(asker, conformance_session.judge.profile)
    if broken:
        raise ConformanceViolation("; ".join(broken[:5]))


def _violated_musts(asker: Asker, profile: Profile) -> list[str]:
    return [
        f"{finding.requirement}: {finding.violation.message}"
        for finding in asker.findings
        if finding.violation and profile.promises[finding.requirement].level == "must"
    ]


@pytest.fixture
def bodies(ask: Asker, profile: Profile, conformance_session: Session) -> Bodies:
    """Builds request bodies for this target that the profile's document allows."""
    return Bodies(profile, conformance_session.target, ask.nonce)


def probe_name(node: pytest.Item) -> str:
    """`file::test[param]`, the same wherever the suite is installed."""
    return f"{node.path.stem.removeprefix('probe_')}::{node.name}"


def topic_of(node: pytest.Item) -> str:
    """A probe's topic is the file it stands in."""
    return node.path.stem.removeprefix("probe_")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep what went wrong in the suite itself, with the requirements that go unjudged by it."""
    report = yield
    settings = item.config.stash.get(SETTINGS_KEY, None)
    if settings is not None and call.excinfo is not None:
        expected = (ConformanceViolation, pytest.skip.Exception, pytest.exit.Exception, KeyboardInterrupt)
        if not isinstance(call.excinfo.value, expected):
            line = {
                "probe": probe_name(item),
                "requirements": sorted(requirements_of(item, profile_of(item.config))),
                "problem": str(report.longrepr)[-4000:],
            }
            with suppress(JournalFull), closing(Journal(settings.out / PROBLEMS)) as journal:
                journal.append(line)
    return report
