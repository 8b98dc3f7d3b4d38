"""How a stream is framed: events, terminator, and nothing besides."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.laws.conditions import streamed
from conformance.laws.registry import Violation, law
from conformance.wire.exchange import Exchange
from spec.model import Promise


@law("stream.ends-with-done", applies=streamed)
def ends_with_done(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A stream that ran to its end closes with exactly one [DONE] event, which is the last."""
    events = x.stream.events
    if x.error_events:
        return
    terminators = [event for event in events if event.is_done]
    if not terminators:
        last = events[-1].data if events else "no event at all"
        yield Violation("the stream ends without [DONE]", "data: [DONE]", repr(last)[:200])
    elif len(terminators) > 1:
        yield Violation(f"[DONE] came {len(terminators)} times", "one [DONE]", f"{len(terminators)}")
    elif not events[-1].is_done:
        yield Violation("something follows [DONE]", "[DONE] as the last event", repr(events[-1].data)[:200])
