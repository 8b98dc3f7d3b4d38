"""Faults of usage: wrong sums, missing or unasked counts, credits."""

from __future__ import annotations

from typing import Any

from reference_impl.faults.edits import Chunk, Chunks, Pieces, choices, finishes, refuse
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import also, fault
from reference_impl.server.pieces import Content
from reference_impl.server.strict_json import Json

INVENTED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@fault("usage-unasked-sent", "chunks", both=["usage.chunk-only-when-asked"])
async def usage_unasked_sent(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The finish chunk carries a usage that nobody asked for."""
    async for chunk in chunks:
        if finishes(chunk) and not _asked(exchange):
            chunk["usage"] = dict(INVENTED)
        yield chunk


@fault("usage-chunk-has-choices", "chunks", both=["usage.chunk-when-asked"])
async def usage_chunk_has_choices(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The usage chunk has a choice."""
    async for chunk in chunks:
        if not choices(chunk):
            chunk["choices"] = [{"index": 0, "delta": {}, "finish_reason": None}]
        yield chunk


@fault("usage-chunk-missing", "chunks", both=["usage.chunk-when-asked"])
async def usage_chunk_missing(chunks: Chunks, exchange: Exchange) -> Chunks:
    """include_usage is ignored."""
    async for chunk in chunks:
        if choices(chunk):
            yield chunk


@fault("usage-on-every-chunk", "chunks", both=["usage.null-before-the-end"])
async def usage_on_every_chunk(chunks: Chunks, exchange: Exchange) -> Chunks:
    """With include_usage every chunk has growing counts, asked for or not."""
    running = _options(exchange).get("continuous_usage_stats")
    count = 0
    async for chunk in chunks:
        count += 1
        if _asked(exchange) and not running and choices(chunk):
            chunk["usage"] = {**INVENTED, "completion_tokens": count, "total_tokens": 10 + count}
        yield chunk


@fault("usage-total-mismatch", "usage", both=["usage.total-is-sum"])
def usage_total_mismatch(usage: Chunk, exchange: Exchange) -> Chunk:
    """total_tokens counts the reasoning once more."""
    usage["total_tokens"] += 1 + usage["completion_tokens_details"]["reasoning_tokens"]
    return usage


@fault("usage-completion-below-reasoning", "usage", both=["usage.reasoning-within-completion"])
def usage_completion_below_reasoning(usage: Chunk, exchange: Exchange) -> Chunk:
    """completion_tokens leaves out the reasoning tokens."""
    usage["completion_tokens"] -= usage["completion_tokens_details"]["reasoning_tokens"]
    return _summed(usage)


@fault("usage-all-zero", "usage", both=["usage.prompt-is-positive"])
def usage_all_zero(usage: Chunk, exchange: Exchange) -> Chunk:
    """All counts are zero though text was produced."""
    for counts in (usage["prompt_tokens_details"], usage["completion_tokens_details"]):
        counts.update(dict.fromkeys(counts, 0))
    return {**usage, "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@fault("usage-completion-zero", "usage", both=["usage.completion-is-positive-when-text"])
def usage_completion_zero(usage: Chunk, exchange: Exchange) -> Chunk:
    """completion_tokens is 0 in one reply in five."""
    if exchange.number % 5 == 0:
        usage["completion_tokens"] = 0
    return _summed(usage)


@fault("usage-stream-differs", "usage", both=["usage.prompt-tokens-ignore-streaming"])
def usage_stream_differs(usage: Chunk, exchange: Exchange) -> Chunk:
    """The prompt counts otherwise in a stream."""
    if exchange.streamed:
        usage["prompt_tokens"] += 3
    return _summed(usage)


@fault("usage-prompt-counts-uncached-only", "usage", both=["usage.prompt-tokens-repeat"])
def usage_prompt_counts_uncached_only(usage: Chunk, exchange: Exchange) -> Chunk:
    """Cached tokens are left out of prompt_tokens, so that a repeated request counts less."""
    usage["prompt_tokens"] -= usage["prompt_tokens_details"]["cached_tokens"]
    usage["prompt_tokens_details"]["cached_tokens"] = 0
    return _summed(usage)


@fault("usage-cached-above-prompt", "usage", both=["usage.cached-within-prompt"])
def usage_cached_above_prompt(usage: Chunk, exchange: Exchange) -> Chunk:
    """cached_tokens counts whole blocks, beyond the prompt's end."""
    usage["prompt_tokens_details"]["cached_tokens"] = usage["prompt_tokens"] // 64 * 64 + 64
    return usage


@fault("cached-tokens-one-path-only", "usage", both=["usage.cached-tokens-in-both-forms"])
def cached_tokens_one_path_only(usage: Chunk, exchange: Exchange) -> Chunk:
    """cached_tokens is reported in streams only."""
    if not exchange.streamed:
        del usage["prompt_tokens_details"]
    return usage


@fault("usage-missing-in-whole-reply", "completion", both=["usage.present-in-whole-reply"])
def usage_missing_in_whole_reply(body: Chunk, exchange: Exchange) -> Chunk:
    """A whole reply to a request with tools has no usage."""
    if exchange.data.get("tools"):
        body.pop("usage", None)
    return body


@fault("usage-chunk-is-short", "chunks", both=["usage.final-chunk-is-full"])
async def usage_chunk_is_short(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The usage of the last chunk has the three sums alone."""
    async for chunk in chunks:
        if not choices(chunk):
            chunk["usage"] = {name: chunk["usage"][name] for name in INVENTED}
        yield chunk


@fault("running-counts-missing", "chunks", ark=["usage.running-counts-on-content-chunks"])
async def running_counts_missing(chunks: Chunks, exchange: Exchange) -> Chunks:
    """continuous_usage_stats is accepted and ignored."""
    async for chunk in chunks:
        if choices(chunk) and "usage" in chunk:
            chunk["usage"] = None
        yield chunk


@fault("running-counts-fall", "chunks", ark=["usage.running-counts-grow"])
async def running_counts_fall(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Running counts are those of each chunk alone, so that they do not grow."""
    before = 0
    async for chunk in chunks:
        usage: Any = chunk.get("usage")
        if choices(chunk) and usage:
            now = usage["completion_tokens"]
            usage["completion_tokens"] = max(1, 5 - before) if before else now + 4
            _summed(usage)
            before = now
        yield chunk


@fault("choices-prompt-counted-for-each", "usage", serenity_edge=["choices.prompt-is-counted-once"])
def choices_prompt_counted_for_each(usage: Chunk, exchange: Exchange) -> Chunk:
    """With several choices the prompt counts for each."""
    count = exchange.data.get("n")
    usage["prompt_tokens"] *= count if isinstance(count, int) else 1
    return _summed(usage)


@fault("credits-missing", "usage", ark=["credits.are-reported"])
def credits_missing(usage: Chunk, exchange: Exchange) -> Chunk:
    """The usage says what a request cost, and no longer what is left."""
    usage.pop("credit_balance", None)
    return usage


@fault("credits-balance-drifts", "usage", ark=["credits.balance-falls-by-the-cost"])
def credits_balance_drifts(usage: Chunk, exchange: Exchange) -> Chunk:
    """The balance falls by more than the request cost."""
    if "credit_balance" in usage:
        usage["credit_balance"] -= exchange.number
    return usage


@fault("credits-charged-for-refusals", "refusal", ark=["credits.refusals-are-free"])
def credits_charged_for_refusals(refused: Any, exchange: Exchange) -> Any:
    """Every refused request costs a credit."""
    exchange.memory["refused"] = exchange.memory.get("refused", 0) + 1
    return refused


@also("credits-charged-for-refusals", "usage")
def _charge_refusals(usage: Chunk, exchange: Exchange) -> Chunk:
    if "credit_balance" in usage:
        usage["credit_balance"] -= exchange.memory.get("refused", 0)
    return usage


@fault("choices-too-many", "completion", both=["choices.count-is-n"])
def choices_too_many(body: Chunk, exchange: Exchange) -> Chunk:
    """A reply has one choice more than asked for."""
    extra = dict(choices(body)[-1])
    extra["index"] += 1
    choices(body).append(extra)
    return body


@fault("choices-same-index", "completion", serenity_edge=["choices.indices-are-distinct"])
def choices_same_index(body: Chunk, exchange: Exchange) -> Chunk:
    """Every choice of a whole reply has index 0."""
    for choice in choices(body):
        choice["index"] = 0
    return body


@fault("choice-repeated", "completion", both=["choices.indices-are-distinct"])
def choice_repeated(body: Chunk, exchange: Exchange) -> Chunk:
    """A choice is listed twice."""
    choices(body).append(choices(body)[-1])
    return body


@fault("choices-from-one", "completion", both=["choices.indices-run-from-zero"])
def choices_from_one(body: Chunk, exchange: Exchange) -> Chunk:
    """Choices are numbered from 1."""
    for choice in choices(body):
        choice["index"] += 1
    return body


@fault("choices-several-refused", "request", serenity_edge=["choices.several-are-accepted"])
def choices_several_refused(data: Json, exchange: Exchange) -> Json:
    """Only n = 1 is accepted."""

    if isinstance(data, dict) and isinstance(data.get("n"), int) and data["n"] > 1:
        refuse("'n' must be 1.", "n")
    return data


@fault("answer-empty-now-and-then", "pieces", both=["response.answer-is-not-empty"])
async def answer_empty_now_and_then(pieces: Pieces, exchange: Exchange) -> Pieces:
    """One answer in five is empty."""
    async for piece in pieces:
        if exchange.number % 5 or not isinstance(piece, Content):
            yield piece


def _options(exchange: Exchange) -> dict[str, Any]:
    options = exchange.data.get("stream_options")
    return options if isinstance(options, dict) else {}


def _asked(exchange: Exchange) -> bool:
    return _options(exchange).get("include_usage") is True


def _summed(usage: Chunk) -> Chunk:
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    return usage
