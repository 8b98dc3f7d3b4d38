"""Token counts that only some requests ask for."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.probe import probe
from conformance.probes.observed import ANY_USAGE, STREAM
from conformance.traffic.bodies import Bodies


@probe("usage.running-counts-on-content-chunks", "usage.running-counts-grow", *ANY_USAGE, cost=1)
def test_running_counts(ask: Asker, bodies: Bodies) -> None:
    """Ask for counts with every chunk: each chunk with text has them, and they only grow."""
    options = {"include_usage": True, "continuous_usage_stats": True}
    ask(bodies.chat("Count from 1 to 8.", stream=True, stream_options=options))


@probe("usage.chunk-only-when-asked", *STREAM, cost=1)
def test_usage_is_not_sent_unasked(ask: Asker, bodies: Bodies) -> None:
    """Refuse the usage in so many words: no chunk carries one."""
    ask(bodies.chat("Count from 1 to 8.", stream=True, stream_options={"include_usage": False}))
