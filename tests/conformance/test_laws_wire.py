"""The laws of bytes, labels and characters, on answers made by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, found, verdict
from tests.conformance.made import ASKED, chunk, completion, exchange, refused, streamed, whole

DONE = b"data: [DONE]\n\n"
GOOD = whole()
STREAM = streamed([chunk({"role": "assistant", "content": "Hi"}), chunk({}, "stop")])
EVERY_ANSWER = (
    "wire.utf8",
    "wire.strict-json",
    "wire.no-duplicate-keys",
    "wire.whole-characters",
    "wire.no-nul-characters",
    "wire.no-control-tokens",
    "wire.bodies-arrive-whole",
)


def raw(body: bytes, asked=ASKED, media_type="application/json", status=200, **more):
    return exchange(asked, status, body, media_type, **more)


def events(*datas: str, asked=None):
    body = b"".join(b"data: " + data.encode() + b"\n\n" for data in datas) + DONE
    return raw(body, {**ASKED, "stream": True, **(asked or {})}, "text/event-stream")


@pytest.mark.parametrize("requirement", EVERY_ANSWER)
@pytest.mark.parametrize("answer", [GOOD, STREAM], ids=["whole", "streamed"])
def test_a_good_answer_keeps_them_all(requirement, answer):
    assert verdict(requirement, answer) == KEPT


def test_bytes_that_are_not_utf8():
    good = json.dumps(completion("é"), ensure_ascii=False)
    assert verdict("wire.utf8", raw(good.encode())) == KEPT
    assert "is not UTF-8" in verdict("wire.utf8", raw(good.encode("latin-1")))
    assert verdict("wire.utf8", raw(b"\xff", status=502)) == UNSEEN
    assert "byte 1 " in verdict("wire.utf8", raw(b"{\xff}", status=400))
    (violation,) = found("wire.utf8", raw(b"{\xff}"))
    assert violation.observed == repr(b"{\xff}")


@pytest.mark.parametrize(
    "body", [b'{"choices": [], "x": NaN}', b'{"choices": []} extra', b"nothing", b"\xef\xbb\xbf{}"]
)
def test_a_body_that_is_not_strict_json(body):
    assert "is not strict JSON" in verdict("wire.strict-json", raw(body))


def test_white_space_around_json_is_allowed():
    assert verdict("wire.strict-json", raw(b" \r\n{}\n\t")) == KEPT


def test_a_refusal_is_held_to_json_only_where_it_claims_to_be():
    assert verdict("wire.strict-json", raw(b"<html>", media_type="text/html", status=404)) == UNSEEN
    assert verdict("wire.strict-json", raw(b"<", media_type="application/atom+xml", status=404)) == UNSEEN
    assert verdict("wire.strict-json", raw(b"<", media_type="text/html", status=199)) == UNSEEN
    assert "not strict" in verdict("wire.strict-json", raw(b"{", status=404))


def test_a_chunk_with_nan():
    assert "event 2 is not strict" in verdict("wire.strict-json", events(json.dumps(chunk({})), '{"x": Infinity}'))


def test_an_event_that_is_no_object_is_another_promise():
    assert verdict("wire.strict-json", events(": still working")) == KEPT


def test_duplicate_members():
    assert "repeats a member" in verdict("wire.no-duplicate-keys", raw(b'{"id": "a", "x": {"b": 1, "b": 1}}'))
    assert "event 1 repeats" in verdict("wire.no-duplicate-keys", events('{"id": "a", "id": "a"}'))
    assert verdict("wire.strict-json", raw(b'{"id": 1, "id": 1}')) == KEPT


@pytest.mark.parametrize("media_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_labels(media_type):
    assert verdict("wire.json-content-type", raw(b"{}", media_type=media_type)) == KEPT


def test_wrong_labels():
    assert "labelled otherwise" in verdict("wire.json-content-type", raw(b"{}", media_type="text/plain"))
    assert "status 400" in verdict("wire.json-content-type", raw(b"{}", media_type="text/html", status=400))
    assert verdict("wire.json-content-type", refused(401)) == KEPT
    assert verdict("wire.json-content-type", raw(b"{}", media_type="text/html", status=504)) == UNSEEN
    assert verdict("wire.json-content-type", STREAM) == UNSEEN
    assert "labelled" in verdict("wire.event-stream-content-type", raw(DONE, {**ASKED, "stream": True}))
    assert verdict("wire.event-stream-content-type", STREAM) == KEPT
    assert verdict("wire.event-stream-content-type", GOOD) == UNSEEN


@pytest.mark.parametrize("media_type", ["application/a", "text/plain", "text/event", ""])
def test_the_label_is_shown(media_type):
    for rule, asked in (("wire.json-content-type", {}), ("wire.event-stream-content-type", {"stream": True})):
        (violation,) = found(rule, raw(b"{}", {**ASKED, **asked}, media_type=media_type))
        assert violation.observed == (media_type or "no content type")


@pytest.mark.parametrize("text", ["caf\ufffd", "\ud83d"])
def test_broken_characters(text):
    assert "message.content holds" in verdict("wire.whole-characters", whole(body=completion(text)))
    deltas = streamed([chunk({"content": "ok"}), chunk({"reasoning": text})])
    assert "chunk 2, delta.reasoning holds" in verdict("wire.whole-characters", deltas)
    asked = {"messages": [{"role": "user", "content": text}]}
    assert verdict("wire.whole-characters", whole(asked, completion(text))) == UNDECIDED


def test_a_character_torn_between_deltas():
    torn = streamed([chunk({"content": "\ud83d"}), chunk({"content": "\ude00"})])
    assert "half of a surrogate pair" in verdict("wire.whole-characters", torn)
    assert verdict("wire.whole-characters", whole(body=completion("👩‍👩‍👧‍👦"))) == KEPT


def test_broken_characters_in_arguments():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "\ufffd"}'}}
    assert "arguments holds U+FFFD" in verdict("wire.whole-characters", whole(body=completion(None, tool_calls=[call])))


@pytest.mark.parametrize("call", [{"id": "c"}, {"function": "f"}, {"function": {"arguments": 5}}, "c"])
def test_calls_without_text_hold_no_characters(call):
    assert verdict("wire.whole-characters", whole(body=completion(None, tool_calls=[call]))) == KEPT


def test_nul():
    assert "holds a NUL" in verdict("wire.no-nul-characters", whole(body=completion("ok\0")))
    asked = {"messages": [{"role": "user", "content": "a\0b"}]}
    assert verdict("wire.no-nul-characters", whole(asked, completion("a\0b"))) == KEPT


@pytest.mark.parametrize(
    "text", ["Done.<|im_end|>", "<|end_of_turn|>", "<｜end▁of▁sentence｜>", "<end_of_turn>", "[/INST] yes", "<</SYS>>"]
)
def test_control_tokens(text):
    assert "a control token" in verdict("wire.no-control-tokens", whole(body=completion(text)))
    parts = streamed([chunk({"content": text[:4]}), chunk({"content": text[4:]})])
    assert "a control token" in verdict("wire.no-control-tokens", parts)
    asked = {"messages": [{"role": "user", "content": f"Say {text}"}]}
    assert verdict("wire.no-control-tokens", whole(asked, completion(text))) == KEPT


@pytest.mark.parametrize("text", ["a <| b |> c", "<s>struck</s>", "x <|y", "[INST", "1 <2 and 3> 2"])
def test_text_that_only_looks_like_control_tokens(text):
    assert verdict("wire.no-control-tokens", whole(body=completion(text))) == KEPT


def test_padding():
    assert "2 blank bytes" in verdict("wire.no-padding-before-body", raw(b"\n {}"))
    assert verdict("wire.no-padding-before-body", raw(b"{}\n")) == KEPT
    assert verdict("wire.no-padding-before-body", STREAM) == UNSEEN


@pytest.mark.parametrize("end", ["reset", "protocol-error"])
def test_a_broken_connection(end):
    assert "the connection broke" in verdict("wire.bodies-arrive-whole", raw(b"{", end=end))
    (violation,) = found("wire.bodies-arrive-whole", raw(b"{", end=end))
    assert violation.observed.startswith("1 bytes")


@pytest.mark.parametrize(("end", "expected"), [("timeout", UNDECIDED), ("too-large", UNDECIDED), ("hung-up", UNSEEN)])
def test_what_the_suite_cut_itself(end, expected):
    assert verdict("wire.bodies-arrive-whole", raw(b"{", end=end)) == expected


def test_no_answer_is_no_broken_answer():
    assert verdict("wire.bodies-arrive-whole", replace(GOOD, received=None, end="reset")) == UNSEEN
