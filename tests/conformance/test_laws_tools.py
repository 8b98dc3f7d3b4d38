"""The laws of tool choice, of arguments and of the message that carries calls, on exchanges made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, found, run_verdict, verdict
from tests.conformance.made import call, chunk, completion, streamed, whole

WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
CLOCK = {"type": "function", "function": {"name": "get_time"}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}


def asked(choice: Any = "auto", **more: Any) -> dict[str, Any]:
    return {"tools": [WEATHER, CLOCK], "tool_choice": choice, **more}


def answer(*calls: dict[str, Any], content: Any = None, finish: str = "tool_calls", **request: Any) -> Any:
    return whole(request or asked(), completion(content, finish, tool_calls=list(calls)))


def text(choice: Any, finish: str = "stop", content: str = "Hello", **more: Any) -> Any:
    return whole(asked(choice, **more), completion(content, finish))


class TestChoice:
    def test_none_yields_no_call(self) -> None:
        assert verdict("tools.none-yields-no-call", text("none")) == KEPT
        (violation,) = found("tools.none-yields-no-call", answer(call(), call("get_time"), **asked("none")))
        assert (violation.expected, violation.observed) == ("no call", "'get_weather', 'get_time'")

    def test_none_is_broken_by_a_streamed_call_too(self) -> None:
        stream = streamed([chunk({"tool_calls": [call(index=0)]}), chunk({}, "stop")], asked("none"))
        assert verdict("tools.none-yields-no-call", stream) not in (KEPT, UNSEEN)

    def test_none_needs_tools_to_mean_something(self) -> None:
        assert verdict("tools.none-yields-no-call", whole({"tool_choice": "none"})) == UNSEEN
        assert verdict("tools.none-yields-no-call", answer(call())) == UNSEEN
        assert verdict("tools.none-yields-no-call", answer(call(), **asked("required"))) == UNSEEN

    def test_required_yields_a_call(self) -> None:
        assert verdict("tools.required-yields-a-call", answer(call(), **asked("required"))) == KEPT
        assert verdict("tools.required-yields-a-call", text("required")) == "a call was forced and none came"
        for other in ("auto", "strictly", NAMED):
            assert verdict("tools.required-yields-a-call", text(other)) == UNSEEN

    @pytest.mark.parametrize("finish", ["length", "content_filter", "inference_timeout"])
    def test_a_reply_that_was_cut_does_not_decide(self, finish: str) -> None:
        assert verdict("tools.required-yields-a-call", text("required", finish)) == UNDECIDED

    def test_an_odd_finish_reason_does_not_break_the_law(self) -> None:
        reply = whole(asked("required"), completion("Hello", ["stop"]))
        assert verdict("tools.required-yields-a-call", reply) == "a call was forced and none came"

    def test_every_choice_must_call(self) -> None:
        body = completion(None, "tool_calls", tool_calls=[call()])
        body["choices"].append({"index": 1, "message": {"role": "assistant", "content": "no"}, "finish_reason": "stop"})
        assert (
            verdict("tools.required-yields-a-call", whole(asked("required"), body)) == "a call was forced and none came"
        )

    def test_named_choice_is_obeyed(self) -> None:
        assert verdict("tools.named-choice-is-obeyed", answer(call(), **asked(NAMED))) == KEPT
        assert "none came" in verdict("tools.named-choice-is-obeyed", text(NAMED))
        assert verdict("tools.named-choice-is-obeyed", text(NAMED, "length")) == UNDECIDED
        assert verdict("tools.named-choice-is-obeyed", text("required")) == UNSEEN

    def test_another_function_than_the_named_one(self) -> None:
        reply = answer(call(), call("get_time"), **asked(NAMED))
        assert "other than the forced one" in verdict("tools.named-choice-is-obeyed", reply)
        late = {"type": "function", "function": {"name": "get_time"}}
        assert "other than the forced one" in verdict("tools.named-choice-is-obeyed", answer(call(), **asked(late)))

    def test_a_function_that_is_not_offered_is_another_laws_business(self) -> None:
        stranger = answer(call("get_news"), **asked(NAMED))
        assert verdict("tools.named-choice-is-obeyed", stranger) == UNDECIDED
        assert "does not offer" in verdict("tools.called-names-are-offered", stranger)

    @pytest.mark.parametrize("mode", ["auto", "required", "unknown"])
    def test_allowed_tools(self, mode: str) -> None:
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [NAMED]}}
        name = "tools.allowed-tools-is-obeyed"
        assert verdict(name, answer(call(), **asked(choice))) == KEPT
        assert "outside" in verdict(name, answer(call("get_time"), **asked(choice)))
        assert verdict(name, text(choice)) == ("a call was forced and none came" if mode == "required" else UNDECIDED)
        assert verdict(name, text("auto")) == UNSEEN

    def test_parallel_false(self) -> None:
        request, name = asked(parallel_tool_calls=False), "tools.parallel-false-yields-at-most-one"
        assert verdict(name, answer(call(), **request)) == KEPT
        assert verdict(name, text("auto", parallel_tool_calls=False)) == KEPT
        assert "several calls" in verdict(name, answer(call(), call(), **request))
        for other in (True, None, 0):
            assert verdict(name, answer(call(), call(), **asked(parallel_tool_calls=other))) == UNSEEN

    def test_called_names_are_offered(self) -> None:
        name = "tools.called-names-are-offered"
        assert verdict(name, answer(call(), call("get_time"))) == KEPT
        assert "does not offer" in verdict(name, answer(call("get_news")))
        assert "does not offer" in verdict(name, answer(call(["get_weather"])))
        assert verdict(name, text("auto")) == UNSEEN
        custom = {"tools": [{"type": "custom", "custom": {"name": "note"}}]}
        assert verdict(name, answer(call("note"), **custom)) == KEPT


FUNCTIONS = {"functions": [{"name": "get_news"}]}


class TestLegacy:
    def test_functions_yield_to_tools(self) -> None:
        name = "tools.legacy-functions-yield-to-tools"
        both = {**asked("required"), **FUNCTIONS}
        assert verdict(name, answer(call(), **both)) == KEPT
        assert "get_news" not in verdict(name, answer(call(), **both))
        assert "although tools is given" in verdict(name, answer(call("get_news"), **both))
        legacy = whole(
            both, completion(None, "function_call", function_call={"name": "get_weather", "arguments": "{}"})
        )
        assert "although tools is given" in verdict(name, legacy)
        assert verdict(name, answer(call(), **asked())) == UNSEEN

    def test_carrier(self) -> None:
        name = "tools.legacy-call-carrier"
        good = completion(None, "function_call", function_call={"name": "get_news", "arguments": "{}"})
        assert verdict(name, whole(FUNCTIONS, good)) == KEPT
        assert "only as tool_calls" in verdict(name, answer(call("get_news"), **FUNCTIONS))
        assert verdict(name, whole(FUNCTIONS)) == UNDECIDED
        assert verdict(name, whole({**FUNCTIONS, "function_call": "none"})) == UNSEEN
        assert verdict(name, whole({**FUNCTIONS, "tools": [WEATHER]})) == UNSEEN


class TestArguments:
    @pytest.mark.parametrize("arguments", ['{"city": "Łódź"}', "{}", "[1]", '"text"', "null"])
    def test_json(self, arguments: str) -> None:
        assert verdict("tools.arguments-are-json", answer(call(arguments=arguments))) == KEPT

    @pytest.mark.parametrize(
        "arguments", ["", "{", '{"p": "C:\\Users"}', '{"a": NaN}', "{} {}", {"city": "Oslo"}, None]
    )
    def test_not_json(self, arguments: Any) -> None:
        reply = answer(call(arguments=arguments))
        assert "not a JSON text" in verdict("tools.arguments-are-json", reply)
        assert verdict("tools.arguments-are-an-object", reply) == UNDECIDED

    def test_joined_from_fragments(self) -> None:
        first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"ci'}}
        rest = {"index": 0, "function": {"arguments": 'ty": "Oslo"}'}}
        stream = streamed(
            [chunk({"tool_calls": [first]}), chunk({"tool_calls": [rest]}), chunk({}, "tool_calls")], asked()
        )
        assert verdict("tools.arguments-are-json", stream) == KEPT
        assert verdict("tools.arguments-are-an-object", stream) == KEPT

    def test_a_call_that_was_cut_is_not_judged(self) -> None:
        assert verdict("tools.arguments-are-json", answer(call(arguments="{"), finish="length")) == UNSEEN

    def test_only_the_calls_that_were_not_cut_are_judged(self) -> None:
        strict = {"name": "get_time", "strict": True, "parameters": {"type": "object", "required": ["zone"]}}
        request = asked(n=2, tools=[WEATHER, {"type": "function", "function": strict}])
        body = completion(None, "tool_calls", tool_calls=[call()])
        for arguments in ('"cut', "[]", "{}"):
            cut = completion(None, "length", tool_calls=[call("get_time", arguments)])
            both = whole(request, {**body, "choices": [*body["choices"], {**cut["choices"][0], "index": 1}]})
            assert verdict("tools.arguments-are-json", both) == KEPT
            assert verdict("tools.arguments-are-an-object", both) == KEPT
            assert verdict("tools.strict-arguments-match-schema", both) == UNSEEN

    def test_each_call_is_judged(self) -> None:
        both = answer(call(arguments="{"), call(arguments='"twice"'))
        assert "encoded twice" in verdict("tools.arguments-are-an-object", both)

    def test_the_input_of_a_custom_tool_is_free_text(self) -> None:
        request = {"tools": [{"type": "custom", "custom": {"name": "note"}}]}
        assert verdict("tools.arguments-are-json", answer(call("note", "free text"), **request)) == UNSEEN

    def test_object(self) -> None:
        name = "tools.arguments-are-an-object"
        assert verdict(name, answer(call())) == KEPT
        assert "encoded twice" in verdict(name, answer(call(arguments='"{\\"city\\": 1}"')))
        assert "no object" in verdict(name, answer(call(arguments="[1]")))

    def test_strict(self) -> None:
        name = "tools.strict-arguments-match-schema"
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

        def reply(arguments: str, strict: Any = True, parameters: Any = None) -> Any:
            definition = {"name": "get_weather", "strict": strict, "parameters": parameters or schema}
            return answer(call(arguments=arguments), tools=[{"type": "function", "function": definition}])

        assert verdict(name, reply('{"city": "Oslo"}')) == KEPT
        assert "break the schema" in verdict(name, reply('{"city": 5}'))
        assert "break the schema" in verdict(name, reply("{}"))
        for loose in (False, None, 1):
            assert verdict(name, reply("{}", strict=loose)) == UNSEEN
        assert verdict(name, reply("{")) == UNDECIDED
        assert verdict(name, reply('"{}"')) == UNDECIDED
        assert verdict(name, reply("{}", parameters={"$ref": "https://example.com/schema"})) == UNDECIDED
        assert verdict(name, reply("{}", parameters={"type": "nothing"})) == UNDECIDED


class TestMessage:
    def test_ids_are_not_empty(self) -> None:
        name = "tools.ids-are-not-empty"
        assert verdict(name, answer(call())) == KEPT
        for bad in ("", None, 7):
            assert "has no id" in verdict(name, answer(call(id=bad)))
            assert "has no id" in verdict(name, answer(call(id=bad), finish="length"))
        elsewhere = answer(call(id=""))
        elsewhere = replace(elsewhere, sent=replace(elsewhere.sent, url="http://127.0.0.1:9/v1/other"))
        assert verdict(name, elsewhere) == UNSEEN

    def test_ids_are_distinct(self) -> None:
        name = "tools.ids-are-distinct"
        assert verdict(name, answer(call(), call())) == KEPT
        assert "same id" in verdict(name, answer(call(id="a"), call(id="a")))
        assert verdict(name, answer(call(id=None), call(id=""))) == UNDECIDED
        assert verdict(name, answer(call())) == UNSEEN
        assert verdict(name, text("auto")) == UNSEEN

    def test_ids_differ_across_replies(self) -> None:
        name = "tools.ids-differ-across-replies"
        assert run_verdict(name, answer(call()), answer(call()), text("auto")) == KEPT
        assert "same id" in run_verdict(name, answer(call(id="a")), answer(call(id="a")))
        assert run_verdict(name, answer(call())) == UNDECIDED
        assert run_verdict(name, *(answer(call()) for _ in range(3))) == KEPT
        for odd in (7, "", None):
            assert run_verdict(name, answer(call(id=odd)), answer(call(id=odd))) == UNDECIDED

    def test_calls_are_structured(self) -> None:
        name = "tools.calls-are-structured"
        assert verdict(name, answer(call(), content="I look it up.")) == KEPT
        assert verdict(name, text("auto", content="Call me. <b>tool</b>")) == KEPT
        for choice in ("auto", "required", None):
            assert "markup" in verdict(name, text(choice, content='<tool_call>{"name": "get_weather"}'))
        assert verdict(name, text("none", content="<tool_call>")) == UNSEEN
        quoted = asked(messages=[{"role": "user", "content": "Say <tool_call>"}])
        assert verdict(name, whole(quoted, completion("<tool_call>"))) == KEPT

    def test_the_first_markup_is_named(self) -> None:
        (violation,) = found("tools.calls-are-structured", text("auto", content="[TOOL_CALL] <tool_call>"))
        assert violation.observed == "<tool_call in '[TOOL_CALL] <tool_call>'"

    def test_only_the_first_of_two_calls_is_parsed(self) -> None:
        second = '{"name": "get_time", "arguments": {"city": "Oslo"}}'
        assert "left as text" in verdict("tools.calls-are-structured", answer(call(), content=second))
        assert verdict("tools.calls-are-structured", text("auto", content=second)) == KEPT

    def test_content_beside_nothing_but_calls(self) -> None:
        name = "tools.call-only-content"
        absent = completion(None, "tool_calls", tool_calls=[call()])
        del absent["choices"][0]["message"]["content"]
        assert verdict(name, whole(asked(), absent), allowed=["absent"]) == KEPT
        assert verdict(name, answer(call()), allowed=["absent"]) != KEPT
        assert verdict(name, answer(call()), allowed=["null", "absent"]) == KEPT
        assert verdict(name, answer(call(), content=""), allowed=["null", "absent"]) != KEPT
        assert verdict(name, answer(call(), content="text"), allowed=["absent"]) == UNSEEN
        assert verdict(name, text("auto"), allowed=["absent"]) == UNSEEN

    @pytest.mark.parametrize("other", [{"content": None}, {"content": "text"}, {"content": "text", "tool_calls": [{}]}])
    def test_each_message_with_nothing_but_calls_counts(self, other: dict[str, Any]) -> None:
        def found(content: dict[str, Any]) -> str:
            messages = [other, {"tool_calls": [call()], **content}]
            choices = [{"index": i, "message": one, "finish_reason": "stop"} for i, one in enumerate(messages)]
            reply = whole(asked(n=2), {**completion(), "choices": choices})
            return verdict("tools.call-only-content", reply, allowed=["absent"])

        assert found({}) == KEPT
        assert "only tool calls" in found({"content": None})
