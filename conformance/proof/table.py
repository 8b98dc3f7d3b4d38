"""The detection table `fault × requirement`: for the terminal, as Markdown, and as the record of all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import conformance
from conformance.proof.faults import Fault
from conformance.proof.prove import NO_FAULT, Outcome, Proof, consequence, consequences
from spec.model import Profile


def record(proof: Proof, profile: Profile, faults: Iterable[Fault], command: str) -> dict[str, Any]:
    """Everything a proof found, with what is known of the faults and the requirements: what the files are made of.

    `faults` are all that break the profile's document, planted or not; `without` says why a requirement has none.
    """
    about = {fault.id: fault for fault in faults}
    reviewed = consequences().get(NO_FAULT, {})
    return {
        "schema": 1,
        "suite": {
            "name": conformance.NAME,
            "version": conformance.__version__,
            "catalogue_sha256": profile.catalogue_sha256,
        },
        "profile": proof.profile,
        "edition": profile.edition,
        "ended": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "complete": len(proof.outcomes) == len(about),
        "whole": proof.whole,
        "seconds": round(proof.seconds, 1),
        "unproven": proof.unproven,
        "faults": [_fault(outcome, about[outcome.fault]) for outcome in proof.outcomes],
        "requirements": [
            {
                "id": name,
                "title": profile.requirements[name].title,
                "topic": profile.requirements[name].topic,
                "level": promise.level,
                "without": reviewed.get(name, profile.requirements[name].reason),
            }
            for name, promise in profile.promises.items()
        ],
    }


def _fault(outcome: Outcome, fault: Fault) -> dict[str, Any]:
    beside = [name for name in outcome.red if name not in (*outcome.named, *outcome.unrelated)]
    return {
        **asdict(outcome),
        "proven": outcome.proven,
        "sentence": fault.sentence,
        "citations": list(fault.citations),
        "also": {name: consequence(outcome.fault, name) for name in beside},
    }


def as_markdown(proof: Proof) -> str:
    """The table for a file: one row a fault, and what is wrong with it if anything is."""
    lines = [
        f"# Detection table: {proof.profile}",
        "",
        headline(proof),
        "",
        "| fault | turns red, as it should | missed | turns red, but should not |",
        "| --- | --- | --- | --- |",
    ]
    for outcome in proof.outcomes:
        hit = [name for name in outcome.named if name in outcome.red]
        lines.append(f"| {outcome.fault} | {_cell(hit)} | {_cell(outcome.missed)} | {_cell(outcome.unrelated)} |")
    if proof.unproven:
        lines += ["", f"Without a fault: {', '.join(proof.unproven)}"]
    return "\n".join(lines) + "\n"


def headline(proof: Proof) -> str:
    """The figures in a sentence."""
    proven = sum(outcome.proven for outcome in proof.outcomes)
    requests = sum(outcome.requests for outcome in proof.outcomes)
    return (
        f"{proven} of {len(proof.outcomes)} faults proven, {len(proof.unproven)} requirements without a fault; "
        f"{requests} requests in {proof.seconds:.0f} s."
    )


def line(outcome: Outcome) -> str:
    """One outcome for the terminal."""
    if outcome.proven:
        return f"✓ {outcome.fault}: {', '.join(outcome.named)}"
    parts = [f"missed {', '.join(outcome.missed)}"] if outcome.missed else []
    parts += [f"also red {', '.join(outcome.unrelated)}"] if outcome.unrelated else []
    parts += [f"the suite broke on {'; '.join(outcome.errors)}"] if outcome.errors else []
    return f"✗ {outcome.fault}: {'; '.join(parts) or 'names nothing'}"


def _cell(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
