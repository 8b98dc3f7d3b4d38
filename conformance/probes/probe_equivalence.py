"""Requests that say the same in other words: `prompt_tokens` show whether the endpoint understands them so."""

from __future__ import annotations

import json
from typing import Any

from conformance.ask import Asker
from conformance.probe import probe
from conformance.traffic.bodies import Bodies, Body, changed
from spec.model import Profile

#: A usual value for every field that a vendor may accept without effect.
USUAL_VALUES: dict[str, Any] = {
    "seed": 7,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "logit_bias": {},
    "logprobs": True,
    "top_logprobs": 2,
    "user": "reader-7",
    "metadata": {"purpose": "conformance"},
    "store": False,
    "service_tier": "auto",
    "prompt_cache_key": "conformance",
    "safety_identifier": "reader-7",
}


def reordered(value: Any) -> Any:
    """The same JSON with the members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def escaped(body: Body) -> bytes:
    """The same JSON with every letter of its strings written as an escape where that is allowed."""
    text = json.dumps(body, ensure_ascii=True)
    question = json.dumps(body["messages"][0]["content"])
    letters = "".join(f"\\u{ord(c):04x}" if c.isalpha() and c.isascii() else c for c in body["messages"][0]["content"])
    return text.replace(question, '"' + letters.replace("\n", "\\n") + '"').encode()


@probe("wire.encoding-is-irrelevant", cost=3)
def test_other_spelling_of_the_same_json(ask: Asker, bodies: Bodies) -> None:
    """Send one body with members in another order and white space, and with letters as escapes."""
    body = bodies.chat("Say hello to Łódź.", 16)
    spaced = json.dumps(reordered(body), indent=3, ensure_ascii=False).encode()
    changes = [ask(b"\r\n" + spaced + b"\n"), ask(escaped(body))]
    ask.case("same-prompt", ("wire.encoding-is-irrelevant",), plain=ask(body), changed=changes)


@probe("messages.parts-equal-string", "messages.text-parts-are-accepted", cost=2)
def test_one_text_part_is_a_string(ask: Asker, bodies: Bodies) -> None:
    """Send a text as a string, and as the only part of an array."""
    body = bodies.chat("Say hello.", 16)
    parts = changed(body)
    parts["messages"][0]["content"] = [{"type": "text", "text": body["messages"][0]["content"]}]
    plain, in_parts = ask(body), ask(parts)
    ask.case("accepted", ("messages.text-parts-are-accepted",), asked=in_parts)
    ask.case("same-prompt", ("messages.parts-equal-string",), plain=plain, changed=in_parts)


@probe("messages.developer-counts-as-system", cost=2)
def test_developer_is_system(ask: Asker, bodies: Bodies) -> None:
    """Send the same instructions as a system message and as a developer message."""
    body = bodies.conversation({"role": "user", "content": "Say hello."}, max_tokens=16)
    developer = changed(body)
    developer["messages"][0]["role"] = "developer"
    ask.case("same-prompt", ("messages.developer-counts-as-system",), plain=ask(body), changed=ask(developer))


@probe("request.defaults-change-nothing", cost=2)
def test_defaults_said_aloud(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send a request without and with every documented default."""
    defaults = profile.promises["request.defaults-change-nothing"].params["defaults"]
    body = changed(bodies.chat("Say hello.", 16), temperature=...)
    plain, aloud = ask(body), ask(changed(body, **defaults))
    ask.case("same-prompt", ("request.defaults-change-nothing",), plain=plain, changed=aloud)


def _no_effect_fields(profile: Profile) -> dict[str, Any]:
    names = profile.promises["request.no-effect-fields-change-nothing"].params["fields"]
    return {name: USUAL_VALUES[name] for name in names}


@probe(
    "request.no-effect-fields-are-accepted",
    "request.no-effect-fields-change-nothing",
    "request.logprobs-are-not-returned",
    cost=4,
)
def test_fields_without_effect_together(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send every field that is accepted without effect at once, whole and streamed: nothing changes."""
    fields = _no_effect_fields(profile)
    body = bodies.chat("Say hello.", 16)
    stream = changed(body, stream=True, stream_options={"include_usage": True})
    plain = [ask(body), ask(stream)]
    changes = [ask(changed(body, **fields)), ask(changed(stream, **fields))]
    ask.case("accepted", ("request.no-effect-fields-are-accepted",), asked=changes)
    for before, after in zip(plain, changes, strict=True):
        ask.case("same-prompt", ("request.no-effect-fields-change-nothing",), plain=before, changed=after)


@probe(
    "request.no-effect-fields-are-accepted",
    "request.no-effect-fields-change-nothing",
    effort="exhaustive",
    cost=14,
)
def test_fields_without_effect_one_by_one(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send each field that is accepted without effect alone: the reply is what it is without it."""
    body = bodies.chat("Say hello.", 16)
    plain, again = ask(body), ask(body)
    for name, value in _no_effect_fields(profile).items():
        extra = {"logprobs": True} if name == "top_logprobs" else {}
        after = ask(changed(body, **{name: value}, **extra))
        ask.case("accepted", ("request.no-effect-fields-are-accepted",), asked=after)
        named = ("request.no-effect-fields-change-nothing",)
        ask.case("same-prompt", named, plain=plain, changed=after)
        ask.case("same-text", named, plain=plain, again=again, changed=after)
