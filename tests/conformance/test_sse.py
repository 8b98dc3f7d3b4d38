import itertools

from hypothesis import given
from hypothesis import strategies as st

from conformance.wire.sse import Event, EventStream, decode

STREAM = (
    b'\xef\xbb\xbfdata: {"a": 1}\r\n\r\n: comment\ndata:one\ndata: two\n\nevent: ping\nid: 7\n\n'
    b"data: na\xc3\xafve\r\rdata: [DONE]\n\n"
)


def datas(body: bytes) -> list[str | None]:
    return [event.data for event in decode(body).events]


def test_all_line_endings_comments_and_multi_line_data_are_read():
    stream = decode(STREAM)
    assert [e.data for e in stream.events] == ['{"a": 1}', "one\ntwo", None, "naïve", "[DONE]"]
    assert stream.comments == 1
    assert stream.problems == ("the stream starts with a byte order mark",)
    assert stream.events[2].fields == (("event", "ping"), ("id", "7"))
    assert stream.tail == b""


def test_unicode_line_separators_do_not_end_a_line():
    assert datas("data: a\u2028b\u0085c\x0bd\n\n".encode()) == ["a\u2028b\u0085c\x0bd"]


def test_an_unterminated_last_event_is_kept_as_tail_and_not_dispatched():
    stream = decode(b"data: 1\n\ndata: [DONE]\n")
    assert [e.data for e in stream.events] == ["1"]
    assert stream.tail == b"data: [DONE]\n"


def test_invalid_utf8_is_located():
    (problem,) = decode(b"data: \xff\n\n").problems
    assert "0xff at offset 6" in problem


def test_only_one_space_after_the_colon_is_dropped():
    assert datas(b"data:  two\n\ndata\n\n") == [" two", ""]


def test_spans_cover_the_raw_event():
    stream = decode(STREAM)
    assert STREAM[stream.events[1].start : stream.events[1].end] == b": comment\ndata:one\ndata: two\n\n"


def test_comments_are_counted_for_the_event_and_the_stream():
    stream = decode(b": a\n: b\ndata: x\n\ndata: y\n\n: c\n\n: d")
    assert [event.comments for event in stream.events] == [2, 0, 1]
    assert stream.comments == 3
    assert (EventStream(()).comments, Event(0.0, 0, 0, None, ()).comments) == (0, 0)


def test_only_data_fields_are_data():
    assert datas(b"a: 1\ndata: 2\nevent: 3\n\n") == ["2"]


def test_the_terminator_is_exact():
    texts = ("[DONE]", "[DONE] ", "[DONE", "[", "a", "")
    assert [event.is_done for text in texts for event in decode(f"data: {text}\n\n".encode()).events] == [
        True, *[False] * 5
    ]  # fmt: skip


def test_without_arrivals_everything_came_at_once():
    assert [event.at for event in decode(b"data: 1\n\n").events] == [0.0]


def test_bytes_beyond_the_recorded_arrivals_came_with_the_last():
    stream = decode(b"data: 1\n\ndata: 2\n\n", [(0.5, 9), (0.7, 3)])
    assert [event.at for event in stream.events] == [0.5, 0.7]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_arrival_times_never_change_the_events_and_follow_the_last_byte(sizes):
    cuts = [0, *itertools.accumulate(sizes)]
    pieces = [STREAM[a:b] for a, b in itertools.pairwise(cuts)] + [STREAM[cuts[-1] :]]
    arrivals = [(float(number), len(piece)) for number, piece in enumerate(pieces) if piece]
    timed = decode(STREAM, arrivals)
    assert [e.data for e in timed.events] == datas(STREAM)
    for event in timed.events:
        received = 0
        for at, count in arrivals:
            received += count
            if received >= event.end:
                assert event.at == at
                break


@given(st.binary(max_size=200))
def test_any_bytes_are_split_without_loss(body):
    stream = decode(body)
    spans = [(e.start, e.end) for e in stream.events]
    assert spans == sorted(spans)
    assert body.endswith(stream.tail)
