"""What a run would send: which probes, for which requirements, at what cost. Sends nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from conformance.plugin import profile_of, requirements_of, topic_of
from conformance.session import run_probes
from conformance.settings import Settings

PREFLIGHT_REQUESTS = 1


@dataclass(frozen=True, slots=True)
class PlannedProbe:
    """One probe of a plan."""

    name: str
    topic: str
    requirements: frozenset[str]
    requests: int


@dataclass(slots=True)
class Plan:
    """All probes of a run. Also the pytest plugin that collects them."""

    probes: list[PlannedProbe] = field(default_factory=list)
    problem: str = ""

    @property
    def requests(self) -> int:
        """How many requests the run sends to an endpoint that keeps everything."""
        return PREFLIGHT_REQUESTS + sum(probe.requests for probe in self.probes)

    @property
    def requirements(self) -> frozenset[str]:
        """Every requirement that some probe of the plan makes observable."""
        return frozenset().union(*(probe.requirements for probe in self.probes))

    def by_topic(self) -> dict[str, int]:
        """Requests per topic."""
        counts = Counter({"preflight": PREFLIGHT_REQUESTS})
        for probe in self.probes:
            counts[probe.topic] += probe.requests
        return dict(counts)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take down what pytest collected."""
        profile = profile_of(session.config)
        for item in session.items:
            mark = item.get_closest_marker("probe")
            assert mark is not None
            self.probes.append(
                PlannedProbe(item.nodeid, topic_of(item), requirements_of(item, profile), mark.kwargs["cost"])
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember why a file could not be collected."""
        if report.failed:
            self.problem = str(report.longrepr)


def make_plan(settings: Settings) -> Plan:
    """Collect the probes that the settings call for. Raises RuntimeError when a probe file is broken."""
    plan = Plan()
    code = run_probes(settings, plan, collect_only=True)
    if plan.problem or code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(plan.problem or f"collecting the probes ended with {code}")
    return plan
