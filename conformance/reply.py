"""What an answer says, whole or streamed, in one form: choices, messages, calls and usage.

Reading only: nothing here judges. Values of the wrong type are kept as they are found, so that laws can point
at them; text is joined only from strings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from conformance.wire.exchange import Exchange


@dataclass(slots=True)
class ToolCall:
    """One call; in a stream `fragments` is how many deltas it came in."""

    index: int
    id: Any = None
    type: Any = None
    name: Any = None
    arguments: Any = None
    fragments: int = 0


@dataclass(slots=True)
class Choice:
    """One choice: `content` and `reasoning` are joined text, '' where there is none."""

    index: int
    role: Any = None
    content: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    function_call: dict[str, Any] | None = None
    finish_reason: Any = None


@dataclass(slots=True)
class Reply:
    """An answer with status 200 as its asker would use it."""

    id: Any
    model: Any
    choices: dict[int, Choice]
    usage: dict[str, Any] | None
    streamed: bool

    @property
    def first(self) -> Choice:
        """The choice with index 0 (an empty one where the answer has none)."""
        return self.choices.get(0) or Choice(0)

    @property
    def prompt_tokens(self) -> int | None:
        """`usage.prompt_tokens`, where it is an integer."""
        return _count(self.usage, "prompt_tokens")

    @property
    def completion_tokens(self) -> int | None:
        """`usage.completion_tokens`, where it is an integer."""
        return _count(self.usage, "completion_tokens")

    @property
    def reasoning_tokens(self) -> int | None:
        """`usage.completion_tokens_details.reasoning_tokens`, where it is an integer."""
        return _count((self.usage or {}).get("completion_tokens_details"), "reasoning_tokens")


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@lru_cache(maxsize=4096)
def reply_of(exchange: Exchange) -> Reply | None:
    """The reply of a complete 200 answer, or None where there is none to read."""
    if not exchange.ok:
        return None
    return _streamed(exchange) if exchange.is_event_stream else _whole(exchange)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _index(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _whole(exchange: Exchange) -> Reply | None:
    body = exchange.json.value
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        return None
    choices: dict[int, Choice] = {}
    for position, item in enumerate(_objects(body["choices"])):
        message = item.get("message")
        message = message if isinstance(message, dict) else {}
        choice = Choice(_index(item.get("index"), position), message.get("role"))
        choice.content, choice.reasoning = _text(message.get("content")), _text(message.get("reasoning"))
        choice.finish_reason = item.get("finish_reason")
        legacy = message.get("function_call")
        choice.function_call = legacy if isinstance(legacy, dict) else None
        for number, call in enumerate(_objects(message.get("tool_calls"))):
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            choice.calls.append(
                ToolCall(number, call.get("id"), call.get("type"), function.get("name"), function.get("arguments"), 1)
            )
        choices[choice.index] = choice
    usage = body.get("usage")
    return Reply(body.get("id"), body.get("model"), choices, usage if isinstance(usage, dict) else None, False)


def _streamed(exchange: Exchange) -> Reply | None:
    chunks = exchange.chunks
    if not chunks:
        return None
    choices: dict[int, Choice] = {}
    usage: dict[str, Any] | None = None
    for chunk in chunks:
        if isinstance(chunk.get("usage"), dict):
            usage = chunk["usage"]
        for position, item in enumerate(_objects(chunk.get("choices"))):
            index = _index(item.get("index"), position)
            choice = choices.setdefault(index, Choice(index))
            delta = item.get("delta")
            _add(choice, delta if isinstance(delta, dict) else {})
            if item.get("finish_reason") is not None:
                choice.finish_reason = item["finish_reason"]
    first = chunks[0]
    return Reply(first.get("id"), first.get("model"), choices, usage, True)


def _begins_another(new: Any, known: Any) -> bool:
    """Whether a fragment's id shows it to begin another call, although its index is taken."""
    return isinstance(new, str) and isinstance(known, str) and bool(new) and bool(known) and new != known


def _add(choice: Choice, delta: dict[str, Any]) -> None:
    if choice.role is None:
        choice.role = delta.get("role")
    choice.content += _text(delta.get("content"))
    choice.reasoning += _text(delta.get("reasoning"))
    legacy = delta.get("function_call")
    if isinstance(legacy, dict):
        known = choice.function_call or {}
        choice.function_call = {
            "name": _text(known.get("name")) or legacy.get("name"),
            "arguments": _text(known.get("arguments")) + _text(legacy.get("arguments")),
        }
    for position, part in enumerate(_objects(delta.get("tool_calls"))):
        index = _index(part.get("index"), position)
        call = next((known for known in reversed(choice.calls) if known.index == index), None)
        if call is None or _begins_another(part.get("id"), call.id):
            call = ToolCall(index)
            choice.calls.append(call)
        function = part.get("function")
        function = function if isinstance(function, dict) else {}
        call.fragments += 1
        call.id = call.id if call.id is not None else part.get("id")
        call.type = call.type if call.type is not None else part.get("type")
        call.name = call.name if call.name is not None else function.get("name")
        arguments = function.get("arguments")
        if isinstance(arguments, str) and isinstance(call.arguments, str | None):
            call.arguments = (call.arguments or "") + arguments
        elif arguments is not None:
            call.arguments = arguments
