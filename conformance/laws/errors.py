"""What a refusal says: its status, its body, and that it says the same each time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.cases import Case
from conformance.laws.conditions import chat, refusal
from conformance.laws.refusals import (
    REFUSED,
    about_the_request,
    accepted_control,
    broken_in,
    error_of,
    is_refusal,
    statuses_of,
    well_refused,
)
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise

BOTH_WAYS = "refused-both-ways"  # roles whole, streamed: the same defect with and without `stream`
AGAIN = "refused-again"  # role asked: the same defect several times
#: Statuses that gateways in between give with bodies of their own.
OF_GATEWAYS = frozenset({408, 425, 502, 504})


def _own_refusal(x: Exchange) -> bool:
    return refusal(x) and x.status not in OF_GATEWAYS


def _has_error(x: Exchange) -> bool:
    return _own_refusal(x) and error_of(x) is not None


def _body_text(x: Exchange) -> str:
    return x.received.body.decode("utf-8", "replace") if x.received else ""


@law("errors.body-is-json", applies=_own_refusal)
def body_is_json(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The body of a refusal is a JSON object."""
    if not x.json.ok or not isinstance(x.json.value, dict):
        yield Violation(f"the body of a {x.status} is no JSON object", "a JSON object", shortened(_body_text(x)[:200]))


