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


def test_clean_json_has_no_problem():
    assert parse('{"a": ["ü", 1e3, null]}'.encode()).problems == ()
