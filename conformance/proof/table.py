"""The detection table `fault × requirement`: for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from conformance.proof.prove import Outcome, Proof


def as_json(proof: Proof) -> str:
    """Everything a proof found."""
    content = {
        "schema": 1,
        "profile": proof.profile,
        "whole": proof.whole,
        "seconds": round(proof.seconds, 1),
        "unproven": proof.unproven,
        "faults": [{**asdict(outcome), "proven": outcome.proven} for outcome in proof.outcomes],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


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
