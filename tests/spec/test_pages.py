"""The schemas give every field the type, need, values and limits that the page gives; none invents any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import spec
from spec.derive import Derived, derive

PAGES = {
    path.stem.replace("_", "-"): yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "pages").glob("*.yaml"))
}
LIMITS = ("enum", "const", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern")
#: Limits that follow from the meaning of a count (zero tokens at least), or are put in words on the page.
OWN = [("minimum", 0), ("pattern", "^[A-Za-z0-9_-]+$"), ("pattern", "^data:[^,]*;base64,")]
ROWS = [pytest.param(name, field, id=f"{name} {field}") for name, page in PAGES.items() for field in page]


def rows_of(profile: str, field: str) -> list[Derived]:
    """The derived requirements of one field: by its path, or else by its place in the document."""
    rows = derive(spec.load_profile(profile).openapi)
    return [row for row in rows if field_of(row) == field] or [row for row in rows if field in row.places]


def field_of(row: Derived) -> str:
    return row.id.rpartition(".")[0]


def demands(rows: list[Derived], keyword: str) -> list[Any]:
    return [row.constraint.value for row in rows if row.constraint.keyword == keyword]


def limits(rows: list[Derived], field: str) -> dict[str, Any]:
    """What the schema says of a field's values; one value alone is a `const`, however it is written."""
    found: dict[str, Any] = {}
    for row in rows:
        keyword, value = row.constraint.keyword, row.constraint.value
        if keyword == "enum" and field in row.tags:
            value = list(row.tags[field])
        if keyword in LIMITS:
            single = keyword == "enum" and len(value) == 1
            found["const" if single else keyword] = value[0] if single else value
    return found


@pytest.mark.parametrize(("profile", "field"), ROWS)
def test_field_is_as_on_the_page(profile: str, field: str):
    page, rows = PAGES[profile][field], rows_of(profile, field)
    optional = not demands(rows, "required")
    if "required" in page:
        assert optional is not page["required"]
    if "type" in page and demands(rows, "type"):
        types = set(demands(rows, "type")[0])
        if (field.startswith("request.") and optional) or demands(rows, "not"):
            types -= {"null"} - set(page["type"])  # null is tolerated there, which is a reading
        assert types == set(page["type"])
    if "default" in page:
        assert [row.constraint.schema["default"] for row in rows if row.constraint.keyword == "type"] == [
            page["default"]
        ]
    said = {keyword: page[keyword] for keyword in LIMITS if keyword in page}
    found = {word: value for word, value in limits(rows, field).items() if word in said or (word, value) not in OWN}
    if len(said.get("enum", ())) == 1:
        said = {"const": said.pop("enum")[0], **said}
    assert found == said


@pytest.mark.parametrize("profile", PAGES)
def test_no_limit_is_invented(profile: str):
    for row in derive(spec.load_profile(profile).openapi):
        keyword, value = row.constraint.keyword, row.constraint.value
        if keyword not in LIMITS or (keyword, value) in OWN or "basis" in row.annotation:
            continue
        same_shape = field_of(row).replace("chunk.choices.delta", "response.choices.message")
        assert {field_of(row), same_shape, *row.places} & set(PAGES[profile]), f"{row.id} is on no page"
