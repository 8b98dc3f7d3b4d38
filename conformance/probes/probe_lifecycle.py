"""Requests at the same time and after one another."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.lifecycle import CACHED, HUNG_UP, TOGETHER
from conformance.probe import probe
from conformance.probes.observed import STREAM
from conformance.traffic.bodies import Bodies, changed

WITH_USAGE = {"include_usage": True}
LONG_TEXT = (
    "A library lends books for two weeks. A reader may extend a loan twice, unless another reader waits for the "
    "book. Returned books go back to their shelf on the same day. Maps and rare prints stay in the reading room. "
    "Lost books are replaced by the reader who lost them."
)


@probe("wire.requests-do-not-mix", "response.id-is-unique", *STREAM, cost=6)
def test_requests_at_the_same_time(ask: Asker, bodies: Bodies) -> None:
    """Send three conversations at once, each with a word of its own, then one by one.

    No reply holds another's word or id, and each prompt counts what it counts alone.
    """
    questions = ("Repeat my reference.", "What is a GPU?", "Count from 1 to 12.")
    requests = [bodies.chat(question, stream=True, stream_options=WITH_USAGE) for question in questions]
    requests[1] = changed(requests[1], stream=..., stream_options=...)
    together = ask.together(requests)
    ask.case(TOGETHER, together=together, alone=[ask(request) for request in requests])


@probe("wire.requests-do-not-mix", "response.id-is-unique", effort="exhaustive", cost=24)
def test_many_requests_at_the_same_time(ask: Asker, bodies: Bodies) -> None:
    """Send twelve conversations at once, half of them as streams, then one by one."""
    requests = [bodies.chat(f"Repeat my reference {number} times.", stream=number % 2 == 0) for number in range(1, 13)]
    together = ask.together(requests)
    ask.case(TOGETHER, together=together, alone=[ask(request) for request in requests])


@probe("wire.hang-up-leaves-the-next-alone", cost=3)
def test_hang_up(ask: Asker, bodies: Bodies) -> None:
    """Ask, ask again and hang up once the stream has begun, and ask a third time: nothing has changed."""
    body = bodies.chat("Count from 1 to 60, separated by commas.", 160, stream=True, stream_options=WITH_USAGE)
    before = ask(changed(body, max_tokens=48))
    cut = ask(body, hang_up_after=1)
    ask.case(HUNG_UP, before=before, cut=cut, after=ask(changed(body, max_tokens=48)))


@probe("wire.cache-keeps-the-answer", "usage.prompt-tokens-repeat", "usage.cached-within-prompt", cost=3)
def test_long_prompt_from_the_cache(ask: Asker, bodies: Bodies) -> None:
    """Send a longer prompt three times, so that it can be cached: the answer stays what it was."""
    body = bodies.chat(f"{LONG_TEXT}\nWhat happens to lost books?")
    first, again = ask(body), [ask(body), ask(body)]
    ask.case(CACHED, first=first, again=again, repeatable=False)
    ask.case("repeated", asked=[first, *again])
