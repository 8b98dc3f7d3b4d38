"""Requests: every constraint broken once beside an accepted twin, every limit met, and changes without meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from conformance.ask import Asker
from conformance.plugin import profile_of
from conformance.probe import probe
from conformance.probes.pairs import REFUSALS, VALUES, refuse
from conformance.target import Target
from conformance.traffic.bodies import Bodies, Body, changed
from conformance.traffic.carriers import SHORT, assigned, carrier
from conformance.traffic.conversations import options
from conformance.traffic.defects import UNKNOWN_FIELD, Variant, at_limits, boundaries, defects, encoded, field_of
from conformance.traffic.ledger import explore
from spec.model import Constraint, Profile

CLOSED = "request.closed"
UNKNOWN = ("request.unknown-field-is-400", CLOSED)
UNKNOWN_LAWS = (
    "errors.unknown-parameter-is-named",
    "errors.unknown-parameter-in-code",
    "errors.unknown-parameter-names-the-field",
)
MODEL = ("models.unknown-model-is-refused", "models.unknown-model-is-404")
NO_SUCH_MODEL = "conformance/no-such-model"
#: Judged from the smallest effort on: what clients get wrong most.
FIRST = (
    "request.model.required",
    "request.messages.min-items",
    "request.messages.role.enum",
    "request.temperature.maximum",
    "request.stop.max-items",
    "request.n.const",
    "request.n.minimum",
)
FIRST_CARRIER = "sampling"
#: Carriers that need no capability and take no reading of the document: that they are accepted is promised.
STATED = ("plain", "sampling", "conversation", "parts", "stream")
LOWER, UPPER = ("minimum", "minItems", "minLength"), ("maximum", "maxItems", "maxLength")
TOKEN_LIMITS = ("request.max_tokens.maximum", "request.max_completion_tokens.maximum")
DRAWN, DRAWN_EXHAUSTIVE = 4, 40


def _groups(profile: Profile) -> dict[str, list[str]]:
    """What each carrier is to show, without what is shown first, and without unknown fields."""
    known = {name: [i for i in ids if i not in (*FIRST, CLOSED)] for name, ids in assigned(profile).items()}
    return {name: ids for name, ids in known.items() if ids}


def _first(profile: Profile) -> list[str]:
    return [i for ids in assigned(profile).values() for i in ids if i in FIRST]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One probe for each carrier or field, with what it costs for this document."""
    profile, name = profile_of(metafunc.config), metafunc.definition.name
    if name in GROUPED:
        groups = _groups(profile)
        rows = [pytest.param(key, ids, id=key, marks=_mark(name, profile, key, ids)) for key, ids in groups.items()]
        metafunc.parametrize(("name", "ids"), rows)
    elif name == "test_first_defects":
        ids = _first(profile)
        mark = probe(*ids, *MODEL, *REFUSALS, VALUES, effort="smoke", cost=2 + len(ids))
        metafunc.parametrize("ids", [pytest.param(ids, id=FIRST_CARRIER, marks=mark)])
    elif "field" in metafunc.fixturenames:
        metafunc.parametrize("field", _optional(profile))


GROUPED = ("test_one_defect_each", "test_every_defect", "test_defects_streamed")


def _mark(test: str, profile: Profile, carrier_name: str, ids: list[str]) -> pytest.MarkDecorator:
    if test == "test_defects_streamed":
        return probe("errors.same-streamed-and-whole", *ids, effort="exhaustive", cost=2 * len(ids))
    body = carrier(carrier_name, Bodies(profile, Target("http://127.0.0.1", "model"), lambda: "nonce"))
    if test == "test_one_defect_each":
        met = sum(len(_own_limits(profile.constraints[i], body)) for i in ids)
        accepted = (VALUES,) if carrier_name in STATED else ()
        return probe(*ids, *REFUSALS, *accepted, effort="standard", cost=1 + len(ids) + met)
    further = sum(len(defects(profile.constraints[i], body)) - 1 for i in ids)
    return probe(*ids, *REFUSALS, effort="exhaustive", cost=1 + further)


def test_one_defect_each(ask: Asker, bodies: Bodies, profile: Profile, name: str, ids: list[str]) -> None:
    """Break each constraint of a group of fields once, beside the same request without the defect.

    Every refusal differs from an accepted request in exactly one respect, so that it can have only one reason.
    """
    body = carrier(name, bodies)
    control = ask(body)
    if name in STATED:
        ask.case("accepted", [VALUES], asked=control)
    for requirement in ids:
        constraint = profile.constraints[requirement]
        refuse(ask, control, defects(constraint, body)[0], [requirement], field_of(constraint))
        for variant in _own_limits(constraint, body):
            ask.case("within", [requirement], {"met": variant.words}, asked=ask(variant.body))


