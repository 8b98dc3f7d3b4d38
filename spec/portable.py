"""`portable`: what a client may rely on with every vendor.

A promise is portable if every vendor makes it, at the weakest of their levels. A constraint is the loosest of
theirs, on requests (only what every vendor refuses is sure to be refused) and on replies (any vendor's reply may
come). The OpenAPI document is the other way round for requests: it accepts only what every vendor accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, get_args

from spec.derive import ROOTS
from spec.keywords import same, type_names
from spec.model import Constraint, Level, Profile, Promise, Requirement
from spec.schemas import inline, join, meet
from spec.wording import title

_STRENGTH = list(get_args(Level))
#: Parameters that list what a client may send; all other lists say what may come back.
SENT = frozenset({"roles", "choices", "formats", "efforts", "fields", "values"})


def intersect(profiles: Sequence[Profile]) -> Profile:
    """The profile of what all `profiles` promise."""
    first = profiles[0]
    constraints: dict[str, Constraint] = {}
    promises: dict[str, Promise] = {}
    requirements: dict[str, Requirement] = {}
    for name, requirement in first.requirements.items():
        if not all(name in profile.promises for profile in profiles):
            continue
        if name in first.constraints:
            constraint = _loosest([profile.constraints[name] for profile in profiles])
            if constraint is None:
                continue
            constraints[name] = constraint
            requirement = replace(requirement, title=title(constraint), needs=constraint.needs)
        requirements[name] = requirement
        promises[name] = _weakest(profiles, name)
    return Profile(
        name="portable",
        title="Portable: " + " and ".join(profile.title for profile in profiles),
        vendors=tuple(vendor for profile in profiles for vendor in profile.vendors),
        edition=max(profile.edition for profile in profiles),
        scored=frozenset(),
        openapi=_document(profiles),
        requirements=requirements,
        promises=promises,
        constraints=constraints,
        request_fields=frozenset.intersection(*(profile.request_fields for profile in profiles)),
        catalogue_sha256=first.catalogue_sha256,
    )


def _weakest(profiles: Sequence[Profile], name: str) -> Promise:
    ours = [profile.promises[name] for profile in profiles]
    weakest = max(ours, key=lambda promise: _STRENGTH.index(promise.level))
    return replace(
        weakest,
        places=tuple(
            f"{profile.name}:{place}"
            for profile, promise in zip(profiles, ours, strict=True)
            for place in promise.places
        ),
        where=" / ".join(f"{profile.title}: {promise.where}" for profile, promise in zip(profiles, ours, strict=True)),
        params=reduce(_params, (promise.params for promise in ours)),
    )


def _params(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that both promises have, loosened; one that cannot be is left out, which laws take as leave.

    Of lists of what may be sent only the common part is portable; of lists of what may come back, everything is.
    """
    merged: dict[str, Any] = {}
    for name in left.keys() & right.keys():
        ours, theirs = left[name], right[name]
        if same(ours, theirs):
            merged[name] = ours
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            merged[name] = {key: value for key, value in ours.items() if key in theirs and same(value, theirs[key])}
        elif isinstance(ours, list) and isinstance(theirs, list) and name in SENT:
            merged[name] = [value for value in ours if value in theirs]
        elif isinstance(ours, list) and isinstance(theirs, list):
            merged[name] = ours + [value for value in theirs if value not in ours]
    return merged


def _loosest(constraints: Sequence[Constraint]) -> Constraint | None:
    """One constraint that none of these is looser than, or None where they have nothing in common."""
    first = constraints[0]
    if any(one.path != first.path or one.keyword != first.keyword for one in constraints):
        return None
    values = [one.value for one in constraints]
    match first.keyword:
        case "type" | "enum":
            value: Any = reduce(lambda a, b: [*a, *(x for x in b if not any(same(x, y) for y in a))], values)
        case "minimum" | "minItems" | "minLength":
            value = min(values)
        case "maximum" | "maxItems" | "maxLength":
            value = max(values)
        case _:
            value = values[0]
            if not all(same(value, other) for other in values):
                return None
    schema = {**first.schema, first.keyword: value} if first.keyword in first.schema else dict(first.schema)
    if "type" in schema:
        schema["type"] = list(
            dict.fromkeys(kind for one in constraints for kind in type_names(one.schema.get("type", schema["type"])))
        )
    return replace(
        first,
        value=value,
        schema=schema,
        unless=next((one.unless for one in constraints if one.unless), ()),
        needs=tuple(dict.fromkeys(need for one in constraints for need in one.needs)),
    )


def _document(profiles: Sequence[Profile]) -> dict[str, Any]:
    """An OpenAPI document: requests that every vendor takes, replies that any of them may give."""
    parts = {
        root: [inline(profile.openapi, profile.openapi["components"]["schemas"][root]) for profile in profiles]
        for root in ROOTS.values()
    }
    request = reduce(lambda left, right: meet(left, right) or {}, parts.pop(ROOTS["request"]))
    schemas = {ROOTS["request"]: request, **{root: reduce(join, found) for root, found in parts.items()}}
    schemas["ChatCompletionEvent"] = {
        "type": "object",
        "required": ["data"],
        "properties": {"data": {"type": "string"}},
    }
    reference = {root: {"$ref": f"#/components/schemas/{root}"} for root in schemas}
    error = {"application/json": {"schema": reference[ROOTS["error"]]}}
    operation = {
        "operationId": "createChatCompletion",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference[ROOTS["request"]]}},
        },
        "responses": {
            "200": {
                "description": "The reply, whole or as events.",
                "content": {
                    "application/json": {"schema": reference[ROOTS["response"]]},
                    "text/event-stream": {"itemSchema": reference["ChatCompletionEvent"]},
                },
            },
            "default": {"description": "A failure.", "content": error},
        },
    }
    return {
        "openapi": "3.2.0",
        "info": {"title": "What every vendor accepts", "version": max(p.edition for p in profiles)},
        "servers": [{"url": "https://example.com/v1"}],
        "security": [{"bearer": []}],
        "paths": {"/chat/completions": {"post": operation}},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    }
