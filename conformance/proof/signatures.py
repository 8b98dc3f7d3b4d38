"""What each known fault looks like in a run, kept as data, and which of them a run looks like."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.proof.faults import Fault
from conformance.proof.prove import Proof
from spec.model import Profile

FILE = Path(__file__).parent / "signatures.json"
NEAR = 0.35  # below this agreement nothing is named
MOST = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """A known fault that a run looks like; `agreement` is between 0 and 1."""

    fault: str
    sentence: str
    citations: tuple[str, ...]
    agreement: float
    requirements: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As the record and the report show it."""
        return {
            "fault": self.fault,
            "sentence": self.sentence,
            "citations": list(self.citations),
            "agreement": round(self.agreement, 2),
            "requirements": list(self.requirements),
        }


def shape(message: str) -> str:
    """A violation's message without what differs from run to run: numbers, quoted values, ids."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "…", message)
    return re.sub(r"\d+", "#", text)


def update(proof: Proof, faults: Iterable[Fault]) -> None:
    """Write what a proof saw into the data that `diagnose` compares with."""
    known = load()
    about = {fault.id: fault for fault in faults}
    for outcome in proof.outcomes:
        fault = about[outcome.fault]
        entry = known.setdefault(fault.id, {"sentence": "", "citations": [], "named": {}, "red": {}})
        entry["sentence"], entry["citations"] = fault.sentence, list(fault.citations)
        entry["named"][proof.profile] = list(outcome.named)
        entry["red"][proof.profile] = {name: shape(red.message) for name, red in sorted(outcome.red.items())}
    FILE.write_text(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def load() -> dict[str, dict[str, Any]]:
    """The signatures of all known faults."""
    if not FILE.exists():
        return {}
    known: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def proving(profile: Profile) -> dict[str, list[str]]:
    """Requirement → ids of the faults that were seen to turn it red, as they should, for a vendor of the profile.

    For a document of one's own it is what they showed for any vendor: the checks are the same.
    """
    known = load()
    vendors = {vendor for entry in known.values() for vendor in entry["named"]}
    vendors = vendors & set(profile.vendors) or vendors
    found: dict[str, dict[str, None]] = {}
    for fault, entry in known.items():
        for vendor in vendors & set(entry["named"]):
            for name in entry["named"][vendor]:
                if name in entry["red"].get(vendor, {}):
                    found.setdefault(name, {})[fault] = None
    return {name: list(faults) for name, faults in found.items()}


def nearest(profile: str, rows: Sequence[Mapping[str, Any]]) -> list[Likeness]:
    """The known faults that the red rows of a run look like, best first; none where nothing is near."""
    seen = {row["id"]: {shape(v["message"]) for v in row["violations"]} for row in rows if row["violations"]}
    if not seen:
        return []
    known = {name: entry for name, entry in load().items() if profile in entry["red"]}
    often = Counter(name for entry in known.values() for name in entry["red"][profile])
    weight = {name: 1.0 / math.log2(2 + count) for name, count in often.items()}
    found = []
    for fault, entry in known.items():
        signature: dict[str, str] = entry["red"][profile]
        agreement, shared = _agreement(signature, seen, weight)
        if agreement >= NEAR:
            found.append(Likeness(fault, entry["sentence"], tuple(entry["citations"]), agreement, shared))
    found.sort(key=lambda likeness: (-likeness.agreement, likeness.fault))
    return found[:MOST]


def _agreement(
    signature: Mapping[str, str], seen: Mapping[str, set[str]], weight: Mapping[str, float]
) -> tuple[float, tuple[str, ...]]:
    """How well a signature and a run agree: rare requirements weigh more, equal messages count fully."""
    shared = 0.0
    for name, message in signature.items():
        if name in seen:
            shared += weight.get(name, 1.0) * (1.0 if message in seen[name] else 0.6)
    total_signature = sum(weight.get(name, 1.0) for name in signature)
    total_seen = sum(weight.get(name, 1.0) for name in seen)
    if not total_signature or not total_seen:
        return 0.0, ()
    explained, present = min(1.0, shared / total_seen), shared / total_signature
    agreement = present * (0.4 + 0.6 * explained)
    return agreement, tuple(name for name in signature if name in seen)