@law("errors.body-is-an-error-object", applies=lambda x: _own_refusal(x) and isinstance(x.json.value, dict))
def body_is_an_error_object(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The body of a refusal has an `error` object, and that has a `message`."""
    error = error_of(x)
    if error is None or "message" not in error:
        yield Violation(
            f"the body of a {x.status} has no error object with a message",
            '{"error": {"message": …}}',
            shortened(_body_text(x)[:200]),
        )


@law("errors.message-is-text", applies=lambda x: _has_error(x) and "message" in (error_of(x) or {}))
def message_is_text(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`error.message` is a text, and not an empty one."""
    message = (error_of(x) or {}).get("message")
    if not isinstance(message, str) or not message.strip():
        yield Violation("error.message is not a text for people", "a text that is not empty", shortened(message))


@law("errors.type-fits-the-status", applies=_has_error)
def type_fits_the_status(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`error.type` is the category that belongs to the status."""
    types = promise.params.get("types", {}).get(str(x.status))
    found = (error_of(x) or {}).get("type")
    if types and found not in types:
        yield Violation(f"error.type does not fit the status {x.status}", " or ".join(types), shortened(found))


def _as_documented(x: Exchange) -> bool:
    """A request of the documented kind: what else may come for other content types is not the document's matter."""
    types = [value for name, value in x.sent.headers if name.lower() == "content-type"]
    return chat(x) and x.answered and types == ["application/json"]


@law("errors.documented-statuses-only", applies=_as_documented)
def documented_statuses_only(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The status of every answer is one that the document lists."""
    statuses = statuses_of(promise)
    if statuses and x.status not in statuses:
        yield Violation("the status is not documented", ", ".join(map(str, statuses)), f"HTTP {x.status}")


#: Signs of a server's inside, each with what it is.
INTERNALS = (
    (re.compile(r"Traceback \(most recent call last\)"), "a stack trace"),
    (re.compile(r'File \\?"[^"\\]+\\?", line \d+'), "a line of a stack trace"),
    (re.compile(r"\bat [\w.$<>]+ ?\([^)\s]+:\d+(?::\d+)?\)"), "a line of a stack trace"),
    (re.compile(r"goroutine \d+ \[|panicked at |thread '[^']*' panicked"), "a stack trace"),
    (re.compile(r"(?:/[\w.-]+){2,}\.(?:py|js|ts|go|rs|java|rb|so)\b"), "the path of a source file"),
    (re.compile(r"(?:^|[\s\"'(=])/(?:usr|home|opt|app|srv|var|root|tmp|workspace|mnt)/[\w./-]+"), "a file path"),
    (re.compile(r"\b[A-Z]:\\\\?[\w\\]+"), "a file path"),
    (re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:internal|svc|cluster\.local|localdomain)\b"), "an internal host name"),
    (
        re.compile(
            r"\b(?:(?:10|127)(?:\.\d{1,3}){3}|(?:192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2})(?::\d+)?\b"
        ),
        "a private address",
    ),
    (re.compile(r"\b(?:\w+\.)+\w*(?:Error|Exception)\b"), "the class name of an exception"),
    (re.compile(r"<class '|object at 0x[0-9a-f]{6,}"), "a value as the programming language prints it"),
    (re.compile(r"[\[({]\s*\{?'(?:loc|msg|type|ctx)': "), "a value as the programming language prints it"),
)


@law("errors.no-internals", applies=refusal)
def no_internals(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A refusal shows nothing of the server's inside: no stack trace, no path, no internal host."""
    body = _body_text(x)
    asked = x.sent.body.decode("utf-8", "replace") + x.sent.url
    for pattern, what in INTERNALS:
        found = next((match[0] for match in pattern.finditer(body) if match[0].strip() not in asked), None)
        if found is not None:
            yield Violation(f"a refusal shows {what}", "a description for people", shortened(found.strip()))
            return


@case_law("errors.client-mistakes-are-not-5xx", kind=REFUSED)
def client_mistakes_are_not_5xx(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request that the document does not allow is answered as the client's mistake and never as the server's."""
    accepted_control(case)
    for x in case.all("defect"):
        about_the_request(x, "the request with the defect")
        if x.status >= 500:
            yield Violation(
                f"{broken_in(case)}, and the server reports a failure of its own", "4xx", f"{x.status}", (x.id,)
            )
        elif not is_refusal(x):
            raise Undecided("the request with the defect was not refused")


@case_law(
    "errors.invalid-parameter-is-400",
    kind=REFUSED,
    applies=lambda case: well_refused(case) and not case.data.get("own_status"),
)
def invalid_parameter_is_400(case: Case, promise: Promise) -> Iterator[Violation]:
    """A malformed request or an invalid parameter is refused with exactly the documented status."""
    wanted = statuses_of(promise)
    for x in case.all("defect"):
        if x.status not in wanted:
            expected = " or ".join(map(str, wanted))
            yield Violation(f"{broken_in(case)}, and the status is another one", expected, f"HTTP {x.status}", (x.id,))


@case_law(
    "errors.param-names-the-parameter",
    kind=REFUSED,
    applies=lambda case: well_refused(case) and bool(case.data.get("field")),
)
def param_names_the_parameter(case: Case, promise: Promise) -> Iterator[Violation]:
    """The refusal of a parameter names it in `error.param`: the field itself, or a path that goes through it."""
    field = str(case.data["field"])
    for x in case.all("defect"):
        param = (error_of(x) or {}).get("param")
        if not isinstance(param, str) or field not in re.split(r"[.\[\]/]+", param):
            yield Violation(
                f"{broken_in(case)}, and error.param does not name the parameter", field, shortened(param), (x.id,)
            )


def _unknown_refused(case: Case) -> bool:
    return bool(case.data.get("unknown")) and well_refused(case)


@case_law("errors.unknown-parameter-is-named", kind=REFUSED, applies=_unknown_refused)
def unknown_parameter_is_named(case: Case, promise: Promise) -> Iterator[Violation]:
    """The refusal of an unknown field says so in `error.code` or `error.type`, in the document's own word."""
    word = promise.params.get("code")
    for x in case.all("defect"):
        error = error_of(x) or {}
        if word not in (error.get("code"), error.get("type")):
            observed = f"code {error.get('code')!r}, type {error.get('type')!r}"
            yield Violation("the refusal of an unknown field does not say what it is", str(word), observed, (x.id,))


@case_law("errors.unknown-parameter-in-code", kind=REFUSED, applies=_unknown_refused)
def unknown_parameter_in_code(case: Case, promise: Promise) -> Iterator[Violation]:
    """The document's word for an unknown field stands in `error.code`."""
    word = promise.params.get("code")
    for x in case.all("defect"):
        found = (error_of(x) or {}).get("code")
        if found != word:
            yield Violation("error.code does not say that the field is unknown", str(word), shortened(found), (x.id,))


@case_law("errors.unknown-parameter-names-the-field", kind=REFUSED, applies=_unknown_refused)
def unknown_parameter_names_the_field(case: Case, promise: Promise) -> Iterator[Violation]:
    """The refusal of an unknown field names the field in `error.param`."""
    for x in case.all("defect"):
        found = (error_of(x) or {}).get("param")
        if found != case.data["unknown"]:
            name = str(case.data["unknown"])
            yield Violation("error.param does not name the unknown field", name, shortened(found), (x.id,))


@case_law("errors.same-streamed-and-whole", kind=BOTH_WAYS)
def same_streamed_and_whole(case: Case, promise: Promise) -> Iterator[Violation]:
    """A refusal is the same JSON body with the same status, code and type whether or not a stream was asked for."""
    for whole, streamed in zip(case.all("whole"), case.all("streamed"), strict=True):
        about_the_request(whole, "the request without stream")
        about_the_request(streamed, "the request with stream")
        if not is_refusal(whole):
            raise Undecided(f"the request with the defect was not refused but answered with {whole.status}")
        pair = (whole.id, streamed.id)
        if streamed.is_event_stream:
            start = shortened(_body_text(streamed)[:120])
            yield Violation("the refusal of a streamed request came as a stream", "a JSON body", start, pair)
            continue
        here, there = _told(whole), _told(streamed)
        if here != there:
            yield Violation("the refusal is another one when a stream is asked for", repr(here), repr(there), pair)


@case_law("stream.refusals-are-not-streams", kind=BOTH_WAYS)
def refusals_are_not_streams(case: Case, promise: Promise) -> Iterator[Violation]:
    """What is refused when no stream is asked for is not answered with a stream that only carries the error."""
    for whole, streamed in zip(case.all("whole"), case.all("streamed"), strict=True):
        about_the_request(whole, "the request without stream")
        about_the_request(streamed, "the request with stream")
        if is_refusal(whole) and streamed.is_event_stream:
            start = shortened(_body_text(streamed)[:120])
            yield Violation("a refusal came as a stream", f"HTTP {whole.status} and a JSON body", start, (streamed.id,))


@case_law("errors.repeat", kind=AGAIN)
def repeat(case: Case, promise: Promise) -> Iterator[Violation]:
    """The same defect gets the same status and the same code every time."""
    asked = case.all("asked")
    for x in asked:
        about_the_request(x, "a repetition")
    first, *others = asked
    if not is_refusal(first):
        raise Undecided(f"the request with the defect was not refused but answered with {first.status}")
    for x in others:
        if (x.status, _told(x)[1]) != (first.status, _told(first)[1]):
            yield Violation(
                "the same request was refused differently", repr(_told(first)), repr(_told(x)), (first.id, x.id)
            )


def _told(x: Exchange) -> tuple[int, object, object]:
    """Status, code and type of a refusal."""
    error = error_of(x) or {}
    return x.status, error.get("code"), error.get("type")
