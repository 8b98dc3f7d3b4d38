"""Faults of limits and sampling: bounds that are ignored, clamped or counted otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.faults.edits import Pieces, crash, messages_of, refuse
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.pieces import Content
from reference_impl.server.strict_json import Json

if TYPE_CHECKING:
    from reference_impl.engine.request import GenerationRequest

LONG = 8_000
"""Characters of a message that a prompt of the reference's context could hold."""


@fault("known-field-no-effect", "request", both=["limits.max-tokens-bounds-output"])
def known_field_no_effect(data: Json, exchange: Exchange) -> Json:
    """max_tokens is accepted and never used."""
    if isinstance(data, dict) and isinstance(data.get("max_tokens"), int) and 0 < data["max_tokens"] <= 4_096:
        return {**data, "max_tokens": 400}
    return data


@fault("max-completion-tokens-ignored", "request", ark=["limits.max-completion-tokens-bounds-output"])
def max_completion_tokens_ignored(data: Json, exchange: Exchange) -> Json:
    """Only max_tokens is honoured; the synonym has no effect."""
    return _without(data, "max_completion_tokens")


@fault("max-completion-tokens-loses", "request", ark=["limits.max-completion-tokens-wins"])
def max_completion_tokens_loses(data: Json, exchange: Exchange) -> Json:
    """Where both limits are set, max_tokens counts."""
    return _without(data, "max_completion_tokens") if isinstance(data, dict) and data.get("max_tokens") else data


@fault("limit-excludes-reasoning", "generation", both=["limits.bound-includes-reasoning"])
def limit_excludes_reasoning(request: GenerationRequest, exchange: Exchange) -> GenerationRequest:
    """The limit counts the visible answer only."""
    if exchange.data.get("reasoning") or exchange.data.get("reasoning_effort"):
        request.sampling.max_tokens += 200
    return request


@fault("limit-one-too-many", "generation", both=["limits.max-tokens-bounds-output"])
def limit_one_too_many(request: GenerationRequest, exchange: Exchange) -> GenerationRequest:
    """One token more than the limit is generated."""
    request.sampling.max_tokens += 1
    return request


@fault(
    "max-tokens-non-positive-accepted",
    "request",
    serenity_edge=["request.max_tokens.minimum"],
)
def max_tokens_non_positive_accepted(data: Json, exchange: Exchange) -> Json:
    """0 or -1 as max_tokens means no limit."""
    limit = data.get("max_tokens") if isinstance(data, dict) else None
    return _without(data, "max_tokens") if isinstance(limit, int) and limit <= 0 else data


@fault(
    "max-tokens-over-limit-accepted",
    "request",
    ark=["limits.max-tokens-over-context-is-refused"],
    serenity_edge=["request.max_tokens.maximum"],
)
def max_tokens_over_limit_accepted(data: Json, exchange: Exchange) -> Json:
    """A limit far above the maximum is silently clamped."""
    limit = data.get("max_tokens") if isinstance(data, dict) else None
    most = 4_096 if exchange.dialect == "ark" else 32_768
    return {**data, "max_tokens": most} if isinstance(limit, int) and limit > most else data


@fault("over-context-silently-truncated", "request", both=["limits.over-context-prompt-is-not-cut"])
def over_context_silently_truncated(data: Json, exchange: Exchange) -> Json:
    """A prompt longer than the context is cut and answered."""
    texts = [message["content"] for message in messages_of(data) if isinstance(message.get("content"), str)]
    if sum(map(len, texts)) <= LONG:
        return data
    share = LONG // len(texts)
    cut = [
        {**message, "content": message["content"][-share:]} if isinstance(message.get("content"), str) else message
        for message in messages_of(data)
    ]
    return {**data, "messages": cut}