def _own_limits(constraint: Constraint, body: Body) -> list[Variant]:
    """Limits of fields that need a capability: they are met apart from the others."""
    return boundaries(constraint, body) if constraint.needs else []


def test_every_defect(ask: Asker, bodies: Bodies, profile: Profile, name: str, ids: list[str]) -> None:
    """Break each constraint in every further way: other wrong types, values far beyond a limit, near misses.

    A server that coerces numbers in strings or takes true for 1 refuses the plain defect and not these.
    """
    body = carrier(name, bodies)
    control = ask(body)
    for requirement in ids:
        constraint = profile.constraints[requirement]
        for variant in defects(constraint, body)[1:]:
            refuse(ask, control, variant, [requirement], field_of(constraint))


def test_defects_streamed(ask: Asker, bodies: Bodies, profile: Profile, name: str, ids: list[str]) -> None:
    """Send each defect with and without `stream`.

    A stream that has begun can no longer say 400, so validation must come before the first byte.
    """
    body = carrier(name, bodies)
    for requirement in ids:
        broken = defects(profile.constraints[requirement], body)[0].body
        streamed = {**broken, "stream": True} if isinstance(broken, dict) and "stream" not in broken else broken
        ask.case(
            "refused-both-ways",
            ["errors.same-streamed-and-whole"],
            whole=ask(encoded(broken)),
            streamed=ask(encoded(streamed)),
        )


def test_first_defects(ask: Asker, bodies: Bodies, profile: Profile, ids: list[str]) -> None:
    """Break what clients get wrong most: no model, no messages, a role, a range, a list, an unknown model.

    One accepted request is the control of all of them.
    """
    body = carrier(FIRST_CARRIER, bodies)
    control = ask(body)
    ask.case("accepted", [VALUES], asked=control)
    for requirement in ids:
        constraint = profile.constraints[requirement]
        refuse(ask, control, defects(constraint, body)[0], [requirement], field_of(constraint))
    strange = Variant("the model does not exist", changed(body, model=NO_SUCH_MODEL))
    refuse(ask, control, strange, MODEL, "model", own_status=True)


@probe(*UNKNOWN, *UNKNOWN_LAWS, effort="smoke", cost=2)
def test_unknown_field(ask: Asker, bodies: Bodies) -> None:
    """Add a top-level field that the document does not list, and take it away again.

    A misspelled limit that is dropped in silence costs money.
    """
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    control = ask(body)
    _unknown(ask, control, {**body, UNKNOWN_FIELD: 1}, UNKNOWN_FIELD)


@probe(*UNKNOWN, *UNKNOWN_LAWS, effort="standard", cost=5)
def test_unknown_field_anywhere(ask: Asker, bodies: Bodies) -> None:
    """Put an unknown field first, misspell a known one, give it null, and ask for a stream.

    The rule names no exception for a place, a value or a form of reply.
    """
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    control = ask(body)
    _unknown(ask, control, {"max_tokenz": 9, **body}, "max_tokenz")
    whole = _unknown(ask, control, {**body, "top_k": None}, "top_k")
    streamed = _unknown(ask, control, {**body, "top_k": None, "stream": True}, "top_k")
    ask.case("refused-both-ways", ["errors.same-streamed-and-whole"], whole=whole, streamed=streamed)
    _unknown(ask, control, {**body, "Temperature": {"a": [1]}}, "Temperature")


def _unknown(ask: Asker, control: Any, body: Body, name: str) -> Any:
    variant = Variant(f"the field {name!r} is not listed", body)
    return refuse(ask, control, variant, UNKNOWN, name, unknown=name)


@probe("request.unknown-field-is-survived", effort="standard", cost=2)
def test_unknown_field_is_survived(ask: Asker, bodies: Bodies) -> None:
    """Send unknown fields to an endpoint whose document says nothing about them, whole and streamed.

    Ignored or refused are both fine; a server error is not.
    """
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    asked = [ask({**body, UNKNOWN_FIELD: 1, "top_k": None}), ask({**body, "max_tokenz": 9, "stream": True})]
    ask.case("survived", ["request.unknown-field-is-survived"], asked=asked)


