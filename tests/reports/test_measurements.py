"""Speeds and differences are computed, not guessed."""

import json
from array import array

import pytest

from reports.differences import marked
from reports.exchange import Exchange, StreamEvent
from reports.html.answer import offending_event
from reports.html.charts import histogram, spreads, timeline
from reports.measurements import Measurements, Series
from reports.wording import reproduction, seconds


def stream(events, **changes):
    """An exchange whose events are (time, value sent as data)."""
    body, spans = b"", []
    for at, value in events:
        raw = b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"
        spans.append([at, len(body), len(body) + len(raw)])
        body += raw
    return Exchange({
        "id": "x1", "topic": "stream", "probe": "p", "end": "complete", "timing": {"total_s": 2.0},
        "request": {"method": "POST", "url": "", "headers": [], "body": "", "encoding": "utf-8"},
        "response": {"status": 200, "headers": [], "body": body.decode(), "encoding": "utf-8", "events": spans},
        **changes,
    })  # fmt: skip


def delta(**content):
    return {"choices": [{"index": 0, "delta": content}]}


def test_first_token_is_the_first_event_that_carries_something():
    measured = Measurements()
    measured.add(
        stream(
            [
                (0.1, delta(role="assistant", content="")),
                (0.4, delta(content="Hi")),
                (1.4, delta(content=" there")),
                (1.5, {"choices": [], "usage": {"completion_tokens": 12}}),
                (1.5, b"[DONE]"),
            ]
        )
    )
    first, gaps, rates = measured.series()
    assert list(first.values) == [0.4]
    assert list(gaps.values) == pytest.approx([0.0, 0.1, 0.3, 1.0])
    assert list(rates.values) == pytest.approx([11 / 1.1])
    assert [(series.name, list(series.values)) for series in measured.latency_by_topic()] == [("stream", [2.0])]


@pytest.mark.parametrize("changes", [{"end": "timeout"}, {"timing": {}}, {"response": None}])
def test_only_complete_answers_count(changes):
    measured = Measurements()
    measured.add(stream([(0.1, delta(content="a")), (0.2, b"[DONE]")], **changes))
    assert measured.series() == []
    assert measured.latency_by_topic() == []


@pytest.mark.parametrize("odd", [b"not json", b"[1]", b'{"choices": 3}', b'{"choices": [7]}', b'{"usage": [1]}'])
def test_odd_events_do_no_harm(odd):
    measured = Measurements()
    measured.add(stream([(0.1, odd), (0.2, delta(content="a")), (0.3, b"[DONE]")]))
    assert list(measured.series()[0].values) == [0.2]


def test_quantiles_are_those_of_the_values():
    series = Series("x", "s", array("d", [1, 2, 3, 4, 5]))
    assert [series.quantile(share) for share in (0, 0.25, 0.5, 0.9, 1)] == [1, 2, 3, pytest.approx(4.6), 5]


def test_the_timeline_marks_the_offending_event_and_the_longest_wait():
    drawn = timeline([StreamEvent(index + 1, at, "") for index, at in enumerate([0.1, 0.2, 0.9, 1.0])], 2)
    assert drawn.offending == 576.0
    assert drawn.marks == [64.0, 128.0, 640.0]
    assert drawn.longest == (128.0, 576.0)
    assert "longest gap 700 ms, before event 3" in drawn.words
    assert "the offending one is event 3, at 900 ms" in drawn.words


@pytest.mark.parametrize(
    ("violation", "index"),
    [
        ({"message": "event 2 has no data"}, 2),
        ({"message": "usage in chunk 2 breaks type"}, 4),
        ({"message": "choice 0 ends twice", "event": 1}, 0),
        ({"message": "chunk 1 is late", "event": 3}, 3),
        ({"message": "chunk 9 is odd"}, None),
        ({"message": "the stream ends without [DONE]"}, None),
        ({"message": "event 0"}, None),
    ],
)
def test_the_offending_event_is_the_one_that_the_violation_names(violation, index):
    raws = [delta(content="a"), b"", {"error": {}}, b"not json", delta(content="b"), b"[DONE]"]
    made = stream([(0.1 * at, raw) for at, raw in enumerate(raws)])
    body = made.response["body"].replace("data: \n\n", ": hi!!\n\n")
    events = Exchange({**made.record, "response": {**made.response, "body": body}}).events()
    assert [event.number for event in events] == [1, None, 2, 3, 4, 5]
    assert offending_event(violation, events) == index


def test_an_event_that_is_not_there_is_not_marked_and_one_event_is_no_timeline():
    events = [StreamEvent(1, 0.0, ""), StreamEvent(2, 0.0, "")]
    assert timeline(events, 9).offending is None
    assert timeline(events[:1], 0) is None


@pytest.mark.parametrize("values", [[0.1], [0.0, 0.0], [1e-9, 5.0], [0.2] * 50])
def test_charts_draw_whatever_was_measured(values):
    series = Series("x", "s", array("d", sorted(values)))
    drawn = histogram(series)
    assert max(share for _, _, share in drawn.bars) == 1
    assert all(0 <= x <= 340 for x, _, _ in drawn.bars)
    rows, _ = spreads([series])
    assert rows[0].low <= rows[0].quarter <= rows[0].median <= rows[0].three_quarters <= rows[0].high


def test_only_what_differs_is_marked():
    before, after = marked("usage.total_tokens is 42", "usage.total_tokens is 44")
    assert [piece.text for piece in before if piece.differs] == ["42"]
    assert [piece.text for piece in after if piece.differs] == ["44"]
    assert "".join(piece.text for piece in before) == "usage.total_tokens is 42"


@pytest.mark.parametrize(("one", "other"), [("abc def", "9 8 7 6 5"), ("", "x"), ("a" * 3000, "a" * 3001)])
def test_texts_that_have_little_in_common_are_not_marked(one, other):
    assert not any(piece.differs for side in marked(one, other) for piece in side)


@pytest.mark.parametrize(
    ("reproduced", "said"),
    [
        ("3/3", "Seen in 3 of 3 tries."),
        ("1/3", "Seen in 1 of 3 tries."),
        ("1/1", "Not sent again."),
        ("", ""),
        (None, ""),
        ("<b>/2", ""),
    ],
)
def test_how_often_a_violation_came_back_is_said_in_words(reproduced, said):
    assert reproduction({"reproduced": reproduced}) == said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (0.00042, "420 µs"),
        (0.0123, "12.3 ms"),
        (1.2345, "1.23 s"),
        (185, "3 min 5 s"),
        (7300, "2 h 1 min"),
    ],
)
def test_durations_are_readable(value, text):
    assert seconds(value) == text
