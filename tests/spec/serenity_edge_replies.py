"""Replies, chunks and errors of Serenity Edge, right and wrong, written from its page "Create chat completion"."""

from __future__ import annotations

from tests.spec.instances import DROP, Table

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "total_tokens": 25,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "rate", "arguments": '{"base": "EUR"}'}}
REASONS = ["stop", "length", "tool_calls", "content_filter", None]

REPLY = {
    "id": "abc123",
    "object": "chat.completion",
    "created": 1792345678,
    "model": "orion-pro",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Two."}, "finish_reason": "stop"}],
    "usage": USAGE,
    "system_fingerprint": "fp_1",
}
CALLING = {
    **REPLY,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }
    ],
}


def usage_rows(table: Table) -> None:
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        table.required(f"usage__{name}")
        table.typed(f"usage__{name}", "integer")
        table.bad(f"{name} below zero", **{f"usage__{name}": -1})
    table.optional("usage__prompt_tokens_details", "usage__completion_tokens_details")
    table.optional("usage__prompt_tokens_details__cached_tokens", "usage__completion_tokens_details__reasoning_tokens")
    table.bad("cached tokens as a text", usage__prompt_tokens_details__cached_tokens="0")
    table.bad("cached tokens below zero", usage__prompt_tokens_details__cached_tokens=-1)
    table.bad("reasoning tokens with a fraction", usage__completion_tokens_details__reasoning_tokens=0.5)
    table.bad("details that are a number", usage__prompt_tokens_details=0)


reply = Table("response", REPLY)
reply.required("id", "object", "created", "model", "choices")
reply.typed("id", "string")
reply.bad("the object of a chunk", object="chat.completion.chunk")
reply.typed("created", "integer")
reply.typed("model", "string")
reply.bad("a null model", model=None)
reply.typed("choices", "array")
reply.good("two choices", choices=[REPLY["choices"][0], {**REPLY["choices"][0], "index": 1}])
reply.required("choices__0__index", "choices__0__message", "choices__0__finish_reason", "choices__0__message__role")
reply.typed("choices__0__index", "integer")
reply.typed("choices__0__message", "object")
reply.bad("another role", choices__0__message__role="tool")
reply.bad("a null role", choices__0__message__role=None)
reply.good("null content", CALLING)
reply.good("absent content", CALLING, choices__0__message__content=DROP)
reply.bad("content in parts", choices__0__message__content=[{"type": "text", "text": "Two."}])
reply.bad("content a number", choices__0__message__content=2)
reply.good("reasoning", choices__0__message__reasoning="Hm.")
reply.good("null reasoning", choices__0__message__reasoning=None)
reply.bad("reasoning as an object", choices__0__message__reasoning={"text": "Hm."})
for path in ("id", "type", "function", "function__name", "function__arguments"):
    reply.required(f"choices__0__message__tool_calls__0__{path}", base=CALLING)
reply.bad("arguments as an object", CALLING, choices__0__message__tool_calls__0__function__arguments={})
reply.bad("a call of another type", CALLING, choices__0__message__tool_calls__0__type="custom")
reply.bad("a call with a null id", CALLING, choices__0__message__tool_calls__0__id=None)
reply.bad("calls as an object", CALLING, choices__0__message__tool_calls=CALL)
reply.good("an index in a call", CALLING, choices__0__message__tool_calls__0__index=0)
for reason in REASONS:
    reply.good(f"finish_reason {reason}", choices__0__finish_reason=reason)
for reason in ("function_call", "inference_timeout", "STOP", "", "eos"):
    reply.bad(f"finish_reason {reason!r}", choices__0__finish_reason=reason)
reply.optional("usage", "system_fingerprint")
usage_rows(reply)
reply.typed("usage", "object")
reply.bad("a null fingerprint", system_fingerprint=None)
reply.bad("a number as the fingerprint", system_fingerprint=7)
reply.good("an unknown member", service_tier="default")

