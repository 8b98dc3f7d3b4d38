"""Malformed and odd requests, drawn from a random number generator, and what any answer to them must be."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import httpx

from tests.reference.dialects.endpoint import CLOCK, TEXT, WEATHER

ODD = [
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 1e308, -0.0, 0.5, "", "x", "\u0000", "🐢" * 50, "none",
    [], [[]], [None], {}, {"": None}, {"type": "text"}, {"type": "function"}, [{}], ["a"] * 300, "[DONE]",
    "<|im_end|>", {"type": "object", "properties": {"a": {"$ref": "#"}}}, {"$ref": "#/$defs/x"},
]  # fmt: skip

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}

SEEDS: list[dict[str, Any]] = [
    {"messages": TEXT},
    {"messages": [{"role": "system", "content": "Be brief.", "name": "n"}, *TEXT], "stop": ["a"], "n": 1},
    {
        "messages": [
            *TEXT,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "12"},
        ],
        "tools": [WEATHER, CLOCK],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
    },
    {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "x", "schema": {"type": "object"}, "strict": True},
        },
        "reasoning": {"effort": "high"},
    },
    {
        "messages": TEXT,
        "tools": [WEATHER],
        "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
        "stream": True,
        "stream_options": {"include_usage": True},
        "seed": 5,
        "top_p": 0.9,
    },
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [place for key, item in inside for place in places(item, (*path, key))]


def mutated(rng: random.Random, body: dict[str, Any]) -> Any:
    """The body with one to three values replaced, removed, repeated or added."""
    body = copy.deepcopy(body)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(places(body))
        if not path:
            if rng.random() < 0.05:
                return rng.choice(ODD)
            body[rng.choice(["max_tokens", "logit_bias", "user", "zzz", "n"])] = copy.deepcopy(rng.choice(ODD))
            continue
        parent = body
        for key in path[:-1]:
            parent = parent[key]
        match rng.randint(0, 3):
            case 0:
                parent[path[-1]] = copy.deepcopy(rng.choice(ODD))
            case 1:
                del parent[path[-1]]
            case 2 if isinstance(parent, list):
                parent.extend([copy.deepcopy(parent[path[-1]])] * 3)
            case _:
                parent[path[-1]] = [copy.deepcopy(parent[path[-1]])]
    return body


def broken(rng: random.Random, text: bytes) -> bytes:
    """The bytes with a few of them changed, cut off or doubled."""
    data = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        match rng.randint(0, 3):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at:]
            case 2:
                data[at:at] = data[at : at + 20]
            case _:
                del data[at : at + 3]
        if not data:
            break
    return bytes(data)


def odd_request(rng: random.Random, model: str) -> bytes:
    """One body: most are valid requests with something odd put in, a fifth is broken as text."""
    body = {"model": model, "max_tokens": 3, "temperature": 1, **rng.choice(SEEDS)}
    value = mutated(rng, body) if rng.random() < 0.8 else body
    data = json.dumps(value).encode()
    return broken(rng, data) if rng.random() < 0.2 else data


def assert_answered(response: httpx.Response, sent: bytes) -> None:
    """A completion, a whole stream, or an error object with a client error's status."""
    assert response.status_code in (200, 400, 404, 413), (response.status_code, sent)
    if response.status_code != 200:
        assert response.json()["error"]["message"], sent
    elif response.headers["content-type"] == "text/event-stream":
        assert response.text.endswith("data: [DONE]\n\n"), sent
    else:
        assert response.json()["choices"], sent
