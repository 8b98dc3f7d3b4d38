"""The shapes of Serenity Edge's `ChatCompletion` and `ChatCompletionChunk`."""

from __future__ import annotations

import time
import uuid
from typing import Any

from reference_impl.server.pieces import (
    Call,
    CallArguments,
    CallClosed,
    CallOpened,
    Content,
    Finished,
    Piece,
    Reasoning,
    Reply,
)


class ReplyShape:
    """Shapes the pieces of all choices of one completion."""

    def __init__(self, model: str, fingerprint: str, *, shows_thinking: bool) -> None:
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._fingerprint = fingerprint
        self._shows_thinking = shows_thinking
        self._begun: set[int] = set()

    def completion(self, replies: list[Reply], usage: dict[str, Any]) -> dict[str, Any]:
        """The whole-body object."""
        return {
            **self._named("chat.completion"),
            "choices": [
                {"index": index, "message": self._message(reply), "finish_reason": reply.finish}
                for index, reply in enumerate(replies)
            ],
            "usage": usage,
            "system_fingerprint": self._fingerprint,
        }

    def chunk(self, choice: int, piece: Piece) -> dict[str, Any] | None:
        """The chunk that a piece of a choice makes; the first of each choice carries the role."""
        delta, finish = self._delta(piece)
        if delta is None:
            return None
        if choice not in self._begun:
            self._begun.add(choice)
            delta = {"role": "assistant", **(delta or {"content": ""})}
        return {
            **self._named("chat.completion.chunk"),
            "choices": [{"index": choice, "delta": delta, "finish_reason": finish}],
        }

    def usage_chunk(self, usage: dict[str, Any]) -> dict[str, Any]:
        """The extra chunk that include_usage asks for."""
        return {**self._named("chat.completion.chunk"), "choices": [], "usage": usage}

    def _delta(self, piece: Piece) -> tuple[dict[str, Any] | None, str | None]:
        match piece:
            case Content(text):
                return {"content": text}, None
            case Reasoning(text):
                return ({"reasoning": text} if self._shows_thinking else None), None
            case CallOpened(index, name):
                opened = {"id": _call_id(), "type": "function", "function": {"name": name, "arguments": ""}}
                return {"tool_calls": [{"index": index, **opened}]}, None
            case CallArguments(index, text):
                return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}, None
            case CallClosed():
                return None, None
            case Finished(reason):
                return {}, reason

    def _named(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._head["id"],
            "object": kind,
            "created": self._head["created"],
            "model": self._head["model"],
        }

    def _message(self, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.content}
        if reply.calls:
            message["content"] = reply.content or None  # null when the reply only carries tool calls
            message["tool_calls"] = [_tool_call(call) for call in reply.calls]
        if self._shows_thinking:
            message["reasoning"] = reply.reasoning
        return message


def _call_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _tool_call(call: Call) -> dict[str, Any]:
    return {
        "id": _call_id(),
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def usage(prompt: int, completion: int, cached: int, reasoning: int) -> dict[str, Any]:
    """The `Usage` object."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
