"""Token counts: sums, bounds, and where in a stream they stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.cases import Case
from conformance.laws.conditions import in_one_piece, readable, undisturbed
from conformance.laws.registry import Undecided, Violation, case_law, law
from conformance.laws.relations import prompt_tokens_of, reply_in, settled, shortened
from conformance.laws.stream_text import STREAMED_AND_WHOLE
from conformance.laws.texts import objects
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise

#: Role asked: the same request several times.
REPEATED = "repeated"


def count(holder: Any, *path: str) -> int | None:
    """An integer somewhere inside a usage object, or None."""
    for name in path:
        holder = holder.get(name) if isinstance(holder, dict) else None
    return holder if isinstance(holder, int) and not isinstance(holder, bool) else None


def usages_of(x: Exchange) -> list[dict[str, Any]]:
    """Every usage object of an answer, in order."""
    if x.is_event_stream:
        return [chunk["usage"] for chunk in x.chunks if isinstance(chunk.get("usage"), dict)]
    usage = x.json.value.get("usage") if isinstance(x.json.value, dict) else None
    return [usage] if isinstance(usage, dict) else []


def _counted(x: Exchange) -> bool:
    return readable(x) and bool(usages_of(x))


def wants_usage(x: Exchange) -> bool:
    """The request asks for a usage chunk."""
    options = x.asks("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def wants_running_counts(x: Exchange) -> bool:
    """The request asks for a usage with every chunk of content."""
    options = x.asks("stream_options")
    return wants_usage(x) and isinstance(options, dict) and options.get("continuous_usage_stats") is True


@law("usage.total-is-sum", applies=_counted)
def total_is_sum(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """total_tokens is prompt_tokens plus completion_tokens, in every usage object."""
    for usage in usages_of(x):
        prompt, completion, total = (count(usage, f"{name}_tokens") for name in ("prompt", "completion", "total"))
        if prompt is None or completion is None or total is None:
            continue
        if total != prompt + completion:
            yield Violation(
                "total_tokens is not the sum", f"{prompt} + {completion} = {prompt + completion}", f"{total}"
            )
            return


@law("usage.prompt-is-positive", applies=_counted)
def prompt_is_positive(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """prompt_tokens is at least 1."""
    for usage in usages_of(x):
        prompt = count(usage, "prompt_tokens")
        if prompt is not None and prompt < 1:
            yield Violation("the prompt counts no tokens", "at least 1", f"{prompt}")
            return


@law("usage.completion-is-positive-when-text", applies=_counted)
def completion_is_positive_when_text(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Where there is text or a call, completion_tokens is at least 1."""
    reply = reply_of(x)
    assert reply is not None
    completion = count(usages_of(x)[-1], "completion_tokens")
    said = any(choice.content or choice.reasoning or choice.calls for choice in reply.choices.values())
    if said and completion is not None and completion < 1:
        yield Violation("something was generated, and it counts no tokens", "at least 1", f"{completion}")


