"""Schemathesis as generator and checker: cases labelled by their place in the document, and its own checks.

Schemathesis is imported only when one of these functions is called. Whether a generated body is one that the
document forbids is decided by our derived constraints, which leave open what the document leaves open (null for
an optional field); the bounds that keep requests cheap are not the document's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
from hypothesis.strategies import SearchStrategy

from conformance.wire.exchange import Exchange
from spec.generation import bounded, whole_numbers
from spec.model import Profile

if TYPE_CHECKING:
    from schemathesis import Case

PATH, METHOD = "/chat/completions", "POST"
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


def _operation(profile: Profile, model: str) -> Any:
    import schemathesis
    from schemathesis.config import SchemathesisConfig

    document = json.loads(json.dumps(bounded(profile.openapi, [model])))
    schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig.from_dict(dict(SETTINGS)))
    return schema[PATH][METHOD]


_known: dict[tuple[str, str, str], tuple[Generated, ...]] = {}


def coverage(profile: Profile, model: str) -> tuple[Generated, ...]:
    """Every coverage case of a document in a fixed order: allowed ones first, then those that break one place."""
    key = (profile.name, profile.catalogue_sha256, model)
    if key not in _known:
        _known[key] = _coverage(profile, model)
    return _known[key]


def _coverage(profile: Profile, model: str) -> tuple[Generated, ...]:
    from schemathesis import GenerationMode

    operation = _operation(profile, model)
    cases = operation.schema.iter_coverage_cases(
        operation,
        generation_modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE],
        generation_config=operation.schema.config.generation_for(operation=operation),
    )
    found: dict[str, Generated] = {}
    for case in cases:
        data = case.meta.phase.data
        scenario = str(getattr(data.scenario, "value", data.scenario))
        if scenario in NOT_ABOUT_BODIES or not jsonable(case.body):
            continue
        body = whole_numbers(case.body)
        found.setdefault(
            json.dumps(body, sort_keys=True),
            Generated(str(data.location or ""), scenario, body, broken_by(profile, body), case),
        )
    return tuple(sorted(found.values(), key=lambda one: bool(one.broken)))


def fuzz(profile: Profile, model: str, negative: bool) -> SearchStrategy[Any]:
    """Bodies as Schemathesis draws them from the bounded document, or from what it forbids."""
    from schemathesis import GenerationMode

    mode = GenerationMode.NEGATIVE if negative else GenerationMode.POSITIVE
    drawn: SearchStrategy[Any] = _operation(profile, model).as_strategy(generation_mode=mode)
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
