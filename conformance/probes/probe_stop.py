"""Stop strings, cut out of what the endpoint has just said without them."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.stop import STOP_IN_REASONING, STOPPED
from conformance.probe import probe
from conformance.probes.observed import ANY_REPLY
from conformance.reply import reply_of
from conformance.traffic.bodies import Bodies, changed
from conformance.traffic.ledger import explore
from conformance.traffic.strategies import RARE_STOPS, overlapping_stops, stop_lists
from conformance.wire.exchange import Exchange
from spec.model import Profile

QUESTION = "Count from 1 to 12, separated by commas."
MATCHED = ("stop.cut-at-first-match", "stop.ends-generation", "stop.absent-from-output", "finish.stop-on-stop-string")
WITH_USAGE = {"include_usage": True}


def text_of(x: Exchange) -> str:
    """What the endpoint said; empty where there is no reply."""
    reply = reply_of(x)
    return reply.first.content if reply else ""


def inner(text: str, share: float, size: int) -> str:
    """A piece of a text from a share of its length on; a rare sign where there is none."""
    start = int(len(text) * share)
    return text[start : start + size] or RARE_STOPS[0]


@probe(
    *MATCHED,
    "stop.unmatched-changes-nothing",
    "stop.order-is-irrelevant",
    "stop.string-equals-list-of-one",
    *ANY_REPLY,
    "stop.up-to-four-are-accepted",
    cost=9,
)
def test_stops_at_the_first_match(ask: Asker, bodies: Bodies) -> None:
    """Stop inside a known text, by strings longer than a token, as a string and as lists, whole and streamed.

    The text ends where the first match begins, in whatever order the strings stand. What merely begins like the
    end of the text, and so is held back while it is streamed, is let go in the end.
    """
    body = bodies.chat(QUESTION)
    control = [ask(body), ask(body)]
    text = text_of(control[0])
    one = inner(text, 0.5, 6)
    four = [RARE_STOPS[3], inner(text, 0.6, 7), inner(text, 0.3, 4), RARE_STOPS[2]]

    string, again = ask(changed(body, stop=one)), ask(changed(body, stop=one))
    single = ask(changed(body, stop=[one]))
    ask.case(STOPPED, control=control, stopped=string)
    ask.case("same-text", ("stop.string-equals-list-of-one",), plain=string, again=again, changed=single)

    listed = ask(changed(body, stop=four, stream=True, stream_options=WITH_USAGE))
    turned = ask(changed(body, stop=[four[2], four[1], four[3], four[2]], stream=True))
    ask.case(STOPPED, control=control, stopped=listed)
    ask.case("same-text", ("stop.order-is-irrelevant",), plain=listed, again=listed, changed=turned)

    beyond = text[-4:] + RARE_STOPS[0]
    unmatched = [ask(changed(body, stop=[beyond], stream=True)), ask(changed(body, stop=[beyond, RARE_STOPS[1]]))]
    ask.case(STOPPED, control=control, stopped=unmatched)
    ask.case("accepted", ("stop.up-to-four-are-accepted",), asked=[string, single, listed, turned, *unmatched])


@probe("stop.empty-means-unset", cost=3)
def test_empty_stop_is_no_stop(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send null and an empty list as `stop`: both are accepted, and nothing else changes."""
    promise = profile.promises["stop.empty-means-unset"]
    body = bodies.chat("Say hello.")
    changes = [ask(changed(body, stop=value)) for value in promise.params["values"]]
    ask.case("same-prompt", ("stop.empty-means-unset",), plain=ask(body), changed=changes)


@probe("stop.ignores-reasoning", needs="reasoning", cost=3)
def test_reasoning_stops_nothing(ask: Asker, bodies: Bodies) -> None:
    """Take a stop string from the model's reasoning that its answer does not contain: the answer stays."""
    model = bodies.target.reasoning_model or bodies.target.model
    body = bodies.chat("What is 17 + 25?", max_tokens=192, model=model, reasoning={"effort": "high"})
    control = [ask(body), ask(body)]
    reply = reply_of(control[0])
    words = reply.first.reasoning.split() if reply else []
    stop = next((word for word in words if reply and len(word) > 2 and word not in reply.first.content), RARE_STOPS[0])
    ask.case(STOP_IN_REASONING, control=control, stopped=ask(changed(body, stop=[stop])))


@probe(*MATCHED, "stop.unmatched-changes-nothing", effort="exhaustive", cost=26)
def test_any_stop_strings(ask: Asker, bodies: Bodies) -> None:
    """Draw stop strings from a known text and beside it, and see each time where the text ends."""
    body = bodies.chat(QUESTION)
    control = [ask(body), ask(body)]
    text = text_of(control[0])

    def send(stop: str | list[str]) -> None:
        streamed = len(str(stop)) % 2 == 0
        stopped = ask(changed(body, stop=stop, stream=streamed))
        ask.case(STOPPED, control=control, stopped=stopped)

    explore(ask, stop_lists(text), send, examples=16)
    explore(ask, overlapping_stops(text), send, examples=8)


@probe(*MATCHED, "stop.unmatched-changes-nothing", "wire.whole-characters", effort="exhaustive", cost=10)
def test_stop_strings_in_other_scripts(ask: Asker, bodies: Bodies) -> None:
    """Stop inside a text of accents and joined emoji, where a character may take several tokens."""
    body = bodies.chat("Repeat exactly: zażółć 🚀 naïve 👩‍👩‍👧‍👦 jaźń")
    control = [ask(body), ask(body)]
    text = text_of(control[0])

    def send(stop: str | list[str]) -> None:
        ask.case(STOPPED, control=control, stopped=ask(changed(body, stop=stop, stream=True)))

    explore(ask, stop_lists(text), send, examples=8)
