"""What every reply says about itself, and that it says something."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from conformance.laws.conditions import chat, completed, readable, whole
from conformance.laws.registry import Undecided, Violation, law, run_law
from conformance.laws.relations import shortened
from conformance.laws.texts import objects
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

A_DAY_S = 86_400
A_MINUTE_S = 60  # two honest clocks may differ by so much


def head_of(x: Exchange) -> dict[str, Any]:
    """The reply's own object, or the first chunk of its stream."""
    head = (x.chunks or ({},))[0] if x.is_event_stream else x.json.value
    return head if isinstance(head, dict) else {}


def has_created(x: Exchange) -> bool:
    """A 200 answer with a number as `created` (a missing or odd one is for the schema to judge)."""
    created = head_of(x).get("created") if completed(x) else None
    return isinstance(created, int | float) and not isinstance(created, bool)


def _sent_at(x: Exchange) -> float:
    return datetime.fromisoformat(x.at.replace("Z", "+00:00")).timestamp()


@law("response.created-is-unix-seconds", applies=has_created)
def created_is_unix_seconds(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`created` counts seconds since 1970: it lies within a day of the time of the request."""
    created, tolerance = head_of(x)["created"], promise.params.get("tolerance_s", A_DAY_S)
    if abs(created - _sent_at(x)) > tolerance:
        yield Violation("created is no present Unix time in seconds", f"about {_sent_at(x):.0f}", f"{created}")


@law("response.created-is-now", applies=has_created)
def created_is_now(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`created` lies between sending the request and reading the reply, give or take a minute."""
    created, sent = head_of(x)["created"], _sent_at(x)
    tolerance = promise.params.get("tolerance_s", A_MINUTE_S)
    earliest, latest = sent - tolerance, sent + x.total_s + tolerance
    if not earliest <= created <= latest:
        yield Violation("created is not the time of the reply", f"{earliest:.0f} to {latest:.0f}", f"{created}")


@run_law("response.id-is-unique")
def id_is_unique(exchanges: Sequence[Exchange], promise: Promise) -> Iterator[Violation]:
    """No `id` comes back in two replies of the run."""
    seen: dict[str, list[str]] = defaultdict(list)
    for x in exchanges:
        reply = reply_of(x) if chat(x) else None
        if reply and isinstance(reply.id, str):
            seen[reply.id].append(x.id)
    if sum(map(len, seen.values())) < 2:
        raise Undecided("fewer than two replies with an id were seen")
    for identifier, owners in seen.items():
        if len(owners) > 1:
            yield Violation(
                f"{len(owners)} replies have the same id", "an id of its own", shortened(identifier), tuple(owners)
            )


def _message_choices(x: Exchange) -> list[tuple[dict[str, Any], Any]]:
    """(message, finish_reason) of each choice of a whole reply that has no call."""
    found = []
    for choice in objects(x.json.value.get("choices") if isinstance(x.json.value, dict) else None):
        message = choice.get("message")
        if isinstance(message, dict) and not message.get("tool_calls") and not message.get("function_call"):
            found.append((message, choice.get("finish_reason")))
    return found


@law("response.text-unless-calls", applies=lambda x: whole(x) and bool(_message_choices(x)))
def text_unless_calls(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A message without calls has a string as `content`, unless it was cut while the model still reasoned."""
    for message, finish in _message_choices(x):
        excused = _may_still_reason(x, message) if finish == "length" else finish != "stop"
        if not isinstance(message.get("content"), str) and not excused:
            yield Violation(
                "a message without calls has no text in content", "a string", shortened(message.get("content"))
            )


def _may_still_reason(x: Exchange, message: dict[str, Any]) -> bool:
    reply = reply_of(x)
    return bool(message.get("reasoning")) or bool(reply and reply.reasoning_tokens)


@law("response.answer-is-not-empty", applies=readable)
def answer_is_not_empty(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply that stopped by itself has a call or some content, unless the model ended at once or at a stop string."""
    reply = reply_of(x)
    assert reply is not None
    for choice in reply.choices.values():
        silent = not choice.content and not choice.calls and not choice.function_call
        if choice.finish_reason == "stop" and silent and not x.asks("stop"):
            if reply.completion_tokens is None:
                raise Undecided("the reply is empty and does not say whether anything was generated")
            if reply.completion_tokens > 1:  # else the model chose to say nothing: its first token was the end
                yield Violation("the reply ended by itself and says nothing", "some content", "no content and no call")
