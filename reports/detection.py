"""The detection table as a page: every planted fault with what it turned red, and every requirement with its faults.

It is made from the record of a proof (`detection-PROFILE.json`), whose strings may repeat what an endpoint said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reports.html.environment import asset, content_policy, environment

# What became of a fault or of a requirement -> (word, what it means, the verdict whose mark and colour it takes).
FAULT_WORDS = {
    "broke": ("Suite error", "the suite itself failed on it", "error"),
    "missed": ("Missed", "a requirement that it must turn red did not turn red", "fail"),
    "unrelated": ("Too much", "all that it must turn red did, and something else without a reviewed reason", "warn"),
    "detected": ("Detected", "all that it must turn red did, and nothing else without a reviewed reason", "pass"),
}
REQUIREMENT_WORDS = {
    "unproven": ("Not proven", "no fault was seen to turn it red", "fail"),
    "without": ("No fault", "nothing can be planted for it, for the reason given", "not_exercised"),
    "proven": ("Proven", "a fault that names it turned it red", "pass"),
}


class Named(NamedTuple):
    """A requirement that a fault must turn red."""

    id: str
    title: str
    seen: bool
    message: str


class Also(NamedTuple):
    """A requirement that turned red beside those; an empty reason is none."""

    id: str
    title: str
    reason: str
    message: str


class FaultView(NamedTuple):
    """One planted fault and what it turned red."""

    row: Mapping[str, Any]
    state: str
    named: list[Named]
    also: list[Also]
    unrelated: list[Also]


class RequirementView(NamedTuple):
    """One requirement, the faults that must turn it red, and the ids of those that also do."""

    row: Mapping[str, Any]
    state: str
    faults: list[tuple[FaultView, bool]]
    also: list[str]


@dataclass
class Topic:
    """The faults and the requirements of one topic."""

    name: str
    faults: list[FaultView] = field(default_factory=list)
    requirements: list[RequirementView] = field(default_factory=list)

    def faults_in(self, state: str) -> int:
        """How many faults of the topic came to that."""
        return sum(view.state == state for view in self.faults)

    def requirements_in(self, state: str) -> int:
        """How many requirements of the topic came to that."""
        return sum(view.state == state for view in self.requirements)


def detection_page(record: Mapping[str, Any]) -> str:
    """One self-contained page of a proof's record. What its small script does is a convenience."""
    about = {row["id"]: row for row in record["requirements"]}
    faults = [_fault(row, about) for row in record["faults"]]
    requirements = list(_requirements(record, faults))
    fault_states = Counter(view.state for view in faults)
    requirement_states = Counter(view.state for view in requirements)
    style, script = asset("report.css") + asset("detection.css"), asset("detection.js")
    return (
        environment()
        .get_template("detection.html.j2")
        .render(
            record=record,
            title=_title(faults, fault_states),
            icon=_icon(fault_states, requirement_states),
            faults=faults,
            wrong=[view for view in faults if view.state != "detected"],
            requirements=requirements,
            without=[view for view in requirements if view.state != "proven"],
            topics=_topics(faults, requirements, about),
            fault_states=fault_states,
            requirement_states=requirement_states,
            unrelated=sum(len(view.unrelated) for view in faults),
            cited=sum(bool(view.row["citations"]) for view in faults),
            requests=sum(row["requests"] for row in record["faults"]),
            fault_words=FAULT_WORDS,
            requirement_words=REQUIREMENT_WORDS,
            style=style,
            script=script,
            policy=content_policy(script=script, style=style),
        )
    )


def _title(faults: Sequence[FaultView], states: Mapping[str, int]) -> str:
    """What was found, in the figures that count: a fault that turns too much red is detected all the same."""
    detected = states.get("detected", 0) + states.get("unrelated", 0)
    if faults and detected == len(faults):
        return f"All {len(faults)} planted faults detected" if len(faults) > 1 else "The planted fault was detected"
    return f"{detected} of {len(faults)} planted faults detected"


def _icon(faults: Mapping[str, int], requirements: Mapping[str, int]) -> str:
    if not faults or faults.get("missed") or faults.get("broke"):
        return "fail"
    return "warn" if faults.get("unrelated") or requirements.get("unproven") else "pass"


def _fault(row: Mapping[str, Any], about: Mapping[str, Mapping[str, Any]]) -> FaultView:
    red = row["red"]

    def title(id_: str) -> str:
        return str(about[id_]["title"]) if id_ in about else ""

    named = [Named(id_, title(id_), id_ in red, red[id_]["message"] if id_ in red else "") for id_ in row["named"]]
    also = [Also(id_, title(id_), reason, red[id_]["message"]) for id_, reason in row["also"].items()]
    unrelated = [Also(id_, title(id_), "", red[id_]["message"]) for id_ in row["unrelated"]]
    if row["errors"]:
        state = "broke"
    elif row["missed"] or not named:
        state = "missed"
    else:
        state = "unrelated" if unrelated else "detected"
    return FaultView(row, state, named, also, unrelated)


def _requirements(record: Mapping[str, Any], faults: Sequence[FaultView]) -> Iterable[RequirementView]:
    """Every requirement; of a proof with some of the faults only those that one of them is about."""
    naming: dict[str, list[tuple[FaultView, bool]]] = {}
    also: dict[str, list[str]] = {}
    for view in faults:
        for named in view.named:
            naming.setdefault(named.id, []).append((view, named.seen))
        for beside in (*view.also, *view.unrelated):
            also.setdefault(beside.id, []).append(view.row["fault"])
    for row in record["requirements"]:
        named_by = naming.get(row["id"], [])
        if not (record["complete"] or named_by):
            continue
        if any(seen for _, seen in named_by):
            state = "proven"
        else:
            state = "without" if row["without"] and not named_by else "unproven"
        yield RequirementView(row, state, named_by, also.get(row["id"], []))


def _topics(
    faults: Iterable[FaultView], requirements: Iterable[RequirementView], about: Mapping[str, Mapping[str, Any]]
) -> list[Topic]:
    """In the order of the catalogue; a fault stands with the first requirement that it names, the worst first."""
    topics = {row["topic"]: Topic(row["topic"]) for row in about.values()}
    for fault in faults:
        name = about[fault.named[0].id]["topic"] if fault.named and fault.named[0].id in about else "other"
        topics.setdefault(name, Topic(name)).faults.append(fault)
    for requirement in requirements:
        topics[requirement.row["topic"]].requirements.append(requirement)
    for topic in topics.values():
        topic.faults.sort(key=lambda view: (list(FAULT_WORDS).index(view.state), view.row["fault"]))
        topic.requirements.sort(key=lambda view: (list(REQUIREMENT_WORDS).index(view.state), view.row["id"]))
    return [topic for topic in topics.values() if topic.faults or topic.requirements]