@probe("request.*.minimum", "request.*.min-items", "request.*.min-length", VALUES, effort="standard", cost=1)
def test_lower_limits(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Stand on every lower limit at once; each alone only if that is refused.

    A range includes its ends.
    """
    _on_the_limits(ask, bodies, profile, LOWER)


@probe(
    "request.*.maximum",
    "request.*.max-items",
    "request.*.max-length",
    "stop.up-to-four-are-accepted",
    VALUES,
    effort="standard",
    cost=1,
)
def test_upper_limits(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Stand on every upper limit at once, but for limits of tokens; each alone only if that is refused."""
    _on_the_limits(ask, bodies, profile, UPPER)


def _on_the_limits(ask: Asker, bodies: Bodies, profile: Profile, keywords: Sequence[str]) -> None:
    known = {i: profile.constraints[i] for ids in assigned(profile).values() for i in ids if i not in TOKEN_LIMITS}
    free = {i: constraint for i, constraint in known.items() if not constraint.needs}
    whole, apart = at_limits(free, carrier(FIRST_CARRIER, bodies), keywords)
    asked = ask(whole)
    if asked.status == 200:
        extra = ["stop.up-to-four-are-accepted"] if "maxItems" in keywords else []
        met = ", ".join(variant.words for variant in apart.values())
        ask.case("within", [VALUES, *extra, *apart], {"met": met}, asked=asked)
        return
    for requirement, variant in apart.items():
        ask.case("within", [VALUES, requirement], {"met": variant.words}, asked=ask(variant.body))


@probe(*TOKEN_LIMITS, effort="standard", cost=1)
def test_largest_token_limit(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Ask for the largest number of tokens that the document allows, and hang up when the answer begins."""
    found = [i for i in TOKEN_LIMITS if i in profile.promises]
    for requirement in found:
        constraint = profile.constraints[requirement]
        body = bodies.chat("Say OK.", stream=True, **{field_of(constraint): constraint.value})
        words = f"{field_of(constraint)} is {constraint.value}"
        ask.case("within", [VALUES, requirement], {"met": words}, asked=ask(body, hang_up_after=1))


@probe(VALUES, effort="standard", cost=DRAWN)
def test_drawn_options(ask: Asker, bodies: Bodies) -> None:
    """Send a few drawn sets of documented values together; shrink a set that is refused."""
    _drawn(ask, bodies, DRAWN)


@probe(VALUES, effort="exhaustive", cost=DRAWN_EXHAUSTIVE)
def test_many_drawn_options(ask: Asker, bodies: Bodies) -> None:
    """Send many drawn sets of documented values together; shrink a set that is refused."""
    _drawn(ask, bodies, DRAWN_EXHAUSTIVE)


def _drawn(ask: Asker, bodies: Bodies, count: int) -> None:
    base = bodies.chat("Name a colour.", max_tokens=SHORT)

    def send(fields: Body) -> None:
        ask.case("accepted", [VALUES], asked=ask(changed(base, **fields)))

    explore(ask, options(bodies), send, examples=count)


NULLS = "request.null-is-survived"


@probe(NULLS, effort="standard", cost=1)
def test_null_everywhere(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send every optional field as null at once: accepted or refused, but no server error."""
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    ask.case("survived", [NULLS], asked=ask({**body, **dict.fromkeys(_optional(profile)), "max_tokens": SHORT}))


@probe(NULLS, effort="exhaustive", cost=1)
def test_one_null(ask: Asker, bodies: Bodies, field: str) -> None:
    """Send one optional field as null."""
    ask.case("survived", [NULLS], {"used": field}, asked=ask({**bodies.chat("Say OK.", max_tokens=SHORT), field: None}))


def _optional(profile: Profile) -> list[str]:
    return sorted(name for name in profile.request_fields if "." not in name and name not in ("model", "messages"))


UNSET = "request.null-means-unset"


@probe(UNSET, effort="standard", cost=1)
def test_null_means_unset(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send null for fields whose null is read as not being set; a synonym keeps the answer short."""
    fields = profile.promises[UNSET].params.get("fields", ())
    synonym = {"max_completion_tokens": SHORT} if profile.accepts("max_completion_tokens") else {}
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    ask.case("accepted", [UNSET], asked=ask({**body, **synonym, **dict.fromkeys(fields)}))


EXTRAS = "request.valid-extras-repair-nothing"


@probe(EXTRAS, effort="standard", cost=2)
def test_valid_extras_repair_nothing(ask: Asker, bodies: Bodies) -> None:
    """Send a defect in a request full of valid fields and messages: it stays refused."""
    rich = carrier("conversation", bodies) | {"stop": ["###"], "top_p": 0.9, "user": "conformance"}
    defect = Variant("temperature is -1 among valid extras", changed(rich, temperature=-1))
    refuse(ask, ask(rich), defect, [EXTRAS], "temperature")
