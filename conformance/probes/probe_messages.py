"""Conversations: every role, names, parts, any text, and that all of it reaches the model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from conformance.ask import Asker
from conformance.probe import probe
from conformance.probes.pairs import accept
from conformance.traffic.bodies import WEATHER, Bodies, Body, changed
from conformance.traffic.carriers import CALL_ID, SHORT
from conformance.traffic.conversations import TEXTS, conversations
from conformance.traffic.images import text_part
from conformance.traffic.ledger import explore
from spec.model import Profile

ROLES = "messages.every-role-is-accepted"
NAMES = "messages.name-is-accepted"
PARTS = "messages.text-parts-on-every-role"
ANY_TEXT = "messages.any-text-is-accepted"
COUNTS = "messages.every-message-counts"
SURROGATE = "messages.lone-surrogate-is-survived"
DRAWN, DRAWN_EXHAUSTIVE = 4, 40
#: What each role may say; a result needs the call before it.
SPOKEN: Mapping[str, list[dict[str, Any]]] = {
    "system": [{"role": "system", "content": "Answer briefly."}],
    "developer": [{"role": "developer", "content": "Answer in English."}],
    "user": [{"role": "user", "content": "What is the weather in Paris?"}],
    "assistant": [{"role": "assistant", "content": "One moment."}, {"role": "user", "content": "Well?"}],
    "tool": [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": CALL_ID,
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": CALL_ID, "content": "Clear."},
    ],
}


def _speaking(bodies: Bodies, *roles: str, change: str = "") -> Body:
    """A conversation in which these roles speak; `change` is what is done to their messages (name or parts)."""
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    messages = [
        _changed(message, change) if message["role"] in roles else message for r in roles for message in SPOKEN[r]
    ]
    tools = {"tools": [WEATHER]} if "tool" in roles else {}
    return changed(body, messages=[*messages, *body["messages"]], **tools)


def _changed(message: dict[str, Any], change: str) -> dict[str, Any]:
    if change == "name":
        return {**message, "name": "ada"}
    return {**message, "content": [text_part(message["content"] or "Look.")]} if change == "parts" else message


def _roles(ask: Asker, bodies: Bodies, profile: Profile, requirement: str, change: str = "") -> None:
    roles = profile.promises[requirement].params["roles"]
    apart = {role: ([requirement], _speaking(bodies, role, change=change)) for role in roles}
    accept(ask, _speaking(bodies, *roles, change=change), [requirement], apart)


@probe(ROLES, effort="standard", cost=1)
def test_every_role(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Let every documented role speak in one conversation; each by itself only if that is refused."""
    _roles(ask, bodies, profile, ROLES)


@probe(NAMES, effort="standard", cost=1)
def test_every_role_named(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Name the speaker in every message that may have a name."""
    _roles(ask, bodies, profile, NAMES, "name")


@probe(PARTS, effort="standard", cost=1)
def test_every_role_in_parts(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send the text of every message as an array with one text part."""
    _roles(ask, bodies, profile, PARTS, "parts")


@probe("messages.name-reaches-the-model", effort="standard", cost=2)
def test_name_reaches_the_model(ask: Asker, bodies: Bodies) -> None:
    """Add a long name to a message: the prompt grows."""
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    named = changed(body)
    named["messages"][0]["name"] = "wilhelmina_konstantynopolitanska"
    ask.case("longer-prompt", ["messages.name-reaches-the-model"], shorter=ask(body), longer=ask(named))


@probe(COUNTS, effort="standard", cost=4)
def test_every_message_counts(ask: Asker, bodies: Bodies) -> None:
    """Add words to a conversation's first message, then a message in its middle, then a part to its last one.

    Each time the prompt must grow: whatever is sent reaches the model.
    """
    first = {"role": "system", "content": "Answer briefly."}
    turns = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    last = body["messages"][0]
    wordy = {"role": "system", "content": "Answer briefly. " + "The ship sails at noon from the old harbour. " * 2}
    parts = {
        "role": "user",
        "content": [text_part(last["content"]), text_part("And also name three rivers of Europe.")],
    }
    steps = [
        [first, *turns, last],
        [wordy, *turns, last],
        [wordy, *turns, *turns, last],
        [wordy, *turns, *turns, parts],
    ]
    sent = [ask(changed(body, messages=messages)) for messages in steps]
    ask.case("longer-prompt", [COUNTS], shorter=sent[:-1], longer=sent[1:])


@probe(ANY_TEXT, effort="standard", cost=1)
def test_known_stumbling_blocks(ask: Asker, bodies: Bodies) -> None:
    """Send texts in many scripts and shapes at once; each by itself only if that is refused."""
    body = bodies.chat("Say OK.", max_tokens=SHORT)

    def saying(*texts: str) -> Body:
        roles = itertools.cycle(("user", "assistant"))
        said = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
        return changed(body, messages=[*said, *body["messages"]])

    apart = {repr(text): ([ANY_TEXT], saying(text)) for text in TEXTS}
    accept(ask, saying(*TEXTS), [ANY_TEXT], apart)


@probe(ANY_TEXT, ROLES, effort="standard", cost=DRAWN)
def test_drawn_conversations(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send a few drawn conversations; shrink one that is refused."""
    _drawn(ask, bodies, profile, DRAWN)


@probe(ANY_TEXT, ROLES, effort="exhaustive", cost=DRAWN_EXHAUSTIVE)
def test_many_drawn_conversations(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send many drawn conversations; shrink one that is refused."""
    _drawn(ask, bodies, profile, DRAWN_EXHAUSTIVE)


def _drawn(ask: Asker, bodies: Bodies, profile: Profile, count: int) -> None:
    base = bodies.chat("Say OK.", max_tokens=SHORT)
    promised = profile.promised(ROLES)
    roles = promised.params["roles"] if promised else ["system", "user", "assistant"]

    def send(messages: list[dict[str, Any]]) -> None:
        ask.case("accepted", [ANY_TEXT, ROLES], asked=ask(changed(base, messages=messages)))

    explore(ask, conversations(profile, roles), send, examples=count)


@probe(SURROGATE, effort="standard", cost=3)
def test_lone_surrogates(ask: Asker, bodies: Bodies) -> None:
    r"""Send half of a surrogate pair as an escape, in a message and in a name of a tool, whole and streamed.

    A text cut in the middle of an emoji arrives like this; refused or answered, it must not break the server.
    """
    whole = bodies.chat("Say OK, CUT.", max_tokens=SHORT)
    streamed = bodies.chat("Say OK, CUT.", max_tokens=SHORT, stream=True)
    described = changed(whole, tools=[changed(WEATHER, function={**WEATHER["function"], "description": "CUT"})])
    asked = [ask(_cut(body)) for body in (whole, streamed, described)]
    ask.case("survived", [SURROGATE], asked=asked)


def _cut(body: Body) -> bytes:
    """The body with half an emoji in place of CUT."""
    return json.dumps(body).replace("CUT", "\\ud83d").encode()
