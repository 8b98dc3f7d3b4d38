"""Replies, chunks and errors of ARK, right and wrong, written from its page "Chat completions"."""

from __future__ import annotations

from tests.spec.instances import DROP, Table

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "total_tokens": 25,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
    "credits_used": 3,
    "credit_balance": 900,
}
CALL = {"id": "call_1", "index": 0, "type": "function", "function": {"name": "rate", "arguments": '{"base": "EUR"}'}}
REPLY = {
    "id": "chatcmpl-0d1f",
    "object": "chat.completion",
    "created": 1792345678,
    "model": "arklabsai/some",
    "service_tier": "default",
    "system_fingerprint": None,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Many sums at once.", "refusal": None, "annotations": []},
            "finish_reason": "stop",
        }
    ],
    "usage": USAGE,
}
CALLING = {
    **REPLY,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "tool_calls": [CALL], "refusal": None, "annotations": []},
            "finish_reason": "tool_calls",
        }
    ],
}
REASONS = ["stop", "length", "tool_calls", "function_call", "inference_timeout"]

reply = Table("response", REPLY)
reply.required("id", "object", "created", "model", "choices", "usage")
reply.typed("id", "string")
reply.bad("an id without the prefix", id="cmpl-1")
reply.bad("an id of the prefix alone", id="chatcmpl-")
reply.bad("the object of a chunk", object="chat.completion.chunk")
reply.bad("another object", object="text_completion")
reply.typed("created", "integer")
reply.typed("model", "string")
reply.bad("a null model", model=None)
reply.typed("choices", "array")
reply.bad("no choice", choices=[])
reply.bad("two choices", choices=[REPLY["choices"][0], REPLY["choices"][0]])
reply.required("choices__0__message", "choices__0__finish_reason")
reply.typed("choices__0__message", "object")
reply.typed("choices__0__message__content", "string")
reply.bad("null content", choices__0__message__content=None)
reply.good("empty content", choices__0__message__content="")
reply.good("only calls, content absent", CALLING)
reply.bad("only calls, content null", CALLING, choices__0__message__content=None)
reply.good("thinking", choices__0__message__reasoning="Let me see.")
reply.good("no thinking, as null", choices__0__message__reasoning=None)
reply.bad("thinking as an object", choices__0__message__reasoning={"text": "x"})
reply.one_of("choices__0__finish_reason", REASONS)
reply.bad("a null reason", choices__0__finish_reason=None)
reply.bad("the other vendor's reason", choices__0__finish_reason="content_filter")
reply.required(
    *(f"choices__0__message__tool_calls__0__{name}" for name in ("id", "index", "type", "function")), base=CALLING
)
for name in ("name", "arguments"):
    reply.required(f"choices__0__message__tool_calls__0__function__{name}", base=CALLING)
    reply.bad(f"{name} a number", CALLING, **{f"choices__0__message__tool_calls__0__function__{name}": 7})
reply.bad("arguments as an object", CALLING, choices__0__message__tool_calls__0__function__arguments={"base": "EUR"})
reply.bad("a call of another type", CALLING, choices__0__message__tool_calls__0__type="tool")
reply.bad("a call with a null id", CALLING, choices__0__message__tool_calls__0__id=None)
reply.bad("a call with a text as index", CALLING, choices__0__message__tool_calls__0__index="0")
reply.bad("calls as an object", CALLING, choices__0__message__tool_calls=CALL)
reply.bad("another role", choices__0__message__role="system")
reply.bad("another index", choices__0__index=1)
for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
    reply.required(f"usage__{name}")
    reply.typed(f"usage__{name}", "integer")
    reply.bad(f"{name} below zero", **{f"usage__{name}": -1})
reply.bad("cached tokens as a text", usage__prompt_tokens_details__cached_tokens="0")
reply.bad("cached tokens below zero", usage__prompt_tokens_details__cached_tokens=-1)
reply.bad("reasoning tokens as a text", usage__completion_tokens_details__reasoning_tokens="0")
reply.bad("reasoning tokens below zero", usage__completion_tokens_details__reasoning_tokens=-1)
reply.bad("credits as a text", usage__credits_used="3")
reply.bad("a balance with a fraction", usage__credit_balance=1.5)
reply.good("elsewhere than on ARK Cloud", usage__credits_used=DROP, usage__credit_balance=DROP)
reply.bad("another tier", service_tier="flex")
reply.bad("a fingerprint", system_fingerprint="fp_1")
reply.good("an unknown member", speed=7)
reply.bad("a list instead of a reply", base=[REPLY])

CHUNK = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1792345678,
    "model": "arklabsai/some",
    "service_tier": "default",
    "system_fingerprint": None,
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": " GPU"}, "finish_reason": None}],
    "usage": None,
}
chunk = Table("chunk", CHUNK)
chunk.required("object", "choices", "choices__0__delta")
chunk.bad("the object of a reply", object="chat.completion")
chunk.typed("choices", "array")
chunk.bad("two choices", choices=[CHUNK["choices"][0], CHUNK["choices"][0]])
chunk.typed("choices__0__delta", "object")
chunk.typed("choices__0__delta__content", "string")
chunk.good("an empty delta", choices__0__delta={})
chunk.good("the last content chunk", choices__0__delta__content="", choices__0__finish_reason="stop")
chunk.good("thinking", choices__0__delta={"role": "assistant", "reasoning": "Hm"})
chunk.bad("thinking as a list", choices__0__delta__reasoning=["Hm"])
chunk.good("a complete call", choices__0__delta={"role": "assistant", "tool_calls": [CALL]})
for name in ("id", "index", "type", "function"):
    part = {key: value for key, value in CALL.items() if key != name}
    chunk.bad(f"a call without its {name}", choices__0__delta__tool_calls=[part])
for name in ("name", "arguments"):
    inner = {key: value for key, value in CALL["function"].items() if key != name}
    chunk.bad(f"a call without its {name}", choices__0__delta__tool_calls=[{**CALL, "function": inner}])
chunk.one_of("choices__0__finish_reason", REASONS)
chunk.bad("another role", choices__0__delta__role="user")
chunk.bad("an empty role", choices__0__delta__role="")
chunk.good("the usage chunk", choices=[], usage=USAGE)
chunk.good("running counts", usage=USAGE)
chunk.good("no usage", usage=DROP)
chunk.bad("a usage that is a number", usage=25)
chunk.bad("a usage without a total", usage={"prompt_tokens": 20, "completion_tokens": 5})
chunk.bad("another tier", service_tier="auto")
chunk.bad("an id without the prefix", id="cmpl-1")
chunk.bad("a number as the id", id=1)

error = Table("error", {"error": {"message": "No such field.", "code": "unknown_parameter", "param": "modell"}})
error.good("a message alone", base={"error": {"message": "Sorry."}})
error.required("error", "error__message")
error.bad("an error that is a text", error="Sorry.")
error.bad("a message at the top", base={"message": "Sorry."})
error.bad("a framework's body", base={"detail": [{"msg": "Sorry."}]})
error.typed("error__message", "string")

CASES = [*reply.cases, *chunk.cases, *error.cases]
