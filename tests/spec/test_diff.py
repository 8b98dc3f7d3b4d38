"""Differences are generated from the data, each with what a portable client does about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spec
from spec.diff import Advice, advice_for, as_json, as_markdown, compare, load_advice
from spec.problems import SpecError

ARK, SERENITY_EDGE = spec.load_profile("ark"), spec.load_profile("serenity-edge")
DIFFERENCES = compare(ARK, SERENITY_EDGE)
BY_NAME = {one.about: one for one in DIFFERENCES}


def test_every_difference_has_advice():
    assert [one.about for one in DIFFERENCES if not one.advice] == []


def test_every_advice_is_about_a_difference():
    given = {one.advice for one in DIFFERENCES}
    assert [rule.id for rule in load_advice() if rule.do not in given] == []


@pytest.mark.parametrize(
    ("about", "ark", "serenity_edge"),
    [
        ("request.max_tokens", "integer; optional", "integer, at least 1, at most 32768; optional"),
        ("request.n", "always 1; optional", "integer, at least 1, default 1; optional"),
        ("request.ark_stateful", "string; optional", "not listed"),
        ("request.reasoning.exclude", "not listed", "boolean, default false; optional"),
        ("response.usage", "object; required", "object; optional"),
        ("status.413", "not listed", "The body exceeds 4 MB."),
        ("stream.role-comes-only-first", "not promised", 'must (stated): role "assistant"'),
        ("stop.absent-from-output", "must (stated)", "should (reading)"),
    ],
)
def test_differences_of_the_two_pages(about: str, ark: str, serenity_edge: str):
    assert (BY_NAME[about].left, BY_NAME[about].right) == (ark, serenity_edge)


@pytest.mark.parametrize("about", ["request.model", "request.stop", "response.object", "stream.ends-with-done"])
def test_what_is_the_same_is_no_difference(about: str):
    assert about not in BY_NAME


def test_a_profile_does_not_differ_from_itself():
    assert compare(ARK, ARK) == []


def test_the_other_way_round_it_is_the_same_difference():
    mirrored = {one.about: (one.right, one.left) for one in compare(SERENITY_EDGE, ARK)}
    assert mirrored == {one.about: (one.left, one.right) for one in DIFFERENCES}


def test_json_and_markdown_have_every_difference():
    content = json.loads(as_json(ARK, SERENITY_EDGE, DIFFERENCES))
    assert (content["left"], content["right"]) == ("ark", "serenity-edge")
    assert [one["about"] for one in content["differences"]] == [one.about for one in DIFFERENCES]
    text = as_markdown(ARK, SERENITY_EDGE, DIFFERENCES)
    assert all(f"| `{one.about}` |" in text for one in DIFFERENCES)
    tables = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(tables) == len(DIFFERENCES)
    assert all(line.replace("\\|", "").count("|") == 5 for line in tables)


def test_the_first_row_that_covers_counts():
    rules = [Advice("a", ("request.n",), "one"), Advice("b", ("request.*",), "two")]
    assert [advice_for(name, rules) for name in ("request.n", "request.m", "usage.n")] == ["one", "two", ""]


def test_a_row_without_advice_is_refused(tmp_path: Path):
    (tmp_path / "portable.yaml").write_text("- id: a\n  covers: [x]\n", encoding="utf-8")
    with pytest.raises(SpecError, match="`do` is missing"):
        load_advice(tmp_path)
