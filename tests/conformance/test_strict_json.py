import pytest

from conformance.wire.strict_json import parse


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
        (b'\xef\xbb\xbf{"a": 1}', "byte order mark"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_readable_but_unclean_json_has_a_value_and_a_problem(text, problem):
    parsed = parse(text)
    assert parsed.ok
    assert problem in parsed.problems[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1} x', "not JSON"),
        (b'"\xff"', "not UTF-8"),
        (b"[" * 300 + b"]" * 300, "levels deep"),
        (b"9" * 5000, "not readable"),
    ],
)
def test_what_is_not_json_has_no_value(text, problem):
    parsed = parse(text)
    assert not parsed.ok
    assert problem in parsed.problems[0]


def test_brackets_inside_strings_are_not_depth():
    assert parse(b'"' + b"[" * 500 + b'"').ok


@pytest.mark.parametrize(("opener", "inner", "closer"), [("[", "", "]"), ('{"a":', "1", "}"), ('[{"a":', "1", "}]")])
def test_two_hundred_levels_are_deep_enough(opener, inner, closer):
    levels = 200 // (opener.count("[") + opener.count("{"))
    deep = opener * levels + inner + closer * levels
    assert parse(deep.encode()).ok
    wide = "[" + "[]," * 300 + deep[1:-1] + "]" if opener == "[" else deep
    assert parse(wide.encode()).ok
    for deeper in (f"[{deep}]", f"[{'[],' * 300}{deep}]"):
        assert parse(deeper.encode()).problems == ("nested more than 200 levels deep",)


def test_what_stands_side_by_side_is_not_deep():
    assert parse(b"[" + b",".join([b"[{}]"] * 300) + b"]").ok


@pytest.mark.parametrize("text", [b'{"a": 1, "b": 1, "b": 2}', b'{"c": 1, "b": 1, "c": 2, "b": 2}'])
def test_the_first_member_that_stands_twice_is_named(text):
    assert parse(text).problems == ("member 'b' stands twice in one object",)


def test_clean_json_has_no_problem():
    assert parse('{"a": ["ü", 1e3, null]}'.encode()).problems == ()
