"""Constraints are derived with the right path, and find and judge what they are about."""

from __future__ import annotations

from typing import Any

import pytest

import spec
from spec.derive import parse_unless
from spec.keywords import ID_WORD, keyword_holds
from spec.model import Items, Member, When
from spec.paths import dotted, select

ARK, SERENITY_EDGE = spec.load_profile("ark"), spec.load_profile("serenity-edge")


@pytest.mark.parametrize(
    ("profile", "name", "path", "keyword", "value"),
    [
        (ARK, "request.temperature.maximum", (Member("temperature"),), "maximum", 2),
        (ARK, "request.model.required", (), "required", "model"),
        (ARK, "request.closed", (), "additionalProperties", False),
        (ARK, "request.stop.item.type", (Member("stop"), Items()), "type", ["string"]),
        (
            SERENITY_EDGE,
            "chunk.choices.delta.role.enum",
            (Member("choices"), Items(), Member("delta"), Member("role")),
            "enum",
            ["assistant"],
        ),
        (
            SERENITY_EDGE,
            "request.messages.user.content.type",
            (Member("messages"), Items(), When("role", "user"), Member("content")),
            "type",
            ["string", "array"],
        ),
        (
            SERENITY_EDGE,
            "request.messages.role.enum",
            (Member("messages"), Items(), Member("role")),
            "enum",
            ["system", "user", "assistant", "tool"],
        ),
        (
            SERENITY_EDGE,
            "response.system_fingerprint.not-null",
            (Member("system_fingerprint"),),
            "not",
            {"type": "null"},
        ),
        (SERENITY_EDGE, "request.stream.type", (Member("stream"),), "type", ["boolean", "null"]),
        (SERENITY_EDGE, "request.model.type", (Member("model"),), "type", ["string"]),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_constraint(profile: Any, name: str, path: Any, keyword: str, value: Any):
    constraint = profile.constraints[name]
    assert (constraint.path, constraint.keyword, constraint.value) == (path, keyword, value)


@pytest.mark.parametrize("profile", [ARK, SERENITY_EDGE], ids=lambda profile: profile.name)
def test_ids_follow_the_grammar(profile: Any):
    words = "|".join(ID_WORD.values())
    for name, constraint in profile.constraints.items():
        assert name.startswith(constraint.part + ".")
        assert name.rpartition(".")[2] in words.split("|")
        assert profile.requirements[name].judge == "schema"


def test_what_a_custom_tool_leaves_open():
    assert ARK.constraints["response.choices.message.tool_calls.type.const"].unless == (
        Member("tools"),
        Items(),
        When("type", "custom"),
    )
    assert ARK.constraints["response.choices.message.content.type"].unless == ()
    with pytest.raises(ValueError, match="must look like"):
        parse_unless("custom tools")


def test_needs_are_inherited():
    assert SERENITY_EDGE.constraints["request.messages.user.content.image_url.image_url.url.pattern"].needs == (
        "vision",
    )
    assert SERENITY_EDGE.requirements["request.tools.function.function.name.max-length"].needs == ("tools",)
    assert SERENITY_EDGE.requirements["request.temperature.maximum"].needs == ()


BODY = {"messages": [{"role": "user", "content": [{"type": "text", "a/b~c": 1}]}, {"role": "tool"}, "no object"]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), [("", BODY)]),
        ((Member("messages"), Items(), Member("role")), [("/messages/0/role", "user"), ("/messages/1/role", "tool")]),
        ((Member("messages"), Items(), When("role", "tool")), [("/messages/1", {"role": "tool"})]),
        (
            (Member("messages"), Items(), Member("content"), Items(), Member("a/b~c")),
            [("/messages/0/content/0/a~1b~0c", 1)],
        ),
        ((Member("messages"), Member("role")), []),
        ((Member("absent"),), []),
        ((Items(),), []),
    ],
)
def test_select(path: Any, found: Any):
    assert list(select(BODY, path)) == found


def test_dotted():
    assert dotted((Member("messages"), Items(), When("role", "user"), Member("content"))) == "messages.content"


@pytest.mark.parametrize(
    ("keyword", "demand", "good", "bad"),
    [
        ("type", ["integer"], [1, 4.0, -2], [True, 1.5, "1", None]),
        ("type", ["number"], [1, 1.5], [True, "1"]),
        ("type", ["string", "null"], ["", None], [0, []]),
        ("enum", ["a", 1], ["a", 1, 1.0], ["b", True]),
        ("const", 1, [1, 1.0], [True, 2]),
        ("minimum", 0, [0, 1, "text", True], [-0.1]),
        ("maximum", 2, [2, None], [2.1]),
        ("minItems", 1, [[1], "text"], [[]]),
        ("maxItems", 1, [[], [1]], [[1, 2]]),
        ("minLength", 2, ["ab", 7], ["a"]),
        ("maxLength", 2, ["ab", []], ["abc"]),
        ("pattern", "^a", ["ab", 7], ["ba"]),
        ("required", "a", [{"a": 1}, []], [{}, {"b": 1}]),
        ("not", {"type": "null"}, ["", 0], [None]),
    ],
)
def test_keyword_holds(keyword: str, demand: Any, good: list[Any], bad: list[Any]):
    assert all(keyword_holds(keyword, demand, value, {}) for value in good)
    assert not any(keyword_holds(keyword, demand, value, {}) for value in bad)


def test_closed_and_typed_lists_hold_for_what_they_are_about():
    closed = ARK.constraints["request.closed"]
    assert closed.holds({"model": "m", "messages": []})
    assert not closed.holds({"model": "m", "other": 1})
    choice = ARK.constraints["request.tool_choice.enum"]
    assert choice.holds({"type": "function"}), "the list is about the texts only"
    assert not choice.holds("any")
    (target,) = choice.targets({"tool_choice": "any"})
    assert target == ("/tool_choice", "any")
