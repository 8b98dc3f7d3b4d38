"""Faults that need more than one request: identity, sessions, caches, concurrency."""

from __future__ import annotations

import json
from typing import Any

from reference_impl.faults.edits import Chunk, Chunks, Events, Pieces, edited, messages_of, refuse
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import also, fault
from reference_impl.server.pieces import Content
from reference_impl.server.strict_json import Json


@fault("id-repeats", "completion", both=["response.id-is-unique"])
def id_repeats(body: Chunk, exchange: Exchange) -> Chunk:
    """Ids are taken from a pool of seven."""
    return {**body, "id": f"chatcmpl-{exchange.number % 7:032d}"}


@fault("created-in-milliseconds", "completion", both=["response.created-is-unix-seconds"])
def created_in_milliseconds(body: Chunk, exchange: Exchange) -> Chunk:
    """`created` counts milliseconds."""
    return {**body, "created": body["created"] * 1_000}


@fault("created-in-local-time", "completion", both=["response.created-is-now"])
def created_in_local_time(body: Chunk, exchange: Exchange) -> Chunk:
    """`created` is off by two hours, as if local time were taken for UTC."""
    return {**body, "created": body["created"] + 7_200}


@fault("text-null", "completion", both=["response.text-unless-calls"])
def text_null(body: Chunk, exchange: Exchange) -> Chunk:
    """A message without calls has null as its content where tools were offered."""
    for choice in body["choices"]:
        if exchange.data.get("tools") and not choice["message"].get("tool_calls"):
            choice["message"]["content"] = None
    return body


@fault("cross-request-contamination", "pieces", both=["wire.requests-do-not-mix"])
async def cross_request_contamination(pieces: Pieces, exchange: Exchange) -> Pieces:
    """While another request runs, its prompt turns up in the answer."""
    mine = _last_text(exchange.data)
    other = exchange.memory.get("running")
    exchange.memory["running"] = mine
    if exchange.in_flight and other and other != mine:
        yield Content(f"{other} ")
    async for piece in pieces:
        yield piece


@fault("id-shared-under-load", "chunks", both=["response.id-is-unique"])
def id_shared_under_load(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Streams that overlap share one id."""
    if exchange.in_flight:
        return edited(chunks, lambda chunk: chunk.update(id="chatcmpl-00000000000000000000000000000000"))
    return chunks


@fault("cache-hit-changes-answer", "pieces", both=["wire.cache-keeps-the-answer"])
async def cache_hit_changes_answer(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A prompt that was seen before gets a degraded answer."""
    seen = exchange.memory.setdefault("seen", {})
    prompt = json.dumps(exchange.data.get("messages"))
    again = seen.get(prompt, 0)
    seen[prompt] = again + 1
    if again:
        yield Content("P P P ")
    async for piece in pieces:
        yield piece


@fault("hang-up-poisons-the-next", "events", both=["wire.hang-up-leaves-the-next-alone"])
async def hang_up_poisons_the_next(events: Events, exchange: Exchange) -> Events:
    """After a client has hung up, the next stream ends after its first event."""
    poisoned = exchange.memory.pop("hung up", False)
    exchange.memory["hung up"] = True
    async for event in events:
        yield event
        if poisoned:
            break
    exchange.memory["hung up"] = False


@fault("session-forgets", "request", ark=["sessions.remembers"])
def session_forgets(data: Json, exchange: Exchange) -> Json:
    """Every turn of a session starts from nothing."""
    if isinstance(data, dict) and isinstance(data.get("ark_stateful"), str):
        return {**data, "ark_stateful": f"{data['ark_stateful']}#{exchange.number}"}
    return data


@fault("sessions-mix", "request", ark=["sessions.do-not-mix"])
def sessions_mix(data: Json, exchange: Exchange) -> Json:
    """All sessions of a key are one."""
    return {**data, "ark_stateful": "the one"} if isinstance(data, dict) and data.get("ark_stateful") else data


@fault("session-cap-optional", "request", ark=["sessions.needs-the-cap"])
def session_cap_optional(data: Json, exchange: Exchange) -> Json:
    """A session without its cap is accepted."""
    if isinstance(data, dict) and data.get("ark_stateful") and data.get("ark_max_session_tokens") is None:
        return {**data, "ark_max_session_tokens": 2_000}
    return data


@fault("session-cap-ignored", "request", ark=["sessions.cap-bounds-the-session"])
def session_cap_ignored(data: Json, exchange: Exchange) -> Json:
    """The cap of a session is never used."""
    cap = data.get("ark_max_session_tokens") if isinstance(data, dict) else None
    return {**data, "ark_max_session_tokens": 4_000} if isinstance(cap, int) and cap > 0 else data


@fault("session-accepts-stop", "request", ark=["sessions.refuses-stop"])
def session_accepts_stop(data: Json, exchange: Exchange) -> Json:
    """A stop string in a session is ignored instead of refused."""
    if isinstance(data, dict) and data.get("ark_stateful"):
        return {name: value for name, value in data.items() if name != "stop"}
    return data


@fault("session-second-turn-refused", "request", ark=["sessions.accepts-turns"])
def session_second_turn_refused(data: Json, exchange: Exchange) -> Json:
    """A session that exists cannot be used again."""

    session = data.get("ark_stateful") if isinstance(data, dict) else None
    if session is not None:
        known = exchange.memory.setdefault("sessions", set())
        if session in known:
            refuse("The session exists already.", "ark_stateful")
        known.add(session)
    return data


@fault("session-refused-turn-is-kept", "request", ark=["sessions.refused-turn-changes-nothing"])
def session_refused_turn_is_kept(data: Json, exchange: Exchange) -> Json:
    """The messages of a refused turn stay in the session."""
    session = data.get("ark_stateful") if isinstance(data, dict) else None
    late = exchange.memory.get("refused turns", {}).pop(session, None)
    return {**data, "messages": [*late, *data["messages"]]} if late and messages_of(data) else data


@also("session-refused-turn-is-kept", "refusal")
def _keep_refused_turn(refused: Any, exchange: Exchange) -> Any:
    session = exchange.data.get("ark_stateful")
    if session is not None and messages_of(exchange.data):
        exchange.memory.setdefault("refused turns", {})[session] = messages_of(exchange.data)
    return refused


def _last_text(data: Json) -> str:
    texts = [message["content"] for message in messages_of(data) if isinstance(message.get("content"), str)]
    return texts[-1] if texts else ""
