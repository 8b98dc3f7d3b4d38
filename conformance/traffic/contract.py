"""Schemathesis as generator and checker: cases labelled by their place in the document, and its own checks.

Schemathesis is imported only when one of these functions is called. Whether a generated body is one that the
document forbids is decided by our derived constraints, which leave open what the document leaves open (null for
an optional field); the bounds that keep requests cheap are not the document's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import httpx
from hypothesis.strategies import SearchStrategy

from conformance.wire.exchange import Exchange
from spec.generation import bounded, whole_numbers
from spec.model import Profile

if TYPE_CHECKING:
    from schemathesis import Case

PATH, METHOD, REQUEST = "/chat/completions", "POST", "ChatCompletionRequest"
#: Fields that mean something only beside others.
NEEDED: Mapping[str, tuple[str, ...]] = {
    "tool_choice": ("tools",),
    "parallel_tool_calls": ("tools",),
    "stream_options": ("stream",),
    "function_call": ("functions",),
    "top_logprobs": ("logprobs",),
}
SETTINGS: Mapping[str, Any] = {
    "seed": 7,
    "generation": {"with-security-parameters": False, "allow-x00": False, "database": "none"},
    "phases": {"coverage": {"unexpected-methods": []}},
}
#: Scenarios about the content type and a missing body, which probes of bodies cover.
NOT_ABOUT_BODIES = frozenset({"malformed_content_type", "unsupported_content_type", "missing_parameter"})


@dataclass(frozen=True, slots=True)
class Generated:
    """One request: where in the document it was made for, what was done there, and the constraints it breaks."""

    place: str
    scenario: str
    body: Any
    broken: tuple[str, ...]
    case: Case[Any]


def _operation(document: Mapping[str, Any]) -> Any:
    import schemathesis
    from schemathesis.config import SchemathesisConfig

    own = json.loads(json.dumps(document))
    schema = schemathesis.openapi.from_dict(own, config=SchemathesisConfig.from_dict(dict(SETTINGS)))
    return schema[PATH][METHOD]


def one_field_each(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The document with the required fields alone, then with one more field at a time and what that needs.

    A generator fills every field it knows; with all of them at once some rule over several fields refuses each
    request, and nothing else of it is ever read.
    """
    schemas = document["components"]["schemas"]
    request = schemas[REQUEST]
    required = request["required"]
    fields = [name for name in request["properties"] if name not in required]
    for field in ("", *fields):
        kept = {*required, field, *NEEDED.get(field, ())}
        members = {name: schema for name, schema in request["properties"].items() if name in kept}
        narrow = {**schemas, REQUEST: {**request, "properties": members}}
        yield {**document, "components": {**document["components"], "schemas": narrow}}


_known: dict[tuple[str, str, str, bool], tuple[Generated, ...]] = {}


def coverage(profile: Profile, model: str, required_only: bool = False) -> tuple[Generated, ...]:
    """Every coverage case of a document in a fixed order: allowed ones first, then those that break one place.

    `required_only` leaves out all optional fields, and most of the seconds that generating takes.
    """
    key = (profile.name, profile.catalogue_sha256, model, required_only)
    if key not in _known:
        _known[key] = _coverage(profile, model, required_only)
    return _known[key]


def _coverage(profile: Profile, model: str, required_only: bool) -> tuple[Generated, ...]:
    found: dict[str, Generated] = {}
    documents = one_field_each(bounded(profile.openapi, [model]))
    for number, document in enumerate(islice(documents, 1 if required_only else None)):
        required = document["components"]["schemas"][REQUEST]["required"]
        plain: dict[str, Any] | None = None
        for generated in _cases(_operation(document), profile):
            part = {name: generated.body.get(name) for name in required} if isinstance(generated.body, dict) else None
            plain = plain or part
            # Everything about required fields is in the first document.
            if number == 0 or part == plain:
                found.setdefault(json.dumps(generated.body, sort_keys=True), generated)
    return tuple(sorted(found.values(), key=lambda one: bool(one.broken)))


def _cases(operation: Any, profile: Profile) -> Iterator[Generated]:
    from schemathesis import GenerationMode

    cases = operation.schema.iter_coverage_cases(
        operation,
        generation_modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE],
        generation_config=operation.schema.config.generation_for(operation=operation),
    )
    for case in cases:
        data = case.meta.phase.data
        scenario = str(getattr(data.scenario, "value", data.scenario))
        if scenario not in NOT_ABOUT_BODIES and jsonable(case.body):
            body = whole_numbers(case.body)
            yield Generated(str(data.location or ""), scenario, body, broken_by(profile, body), case)


def fuzz(profile: Profile, model: str, negative: bool) -> SearchStrategy[Any]:
    """Bodies as Schemathesis draws them from the bounded document, or from what it forbids."""
    from schemathesis import GenerationMode

    mode = GenerationMode.NEGATIVE if negative else GenerationMode.POSITIVE
    drawn: SearchStrategy[Any] = _operation(bounded(profile.openapi, [model])).as_strategy(generation_mode=mode)
    return drawn.map(lambda case: case.body).filter(jsonable).map(whole_numbers)


def jsonable(body: Any) -> bool:
    """Whether a generated body is a JSON value that can be sent as UTF-8."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except (TypeError, ValueError):
        return False
    return True


def broken_by(profile: Profile, body: Any) -> tuple[str, ...]:
    """The promised request constraints that a body breaks."""
    return tuple(
        requirement
        for requirement, constraint in profile.constraints.items()
        if constraint.part == "request"
        and requirement in profile.promises
        and any(not constraint.holds(value) for _, value in constraint.targets(body))
    )


def complaints(generated: Generated, x: Exchange) -> list[dict[str, str]]:
    """What Schemathesis' own checks of status, content type, headers and body say about an answer."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    if x.received is None:
        return []
    response = httpx.Response(
        x.received.status,
        headers=[pair for pair in x.received.headers if pair[0].lower() != "content-encoding"],
        content=x.received.body,
        request=httpx.Request(x.sent.method, x.sent.url, content=x.sent.body),
    )
    response.elapsed = timedelta(seconds=x.total_s)
    found = []
    for check in (
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ):
        try:
            generated.case.validate_response(response, checks=[check])
        except BaseExceptionGroup as group:
            found += [{"check": check.__name__, "says": _first_line(error)} for error in group.exceptions]
        except AssertionError as error:
            found.append({"check": check.__name__, "says": _first_line(error)})
    return found


def _first_line(error: BaseException) -> str:
    lines = [line.strip(" -") for line in str(error).splitlines() if line.strip(" -")]
    return (lines[0] if lines else type(error).__name__)[:300]
