"""A requirement is explained by who promises it and where, and a mistyped id finds its neighbours."""

from __future__ import annotations

import pytest

from spec.explain import explain, known_ids, near_matches


def test_a_written_requirement():
    told = explain("usage.null-before-the-end")
    assert told.requirement.topic == "usage"
    assert set(told.promises) == {"ark", "serenity-edge", "portable"}
    assert told.promises["serenity-edge"].where == "Response 200, ChatCompletionChunk, chunk.usage/last-only"
    assert told.not_promised_by == ()


def test_what_only_one_vendor_promises():
    told = explain("sessions.remembers")
    assert set(told.promises) == {"ark"}
    assert told.not_promised_by == ("serenity-edge", "portable")
    assert [reading.id for reading in told.readings] == ["AMB-23"]
    assert told.promises["ark"].because == told.readings[0].reading


def test_a_derived_requirement():
    told = explain("request.temperature.maximum")
    assert told.requirement.title == "A request is refused where `temperature` is above 2."
    assert told.constraints["ark"].value == 2
    assert told.promises["ark"].places == ("request.temperature",)


def test_an_unknown_id():
    with pytest.raises(KeyError):
        explain("stream.nothing-of-the-kind")


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("stream.ends-with-don", "stream.ends-with-done"),
        ("request.temprature.maximum", "request.temperature.maximum"),
        ("usage.total-sum", "usage.total-is-sum"),
        ("ends-with-done", "stream.ends-with-done"),
    ],
)
def test_near_matches(mistyped: str, meant: str):
    assert meant in near_matches(mistyped)
    assert meant in known_ids()


def test_nothing_is_near_to_nonsense():
    assert near_matches("qqqqqqqqqq") == []
