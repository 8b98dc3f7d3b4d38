"""Patience: what Retry-After asks for is waited for, within bounds; a storm of 429 decides nothing and is judged."""

import itertools
import json
import threading
import time
from datetime import UTC, datetime

import pytest

import spec
from conformance.ask import Asker
from conformance.plugin import make_session
from conformance.results import judge_folder, requirement_rows
from conformance.settings import Settings
from conformance.target import Target
from conformance.wire.retry import LONGEST_WAIT_S, retry_after_s, wait_before_retry
from tests.conformance import made
from tests.conformance.endpoints import answer, serving

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30.0),
        ("Sunday, 29-Nov-26 12:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0.0),
        ("Sun, 29 Nov 2026 12:00:30", 30.0),
        ("99999999999", 999999999.0),
        ("9" * 5000, 999999999.0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("٣", None),
        ("Sun, 99 Nov 2026 99:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after_s(value, NOW) == seconds


def limited(status=429, value=None):
    return made.refused(status, headers=() if value is None else (("Retry-After", value),))


@pytest.mark.parametrize(
    ("exchange", "attempt", "wait"),
    [
        (limited(value="3"), 0, 3.0),
        (limited(value="0"), 2, 0.0),
        (limited(value="99999999999"), 0, LONGEST_WAIT_S),
        (limited(value="nonsense"), 0, 1.0),
        (limited(), 0, 1.0),
        (limited(), 1, 2.0),
        (limited(), 2, 4.0),
        (limited(503, "2"), 0, 2.0),
        (limited(503), 0, None),
        (limited(500, "2"), 0, None),
        (limited(502), 0, None),
        (limited(400), 0, None),
        (made.whole(), 0, None),
    ],
)
def test_only_a_plea_for_patience_is_asked_again_and_never_later_than_bounded(exchange, attempt, wait):
    assert wait_before_retry(exchange, attempt) == wait


ERROR = json.dumps({"error": {"message": "slow down", "type": "rate_limit_error", "code": None}}).encode()


def session_for(url, folder, profile):
    settings = Settings("serenity-edge", Target(url, "m"), folder)
    settings.write()
    return settings, make_session(settings, profile)


def verdicts(settings, profile, *names):
    rows = requirement_rows(judge_folder(settings.out, profile, {}), profile, settings, {}, names)
    return {row["id"]: row for row in rows}


def test_a_storm_of_429_is_inconclusive_and_each_one_is_judged(tmp_path):
    def handler(connection, _):
        connection.sendall(answer(ERROR, "429 Too Many Requests", extra=b"Retry-After: 0\r\n"))

    profile = spec.load_profile("serenity-edge")
    with serving(handler) as url:
        settings, session = session_for(url, tmp_path, profile)
        ask = Asker(session, "storm::of_429", "storm")
        last = ask(made.ASKED)
        ask.case("accepted", ("request.model.required", "messages.unicode-is-accepted"), repeatable=False, asked=last)
        session.client.close()
    attempts = [json.loads(line) for line in (tmp_path / "exchanges.jsonl").read_text().splitlines()]
    assert [line["facts"]["attempt"] for line in attempts] == [0, 1, 2]
    assert session.budget.read().requests == 3
    found = verdicts(settings, profile, *profile.promises)
    accepted = [row for row in found.values() if row["verdict"] == "inconclusive"]
    assert accepted, "the request that was never answered decides nothing"
    assert found["errors.retry-after-on-429"]["observations"]["kept"] == 3
    assert found["errors.body-is-an-error-object"]["observations"]["kept"] == 3
    assert not [name for name, row in found.items() if row["verdict"] == "fail"]


def test_patience_is_shared_by_everybody(tmp_path):
    times = []

    def handler(connection, _):
        times.append(time.monotonic())
        first = len(times) == 1
        head = ("429 Too Many Requests", b"Retry-After: 1\r\n") if first else ("200 OK", b"")
        connection.sendall(answer(ERROR if first else json.dumps(made.completion()).encode(), head[0], extra=head[1]))

    profile = spec.load_profile("serenity-edge")
    with serving(handler) as url:
        _, session = session_for(url, tmp_path, profile)
        assert Asker(session, "p::a", "t")(made.ASKED).ok
        other = make_session(Settings("serenity-edge", Target(url, "m"), tmp_path), profile, "gw1")
        assert Asker(other, "p::b", "t")(made.ASKED).ok
        session.client.close()
        other.client.close()
    assert times[1] - times[0] >= 0.95
    assert session.budget.read().waiting_s >= 0.9


def test_what_is_sent_at_once_on_purpose_is_whatever_the_endpoint_has_borne(tmp_path):
    """Nobody is answered before all three have come, though only one request may be in flight by then."""
    meeting = threading.Barrier(3, timeout=20)
    seen = itertools.count(1)

    def handler(connection, _):
        number = next(seen)
        if number == 1:
            connection.sendall(answer(ERROR, "429 Too Many Requests", extra=b"Retry-After: 0\r\n"))
            return
        if number > 2:
            meeting.wait()
        connection.sendall(answer(json.dumps(made.completion()).encode()))

    profile = spec.load_profile("serenity-edge")
    with serving(handler) as url:
        _, session = session_for(url, tmp_path, profile)
        session.belief_repeats = 0
        ask = Asker(session, "p::a", "t")
        assert ask(made.ASKED).ok
        assert session.budget.read().window == 1
        assert all(x.ok for x in ask.together([made.ASKED] * 3))
        session.client.close()
    assert session.budget.read().in_flight == []


def test_a_rate_limit_that_was_asked_for_limits_nothing(tmp_path):
    def handler(connection, _):
        connection.sendall(answer(ERROR, "429 Too Many Requests", extra=b"Retry-After: 0\r\n"))

    with serving(handler) as url:
        _, session = session_for(url, tmp_path, spec.load_profile("serenity-edge"))
        Asker(session, "p::a", "t")(made.ASKED, induce="429")
        session.client.close()
    assert session.budget.read().window == 0
