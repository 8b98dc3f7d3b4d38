"""One fault for every promise about a single field: a bad value is accepted, or a wrong one is sent.

`fields.json` lists the promises by their ids: part, path without array brackets (the kind of a union's branch
is a step of its own), JSON Schema keyword. A fault of the request waves through just the value that breaks
that keyword at that place; one of a reply puts such a value there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reference_impl.faults.edits import Chunk, Chunks
from reference_impl.faults.hooks import Exchange, Hook
from reference_impl.faults.registry import add
from reference_impl.server.contract import Refused
from reference_impl.server.fields import Invalid
from reference_impl.server.strict_json import Json

_KEYWORDS = {"minItems": "min-items", "maxItems": "max-items", "minLength": "min-length", "maxLength": "max-length"}
_HELLO = [{"role": "user", "content": "Hello"}]


def broken_promise(data: Json, problem: Invalid, dialect: str) -> str:
    """The id of the promise that a refused request breaks, for instance request.temperature.maximum."""
    names = list(_tagged(data, problem.param, dialect))
    keyword = _KEYWORDS.get(problem.constraint, problem.constraint)
    if keyword == "closed":
        names = []
    if names == ["n"] and dialect == "ark" and keyword in ("minimum", "maximum"):
        keyword = "const"  # a range of one value
    if names[-1:] == ["type"] and keyword == "enum" and (dialect, tuple(names[-2:])) in _CONSTANTS:
        keyword = "const"
    return ".".join(["request", *names, keyword])


_CONSTANTS = {("serenity-edge", ("tool_calls", "type"))}


def _tagged(data: Json, param: str, dialect: str) -> Iterator[str]:
    """The names on the way to a member, with `item` for an array's own item and the tags of unions."""
    value: Any = data
    path: list[str] = []
    steps = re.findall(r"\[(\d+)\]|([^.\[\]]+)", param)
    for position, (index, name) in enumerate(steps):
        last = position == len(steps) - 1
        if name:
            path.append(name)
            yield name
            value = value.get(name) if isinstance(value, dict) else None
        else:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
            if last:
                yield "item"
        following = steps[position + 1][1] if not last else None
        tag = _tag(path, value, dialect)
        if tag and following and following not in ("type", "role"):
            yield tag


def _tag(path: list[str], value: Json, dialect: str) -> str | None:
    """What tells the branches of a union apart: role or type of the object."""
    if not isinstance(value, dict):
        return None
    match path:
        case ["messages"] if dialect != "ark":
            tag = value.get("role")
        case ["messages", "content"] | ["tools"] | ["tool_choice"] | ["response_format"]:
            tag = value.get("type")
        case _:
            return None
    return tag if isinstance(tag, str) else None


#: Fields of which none may stay when the other goes.
_TOGETHER = (("tools", "tool_choice"), ("ark_stateful", "ark_max_session_tokens"))


def _repaired(data: Json, problem: Invalid, exchange: Exchange) -> Json:
    """The request without what is wrong with it, so that it gets an answer."""
    if not isinstance(data, dict):
        return {"model": exchange.default_model, "messages": _HELLO, "max_tokens": 16}
    top = re.split(r"[.\[]", problem.param)[0]
    if top == "model":
        return {**data, "model": exchange.default_model}
    if top == "messages":
        return {**data, "messages": _HELLO}
    dropped = next((pair for pair in _TOGETHER if top in pair), (top,))
    return {name: value for name, value in data.items() if name not in dropped}


def _accepting(promise: str) -> Callable[[tuple[Json, Invalid], Exchange], Json]:
    def change(refused: tuple[Json, Invalid], exchange: Exchange) -> Json:
        data, problem = refused
        if broken_promise(data, problem, exchange.dialect) != promise:
            return None
        return _repaired(data, problem, exchange)

    return change


def spoil(value: Json, names: list[str], keyword: str) -> Json:
    """The JSON value with `keyword` broken at every place that `names` lead to; arrays are passed through."""
    if isinstance(value, list) and names:
        if names == ["item"]:
            return [7, *value[1:]] if value else value
        return [spoil(item, names, keyword) for item in value]
    if not names:
        return _wrong(value, keyword)
    if not isinstance(value, dict) or names[0] not in value:
        return value
    name, *rest = names
    if keyword == "required" and not rest:
        return {key: member for key, member in value.items() if key != name}
    return {**value, name: spoil(value[name], rest, keyword)}


def _wrong(value: Json, keyword: str) -> Json:
    """A value that breaks the keyword where `value` keeps it."""
    match keyword:
        case "not-null":
            return None
        case "minimum":
            return -1
        case "min-items":
            return []
        case "max-items":
            return [*value, *value]
        case "const" | "enum" if isinstance(value, int):
            return value + 1
        case "const" | "enum" | "pattern":
            return "other" if isinstance(value, str) else value
    if isinstance(value, list):
        return {"a": 1}
    return ["wrong"] if isinstance(value, str) or value is None else "wrong"


def _in_body(names: list[str], keyword: str) -> Callable[[Chunk, Exchange], Json]:
    return lambda body, exchange: spoil(body, names, keyword)


def _in_chunks(names: list[str], keyword: str) -> Callable[[Chunks, Exchange], Chunks]:
    async def change(chunks: Chunks, exchange: Exchange) -> Chunks:
        async for chunk in chunks:
            yield spoil(chunk, names, keyword)

    return change


def _in_refusal(names: list[str], keyword: str) -> Callable[[Refused, Exchange], Refused]:
    def change(refused: Refused, exchange: Exchange) -> Refused:
        refused.body = spoil(refused.body, names, keyword)
        return refused

    return change


def _register() -> None:
    listed = json.loads(Path(__file__).with_name("fields.json").read_text("utf-8"))
    for group, promises in listed.items():
        dialects = ("ark", "serenity-edge") if group == "both" else (group,)
        for promise in promises:
            breaks = dict.fromkeys(dialects, (promise,))
            part, *names, keyword = promise.split(".")
            if part == "request":
                sentence = f"A request that breaks {promise} is answered."
                add(f"accepted-{promise}", sentence, breaks, "invalid", _accepting(promise), "fields")
                continue
            hook, change = _REPLY_PARTS[part](names, keyword)
            add(f"wrong-{promise}", f"What is sent breaks {promise}.", breaks, hook, change, "fields")


_REPLY_PARTS: dict[str, Callable[[list[str], str], tuple[Hook, Callable[..., Any]]]] = {
    "response": lambda names, keyword: ("completion", _in_body(names, keyword)),
    "chunk": lambda names, keyword: ("chunks", _in_chunks(names, keyword)),
    "error": lambda names, keyword: ("refusal", _in_refusal(names, keyword)),
}

_register()
