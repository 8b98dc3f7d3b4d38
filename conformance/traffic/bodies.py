"""Builders of request bodies that the document allows, small and cheap, each with a nonce of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from conformance.target import Target
from spec.model import Profile

Body = dict[str, Any]


class Bodies:
    """Bodies for one target. Every conversation carries a nonce, so that answers cannot be mixed up unseen."""

    def __init__(self, profile: Profile, target: Target, nonce: Callable[[], str]) -> None:
        self.profile = profile
        self.target = target
        self.nonce = nonce

    def chat(self, text: str = "What is a GPU?", max_tokens: int = 48, **fields: Any) -> Body:
        """One user message, greedy, with a small limit; `fields` are added or replace what is there.

        A field given as `...` is left out.
        """
        body: Body = {
            "model": self.target.model,
            "messages": [{"role": "user", "content": f"{text}\nReference: {self.nonce()}"}],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        return changed(body, **fields)

    def conversation(self, *messages: Mapping[str, Any], max_tokens: int = 48, **fields: Any) -> Body:
        """A conversation of given messages; the nonce goes into a first system message."""
        system = {"role": "system", "content": f"You are a helpful assistant. Reference: {self.nonce()}"}
        body: Body = {
            "model": self.target.model,
            "messages": [system, *(dict(message) for message in messages)],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        return changed(body, **fields)

    def forced_call(self, tool: Mapping[str, Any] | None = None, max_tokens: int = 128, **fields: Any) -> Body:
        """A request that must be answered by a call of `tool`."""
        tool = tool or WEATHER
        return self.chat(
            "What is the weather in Paris?",
            max_tokens=max_tokens,
            tools=[tool],
            tool_choice={"type": "function", "function": {"name": tool["function"]["name"]}},
            **fields,
        )


def changed(body: Mapping[str, Any], **fields: Any) -> Body:
    """A deep copy with some top-level fields replaced, added, or (given as `...`) left out."""
    result = copy.deepcopy(dict(body))
    for name, value in fields.items():
        if value is ...:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def function(name: str, description: str = "", **properties: Mapping[str, Any]) -> dict[str, Any]:
    """A function tool whose properties are all required."""
    parameters = {
        "type": "object",
        "properties": {key: dict(value) for key, value in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
    definition: dict[str, Any] = {"name": name, "parameters": parameters}
    if description:
        definition["description"] = description
    return {"type": "function", "function": definition}


WEATHER = function("get_weather", "Get the current weather", city={"type": "string"})
CLOCK = function("get_time", "Get the current time in a city", city={"type": "string"})
RATE = function("get_exchange_rate", "Get an exchange rate", base={"type": "string"}, quote={"type": "string"})
