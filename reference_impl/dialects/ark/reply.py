"""The shapes of ARK's completion object and chunks (sections "The chat completion object", "… chunk")."""

from __future__ import annotations

import time
import uuid
from typing import Any

from reference_impl.server.pieces import Call, CallClosed, Content, Finished, Piece, Reasoning, Reply


class ReplyShape:
    """Shapes the pieces of one reply; its id and time are those of the whole reply."""

    def __init__(self, model: str, *, thinking: bool, legacy: bool) -> None:
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._thinking = thinking
        self._legacy = legacy
        self._reply = Reply()
        self._call_ids: list[str] = []

    @property
    def reply(self) -> Reply:
        """What has been shaped so far."""
        return self._reply

    def completion(self, reply: Reply, usage: dict[str, Any]) -> dict[str, Any]:
        """The whole-body object."""
        return {
            **self._named("chat.completion"),
            "choices": [{"index": 0, "message": self._message(reply), "finish_reason": self._finish(reply.finish)}],
            "usage": usage,
        }

    def message(self, reply: Reply) -> dict[str, Any]:
        """The reply as a message of the conversation, for the session; its calls keep their ids."""
        calls = [
            {"id": self._call_id(index), "type": "function", "function": _function(call)}
            for index, call in enumerate(_complete(reply))
        ]
        return {"role": "assistant", "content": reply.content, "name": None, "tool_calls": calls}

    def chunk(self, piece: Piece) -> dict[str, Any] | None:
        """The chunk that a piece makes; a tool call makes one when it is complete."""
        self._reply.add(piece)
        match piece:
            case Content(text):
                return self._chunk({"content": text})
            case Reasoning(text):
                return self._chunk({"reasoning": text})
            case CallClosed(index):
                return self._chunk(self._call_members([(index, self._reply.calls[index])]))
            case Finished(reason):
                only_calls = _complete(self._reply) and not self._reply.content
                return self._chunk({} if only_calls else {"content": ""}, self._finish(reason))
        return None

    def usage_chunk(self, usage: dict[str, Any]) -> dict[str, Any]:
        """The final chunk that include_usage asks for."""
        return {**self._named("chat.completion.chunk"), "choices": [], "usage": usage}

    def _named(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._head["id"],
            "object": kind,
            "created": self._head["created"],
            "model": self._head["model"],
            "service_tier": "default",
            "system_fingerprint": None,
        }

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
        return {**self._named("chat.completion.chunk"), "choices": [choice]}

    def _message(self, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant"}
        calls = _complete(reply)
        if reply.content or not calls:  # absent when the answer is only tool calls
            message["content"] = reply.content
        if self._thinking:
            message["reasoning"] = reply.reasoning
        if calls:
            message |= self._call_members(list(enumerate(calls)))
        return {**message, "refusal": None, "annotations": []}

    def _call_members(self, calls: list[tuple[int, Call]]) -> dict[str, Any]:
        if self._legacy:
            return {"function_call": _function(calls[0][1])}
        return {
            "tool_calls": [
                {
                    "id": self._call_id(index),
                    "index": index,
                    "type": "function",
                    "function": _function(call),
                }
                for index, call in calls
            ]
        }

    def _call_id(self, index: int) -> str:
        while len(self._call_ids) <= index:
            self._call_ids.append(f"call_{uuid.uuid4().hex}")
        return self._call_ids[index]

    def _finish(self, reason: str) -> str:
        return "function_call" if reason == "tool_calls" and self._legacy else reason


def _complete(reply: Reply) -> list[Call]:
    """The calls that the token limit did not cut: ARK's calls are complete, streamed or not."""
    return [call for call in reply.calls if call.complete]


def _function(call: Call) -> dict[str, str]:
    return {"name": call.name, "arguments": call.arguments}


def usage(prompt: int, completion: int, cached: int, reasoning: int) -> dict[str, Any]:
    """The token counts of one reply, without credits."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
