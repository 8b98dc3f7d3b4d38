"""What the endpoint offers: declared by its operator, or found out from what it answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.cases import Case

KIND = "capability"  # cases of this kind ask once for what a capability would serve
State = Literal["yes", "no", "unknown"]
DECLARED = "declared by the operator"
NOT_ASKED = "neither declared nor asked for"
# What a document makes depend on the model or the deployment. Everything else is promised without an if, so that
# finding it absent is no excuse, unless the operator declares that the endpoint lacks it.
OPTIONAL = frozenset({"vision", "reasoning", "credits", "keys", "https-images"})


@dataclass(frozen=True, slots=True)
class Capability:
    """Whether a capability is there, and how that is known."""

    state: State
    source: str

    def excuses(self, name: str) -> bool:
        """Whether requirements that need the capability do not apply."""
        return self.state == "no" and (name in OPTIONAL or self.source == DECLARED)


def discover(declared: Mapping[str, bool], cases: Iterable[Case], others: Iterable[str]) -> dict[str, Capability]:
    """The state of every capability that was declared, asked for, or is needed by some requirement (`others`)."""
    found = {name: Capability("unknown", NOT_ASKED) for name in others}
    for case in cases:
        if case.kind == KIND:
            found[str(case.data["capability"])] = _from_answers(case)
    for name, offered in declared.items():
        found[name] = Capability("yes" if offered else "no", DECLARED)
    return dict(sorted(found.items()))


def _from_answers(case: Case) -> Capability:
    statuses = sorted({x.status for x in case.exchanges})
    if case.data.get("shown") is not None:  # the probe looked for more than a status, such as thinking text
        shown = bool(case.data["shown"])
        return Capability("yes" if shown else "no", f"{'seen' if shown else 'not seen'} when asked for")
    if any(x.ok for x in case.exchanges):
        return Capability("yes", "served when asked for")
    if all(400 <= status < 500 and status not in (401, 403, 408, 429) for status in statuses):
        return Capability("no", f"refused with {', '.join(map(str, statuses))} when asked for")
    return Capability("unknown", f"asked for, answered with {', '.join(map(str, statuses))}")
