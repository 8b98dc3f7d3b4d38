"""Views of a requirement's violations: what was expected, what came, and the exchange that shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reports.differences import Piece, marked
from reports.exchange import Exchange
from reports.html.answer import AnswerView, answer_view, size
from reports.reproduction import as_curl, as_python
from reports.text_safety import shortened
from reports.wording import reproduction

MOST_KINDS = 5
MOST_ALIKE = 8
MOST_EXCHANGES = 3
_LONGEST_SIDE = 4_000
_LONGEST_CURL = 8_000

_ISSUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}#\d{1,9}")
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~/%#?=&+-]*)?")


@dataclass
class EvidenceBudget:
    """Characters of answers that the page may still show at once, and where each exchange is shown first.

    While there is plenty left an answer is shown wherever it is evidence; later only once.
    """

    left: int = 1_200_000
    plenty: int = 600_000
    shown_under: dict[str, str] = field(default_factory=dict)


class Elsewhere(NamedTuple):
    """An exchange that another requirement already shows."""

    id: str
    requirement: str


@dataclass
class ViolationView:
    """One violation with its evidence."""

    message: str
    expected: str
    observed: str
    expected_pieces: list[Piece]
    observed_pieces: list[Piece]
    reproduced: str
    exchanges: list[str]
    more_exchanges: int
    alike: list[str]
    more_alike: int
    breaks_clients: list[str]
    diagnosis: list[Mapping[str, Any]]
    answers: list[AnswerView]
    elsewhere: list[Elsewhere]
    curl: str | None
    python: str | None
    open: bool


class RequirementView(NamedTuple):
    """A requirement row with the views of its kinds of violation; `hidden` counts the kinds left out."""

    row: Mapping[str, Any]
    violations: list[ViolationView]
    hidden: int
    open: bool


class Kind(NamedTuple):
    """Violations of one requirement with the same message: the one with the smallest request, and the others."""

    smallest: Mapping[str, Any]
    others: list[Mapping[str, Any]]


def kinds(row: Mapping[str, Any], sent: Mapping[str, int]) -> list[Kind]:
    """A requirement's violations by message, in the order in which they came.

    `sent` is the length of each exchange's request body; the smallest is the best evidence.
    """
    by_message: dict[str, list[Mapping[str, Any]]] = {}
    for violation in row["violations"]:
        by_message.setdefault(violation["message"], []).append(violation)
    made = []
    for alike in by_message.values():
        smallest = min(alike, key=lambda violation: _preference(violation, sent))
        made.append(Kind(smallest, [violation for violation in alike if violation is not smallest]))
    return made


def citation_address(citation: str) -> str | None:
    """Where a citation leads: `owner/repository#12` or an https address; None for anything else."""
    if _ISSUE.fullmatch(citation):
        repository, _, number = citation.partition("#")
        return f"https://github.com/{repository}/issues/{number}"
    return citation if _ADDRESS.fullmatch(citation) else None


def _preference(violation: Mapping[str, Any], sent: Mapping[str, int]) -> tuple[bool, int]:
    """What was sent again before it was believed goes before what was not, then the smaller request."""
    tried = (violation.get("reproduced") or "").partition("/")[2]
    return tried in ("", "0", "1"), sum(sent.get(id_, 1 << 40) for id_ in violation["exchanges"])


def requirement_view(
    row: Mapping[str, Any],
    found: Sequence[Kind],
    kept: Mapping[str, Exchange],
    budget: EvidenceBudget,
    *,
    open_: bool,
) -> RequirementView:
    """The view of one requirement; takes what it shows from the budget."""
    views = [_violation(row["id"], kind, kept, budget, open_) for kind in found[:MOST_KINDS]]
    return RequirementView(row, views, len(found) - len(views), open_)


def _violation(
    requirement: str,
    kind: Kind,
    kept: Mapping[str, Exchange],
    budget: EvidenceBudget,
    open_: bool,
) -> ViolationView:
    violation = kind.smallest
    expected, observed = (shortened(violation.get(side) or "", _LONGEST_SIDE) for side in ("expected", "observed"))
    before, after = marked(expected, observed)
    named = violation["exchanges"]
    answers: list[AnswerView] = []
    elsewhere: list[Elsewhere] = []
    for number, id_ in enumerate(named[:MOST_EXCHANGES], 1):
        exchange = kept.get(id_)
        if exchange is None:
            continue
        place = budget.shown_under.get(id_)
        if place and budget.left < budget.plenty:
            if place != requirement:
                elsewhere.append(Elsewhere(id_, place))
        elif budget.left > 0:
            answer = answer_view(exchange, violation if number == len(named) else {})
            budget.left -= size(answer)
            budget.shown_under.setdefault(id_, requirement)
            answers.append(answer)
    # The last exchange named is the one that shows it; the ones before it are what it is compared with.
    first = next((kept[id_] for id_ in reversed(named[:MOST_EXCHANGES]) if id_ in kept), None)
    given = violation.get("curl")
    return ViolationView(
        message=shortened(violation["message"], 1_000),
        expected=expected,
        observed=observed,
        expected_pieces=before,
        observed_pieces=after,
        reproduced=reproduction(violation),
        exchanges=named[:MOST_EXCHANGES],
        more_exchanges=max(len(named) - MOST_EXCHANGES, 0),
        alike=[other["exchanges"][-1] for other in kind.others if other["exchanges"]][:MOST_ALIKE],
        more_alike=max(len(kind.others) - MOST_ALIKE, 0),
        breaks_clients=[_client(client) for client in violation.get("breaks_clients") or ()],
        diagnosis=list(violation.get("diagnosis") or ()),
        answers=answers,
        elsewhere=elsewhere,
        curl=given if given and len(given) <= _LONGEST_CURL else as_curl(first) if first else None,
        python=as_python(first) if first else None,
        open=open_,
    )


def _client(client: str | Mapping[str, Any]) -> str:
    if isinstance(client, str):
        return client
    name = f"{client['client']} {client.get('version') or ''}".rstrip()
    uses = f" in {', '.join(client['uses'])}" if client.get("uses") else ""
    return f"{name}{uses}{': ' + client['effect'] if client.get('effect') else ''}"
