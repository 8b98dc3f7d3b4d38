"""The OpenAPI documents judge instances as the vendors' pages do; the instances are written from the pages."""

from __future__ import annotations

from functools import cache

import jsonschema_rs
import pytest

import spec
from spec.derive import ROOTS
from tests.spec import ark_replies, ark_requests, serenity_edge_replies, serenity_edge_requests
from tests.spec.instances import Case

TABLES = {
    "ark": [*ark_requests.CASES, *ark_replies.CASES],
    "serenity-edge": [*serenity_edge_requests.CASES, *serenity_edge_replies.CASES],
}


@cache
def validator(profile: str, part: str) -> jsonschema_rs.Validator:
    openapi = spec.load_profile(profile).openapi
    schema = {"$ref": f"#/components/schemas/{ROOTS[part]}", "components": openapi["components"]}
    return jsonschema_rs.validator_for(schema)


@pytest.mark.parametrize(
    ("profile", "case"),
    [pytest.param(name, case, id=f"{name}: {case}") for name, cases in TABLES.items() for case in cases],
)
def test_schema_judges_as_the_page_does(profile: str, case: Case):
    assert validator(profile, case.part).is_valid(case.instance) is case.valid


@pytest.mark.parametrize("profile", TABLES)
def test_table_is_large_and_covers_every_part(profile: str):
    cases = TABLES[profile]
    assert len(cases) >= 200
    assert {(case.part, case.valid) for case in cases} == {(part, valid) for part in ROOTS for valid in (True, False)}
    assert len({str(case) for case in cases}) == len(cases), "two cases have the same name"