@fault("longer-limit-other-text", "pieces", both=["limits.longer-limit-extends"])
async def longer_limit_other_text(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A larger limit makes the model begin differently."""
    limit = exchange.data.get("max_tokens")
    if isinstance(limit, int) and limit > 12:
        yield Content("Certainly! ")
    async for piece in pieces:
        yield piece


@fault("unknown-field-ignored", "request", ark=["request.unknown-field-is-400"])
def unknown_field_ignored(data: Json, exchange: Exchange) -> Json:
    """Unknown top-level fields are dropped silently."""
    from reference_impl.dialects.ark.request import KNOWN  # late: it needs torch, the listing of faults does not

    return {name: value for name, value in data.items() if name in KNOWN} if isinstance(data, dict) else data


@fault("unknown-field-ignored-in-streams", "request", ark=["request.unknown-field-is-400"])
def unknown_field_ignored_in_streams(data: Json, exchange: Exchange) -> Json:
    """Unknown top-level fields are dropped silently where a stream is asked for."""
    return unknown_field_ignored(data, exchange) if exchange.streamed else data


@fault("unknown-field-500", "request", serenity_edge=["request.unknown-field-is-survived"])
def unknown_field_500(data: Json, exchange: Exchange) -> Json:
    """A top-level field that is not listed raises 500."""
    from reference_impl.dialects.ark.request import KNOWN

    if isinstance(data, dict) and any(name not in KNOWN for name in data):
        crash("an unexpected keyword argument")
    return data


@fault("optional-null-refused", "request", ark=["request.null-means-unset"])
def optional_null_refused(data: Json, exchange: Exchange) -> Json:
    """An explicit null for an optional field is refused."""
    for name, value in data.items() if isinstance(data, dict) else ():
        if value is None:
            refuse(f"'{name}' must not be null.", name)
    return data


@fault("optional-null-500", "request", both=["request.null-is-survived"])
def optional_null_500(data: Json, exchange: Exchange) -> Json:
    """An explicit null for an optional field raises 500."""
    if isinstance(data, dict) and any(value is None for value in data.values()):
        crash("None has no attribute")
    return data


@fault("stop-null-in-session-refused", "request", ark=["sessions.null-stop-is-accepted"])
def stop_null_in_session_refused(data: Json, exchange: Exchange) -> Json:
    """Null as stop is refused in a session."""
    if isinstance(data, dict) and "ark_stateful" in data and "stop" in data and data["stop"] is None:
        refuse("'stop' is not allowed with 'ark_stateful'.", "stop")
    return data


@fault("no-effect-field-refused", "request", ark=["request.no-effect-fields-are-accepted"])
def no_effect_field_refused(data: Json, exchange: Exchange) -> Json:
    """logit_bias is refused although it is accepted without effect."""
    if isinstance(data, dict) and "logit_bias" in data:
        refuse("'logit_bias' is not supported.", "logit_bias")
    return data


@fault("logprobs-nonfinite-500", "request", ark=["request.no-effect-fields-are-accepted"])
def logprobs_nonfinite_500(data: Json, exchange: Exchange) -> Json:
    """Infinite log probabilities break the encoding and raise 500."""
    if isinstance(data, dict) and data.get("logprobs") is True:
        crash("Infinity is no JSON")
    return data


@fault("no-effect-field-in-prompt", "request", ark=["request.no-effect-fields-change-nothing"])
def no_effect_field_in_prompt(data: Json, exchange: Exchange) -> Json:
    """The user identifier is shown to the model."""
    if isinstance(data, dict) and data.get("user") and messages_of(data):
        first, *rest = data["messages"]
        return {**data, "messages": [{**first, "name": str(data["user"])}, *rest]}
    return data


@fault("logprobs-returned", "completion", ark=["request.logprobs-are-not-returned"])
def logprobs_returned(body: Json, exchange: Exchange) -> Json:
    """Log probabilities come back although they have no effect."""
    if exchange.data.get("logprobs"):
        body["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": []}]}
    return body


@fault("optional-field-required", "request", both=["request.optional-fields-may-be-left-out"])
def optional_field_required(data: Json, exchange: Exchange) -> Json:
    """A request without temperature is refused."""
    if isinstance(data, dict) and "temperature" not in data:
        refuse("'temperature' is required.", "temperature")
    return data


@fault("default-changes-the-prompt", "request", both=["request.defaults-change-nothing"])
def default_changes_the_prompt(data: Json, exchange: Exchange) -> Json:
    """Naming the default response format adds a line to the prompt."""
    form = data.get("response_format") if isinstance(data, dict) else None
    if isinstance(form, dict) and form.get("type") == "text":
        return {**data, "messages": [{"role": "system", "content": "Answer in plain text."}, *data["messages"]]}
    return data


@fault("documented-value-refused", "request", both=["request.documented-values-are-accepted"])
def documented_value_refused(data: Json, exchange: Exchange) -> Json:
    """A temperature of exactly 2, the end of the range, is refused."""
    if isinstance(data, dict) and data.get("temperature") == 2:
        refuse("'temperature' must be below 2.", "temperature")
    return data


@fault("valid-extra-repairs", "request", both=["request.valid-extras-repair-nothing"])
def valid_extra_repairs(data: Json, exchange: Exchange) -> Json:
    """Validation is skipped, and bad members dropped, where `user` is given."""
    if not isinstance(data, dict) or not data.get("user"):
        return data
    kept = {"model", "messages", "max_tokens", "stream", "user"}
    mended = {name: value for name, value in data.items() if name in kept}
    limit = mended.get("max_tokens")
    if not isinstance(limit, int) or not 0 < limit <= 4_096:
        mended["max_tokens"] = 16
    if not messages_of(data):
        mended["messages"] = [{"role": "user", "content": "Hello"}]
    return mended


@fault("seed-ignored", "generation", serenity_edge=["sampling.seed-repeats"])
def seed_ignored(request: GenerationRequest, exchange: Exchange) -> GenerationRequest:
    """The seed is accepted and never used."""
    request.sampling.seed = None
    if request.sampling.temperature:
        request.sampling.temperature = max(request.sampling.temperature, 1.5)
    return request


@fault("body-limit-too-small", "raw", serenity_edge=["limits.body-below-the-limit-is-accepted"])
def body_limit_too_small(body: bytes, exchange: Exchange) -> bytes:
    """Bodies of more than 1 MB are refused."""
    if len(body) > 1_000_000:
        from reference_impl.server.body import TooLarge

        raise TooLarge
    return body


def _without(data: Json, name: str) -> Json:
    return {key: value for key, value in data.items() if key != name} if isinstance(data, dict) else data
