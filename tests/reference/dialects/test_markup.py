"""From tokens to pieces: thinking, calls and what only looks like them."""

from __future__ import annotations

import pytest

from reference_impl.engine.text import Vocabulary
from reference_impl.model.checkpoint import LoadedModel
from reference_impl.server.markup import Markers, ReplyParser
from reference_impl.server.pieces import CallArguments, CallClosed, CallOpened, Content, Reasoning, Reply, merged
from tests.reference.dialects.scripted import ScriptedEngine


def read(model: LoadedModel, script: str, *, thinking: bool = False, stops: tuple[str, ...] = ()) -> Reply:
    parser = ReplyParser(Vocabulary(model.tokenizer), Markers.of(model.tokenizer), thinking=thinking, stops=list(stops))
    reply = Reply()
    for token in ScriptedEngine(model.tokenizer).tokens(script):
        for piece in parser.push(token):
            reply.add(piece)
        if parser.stopped:
            return reply
    for piece in parser.finish():
        reply.add(piece)
    return reply


def test_markup_spelled_out_is_text(model: LoadedModel) -> None:
    parser = ReplyParser(Vocabulary(model.tokenizer), Markers.of(model.tokenizer), thinking=False, stops=[])
    reply = Reply()
    for character in "<tool_call>{}":
        for token in model.tokenizer.encode(character, add_special_tokens=False).ids:
            for piece in parser.push(token):
                reply.add(piece)

    assert (reply.content, reply.calls) == ("<tool_call>{}", [])


def test_arguments_keep_their_text(model: LoadedModel) -> None:
    arguments = '{"a": [1, {"b": "}\\"]"}], "c": "żółw 🐢 \\u00e9"}'

    reply = read(model, f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>')

    assert [(call.name, call.arguments, call.complete) for call in reply.calls] == [("f", arguments, True)]
    assert reply.content == ""


@pytest.mark.parametrize("body", ["", "nonsense", '{"name": "f"}', '{"arguments": {}, "name": "f"}'])
def test_a_call_that_cannot_be_read_is_dropped(model: LoadedModel, body: str) -> None:
    reply = read(model, f"Hi.<tool_call>{body}</tool_call>")

    assert (reply.content, reply.calls) == ("Hi.", [])


def test_white_space_around_a_thought_is_no_text(model: LoadedModel) -> None:
    reply = read(model, "\n one\n\ntwo \n</think>\n\nAnswer.\n", thinking=True)

    assert (reply.reasoning, reply.content) == ("one\n\ntwo", "Answer.\n")


def test_stop_strings_apply_to_the_answer_only(model: LoadedModel) -> None:
    reply = read(model, "END of thought</think>Answer END more", thinking=True, stops=("END",))

    assert (reply.reasoning, reply.content) == ("END of thought", "Answer ")


def test_stop_strings_leave_arguments_alone(model: LoadedModel) -> None:
    reply = read(model, 'x<tool_call>{"name": "f", "arguments": {"a": "END"}}</tool_call>', stops=("END",))

    assert reply.calls[0].arguments == '{"a": "END"}'


def test_bytes_that_are_no_text_are_dropped(model: LoadedModel) -> None:
    parser = ReplyParser(Vocabulary(model.tokenizer), Markers.of(model.tokenizer), thinking=False, stops=[])
    emoji = model.tokenizer.encode("🐢", add_special_tokens=False).ids
    reply = Reply()
    for token in [*emoji[:2], *model.tokenizer.encode("a\x00b", add_special_tokens=False).ids, *emoji]:
        for piece in parser.push(token):
            reply.add(piece)

    assert reply.content == "ab🐢"


def test_markup_is_spelled_where_the_vocabulary_has_no_tokens_for_it(model: LoadedModel) -> None:
    parser = ReplyParser(Vocabulary(model.tokenizer), Markers({}, spelled=True), thinking=True, stops=[])
    script = 'Hm <tool.</think>\nLook <b>: <tool_call>\n{"name": "f", "arguments": {"a": "<"}}\n</tool_call>'
    reply = Reply()
    for character in script:
        for token in model.tokenizer.encode(character, add_special_tokens=False).ids:
            for piece in parser.push(token):
                reply.add(piece)
    for piece in parser.finish():
        reply.add(piece)

    assert (reply.reasoning, reply.content) == ("Hm <tool.", "Look <b>: ")
    assert [(call.name, call.arguments, call.complete) for call in reply.calls] == [("f", '{"a": "<"}', True)]


def test_what_only_begins_like_markup_is_released_at_the_end(model: LoadedModel) -> None:
    parser = ReplyParser(Vocabulary(model.tokenizer), Markers({}, spelled=True), thinking=False, stops=[])
    reply = Reply()
    for token in ScriptedEngine(model.tokenizer).tokens("1 <tool_"):
        for piece in parser.push(token):
            reply.add(piece)
    for piece in parser.finish():
        reply.add(piece)

    assert reply.content == "1 <tool_"


def test_merged_pieces_keep_their_order_and_kinds():
    pieces = [
        Reasoning("a"), Reasoning("b"), Content("c"), Content("d"), CallOpened(0, "f"), CallArguments(0, "{"),
        CallArguments(0, "}"), CallClosed(0), CallOpened(1, "f"), CallArguments(1, "{}"), CallClosed(1), Content("e"),
    ]  # fmt: skip
    assert list(merged(pieces)) == [
        Reasoning("ab"), Content("cd"), CallOpened(0, "f"), CallArguments(0, "{}"), CallClosed(0),
        CallOpened(1, "f"), CallArguments(1, "{}"), CallClosed(1), Content("e"),
    ]  # fmt: skip
    apart = [CallArguments(0, "{"), CallArguments(1, "}")]
    assert list(merged(apart)) == apart
    assert list(merged([])) == []
