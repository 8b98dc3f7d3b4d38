"""Streams: the same request streamed and whole, long streams, and what may end one early."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.lifecycle import CACHED
from conformance.laws.stream_chunks import LONG_STREAMS, STREAMS_TO_BLAME, progressive
from conformance.laws.stream_text import DONE_IN_TEXT, STREAMED_AND_WHOLE, written
from conformance.laws.usage import REPEATED
from conformance.probe import probe
from conformance.probes.observed import ANY_USAGE, COUNTED_STREAM, STREAM, WHOLE_REPLY
from conformance.traffic.bodies import Bodies, changed, function
from conformance.traffic.ledger import explore
from conformance.traffic.strategies import conversations
from conformance.wire.sse import DONE

WITH_USAGE = {"include_usage": True}


@probe(
    *WHOLE_REPLY,
    *COUNTED_STREAM,
    "stream.false-yields-one-body",
    "stream.equals-whole",
    "usage.prompt-tokens-ignore-streaming",
    "usage.prompt-tokens-repeat",
    "usage.cached-tokens-in-both-forms",
    "usage.final-chunk-is-full",
    "wire.cache-keeps-the-answer",
    effort="smoke",
    cost=5,
)
def test_same_request_in_every_form(ask: Asker, bodies: Bodies) -> None:
    """Send one request in one piece three times and as a stream twice, with and without the usage.

    Text, reason, calls and prompt tokens have to agree, where the endpoint answers the same way twice; and
    these five answers are evidence for nearly every promise about the form of a reply.
    """
    body = bodies.chat("What is a GPU? Answer in two sentences.")
    first = ask(body)
    again = [ask(body), ask(changed(body, stream=False))]
    streams = [ask(changed(body, stream=True, stream_options=WITH_USAGE)), ask(changed(body, stream=True))]
    ask.case(STREAMED_AND_WHOLE, whole=[first, *again], streamed=streams)
    ask.case(REPEATED, asked=[first, *again])
    # A repetition of this case would find the prompt in the cache from the start.
    ask.case(CACHED, first=first, again=again, repeatable=False)


@probe(*STREAM, "stream.arrives-progressively", cost=1)
def test_long_stream_arrives_bit_by_bit(ask: Asker, bodies: Bodies) -> None:
    """Ask for a longer answer as a stream, and watch when its pieces arrive.

    Two more streams are asked for only where the first arrives all at once or is too short to tell.
    """
    streams = []
    for _ in range(STREAMS_TO_BLAME):
        body = bodies.chat("Count from 1 to 60, separated by commas.", max_tokens=160)
        streams.append(ask(changed(body, stream=True)))
        if progressive(streams[-1]):
            break
    ask.case(LONG_STREAMS, streamed=streams, repeatable=False)


@probe("stream.equals-whole", *WHOLE_REPLY, *COUNTED_STREAM, needs="tools", cost=3)
def test_forced_call_streamed_and_whole(ask: Asker, bodies: Bodies) -> None:
    """Force a call in one piece twice and as a stream once: both forms hold the same call."""
    body = bodies.forced_call()
    wholes = [ask(body), ask(body)]
    ask.case(STREAMED_AND_WHOLE, whole=wholes, streamed=ask(changed(body, stream=True, stream_options=WITH_USAGE)))


@probe("stream.equals-whole", "chunk.choices.delta.reasoning.*", "response.choices.message.reasoning.*", *ANY_USAGE,
       needs="reasoning", cost=3)  # fmt: skip
def test_reasoning_streamed_and_whole(ask: Asker, bodies: Bodies) -> None:
    """Let the model reason, in one piece twice and as a stream once: neither form loses what comes between."""
    model = bodies.target.reasoning_model or bodies.target.model
    body = bodies.chat("What is 17 + 25?", max_tokens=256, model=model, reasoning={"effort": "high"})
    wholes = [ask(body), ask(body)]
    ask.case(STREAMED_AND_WHOLE, whole=wholes, streamed=ask(changed(body, stream=True, stream_options=WITH_USAGE)))


@probe("stream.done-in-text-ends-nothing", needs="json", cost=2)
def test_done_in_the_text_ends_nothing(ask: Asker, bodies: Bodies) -> None:
    """Let the model write the terminator's own letters, and see that the stream goes on to its end.

    They are the only value of a forced call's argument, then of a JSON schema, and then a text to repeat; the
    next way is taken only where the one before did not make the model write them.
    """
    line = {"type": "string", "enum": [f"data: {DONE}"]}
    write = function("write_line", "Write a line", line=line)
    schema = {"name": "line", "strict": True, "schema": write["function"]["parameters"]}
    question = f'Write the line "data: {DONE}".'
    named = {"type": "function", "function": {"name": "write_line"}}
    ways = [
        bodies.chat(question, tools=[write], tool_choice=named),
        bodies.chat(question, response_format={"type": "json_schema", "json_schema": schema}),
        bodies.chat(f"Repeat exactly: data: {DONE} is the end"),
    ]
    wholes, streams = [], []
    for body in ways:
        wholes.append(ask(body))
        streams.append(ask(changed(body, stream=True)))
        if wholes[-1].ok and DONE in written(wholes[-1]):
            break
    ask.case(DONE_IN_TEXT, whole=wholes, streamed=streams)


@probe(*WHOLE_REPLY, *COUNTED_STREAM, cost=2)
def test_text_beyond_ascii(ask: Asker, bodies: Bodies) -> None:
    """Have a text with accents, other scripts and emoji repeated, whole and streamed: no character is torn."""
    body = bodies.chat("Repeat exactly: zażółć 🚀 naïve")
    ask(body)
    ask(changed(body, stream=True, stream_options=WITH_USAGE))


@probe("stream.error-event-ends-without-done", "stream.error-is-one-event", needs="induce", cost=1)
def test_error_in_midstream(ask: Asker, bodies: Bodies) -> None:
    """Have a stream fail on the way: one event says so, and no terminator pretends that all went well."""
    ask(bodies.chat(stream=True), induce="midstream_error")


@probe(
    "stream.equals-whole",
    "request.documented-values-are-accepted",
    "messages.any-text-is-accepted",
    "wire.whole-characters",
    effort="standard",
    cost=9,
)
def test_any_conversation(ask: Asker, bodies: Bodies) -> None:
    """Draw conversations with difficult texts: each is accepted, and its stream adds up to its whole reply."""
    _converse(ask, bodies, examples=3)


@probe("stream.equals-whole", "messages.any-text-is-accepted", effort="exhaustive", cost=60)
def test_many_conversations(ask: Asker, bodies: Bodies) -> None:
    """Draw twenty conversations with difficult texts, as above."""
    _converse(ask, bodies, examples=20)


def _converse(ask: Asker, bodies: Bodies, examples: int) -> None:
    def send(messages: list[dict[str, object]]) -> None:
        body = bodies.conversation(*messages, max_tokens=24)
        wholes = [ask(body), ask(body)]
        stream = ask(changed(body, stream=True, stream_options=WITH_USAGE))
        ask.case(
            "accepted",
            ("messages.any-text-is-accepted", "request.documented-values-are-accepted"),
            asked=[*wholes, stream],
        )
        ask.case(STREAMED_AND_WHOLE, whole=wholes, streamed=stream)

    explore(ask, conversations(), send, examples=examples)