CHUNK = {
    "id": "abc123",
    "object": "chat.completion.chunk",
    "created": 1792345678,
    "model": "orion-pro",
    "choices": [{"index": 0, "delta": {"content": " two"}, "finish_reason": None}],
}
chunk = Table("chunk", CHUNK)
chunk.required("id", "object", "created", "model", "choices")
chunk.typed("id", "string")
chunk.bad("the object of a reply", object="chat.completion")
chunk.typed("created", "integer")
chunk.typed("model", "string")
chunk.bad("a null model in a chunk", model=None)
chunk.typed("choices", "array")
chunk.required("choices__0__index", "choices__0__delta")
chunk.typed("choices__0__index", "integer")
chunk.typed("choices__0__delta", "object")
chunk.good("no reason yet", choices__0__finish_reason=DROP)
chunk.good("the first chunk", choices__0__delta={"role": "assistant"})
chunk.good("an empty delta", choices__0__delta={})
chunk.bad("another role in a delta", choices__0__delta={"role": "user"})
chunk.bad("an empty role", choices__0__delta={"role": ""})
chunk.bad("a null role in a delta", choices__0__delta={"role": None})
chunk.good("null content in a delta", choices__0__delta={"content": None})
chunk.bad("content in parts in a delta", choices__0__delta={"content": ["two"]})
chunk.good("reasoning in a delta", choices__0__delta={"reasoning": "Hm"})
chunk.bad("reasoning a number", choices__0__delta={"reasoning": 7})
first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "rate", "arguments": ""}}
chunk.good("the first fragment", choices__0__delta={"tool_calls": [first]})
chunk.good("a later fragment", choices__0__delta={"tool_calls": [{"index": 0, "function": {"arguments": '{"b'}}]})
chunk.good("a fragment with an index only", choices__0__delta={"tool_calls": [{"index": 0}]})
chunk.bad("a fragment without an index", choices__0__delta={"tool_calls": [{"function": {"arguments": "{"}}]})
chunk.bad("a fragment with a null id", choices__0__delta={"tool_calls": [{"index": 0, "id": None}]})
chunk.bad("a fragment of another type", choices__0__delta={"tool_calls": [{"index": 0, "type": "custom"}]})
chunk.bad("a fragment with an object", choices__0__delta={"tool_calls": [{"index": 0, "function": {"arguments": {}}}]})
chunk.bad("a fragment with a null name", choices__0__delta={"tool_calls": [{"index": 0, "function": {"name": None}}]})
chunk.bad("fragments as an object", choices__0__delta={"tool_calls": first})
for reason in REASONS:
    chunk.good(f"chunk reason {reason}", choices__0__finish_reason=reason)
for reason in ("function_call", "error", ""):
    chunk.bad(f"chunk reason {reason!r}", choices__0__finish_reason=reason)
chunk.good("null usage", usage=None)
chunk.good("the usage chunk", choices=[], usage=USAGE)
chunk.bad("a usage that is a number", usage=25)
chunk.bad("a usage without a total", choices=[], usage={"prompt_tokens": 20, "completion_tokens": 5})

ERROR = {"error": {"message": "Bad.", "type": "invalid_request_error", "code": "bad_value", "param": "top_p"}}
TYPES = ["invalid_request_error", "authentication_error", "permission_error", "not_found_error"]
error = Table("error", ERROR)
error.required("error", "error__message", "error__type")
error.optional("error__code", "error__param")
error.one_of("error__type", [*TYPES, "rate_limit_error", "server_error"])
error.typed("error", "object")
error.typed("error__message", "string")
error.good("null code and param", error__code=None, error__param=None)
error.bad("a code that is a number", error__code=400)
error.bad("a param that is a list", error__param=["messages"])
error.bad("members at the top", base=ERROR["error"])
error.bad("a framework's body", base={"detail": "Not found"})

CASES = [*reply.cases, *chunk.cases, *error.cases]
