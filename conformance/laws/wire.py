"""Bytes, labels and characters of every answer: UTF-8, strict JSON, content types, and text without debris."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.laws.conditions import chat, completed, readable, refusal, streamed, whole
from conformance.laws.registry import Undecided, Violation, law
from conformance.laws.relations import shortened
from conformance.laws.texts import asked_text, asked_to_write, pieces_of, visible_text
from conformance.wire.exchange import Exchange
from conformance.wire.strict_json import Parsed, parse
from spec.model import Promise

#: A gateway in front of the endpoint may speak for itself here, in whatever form.
GATEWAY_STATUSES = frozenset({502, 504})

_REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
#: `<|im_end|>`, `<｜end▁of▁sentence｜>`, `<end_of_turn>`, `[/INST]`: marks of chat templates, never of prose.
_CONTROL_TOKEN = re.compile(
    r"<\|[A-Za-z0-9_-]{1,40}\|>|<｜[^<>｜]{1,40}｜>|</?(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>"
)


def _answered_chat(x: Exchange) -> bool:
    return chat(x) and x.answered and x.status not in GATEWAY_STATUSES


def _holds_json(x: Exchange) -> bool:
    """An answer that is JSON by its label or by its duty."""
    return _answered_chat(x) and (x.status == 200 or x.media_type == "application/json")


def _texts(x: Exchange) -> Iterator[tuple[str, Parsed]]:
    """Every JSON text of an answer, with its place. An event that is no object at all is not meant as JSON."""
    if x.is_event_stream:
        for number, event in enumerate(x.stream.events, 1):
            if event.data and event.data.lstrip().startswith("{"):
                yield f"event {number}", parse(event.data.encode("utf-8", "surrogatepass"))
    elif x.received is not None:
        yield "the body", x.json


@law("wire.utf8", applies=_answered_chat)
def utf8(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The bytes of an answer are valid UTF-8."""
    body = x.received.body if x.received else b""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Violation(
            f"byte {error.start} of the body is not UTF-8",
            "valid UTF-8",
            shortened(body[max(0, error.start - 20) : error.start + 20]),
        )


@law("wire.strict-json", applies=_holds_json)
def strict_json(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """What is meant as JSON is one JSON value without NaN, Infinity or anything around it."""
    for place, parsed in _texts(x):
        for problem in parsed.problems:
            if not problem.startswith(("not UTF-8", "member ", "a string holds")):
                yield Violation(f"{place} is not strict JSON", "JSON as RFC 8259 has it", problem)
                return


@law("wire.no-duplicate-keys", applies=_holds_json)
def no_duplicate_keys(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No JSON object of an answer has two members of the same name."""
    for place, parsed in _texts(x):
        for problem in parsed.problems:
            if problem.startswith("member "):
                yield Violation(f"{place} repeats a member", "each name once in an object", problem)
                return


@law("wire.json-content-type", applies=lambda x: _answered_chat(x) and (whole(x) or refusal(x)))
def json_content_type(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply in one piece, and a refusal, has the content type application/json."""
    if x.media_type != "application/json":
        yield Violation(
            f"an answer of status {x.status} in one piece is labelled otherwise",
            "application/json",
            x.media_type or "no content type",
        )


@law("wire.event-stream-content-type", applies=streamed)
def event_stream_content_type(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A streamed reply has the content type text/event-stream."""
    if x.media_type != "text/event-stream":
        yield Violation("a stream is labelled otherwise", "text/event-stream", x.media_type or "no content type")


@law("wire.whole-characters", applies=completed)
def whole_characters(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No text of the answer, and no single delta, has half a surrogate pair or U+FFFD that was not asked for."""
    asked = asked_text(x)
    if _REPLACEMENT in asked or _SURROGATE.search(asked):
        raise Undecided("the request itself holds broken characters, which an answer may repeat")
    for place, text in pieces_of(x):
        if _SURROGATE.search(text):
            yield Violation(f"{place} holds half of a surrogate pair", "whole characters", shortened(text))
            return
        if _REPLACEMENT in text:
            yield Violation(f"{place} holds U+FFFD in place of a character", "whole characters", shortened(text))
            return


@law("wire.no-nul-characters", applies=completed)
def no_nul_characters(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """No text of the answer holds a NUL character that the request does not hold itself."""
    for place, text in pieces_of(x):
        if "\0" in text and not asked_to_write(x, "\\u0000"):
            yield Violation(f"{place} holds a NUL character", "text without NUL", shortened(text))
            return


@law("wire.no-control-tokens", applies=readable)
def no_control_tokens(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The content holds no control token of a chat template that the request does not hold itself."""
    text = visible_text(x)
    for found in _CONTROL_TOKEN.finditer(text):
        if not asked_to_write(x, found.group()):
            yield Violation("a control token stands in the content", "the answer's text alone", shortened(text))
            return


@law("wire.no-padding-before-body", applies=whole)
def no_padding_before_body(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """The first byte of a reply in one piece belongs to its JSON."""
    body = x.received.body if x.received else b""
    blank = len(body) - len(body.lstrip(b" \t\r\n"))
    if blank:
        yield Violation(f"{blank} blank bytes come before the JSON", "JSON from the first byte", shortened(body[:40]))


def _begun(x: Exchange) -> bool:
    return chat(x) and x.received is not None and x.end not in ("hung-up", "budget")


@law("wire.bodies-arrive-whole", applies=_begun)
def bodies_arrive_whole(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """An answer that has begun comes to its end: the connection does not break off inside a body."""
    if x.end in ("reset", "protocol-error"):
        assert x.received is not None
        got = f"{len(x.received.body)} bytes, then: {x.problem}"
        yield Violation("the connection broke inside the answer", "the whole body", got)
    elif x.end != "complete":
        raise Undecided(f"the suite stopped reading ({x.end}): {x.problem}")
