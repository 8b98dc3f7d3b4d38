"""Keys: a right one opens, a missing or wrong one does not, and no refusal gives anything away.

Cases of kind `keys` have the roles `control` (the right key), `missing` and `wrong`; `data["declared"]` tells
that keys are to be checked, which giving one says unless the operator declares the contrary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.conditions import chat, refusal
from conformance.laws.refusals import about_the_request, accepted_control, is_refusal, statuses_of
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise

KEYS = "keys"
#: What the suite sends as a wrong key begins with this (see `Asker`).
WRONG_KEY = re.compile(r"wrong-[0-9a-f]{12}")
DIGEST = re.compile(
    r"(?:\b(?:hash|digest|sha-?\d*|md5|hmac)\W{1,3}(?=[a-f]*\d)[0-9a-f]{4,}\b)|(?:\b[0-9a-f]{64}\b)", re.IGNORECASE
)


def _checked(case: Case) -> None:
    """Raise `Undecided` where nothing depends on the key, and nothing was said to."""
    accepted_control(case)
    for x in (*case.all("missing"), *case.all("wrong")):
        about_the_request(x, "a request without the right key")
    unchecked = all(x.status == 200 for x in (*case.all("missing"), *case.all("wrong")))
    if unchecked and not case.data.get("declared"):
        raise Undecided("the endpoint answers without any key, so it seems to check none")


def _turned_away(case: Case, role: str, promise: Promise) -> Iterator[Violation]:
    _checked(case)
    wanted = statuses_of(promise)
    for x in case.all(role):
        if not is_refusal(x) or (wanted and x.status not in wanted):
            expected = " or ".join(map(str, wanted)) or "4xx"
            yield Violation(f"a request with a {role} key was not refused so", expected, f"HTTP {x.status}", (x.id,))


@case_law("auth.missing-key-is-401", kind=KEYS, applies=lambda case: bool(case.all("missing")))
def missing_key(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request without a key is refused with the documented status."""
    yield from _turned_away(case, "missing", promise)


@case_law("auth.wrong-key-is-401", kind=KEYS, applies=lambda case: bool(case.all("wrong")))
def wrong_key(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request with a wrong key, or with no key where one belongs, is refused with the documented status."""
    yield from _turned_away(case, "wrong", promise)


@case_law("auth.wrong-key-is-refused", kind=KEYS)
def any_other_key(case: Case, promise: Promise) -> Iterator[Violation]:
    """Without the right key nothing is answered."""
    yield from _turned_away(case, "missing", promise)
    yield from _turned_away(case, "wrong", promise)


@law(
    "auth.bearer-key-is-accepted",
    applies=lambda x: chat(x) and x.facts.get("key") == "right" and x.status in (200, 401, 403),
)
def bearer_key(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The right key, sent as a bearer token (RFC 6750, section 2.1), opens the endpoint."""
    if x.status != 200:
        yield Violation("the right key was refused", "an answer", f"HTTP {x.status}")


@law(
    "auth.no-secrets-in-refusals",
    applies=lambda x: refusal(x) and x.facts.get("key") in ("missing", "wrong", "malformed"),
)
def no_secrets(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The refusal of a key repeats neither the key as a whole nor a digest of it."""
    assert x.received is not None
    body = x.received.body.decode("utf-8", "replace")
    for pattern, what in ((WRONG_KEY, "the key"), (DIGEST, "what looks like a digest")):
        found = pattern.search(body)
        if found:
            yield Violation(f"the refusal of a key repeats {what}", "a refusal without it", shortened(found[0]))
