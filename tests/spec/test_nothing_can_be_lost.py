"""Whatever is taken from the data, a problem names the place of the vendor's document that said it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spec.vendor_files import FILES, VENDORS, cuts, problems_of, without

PROMISES = [
    pytest.param(name, number, id=f"{name} {row['requirement']}")
    for name in VENDORS
    for number, row in enumerate(FILES[name]["promises"]["promises"])
]
CUTS = [
    pytest.param(name, path, id=f"{name} {'/'.join(map(str, path[2:]))}")
    for name in VENDORS
    for path in cuts(FILES[name]["openapi"])
]
PLACES = [
    pytest.param(name, n, id=f"{name} {row['id']}") for name in VENDORS for n, row in enumerate(FILES[name]["document"])
]


def place_ids(name: str) -> set[str]:
    return {row["id"] for row in FILES[name]["document"]}


@pytest.mark.parametrize("name", VENDORS)
def test_untouched_data_has_no_problem(name: str):
    assert problems_of(name) == []


@pytest.mark.parametrize(("name", "number"), PROMISES)
def test_a_lost_promise_is_named_with_its_place(name: str, number: int):
    content = FILES[name]["promises"]
    row = content["promises"][number]
    rest = [other for other in content["promises"] if other is not row]
    found = [str(problem) for problem in problems_of(name, promises={**content, "promises": rest})]
    assert any(place in problem for problem in found for place in row["places"]), found


@pytest.mark.parametrize(("name", "path"), CUTS)
def test_a_lost_value_limit_or_member_is_named_with_its_place(name: str, path: tuple[Any, ...]):
    found = problems_of(name, openapi=without(FILES[name]["openapi"], path))
    known = place_ids(name)
    assert any(problem.row in known or any(f" {place};" in problem.message for place in known) for problem in found), [
        str(problem) for problem in found
    ]


@pytest.mark.parametrize(("name", "number"), PLACES)
def test_a_lost_place_is_noticed(name: str, number: int):
    row = FILES[name]["document"][number]
    rest = [other for other in FILES[name]["document"] if other is not row]
    if "promises_nothing" in row:
        pytest.skip("a place that promises nothing is kept by nobody else")
    assert any(f"`{row['id']}`" in problem.message for problem in problems_of(name, document=rest))