@law("usage.cached-within-prompt", applies=_counted)
def cached_within_prompt(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """cached_tokens is between 0 and prompt_tokens."""
    for usage in usages_of(x):
        cached, prompt = count(usage, "prompt_tokens_details", "cached_tokens"), count(usage, "prompt_tokens")
        if cached is not None and prompt is not None and not 0 <= cached <= prompt:
            yield Violation("cached_tokens is no part of the prompt", f"0 to {prompt}", f"{cached}")
            return


@law("usage.reasoning-within-completion", applies=_counted)
def reasoning_within_completion(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """reasoning_tokens is between 0 and completion_tokens."""
    for usage in usages_of(x):
        reasoning = count(usage, "completion_tokens_details", "reasoning_tokens")
        completion = count(usage, "completion_tokens")
        if reasoning is not None and completion is not None and not 0 <= reasoning <= completion:
            yield Violation("reasoning_tokens is no part of the completion", f"0 to {completion}", f"{reasoning}")
            return


@law("usage.present-in-whole-reply", applies=in_one_piece)
def present_in_whole_reply(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A reply in one piece has a usage object."""
    if not usages_of(x):
        yield Violation("the reply has no usage", "a usage object", shortened(x.json.value.get("usage")))


def _asked_and_whole(x: Exchange) -> bool:
    return undisturbed(x) and wants_usage(x)


def _usage_chunks(x: Exchange) -> list[int]:
    """Positions of the chunks that have a usage object and no choice."""
    return [
        position
        for position, chunk in enumerate(x.chunks)
        if chunk.get("choices") == [] and isinstance(chunk.get("usage"), dict)
    ]


@law("usage.chunk-when-asked", applies=_asked_and_whole)
def chunk_when_asked(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With include_usage exactly the last chunk has empty choices and the usage."""
    found = _usage_chunks(x)
    last = len(x.chunks) - 1
    if found != [last]:
        where = ", ".join(str(position + 1) for position in found) or "nowhere"
        yield Violation("the usage does not come once, in a last chunk with empty choices", f"chunk {last + 1}", where)


@law("usage.chunk-only-when-asked", applies=lambda x: undisturbed(x) and not wants_usage(x))
def chunk_only_when_asked(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Without include_usage no chunk has a usage object."""
    for number, chunk in enumerate(x.chunks, 1):
        if isinstance(chunk.get("usage"), dict):
            yield Violation(f"chunk {number} carries a usage that nobody asked for", "none", shortened(chunk["usage"]))
            return


@law("usage.null-before-the-end", applies=lambda x: _asked_and_whole(x) and not wants_running_counts(x))
def null_before_the_end(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With include_usage the chunks with choices have null as usage, or, where the promise allows, none at all."""
    allowed = promise.params.get("before_end", ("null", "absent"))
    for number, chunk in enumerate(x.chunks, 1):
        if not objects(chunk.get("choices")):
            continue
        if chunk.get("usage") is not None:
            yield Violation(f"chunk {number} has choices and a usage", "no usage object", shortened(chunk["usage"]))
            return
        if "usage" not in chunk and "absent" not in allowed:
            yield Violation(f"chunk {number} has no usage member", "usage null", "no member")
            return


def _running(x: Exchange) -> bool:
    return undisturbed(x) and wants_running_counts(x)


def _has_text(chunk: dict[str, Any]) -> bool:
    deltas = (choice.get("delta") for choice in objects(chunk.get("choices")))
    return any(isinstance(delta, dict) and (delta.get("content") or delta.get("reasoning")) for delta in deltas)


@law("usage.running-counts-on-content-chunks", applies=_running)
def running_counts_on_content_chunks(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """With continuous_usage_stats each chunk that brings text has a usage object."""
    for number, chunk in enumerate(x.chunks, 1):
        if _has_text(chunk) and not isinstance(chunk.get("usage"), dict):
            yield Violation(
                f"chunk {number} brings text without counts", "a usage object", shortened(chunk.get("usage"))
            )
            return


@law("usage.running-counts-grow", applies=_running)
def running_counts_grow(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Running completion_tokens never fall, prompt_tokens stay, and the final counts are not below."""
    for before, after in pairwise(usages_of(x)):
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            earlier, later = count(before, name), count(after, name)
            if earlier is None or later is None:
                continue  # a count that is missing is the schema's business
            if later < earlier:
                yield Violation(f"{name} falls within a stream", shortened(before), shortened(after))
                return
            if name == "prompt_tokens" and later > earlier:
                yield Violation("prompt_tokens changes within a stream", shortened(before), shortened(after))
                return


@case_law("usage.prompt-tokens-ignore-streaming", kind=STREAMED_AND_WHOLE)
def prompt_tokens_ignore_streaming(case: Case, promise: Promise) -> Iterator[Violation]:
    """The stream reports the prompt_tokens that the reply in one piece reports."""
    settled(case.exchanges)
    counted = [x for x in case.all("streamed") if wants_usage(x)]
    if not counted:
        raise Undecided("no stream of this case was asked for its usage")
    expected = prompt_tokens_of(case.all("whole")[0])
    for x in counted:
        observed = prompt_tokens_of(x)
        if observed != expected:
            yield Violation("prompt_tokens differ streamed and in one piece", f"{expected}", f"{observed}")


@case_law("usage.prompt-tokens-repeat", kind=REPEATED)
def prompt_tokens_repeat(case: Case, promise: Promise) -> Iterator[Violation]:
    """The same request has the same prompt_tokens each time it is sent."""
    settled(case.exchanges)
    counts = [prompt_tokens_of(x) for x in case.all("asked")]
    if len(counts) < 2:
        raise Undecided("the request was sent only once")
    if len(set(counts)) > 1:
        yield Violation("prompt_tokens of one request change from time to time", f"{counts[0]}", repr(counts))


@case_law("usage.cached-tokens-in-both-forms", kind=STREAMED_AND_WHOLE)
def cached_tokens_in_both_forms(case: Case, promise: Promise) -> Iterator[Violation]:
    """cached_tokens is a number in both forms of the reply or in neither; a hit in one is a hit in the other."""
    settled(case.exchanges)
    wholes = [_cached(x) for x in case.all("whole")]
    streams = [_cached(x) for x in case.all("streamed") if wants_usage(x)]
    if not wholes or not streams:
        raise Undecided("the case has not both forms with a usage")
    reported_whole, reported_streamed = (any(c is not None for c in counts) for counts in (wholes, streams))
    if reported_whole != reported_streamed:
        yield Violation(
            "cached_tokens is reported in one form of the reply only", shortened(wholes), shortened(streams)
        )
        return
    # Both were sent when the prompt had been seen before: all but the first reply in one piece are warm.
    warm = wholes[1:]
    if warm and all(warm) and not any(streams):
        yield Violation("cached_tokens stays 0 in one form of the reply only", shortened(wholes), shortened(streams))


def _cached(x: Exchange) -> int | None:
    return count(reply_in(x).usage, "prompt_tokens_details", "cached_tokens")


@case_law("usage.final-chunk-is-full", kind=STREAMED_AND_WHOLE)
def final_chunk_is_full(case: Case, promise: Promise) -> Iterator[Violation]:
    """The last chunk's usage has every member that the usage of the reply in one piece has."""
    settled(case.exchanges)
    counted = [x for x in case.all("streamed") if wants_usage(x)]
    expected = reply_in(case.all("whole")[0]).usage
    if not counted or expected is None:
        raise Undecided("the case has not both forms with a usage")
    for x in counted:
        usage = reply_in(x).usage
        missing = sorted(_members(expected) - _members(usage or {}))
        if missing:
            yield Violation("the usage of the last chunk lacks members", ", ".join(missing), shortened(usage))


def _members(usage: dict[str, Any], prefix: str = "") -> set[str]:
    found = set()
    for name, value in usage.items():
        found.add(prefix + name)
        if isinstance(value, dict):
            found |= _members(value, f"{prefix}{name}.")
    return found
