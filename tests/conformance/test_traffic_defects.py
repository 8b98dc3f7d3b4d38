"""Every derived request constraint has an accepted carrier, and defects that break it and nothing else."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest

import spec
from conformance.target import Target
from conformance.traffic.bodies import Bodies
from conformance.traffic.carriers import CARRIERS, assigned, breakable, carrier, place_of
from conformance.traffic.defects import boundaries, defects, field_of, name_of, replaced
from conformance.traffic.samples import grown, sample
from spec.model import Constraint, Items, Member, Profile, When

PROFILES = ("ark", "serenity-edge", "portable")
TARGET = Target("http://127.0.0.1", "some-model")


@cache
def _validator(name: str) -> Any:
    openapi = spec.load_profile(name).openapi
    root = {"$ref": "#/components/schemas/ChatCompletionRequest", "components": openapi["components"]}
    return jsonschema_rs.validator_for(json.loads(json.dumps(root)))


def _bodies(profile: Profile) -> Bodies:
    return Bodies(profile, TARGET, lambda: "nonce")


def _constraints(name: str) -> dict[str, Constraint]:
    constraints = spec.load_profile(name).constraints
    return {key: value for key, value in constraints.items() if value.part == "request"}


@pytest.mark.parametrize("name", PROFILES)
def test_every_promised_request_constraint_has_a_carrier(name: str) -> None:
    profile = spec.load_profile(name)
    served = [requirement for ids in assigned(profile).values() for requirement in ids]
    assert sorted(served) == sorted(key for key in _constraints(name) if key in profile.promises)


@pytest.mark.parametrize("name", PROFILES)
def test_no_carrier_is_grown_for_a_known_document(name: str) -> None:
    assert not [key for key in assigned(spec.load_profile(name)) if key.startswith("grown:")]


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_accepts_every_carrier(name: str) -> None:
    bodies = _bodies(spec.load_profile(name))
    for key in assigned(bodies.profile):
        body = carrier(key, bodies)
        errors = [error.message for error in _validator(name).iter_errors(body)]
        assert not errors, key
        assert not [r for r, c in _constraints(name).items() for _, v in c.targets(body) if not c.holds(v)], key


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_refuses_every_defect(name: str) -> None:
    bodies = _bodies(spec.load_profile(name))
    constraints = _constraints(name)
    for key, ids in assigned(bodies.profile).items():
        body = carrier(key, bodies)
        for requirement in ids:
            variants = defects(constraints[requirement], body)
            assert variants, requirement
            for variant in variants:
                assert not _validator(name).is_valid(variant.body), (requirement, variant.words)


@pytest.mark.parametrize("name", PROFILES)
def test_a_defect_breaks_its_own_constraint_and_no_other(name: str) -> None:
    bodies = _bodies(spec.load_profile(name))
    constraints = _constraints(name)
    for key, ids in assigned(bodies.profile).items():
        body = carrier(key, bodies)
        for requirement in ids:
            for variant in defects(constraints[requirement], body):
                broken = [r for r, c in constraints.items() for _, v in c.targets(variant.body) if not c.holds(v)]
                assert broken == [requirement], (requirement, variant.words)


@pytest.mark.parametrize("name", PROFILES)
def test_the_document_accepts_every_boundary(name: str) -> None:
    bodies = _bodies(spec.load_profile(name))
    constraints = _constraints(name)
    met = set()
    for key, ids in assigned(bodies.profile).items():
        body = carrier(key, bodies)
        for requirement in ids:
            for variant in boundaries(constraints[requirement], body):
                met.add(requirement)
                assert _validator(name).is_valid(variant.body), (requirement, variant.words)
    limits = {"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"}
    assert met == {r for ids in assigned(bodies.profile).values() for r in ids if constraints[r].keyword in limits}


def _limit(keyword: str, value: Any, kind: str, *path: Any) -> Constraint:
    return Constraint("request", path or (Member("f"),), keyword, value, {"type": kind})


@pytest.mark.parametrize(
    ("constraint", "body", "first"),
    [
        (_limit("minimum", 1, "integer"), {"f": 5}, 0),
        (_limit("maximum", 2, "number"), {"f": 1}, 2.1),
        (_limit("minimum", -2, "number"), {"f": 1}, -2.1),
        (_limit("maximum", 9, "integer"), {"f": 5}, 10),
        (_limit("maxItems", 2, "array"), {"f": ["a"]}, ["a", "a1", "a2"]),
        (_limit("minItems", 1, "array"), {"f": ["a"]}, []),
        (_limit("maxLength", 3, "string"), {"f": "a"}, "xxxx"),
        (_limit("minLength", 2, "string"), {"f": "abc"}, "x"),
        (_limit("const", 1, "integer"), {"f": 1}, 2),
        (_limit("enum", ["a", "b"], "string"), {"f": "a"}, "conformance_unknown"),
        (_limit("type", ["integer", "null"], "integer"), {"f": 1}, "seven"),
        (_limit("pattern", "^[a-z]+$", "string"), {"f": "abc"}, "https://example.com/picture.png"),
    ],
)
def test_the_first_defect_is_the_nearest_or_clearest(constraint: Constraint, body: Any, first: Any) -> None:
    assert defects(constraint, body)[0].body == {"f": first}


@pytest.mark.parametrize(
    ("constraint", "body", "right"),
    [
        (_limit("minimum", 1, "integer"), {"f": 5}, 1),
        (_limit("maximum", 2, "number"), {"f": 1}, 2),
        (_limit("maxItems", 2, "array"), {"f": ["a"]}, ["a", "a1"]),
        (_limit("maxLength", 3, "string"), {"f": "a"}, "xxx"),
    ],
)
def test_a_boundary_stands_on_the_limit(constraint: Constraint, body: Any, right: Any) -> None:
    assert [variant.body for variant in boundaries(constraint, body)] == [{"f": right}]


def test_null_is_no_wrong_type_of_an_optional_field() -> None:
    wrong = [v.body["f"] for v in defects(_limit("type", ["string", "null"], "string"), {"f": "x"})]
    assert None not in wrong
    assert None in [v.body["f"] for v in defects(_limit("type", ["string"], "string"), {"f": "x"})]


def test_a_missing_member_is_named_with_its_path() -> None:
    constraint = Constraint("request", (Member("tools"), Items()), "required", "type", {"type": "object"})
    (variant,) = defects(constraint, {"tools": [{"type": "function", "x": 1}]})
    assert variant.body == {"tools": [{"x": 1}]}
    assert variant.words == "tools.type is missing"
    assert (name_of(constraint), field_of(constraint)) == ("tools.type", "tools")


def test_a_body_without_the_place_gives_nothing() -> None:
    constraint = _limit("maximum", 2, "number")
    assert defects(constraint, {"g": 1}) == []
    assert boundaries(constraint, {"g": 1}) == []
    assert place_of(constraint, {"f": "no number"}) is None


def test_replacing_leaves_the_original_alone_and_reads_escapes() -> None:
    body = {"a/b": [{"c~d": 1}]}
    assert replaced(body, "/a~1b/0/c~0d", 2) == {"a/b": [{"c~d": 2}]}
    assert body == {"a/b": [{"c~d": 1}]}
    assert replaced([1, 2], "/1", 9) == [1, 9]
    assert replaced(body, "", 5) == 5


@pytest.mark.parametrize(
    ("keyword", "value", "instance", "answer"),
    [
        ("required", "a", {"a": 1}, True),
        ("required", "a", {}, False),
        ("required", "a", "text", False),
        ("maximum", 1, True, False),
        ("maximum", 1, 0.5, True),
        ("maxItems", 1, "text", False),
        ("pattern", "a", 5, False),
        ("additionalProperties", False, [], False),
        ("enum", ["a"], {"any": 1}, True),
    ],
)
def test_what_a_keyword_can_be_broken_at(keyword: str, value: Any, instance: Any, answer: bool) -> None:
    assert breakable(_limit(keyword, value, "string"), instance) is answer


OPENAPI: dict[str, Any] = {
    "components": {
        "schemas": {
            "ChatCompletionRequest": {
                "type": "object",
                "properties": {
                    "messages": {"type": "array", "items": {"type": "object"}},
                    "style": {
                        "oneOf": [
                            {"type": "string"},
                            {"$ref": "#/components/schemas/Plain"},
                            {
                                "type": "object",
                                "required": ["kind", "rows"],
                                "properties": {
                                    "kind": {"const": "grid"},
                                    "rows": {
                                        "type": "array",
                                        "minItems": 1,
                                        "items": {"type": "integer", "minimum": 3},
                                    },
                                },
                            },
                        ]
                    },
                },
            },
            "Plain": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "plain"}}},
        }
    }
}


def test_an_unknown_field_is_grown_from_the_document() -> None:
    path = (Member("style"), When("kind", "grid"), Member("rows"), Items())
    assert grown({"model": "m"}, OPENAPI, path) == {"model": "m", "style": {"kind": "grid", "rows": [3]}}


def test_growing_keeps_what_is_there() -> None:
    body = {"style": {"kind": "grid", "rows": [8, 9], "extra": 1}}
    assert grown(body, OPENAPI, (Member("style"), When("kind", "grid"), Member("rows"), Items())) == body


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": "c"}, "c"),
        ({"type": "number", "default": 0.6}, 0.6),
        ({"enum": ["b", "a"]}, "b"),
        ({"type": "string", "minLength": 3}, "xxx"),
        ({"type": "integer", "maximum": 0}, 0),
        ({"type": "number", "minimum": 2}, 2),
        ({"type": "boolean"}, False),
        ({"type": ["null", "string"]}, None),
        ({"type": "array", "items": {"type": "null"}, "minItems": 2}, [None, None]),
        ({"type": "array"}, []),
        ({"oneOf": [{"type": "boolean"}, {"type": "string"}]}, False),
        ({"type": "object", "required": ["a"], "properties": {"a": {"const": 1}, "b": {"const": 2}}}, {"a": 1}),
    ],
)
def test_samples(schema: dict[str, Any], value: Any) -> None:
    assert sample({}, schema) == value


def test_carriers_drop_what_the_document_does_not_list() -> None:
    bodies = _bodies(spec.load_profile("serenity-edge"))
    assert "max_completion_tokens" not in carrier("sampling", bodies)
    assert "max_completion_tokens" in carrier("sampling", _bodies(spec.load_profile("ark")))


def test_a_vision_carrier_asks_the_vision_model() -> None:
    target = Target("http://127.0.0.1", "m", vision_model="v", reasoning_model="r")
    bodies = Bodies(spec.load_profile("serenity-edge"), target, lambda: "nonce")
    models = {name: carrier(name, bodies)["model"] for name in CARRIERS}
    assert {name for name, model in models.items() if model == "v"} == {"picture"}
    assert {name for name, model in models.items() if model == "r"} == {"reasoning", "effort"}
