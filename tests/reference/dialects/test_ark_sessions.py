"""ark_stateful: what a session keeps, how much, for how long, and for whom."""

from __future__ import annotations

import asyncio

from reference_impl.dialects.ark.sessions import Sessions
from tests.reference.dialects.conftest import Speaker
from tests.reference.dialects.endpoint import Endpoint


def turn(endpoint: Endpoint, session: str, text: str, cap: int = 400, **members: object) -> dict:
    messages = [{"role": "user", "content": text}]
    return endpoint.whole(messages=messages, ark_stateful=session, ark_max_session_tokens=cap, **members)


def test_a_session_keeps_the_conversation(speak_ark: Speaker) -> None:
    ark = speak_ark("Noted.")

    first = turn(ark, "a", "My word is zebra.")
    second = turn(ark, "a", "What is my word?")
    alone = ark.whole(messages=[{"role": "user", "content": "What is my word?"}])

    assert second["usage"]["prompt_tokens"] > first["usage"]["total_tokens"]
    assert second["usage"]["prompt_tokens"] > alone["usage"]["prompt_tokens"]
    prompt = ark.app.state.engine.prompt(1)
    assert "zebra" in prompt
    assert "Noted." in prompt


def test_streamed_turns_are_kept_too(speak_ark: Speaker) -> None:
    ark = speak_ark("Noted.")
    body = {"ark_stateful": "a", "ark_max_session_tokens": 300}

    ark.stream(messages=[{"role": "user", "content": "zebra"}], **body)
    turn(ark, "a", "again")

    assert "zebra" in ark.app.state.engine.prompt()
    assert "Noted." in ark.app.state.engine.prompt()


def test_sessions_do_not_mix(speak_ark: Speaker) -> None:
    ark = speak_ark("Noted.")

    turn(ark, "a", "zebra")
    turn(ark, "b", "hello")

    assert "zebra" not in ark.app.state.engine.prompt()


def test_the_cap_bounds_the_session(speak_ark: Speaker) -> None:
    ark = speak_ark("word " * 500)

    first = turn(ark, "a", "Go.", cap=60, max_tokens=500)
    messages = [{"role": "user", "content": "More."}]
    error = ark.error(400, messages=messages, ark_stateful="a", ark_max_session_tokens=60)

    assert first["usage"]["total_tokens"] == 60
    assert first["choices"][0]["finish_reason"] == "length"
    assert error["param"] == "ark_max_session_tokens"
    larger = turn(ark, "a", "More.", cap=400, max_tokens=5)
    assert 60 < larger["usage"]["prompt_tokens"] < 90


def test_a_refused_turn_changes_nothing(speak_ark: Speaker) -> None:
    ark = speak_ark("Noted.")
    other = speak_ark("Noted.")

    for endpoint in (ark, other):
        turn(endpoint, "a", "zebra")
    assert ark.post(ark_stateful="a", ark_max_session_tokens=300, temperature=9).status_code == 400
    assert ark.post(ark_stateful="a", ark_max_session_tokens=300, model="no/such").status_code == 404

    assert turn(ark, "a", "now")["usage"]["prompt_tokens"] == turn(other, "a", "now")["usage"]["prompt_tokens"]


def test_sessions_belong_to_their_key(speak_ark: Speaker) -> None:
    ark = speak_ark("Noted.")
    body = {"ark_stateful": "a", "ark_max_session_tokens": 300}

    ark.post({"Authorization": "Bearer one"}, messages=[{"role": "user", "content": "zebra"}], **body)
    ark.post({"Authorization": "Bearer two"}, **body)

    assert "zebra" not in ark.app.state.engine.prompt()


def test_sessions_expire_and_are_bounded_in_number() -> None:
    now = 0.0
    sessions = Sessions(lifetime=10, most=3, clock=lambda: now)

    async def say(session_id: str, text: str) -> int:
        async with sessions.turn("key", session_id) as session:
            session.messages.append({"role": "user", "content": text})
            return len(session.messages)

    for session_id in "abcd":
        asyncio.run(say(session_id, "hello"))
    assert len(sessions) == 3
    assert asyncio.run(say("a", "the oldest has gone")) == 1
    assert asyncio.run(say("d", "the newest is here")) == 2
    now = 11.0
    assert asyncio.run(say("d", "its time is over")) == 1
    assert len(sessions) == 1


def test_a_session_without_a_turn_is_not_kept() -> None:
    sessions = Sessions()

    async def look() -> None:
        async with sessions.turn("key", "a"):
            pass

    asyncio.run(look())
    assert len(sessions) == 0
