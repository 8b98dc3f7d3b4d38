"""What a run would send: which probes, for which requirements, at what cost. Sends nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from conformance.bounds import Tokens, per_request
from conformance.plugin import probe_name, profile_of, requirements_of, topic_of
from conformance.session import run_probes
from conformance.settings import Settings
from conformance.target import Target

PREFLIGHT_REQUESTS = 1
PREFLIGHT = "preflight::plain"


@dataclass(frozen=True, slots=True)
class PlannedProbe:
    """One probe of a plan: `name` is pytest's node id, `probe` what the record calls it."""

    name: str
    probe: str
    topic: str
    requirements: frozenset[str]
    requests: int


@dataclass(frozen=True, slots=True)
class PlannedTopic:
    """Requests of a topic, and at most how many tokens and how much money they use."""

    topic: str
    requests: int
    tokens: Tokens
    cost: float | None


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

    def by_topic(self, target: Target) -> list[PlannedTopic]:
        """What is sent, topic by topic; money only where the target has prices."""
        requests = Counter({"preflight": PREFLIGHT_REQUESTS})
        tokens = {"preflight": per_request(PREFLIGHT, target).times(PREFLIGHT_REQUESTS)}
        for probe in self.probes:
            requests[probe.topic] += probe.requests
            bound = per_request(probe.probe, target).times(probe.requests)
            tokens[probe.topic] = tokens.get(probe.topic, Tokens()) + bound
        return [_planned(topic, count, tokens[topic], target) for topic, count in requests.items()]

    def total(self, target: Target) -> PlannedTopic:
        """What all topics send together."""
        tokens = sum((topic.tokens for topic in self.by_topic(target)), Tokens())
        return _planned("total", self.requests, tokens, target)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take down what pytest collected."""
        profile = profile_of(session.config)
        for item in session.items:
            mark = item.get_closest_marker("probe")
            assert mark is not None
            self.probes.append(
                PlannedProbe(
                    item.nodeid,
                    probe_name(item),
                    topic_of(item),
                    requirements_of(item, profile),
                    mark.kwargs["cost"],
                )
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember why a file could not be collected."""
        if report.failed:
            self.problem = str(report.longrepr)


def _planned(topic: str, requests: int, tokens: Tokens, target: Target) -> PlannedTopic:
    cost = target.prices.of(tokens.prompt, tokens.completion) if target.prices else None
    return PlannedTopic(topic, requests, tokens, cost)


def make_plan(settings: Settings) -> Plan:
    """Collect the probes that the settings call for. Raises RuntimeError when a probe file is broken."""
    plan = Plan()
    code = run_probes(settings, plan, collect_only=True)
    if plan.problem or code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(plan.problem or f"collecting the probes ended with {code}")
    return plan
