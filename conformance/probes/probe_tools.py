"""Whether tools are called as the request says, in every form of `tool_choice`, streamed and not."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.ask import Asker
from conformance.laws.calls import calls_of
from conformance.probe import Effort, probe
from conformance.traffic.bodies import CLOCK, RATE, WEATHER, Bodies, Body, function
from conformance.traffic.tools import PROTOCOL_NAMES, Tool, allowed, custom_tool, many, name_of, named, objects, tool

TWO_PLACES = "What is the weather in Paris and in Rome?"
TRIES = 4
EVERY_CALL = (
    "tools.called-names-are-offered", "tools.arguments-are-json", "tools.arguments-are-an-object",
    "tools.ids-are-not-empty", "tools.ids-differ-across-replies", "tools.calls-are-structured",
    "tools.indices-run-from-zero", "finish.tool-calls-with-calls",
)  # fmt: skip
STREAMED_CALL = (
    "tools.first-fragment-names-the-call", "tools.id-and-name-come-once", "tools.calls-arrive-complete",
)  # fmt: skip


def _asking(bodies: Bodies, text: str, *offered: Tool, max_tokens: int = 96, **fields: object) -> Body:
    return bodies.chat(text, max_tokens=max_tokens, tools=list(offered) or [WEATHER, CLOCK, RATE], **fields)


@probe(
    "tools.every-choice-is-accepted", "tools.none-yields-no-call", "tools.required-yields-a-call",
    "response.text-unless-calls",
    "tools.named-choice-is-obeyed", "tools.parallel-false-yields-at-most-one", "tools.call-only-content",
    "finish.tool-calls-for-named-choice", "finish.no-tool-calls-without-calls", *EVERY_CALL, *STREAMED_CALL,
    effort="smoke", cost=4,
)  # fmt: skip
def test_every_choice(ask: Asker, bodies: Bodies) -> None:
    """Ask with each documented `tool_choice`.

    A client relies on all four: to switch tools off, to leave them to the model, to force one, to force this one.
    """
    question = "What is the weather in Paris?"
    exchanges = [
        ask(_asking(bodies, question, tool_choice="none", max_tokens=32)),
        ask(_asking(bodies, question, tool_choice="auto")),
        ask(_asking(bodies, TWO_PLACES, tool_choice="required", parallel_tool_calls=False, stream=True)),
        ask(_asking(bodies, question, tool_choice=named("get_time"))),
    ]
    ask.case("accepted", ["tools.every-choice-is-accepted"], asked=exchanges)


@probe("tools.ids-are-distinct", "tools.indices-run-from-zero", "tools.calls-are-structured", *EVERY_CALL, cost=1)
def test_several_calls_in_one_reply(ask: Asker, bodies: Bodies) -> None:
    """Ask for two things at once, so that one reply has two calls.

    Ids that repeat within a reply cannot be answered apart. The model is free to make one call only, so it is
    asked again in other words, up to four times.
    """
    questions = [
        TWO_PLACES,
        "Get the weather in Paris and the time in Rome.",
        TWO_PLACES,
        "Weather in Oslo, Rome, Bern?",
    ]
    for question in questions[:TRIES]:
        exchange = ask(_asking(bodies, question, tool_choice="required", max_tokens=160))
        if len(calls_of(exchange)) > 1 or not exchange.ok:
            return


@probe("tools.ids-are-distinct", "tools.indices-run-from-zero", *EVERY_CALL, *STREAMED_CALL, cost=1)
def test_several_calls_streamed(ask: Asker, bodies: Bodies) -> None:
    """Ask for two things at once in a stream: the fragments of two calls must not run into each other."""
    ask(_asking(bodies, TWO_PLACES, tool_choice="required", max_tokens=160, stream=True))


@probe("tools.named-choice-is-obeyed", "finish.tool-calls-for-named-choice", *EVERY_CALL, *STREAMED_CALL, cost=1)
def test_a_named_call_streamed(ask: Asker, bodies: Bodies) -> None:
    """Force a function by name in a stream, with a question that suits another: the choice decides."""
    ask(_asking(bodies, "What time is it in Oslo?", tool_choice=named("get_weather"), stream=True))


@probe("tools.none-yields-no-call", "finish.no-tool-calls-without-calls", cost=1)
def test_none_streamed(ask: Asker, bodies: Bodies) -> None:
    """Forbid calls in a stream, with a question that asks for one."""
    question = "Call get_weather for Paris."
    ask(_asking(bodies, question, tool_choice="none", max_tokens=32, stream=True))


@probe("tools.parallel-false-yields-at-most-one", *EVERY_CALL, cost=2)
def test_one_call_at_most(ask: Asker, bodies: Bodies) -> None:
    """Forbid parallel calls where two are called for, left to the model and forced."""
    for choice in ("auto", "required"):
        ask(_asking(bodies, TWO_PLACES, tool_choice=choice, parallel_tool_calls=False, max_tokens=160))


@probe("tools.allowed-tools-is-obeyed", *EVERY_CALL, cost=2)
def test_allowed_tools(ask: Asker, bodies: Bodies) -> None:
    """Allow one of three tools while the question suits another; only the allowed one may be called."""
    ask(_asking(bodies, "What is the weather in Paris?", tool_choice=allowed(["get_time"])))
    ask(_asking(bodies, "What is the weather in Paris?", tool_choice=allowed(["get_weather", "get_time"], "auto")))


@probe("tools.custom-tools-are-accepted", cost=1)
def test_custom_tools(ask: Asker, bodies: Bodies) -> None:
    """Offer a custom tool beside a function; how it would be called is left open, that it is accepted is not."""
    exchange = ask(_asking(bodies, "Hello", WEATHER, custom_tool(), max_tokens=16))
    ask.case("accepted", ["tools.custom-tools-are-accepted"], asked=exchange)


@probe("tools.legacy-functions-are-accepted", "tools.legacy-call-carrier", cost=2)
def test_legacy_functions(ask: Asker, bodies: Bodies) -> None:
    """Offer functions in the older form, once forced by name and once not; clients of that age still do."""
    fields = {"functions": [WEATHER["function"]]}
    question = "What is the weather in Paris?"
    exchanges = [
        ask(bodies.chat(question, max_tokens=96, function_call={"name": "get_weather"}, **fields)),
        ask(bodies.chat("Hello", max_tokens=16, function_call="none", **fields)),
    ]
    ask.case("accepted", ["tools.legacy-functions-are-accepted"], asked=exchanges)


@probe("tools.legacy-functions-yield-to-tools", *EVERY_CALL, cost=1)
def test_tools_before_legacy_functions(ask: Asker, bodies: Bodies) -> None:
    """Offer tools and older functions together and force a call: it must be one of the tools."""
    old = function("get_weather", "Get the current weather", city={"type": "string"})["function"]
    ask(_asking(bodies, "What is the weather in Paris?", CLOCK, functions=[old], tool_choice="required"))


@probe("finish.length-when-cut", "tools.calls-are-structured", cost=2)
def test_a_call_that_is_cut(ask: Asker, bodies: Bodies) -> None:
    """Cut a forced call short by the token limit: no half call may pass for a finished one, nor turn into text."""
    for stream in (False, True):
        ask(bodies.forced_call(max_tokens=4, stream=stream))


@probe("tools.named-choice-is-obeyed", *EVERY_CALL, cost=1)
def test_many_tools(ask: Asker, bodies: Bodies) -> None:
    """Offer two dozen tools and force the last of them."""
    offered = many(24)
    ask(_asking(bodies, "Look up the key tea.", *offered, tool_choice=named(name_of(offered[-1]))))


def _named_probe(name: str) -> Any:
    common = name in ("function", "none")  # the rest is for an exhaustive run
    effort: Effort = "standard" if common else "exhaustive"
    mark = probe("tools.named-choice-is-obeyed", *EVERY_CALL, *STREAMED_CALL, effort=effort, cost=1)
    return pytest.param(name, marks=mark)


@pytest.mark.parametrize("name", [_named_probe(name) for name in PROTOCOL_NAMES])
def test_names_that_mean_something_else(ask: Asker, bodies: Bodies, name: str) -> None:
    """Call a function whose name is also a word of the protocol, streamed, so that it cannot be taken for that word."""
    one = tool(name, objects(city={"type": "string"}), "Get the weather")
    ask(_asking(bodies, "What is the weather in Paris?", one, tool_choice=named(name), stream=True))


@probe("tools.none-yields-no-call", "tools.required-yields-a-call", *EVERY_CALL, effort="exhaustive", cost=12)
def test_choices_hold_again_and_again(ask: Asker, bodies: Bodies) -> None:
    """Repeat the forced and the forbidden call with other questions and some randomness: they always hold."""
    for city in ("Oslo", "Lima", "Kyoto"):
        for choice in ("none", "required"):
            for stream in (False, True):
                text = f"What is the weather in {city}?"
                ask(_asking(bodies, text, tool_choice=choice, stream=stream, temperature=1.0, max_tokens=64))
