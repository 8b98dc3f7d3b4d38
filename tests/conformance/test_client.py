import gzip
import socket
import time

import pytest

from conformance.wire.client import Call, Client, Stamp
from conformance.wire.exchange import Exchange
from conformance.wire.limits import Limits
from conformance.wire.redaction import Redactor
from tests.conformance.endpoints import answer, serving

LIMITS = Limits(connect_s=2, idle_s=1, exchange_s=2, body_bytes=10_000, header_bytes=4_000, decoded_bytes=50_000)
CALL = Call(b'{"a": 1}', headers=(("content-type", "application/json"),))


def ask(handler, call: Call = CALL, limits: Limits = LIMITS, **more) -> Exchange:
    with serving(handler) as url:
        client = Client(url, limits, **more)
        try:
            return client.send(call, Stamp("x0001", "p", "t"))
        finally:
            client.close()


def test_the_exact_bytes_of_both_sides_are_kept():
    seen = []

    def handler(connection, request):
        seen.append(request)
        connection.sendall(answer(b'{"b":  2}', extra=b"X-Two: 1\r\nX-Two: 2\r\n"))

    exchange = ask(handler)
    assert exchange.end == "complete"
    assert exchange.received.body == b'{"b":  2}'
    assert [v for n, v in exchange.received.headers if n.lower() == "x-two"] == ["1", "2"]
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert body == CALL.body
    assert b"accept-encoding: identity" in head.lower()
    assert Exchange.from_json(exchange.to_json()).to_json() == exchange.to_json()


def test_pieces_are_timed_as_they_arrive():
    def handler(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 22\r\n\r\n")
        for piece in (b"data: 1\n\n", b"data: 22\n\n", b"\n\n\n"):
            connection.sendall(piece)
            time.sleep(0.5)

    exchange = ask(handler)
    times = [event.at for event in exchange.stream.events]
    assert len(times) == 2
    assert times[1] - times[0] > 0.1


def drip(connection, _):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(200):
        connection.sendall(b"X-%d: 1\r\n" % number)
        time.sleep(0.05)


def endless(connection, _):
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(1000):
        connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")


def bomb(connection, _):
    connection.sendall(answer(gzip.compress(b"0" * 5_000_000), extra=b"Content-Encoding: gzip\r\n"))


def reset(connection, _):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


@pytest.mark.parametrize(
    ("handler", "end"),
    [
        (drip, "timeout"),
        (endless, "too-large"),
        (lambda c, _: time.sleep(1.5), "timeout"),
        (lambda c, _: c.sendall(b"SSH-2.0-OpenSSH_9\r\n\r\n"), "protocol-error"),
        (lambda c, _: (c.sendall(answer(b"x" * 10)[:-3]), c.shutdown(socket.SHUT_RDWR)), "protocol-error"),
        (lambda c, _: c.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"h" * 50_000 + b"\r\n\r\n"), "too-large"),
        (reset, "reset"),
    ],
    ids=["drip", "endless", "silent", "garbage", "short", "headers", "reset"],
)
def test_every_way_to_misbehave_ends_in_bounded_time_with_a_sentence(handler, end):
    started = time.monotonic()
    exchange = ask(handler)
    assert exchange.end == end or (end == "reset" and exchange.end == "protocol-error")
    assert exchange.problem
    assert time.monotonic() - started < 6


def test_a_compression_bomb_is_cut():
    exchange = ask(bomb)
    assert exchange.received.truncated
    assert len(exchange.received.body) == LIMITS.decoded_bytes
    assert exchange.facts["decompression_cut"] == LIMITS.decoded_bytes


def test_nobody_listening_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    exchange = Client(f"http://127.0.0.1:{port}/v1", LIMITS).send(CALL, Stamp("x0001", "p", "t"))
    assert exchange.end == "refused"
    assert exchange.received is None


def test_redirects_are_recorded_and_not_followed():
    exchange = ask(lambda c, _: c.sendall(answer(b"", "302 Found", extra=b"Location: http://127.0.0.1:1/\r\n")))
    assert exchange.status == 302


def test_a_secret_never_reaches_the_record():
    call = Call(b'{"a": 1}', headers=(("authorization", "Bearer canary-key"),))
    exchange = ask(
        lambda c, r: c.sendall(answer(b'{"echo": "canary-key"}', extra=b"X-Echo: canary-key\r\n")),
        call,
        redactor=Redactor(["canary-key"]),
    )
    assert "canary-key" not in repr(exchange.to_json())


def test_hanging_up_after_some_bytes_is_marked_as_ours():
    exchange = ask(endless, Call(b"{}", hang_up_after=2000))
    assert exchange.end == "hung-up"


def stream_of(data, times, pause=0.0):
    def handler(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for _ in range(times):
            connection.sendall(data)
            time.sleep(pause)
        connection.shutdown(socket.SHUT_WR)

    return handler


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_a_stream_of_more_events_than_allowed_is_cut(ending):
    few = Limits(events=20)
    exchange = ask(stream_of(b"data: 1" + ending * 2, 21), limits=few)
    assert (exchange.end, exchange.problem) == ("too-large", "more than 20 events")
    assert exchange.received.truncated
    assert ask(stream_of(b"data: 1" + ending * 2, 20), limits=few).end == "complete"


def test_of_a_cut_body_a_part_is_kept_without_halving_a_secret():
    small = Limits(body_bytes=5000, kept_bytes=1000)
    exchange = ask(stream_of(b"data: canary-key\n\n", 1000), limits=small, redactor=Redactor(["canary-key"]))
    assert exchange.end == "too-large"
    assert exchange.problem == "more than 5000 bytes of body"
    assert len(exchange.received.body) == 1000
    assert exchange.received.truncated
    assert sum(count for _, count in exchange.received.arrivals) == 1000
    assert b"canary" not in exchange.received.body


def test_after_so_many_bytes_in_all_later_bodies_are_cut():
    limits = Limits(run_bytes=1000, kept_bytes=100)
    with serving(lambda c, _: c.sendall(answer(b"x" * 900))) as url:
        client = Client(url, limits)
        stamps = [Stamp(str(number), "probe", "topic") for number in range(3)]
        assert [client.send(Call(b"{}"), stamp).end for stamp in stamps] == ["complete", "complete", "too-large"]
        client.close()


def test_an_event_without_end_is_cut():
    small = Limits(event_bytes=1000)
    exchange = ask(stream_of(b"data: " + b"x" * 94, 12, 0.002), limits=small)
    assert (exchange.end, exchange.problem) == ("too-large", "an event of more than 1000 bytes")
    assert ask(stream_of(b"data: " + b"x" * 92 + b"\n\n", 12, 0.002), limits=small).end == "complete"


def test_the_first_byte_may_take_longer_than_the_others_and_is_bounded_too():
    def late(connection, _):
        time.sleep(0.5)
        connection.sendall(answer(b"{}"))

    assert ask(late, limits=Limits(first_byte_s=3, idle_s=0.2)).end == "complete"
    exchange = ask(late, limits=Limits(first_byte_s=0.2, idle_s=3))
    assert (exchange.end, exchange.problem) == ("timeout", "no answer within 0.2 s")
