"""Conversations with calls and their results: what a client sends back after it has run the tools."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.ask import Asker
from conformance.laws.calls import member_of
from conformance.probe import probe
from conformance.traffic.bodies import CLOCK, WEATHER, Bodies, Body, changed
from conformance.wire.exchange import Exchange

Message = dict[str, Any]
QUESTION: Message = {"role": "user", "content": "What is the weather in Paris and in Rome?"}
IDS = ("call_a1b2c3d4", "call_e5f6a7b8")
OTHER_IDS = ("tool-use-9k2m", "0123456789.ab")  # as long as the others, but of another form
PARIS, ROME = "3 degrees, snowy", "31 degrees, sunny"


def _call(id: str, city: str, arguments: str | None = None) -> Message:
    text = f'{{"city": "{city}"}}' if arguments is None else arguments
    return {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": text}}


def _result(id: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": id, "content": content}


def _turn(*calls: Message, **members: Any) -> Message:
    return {"role": "assistant", "tool_calls": list(calls), **members}


def _conversation(bodies: Bodies, turn: Message, results: Sequence[Message], *, max_tokens: int = 48) -> Body:
    return bodies.conversation(QUESTION, turn, *results, tools=[WEATHER, CLOCK], max_tokens=max_tokens)


def _both(ids: Sequence[str] = IDS, content: Any = "I look it up.") -> Message:
    members = {} if content is ... else {"content": content}
    return _turn(_call(ids[0], "Paris"), _call(ids[1], "Rome"), **members)


def _with_messages(body: Body, turn: Message, results: Sequence[Message]) -> Body:
    """The same conversation (with the same nonce) after another turn and other results."""
    return changed(body, messages=[*body["messages"][:2], turn, *results])


def _message(x: Exchange) -> Message | None:
    """The assistant's message of a whole reply exactly as it came, or None where there is none."""
    choices = member_of(x.json.value, "choices")
    message = member_of(choices[0], "message") if isinstance(choices, list) and choices else None
    return copy.deepcopy(message) if isinstance(message, dict) else None


def _answers(message: Mapping[str, Any]) -> list[Message]:
    calls = message.get("tool_calls")
    ids = [member_of(call, "id") for call in calls] if isinstance(calls, list) else []
    return [_result(one, "21 degrees, sunny") for one in ids if isinstance(one, str)]


@probe(
    "messages.own-replies-are-accepted-back", "tools.named-choice-is-obeyed",
    effort="smoke", cost=2,
)  # fmt: skip
def test_a_call_and_its_result(ask: Asker, bodies: Bodies) -> None:
    """Force a call, and send it back word for word with a result.

    That is the whole use of tools: an endpoint that refuses its own reply ends every conversation with a tool.
    """
    first = bodies.conversation({"role": "user", "content": "What is the weather in Oslo?"}, max_tokens=128)
    choice = {"type": "function", "function": {"name": "get_weather"}}
    reply = ask(changed(first, tools=[WEATHER], tool_choice=choice))
    message = _message(reply)
    if message is None:
        return
    messages = [*first["messages"], message, *_answers(message)]
    exchange = ask(changed(first, messages=messages, tools=[WEATHER], max_tokens=48))
    ask.case("accepted", ["messages.own-replies-are-accepted-back"], asked=exchange)


@probe("messages.own-replies-are-accepted-back", cost=2)
def test_a_text_goes_back(ask: Asker, bodies: Bodies) -> None:
    """Send a text reply back word for word, with everything the endpoint put into its message."""
    first = bodies.conversation({"role": "user", "content": "Hello"}, max_tokens=24)
    message = _message(ask(first))
    if message is None:
        return
    messages = [*first["messages"], message, {"role": "user", "content": "Thank you"}]
    ask.case("accepted", ["messages.own-replies-are-accepted-back"], asked=ask(changed(first, messages=messages)))


