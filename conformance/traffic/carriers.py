"""Valid requests that contain what a constraint is about, so that breaking it is one change to an accepted body.

Each carrier is a small request around one group of fields. A constraint belongs to the first carrier in which
its path reaches a value it can be broken at; a field that no carrier knows is grown from the OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.target import Target
from conformance.traffic.bodies import WEATHER, Bodies, Body, changed
from conformance.traffic.images import picture, text_part
from conformance.traffic.samples import grown
from conformance.traffic.tools import allowed, custom_tool
from spec.model import Constraint, Profile

Builder = Callable[[Bodies], Body]
SHORT = 16
CALL_ID = "call_conformance_1"


def _plain(bodies: Bodies) -> Body:
    return bodies.chat("Say OK.", max_tokens=SHORT)


def _sampling(bodies: Bodies) -> Body:
    return bodies.chat(
        "Say OK.",
        max_tokens=SHORT,
        top_p=0.9,
        n=1,
        stop=["###"],
        seed=7,
        presence_penalty=0.5,
        frequency_penalty=0.5,
        user="conformance",
        max_completion_tokens=SHORT,
    )


def _ignored(bodies: Bodies) -> Body:
    return bodies.chat(
        "Say OK.",
        max_tokens=SHORT,
        logit_bias={"42": 1},
        logprobs=True,
        top_logprobs=1,
        metadata={"purpose": "conformance"},
        store=False,
        service_tier="default",
        prompt_cache_key="conformance",
        safety_identifier="conformance",
    )


def _conversation(bodies: Bodies) -> Body:
    body = _plain(bodies)
    names = bodies.profile.accepts("messages.name")
    spoken = [
        {"role": "system", "content": "Answer briefly.", "name": "house"},
        {"role": "user", "content": "Hello.", "name": "ada"},
        {"role": "assistant", "content": "Hello, Ada.", "name": "helper"},
    ]
    if not names:
        spoken = [{key: value for key, value in message.items() if key != "name"} for message in spoken]
    return changed(body, messages=[*spoken, *body["messages"]])


def _parts(bodies: Bodies) -> Body:
    body = _plain(bodies)
    text = body["messages"][0]["content"]
    return changed(body, messages=[{"role": "user", "content": [text_part(text)]}])


def _picture(bodies: Bodies) -> Body:
    body = _plain(bodies)
    text = body["messages"][0]["content"]
    model = bodies.target.vision_model or bodies.target.model
    # The picture comes first: paths lead to the first part.
    return changed(body, model=model, messages=[{"role": "user", "content": [picture(), text_part(text)]}])


def _stream(bodies: Bodies) -> Body:
    options = {"include_usage": True, "continuous_usage_stats": False}
    known = {key: value for key, value in options.items() if bodies.profile.accepts(f"stream_options.{key}")}
    return changed(_plain(bodies), stream=True, stream_options=known)


def _weather(bodies: Bodies) -> Body:
    tool = changed(WEATHER)
    if bodies.profile.accepts("tools.function.strict"):
        tool["function"]["strict"] = False
    return tool


def _tools(bodies: Bodies) -> Body:
    return changed(_plain(bodies), tools=[_weather(bodies)], tool_choice="auto", parallel_tool_calls=True)


def _named(bodies: Bodies) -> Body:
    return bodies.forced_call(_weather(bodies), max_tokens=64)


def _allowed(bodies: Bodies) -> Body:
    return changed(_plain(bodies), tools=[_weather(bodies)], tool_choice=allowed(["get_weather"], mode="auto"))


def _custom(bodies: Bodies) -> Body:
    return changed(_plain(bodies), tools=[custom_tool()])


def _legacy(bodies: Bodies) -> Body:
    return changed(_plain(bodies), functions=[WEATHER["function"]], function_call="auto")


def _history(bodies: Bodies) -> Body:
    call = {
        "id": CALL_ID,
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
    }
    body = _plain(bodies)
    spoken = [
        {"role": "user", "content": "What is the weather in Paris?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": CALL_ID, "content": '{"sky": "clear"}'},
    ]
    return changed(body, messages=[*spoken, *body["messages"]], tools=[_weather(bodies)])


def _json_schema(bodies: Bodies) -> Body:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    wrapper: dict[str, Any] = {"name": "verdict", "schema": schema}
    for name, value in (("description", "Whether all is well."), ("strict", False)):
        if bodies.profile.accepts(f"response_format.json_schema.{name}"):
            wrapper[name] = value
    body = bodies.chat("Is all well? Answer in JSON.", max_tokens=32)
    return changed(body, response_format={"type": "json_schema", "json_schema": wrapper})


def _reasoning(bodies: Bodies) -> Body:
    options = {"effort": "low", "exclude": False}
    known = {key: value for key, value in options.items() if bodies.profile.accepts(f"reasoning.{key}")}
    return changed(_plain(bodies), model=_thinker(bodies), reasoning=known)


def _effort(bodies: Bodies) -> Body:
    return changed(_plain(bodies), model=_thinker(bodies), reasoning_effort="low")


def _thinker(bodies: Bodies) -> str:
    return bodies.target.reasoning_model or bodies.target.model


def _session(bodies: Bodies) -> Body:
    return changed(_plain(bodies), ark_stateful=f"session-{bodies.nonce()}", ark_max_session_tokens=1024)


CARRIERS: Mapping[str, Builder] = {
    "plain": _plain,
    "sampling": _sampling,
    "ignored": _ignored,
    "conversation": _conversation,
    "parts": _parts,
    "stream": _stream,
    "tools": _tools,
    "named-choice": _named,
    "history": _history,
    "custom-tool": _custom,
    "allowed-tools": _allowed,
    "legacy": _legacy,
    "json-schema": _json_schema,
    "reasoning": _reasoning,
    "effort": _effort,
    "session": _session,
    "picture": _picture,
}


def carrier(name: str, bodies: Bodies) -> Body:
    """The request of a carrier, without top-level fields that the profile's document does not list.

    `grown:ID` is the plain request with the place of the constraint ID grown from the OpenAPI document.
    """
    if name.startswith("grown:"):
        constraint = bodies.profile.constraints[name.removeprefix("grown:")]
        return grown(_plain(bodies), bodies.profile.openapi, constraint.path)
    body = CARRIERS[name](bodies)
    return {field: value for field, value in body.items() if bodies.profile.accepts(field)}


def breakable(constraint: Constraint, value: Any) -> bool:
    """Whether a value is of the kind that the constraint's keyword can be broken at."""
    match constraint.keyword:
        case "required":
            return isinstance(value, dict) and constraint.value in value
        case "additionalProperties":
            return isinstance(value, dict)
        case "minimum" | "maximum":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "minItems" | "maxItems":
            return isinstance(value, list)
        case "minLength" | "maxLength" | "pattern":
            return isinstance(value, str)
    return True


def place_of(constraint: Constraint, body: Any) -> tuple[str, Any] | None:
    """The first (JSON pointer, value) in a body where the constraint can be broken."""
    return next(((at, value) for at, value in constraint.targets(body) if breakable(constraint, value)), None)


def assigned(profile: Profile) -> dict[str, list[str]]:
    """Which promised request constraints each carrier serves, both in a fixed order."""
    bodies = Bodies(profile, Target("http://127.0.0.1", "model"), lambda: "nonce")
    built = {name: carrier(name, bodies) for name in CARRIERS}
    serves: dict[str, list[str]] = {name: [] for name in CARRIERS}
    for requirement, constraint in profile.constraints.items():
        if constraint.part != "request" or requirement not in profile.promises:
            continue
        found = next((name for name, body in built.items() if place_of(constraint, body)), None)
        serves.setdefault(found or f"grown:{requirement}", []).append(requirement)
    return {name: ids for name, ids in serves.items() if ids}
