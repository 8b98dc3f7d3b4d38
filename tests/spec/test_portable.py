"""`portable` is the intersection: what every vendor promises, no stronger than the weakest of them does."""

from __future__ import annotations

from typing import Any, get_args

import jsonschema_rs
import pytest

import spec
from spec.derive import ROOTS
from spec.model import Level
from spec.schemas import join, meet
from tests.spec.test_instances import TABLES, validator

PORTABLE = spec.load_profile("portable")
VENDORS = [spec.load_profile(name) for name in PORTABLE.vendors]
STRENGTH = {level: number for number, level in enumerate(get_args(Level))}
CASES = [case for cases in TABLES.values() for case in cases]


def test_every_promise_is_made_by_every_vendor_and_at_the_weakest_level():
    for name, promise in PORTABLE.promises.items():
        levels = [vendor.promises[name].level for vendor in VENDORS]
        assert promise.level == max(levels, key=STRENGTH.__getitem__)


def test_no_common_promise_is_missing_but_those_without_a_common_demand():
    common = set.intersection(*(set(vendor.promises) for vendor in VENDORS))
    for name in common - set(PORTABLE.promises):
        demands = [vendor.constraints[name].value for vendor in VENDORS]
        assert demands[0] != demands[1]
        assert VENDORS[0].constraints[name].keyword in ("const", "pattern")


def test_promises_name_the_places_of_each_vendor():
    for promise in PORTABLE.promises.values():
        assert {place.partition(":")[0] for place in promise.places} == set(PORTABLE.vendors)


def test_a_constraint_is_kept_by_whatever_keeps_one_of_the_vendors():
    for name, constraint in PORTABLE.constraints.items():
        for vendor in VENDORS:
            theirs = vendor.constraints[name]
            if theirs.keyword in ("enum",):
                assert all(constraint.holds(value) for value in theirs.value)
            elif theirs.keyword in ("minimum", "maximum"):
                assert constraint.holds(theirs.value)
            elif theirs.keyword == "type":
                assert set(theirs.value) <= set(constraint.value)
            elif theirs.keyword in ("minItems", "maxItems"):
                assert constraint.holds([None] * theirs.value)


@pytest.mark.parametrize("case", [case for case in CASES if case.part == "request"], ids=str)
def test_a_portable_request_is_valid_for_every_vendor(case: Any):
    if validator("portable", "request").is_valid(case.instance):
        assert all(validator(vendor.name, "request").is_valid(case.instance) for vendor in VENDORS)


@pytest.mark.parametrize("case", [case for case in CASES if case.part != "request"], ids=str)
def test_a_reply_of_any_vendor_is_a_portable_reply(case: Any):
    if any(validator(vendor.name, case.part).is_valid(case.instance) for vendor in VENDORS):
        assert validator("portable", case.part).is_valid(case.instance)


def test_some_requests_are_portable_and_some_are_not():
    verdicts = [validator("portable", "request").is_valid(case.instance) for case in CASES if case.part == "request"]
    assert 40 < sum(verdicts) < len(verdicts) / 2


def test_request_fields_are_those_of_all():
    assert PORTABLE.accepts("stream_options.include_usage")
    assert PORTABLE.accepts("messages.tool_call_id")
    for field in ("ark_stateful", "max_completion_tokens", "reasoning_effort", "reasoning.exclude", "top_logprobs"):
        assert not PORTABLE.accepts(field)


def test_parameters_are_what_holds_with_every_vendor():
    params = {name: promise.params for name, promise in PORTABLE.promises.items()}
    assert params["messages.every-role-is-accepted"]["roles"] == ["system", "user", "assistant", "tool"]
    assert params["reasoning.every-effort-is-accepted"]["efforts"] == ["low", "medium", "high"]
    assert set(params["usage.null-before-the-end"]["before_end"]) == {"null", "absent"}
    assert "may_include" not in params["stop.ends-generation"]


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (
            {"type": "number", "minimum": 0},
            {"type": "integer", "maximum": 5},
            {"type": "integer", "minimum": 0, "maximum": 5},
        ),
        ({"type": "string"}, {"type": "integer"}, None),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["b", "c"]}, {"type": "string", "const": "b"}),
        ({"enum": ["a"]}, {"enum": ["b"]}, None),
        ({"type": "array", "maxItems": 4}, {"type": "array", "maxItems": 2}, {"type": "array", "maxItems": 2}),
        ({"oneOf": [{"type": "string"}, {"type": "array"}]}, {"type": "string"}, {"type": "string"}),
    ],
)
def test_meet(left: Any, right: Any, both: Any):
    assert meet(left, right) == both
    assert meet(right, left) == both


@pytest.mark.parametrize(
    ("left", "right", "either"),
    [
        ({"type": "string"}, {"type": "null"}, {"type": ["null", "string"]}),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 0}),
        ({"type": "integer", "minimum": 1}, {"type": "integer"}, {"type": "integer"}),
        ({"const": "a"}, {"const": "b"}, {"type": "string", "enum": ["a", "b"]}),
        ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}, {"type": "string"}),
    ],
)
def test_join(left: Any, right: Any, either: Any):
    assert join(left, right) == either


def test_portable_roots_are_in_the_document():
    assert set(ROOTS.values()) <= set(PORTABLE.openapi["components"]["schemas"])
    assert isinstance(validator("portable", "request"), jsonschema_rs.Validator)