@probe(
    "messages.tool-results-in-any-order", "messages.tool-results-are-accepted", "messages.call-ids-are-opaque",
    "messages.call-turn-without-content-is-accepted", "messages.call-turn-with-null-content-is-accepted",
    "messages.every-message-counts",
    cost=8,
)  # fmt: skip
def test_two_calls_and_their_results(ask: Asker, bodies: Bodies) -> None:
    """Send two calls with two results, then change one thing at a time: order, texts, ids, `content`, length.

    Results are matched by id. Swapped results must be read like results in order, and not like results whose
    texts were exchanged.
    """
    paris, rome = _result(IDS[0], PARIS), _result(IDS[1], ROME)
    body = _conversation(bodies, _both(), [paris, rome])
    in_order, again = ask(body), ask(body)
    swapped = ask(_with_messages(body, _both(), [rome, paris]))
    crossed = ask(_with_messages(body, _both(), [_result(IDS[0], ROME), _result(IDS[1], PARIS)]))
    renamed = [_result(OTHER_IDS[0], PARIS), _result(OTHER_IDS[1], ROME)]
    with_other_ids = ask(_with_messages(body, _both(OTHER_IDS), renamed))
    without = ask(_with_messages(body, _both(content=...), [paris, rome]))
    with_null = ask(_with_messages(body, _both(content=None), [paris, rome]))
    longer = _result(IDS[1], ROME + ", with a light breeze from the sea and no cloud in the whole of the sky")
    with_more = ask(_with_messages(body, _both(), [paris, longer]))
    ask.case("accepted", ["messages.tool-results-are-accepted"], asked=in_order)
    ask.case("result-order", in_order=in_order, again=again, swapped=swapped, crossed=crossed)
    ask.case("renamed-calls", plain=in_order, changed=with_other_ids)
    if in_order.ok:  # otherwise a refusal may be about something else
        ask.case("accepted", ["messages.call-turn-without-content-is-accepted"], asked=without)
        ask.case("accepted", ["messages.call-turn-with-null-content-is-accepted"], asked=with_null)
    ask.case("longer-prompt", ["messages.every-message-counts"], shorter=in_order, longer=with_more)


@probe("messages.tool-content-is-opaque", cost=1)
def test_results_of_every_look(ask: Asker, bodies: Bodies) -> None:
    """Send results that look like JSON, like broken JSON, like markup, and one that is empty: all are just text."""
    texts = ["[1, 2, 3]", '{"temperature": ', "", "null", "</tool_response><tool_call>", "Łódź 🌧️ \u2028 end"]
    ids = [f"call_{number}" for number in range(len(texts))]
    turn = _turn(*(_call(one, "Paris") for one in ids))
    results = [_result(one, text) for one, text in zip(ids, texts, strict=True)]
    ask.case("accepted", ["messages.tool-content-is-opaque"], asked=ask(_conversation(bodies, turn, results)))


@probe("messages.broken-past-arguments-are-survived", cost=1)
def test_broken_arguments_in_the_past(ask: Asker, bodies: Bodies) -> None:
    """Send earlier calls whose arguments are no JSON: a model wrote them once, and the conversation goes on."""
    turn = _turn(_call(IDS[0], "Paris", '{"city": '), _call(IDS[1], "Rome", "not json"))
    body = _conversation(bodies, turn, [_result(IDS[0], PARIS), _result(IDS[1], ROME)])
    ask.case("survived", ["messages.broken-past-arguments-are-survived"], asked=ask(body))


@probe("errors.loose-ends-are-survived", cost=4)
def test_loose_ends(ask: Asker, bodies: Bodies) -> None:
    """Send a result without a call, a call without a result, no tools at all, and a choice among none.

    Whether these are refused is left open; none of them is a reason for a server error.
    """
    exchanges = [
        ask(bodies.conversation(QUESTION, _result("call_unknown", PARIS), tools=[WEATHER], max_tokens=16)),
        ask(bodies.conversation(QUESTION, _both(), QUESTION, tools=[WEATHER], max_tokens=16)),
        ask(bodies.chat("Hello", tools=[], max_tokens=16)),
        ask(bodies.chat("Hello", tool_choice="auto", max_tokens=16)),
    ]
    ask.case("survived", ["errors.loose-ends-are-survived"], asked=exchanges)
