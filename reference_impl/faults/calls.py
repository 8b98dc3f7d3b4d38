"""Faults of tool calls in replies: their shape, their fragments, and whether choices are obeyed."""

from __future__ import annotations

import json

from reference_impl.faults.edits import (
    Chunk,
    Chunks,
    Pieces,
    choices,
    edited,
    rearranged,
    tool_calls,
    without_calls,
)
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.pieces import CallArguments, CallClosed, CallOpened, Finished, Reply

FRAGMENT = "tools.first-fragment-names-the-call"
NO_CALL = ("tools.required-yields-a-call", "tools.named-choice-is-obeyed")


@fault("tool-index-missing", "chunks", both=["chunk.choices.delta.tool_calls.index.required"])
async def tool_index_missing(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Streamed tool calls have no index."""

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call.pop("index")

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("tool-index-not-from-zero", "chunks", both=["tools.indices-run-from-zero"])
async def tool_index_not_from_zero(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The first call of a stream has the index 1, as if a text had taken slot 0."""

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call["index"] += 1

    async for chunk in edited(chunks, edit):
        yield chunk


@fault(
    "tool-index-always-zero",
    "chunks",
    both=["tools.indices-run-from-zero"],
)
async def tool_index_always_zero(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Every parallel call is streamed with index 0."""

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call["index"] = 0

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("tool-args-as-object", "completion", both=["response.choices.message.tool_calls.function.arguments.type"])
def tool_args_as_object(body: Chunk, exchange: Exchange) -> Chunk:
    """function.arguments is a JSON object and not a string."""
    for call in tool_calls(body):
        call["function"]["arguments"] = _parsed(call["function"]["arguments"])
    return body


@fault("tool-args-double-encoded", "pieces", both=["tools.arguments-are-an-object"])
def tool_args_double_encoded(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The arguments decode to another JSON string."""
    return rearranged(pieces, json.dumps)


@fault("tool-args-invalid-json", "pieces", both=["tools.arguments-are-json"])
def tool_args_invalid_json(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The arguments hold an escape that JSON does not have."""
    return rearranged(pieces, lambda arguments: arguments.replace('": ', '\\U": ', 1).replace("{}", '{"\\U": 1}'))


@fault("tool-args-empty-string", "pieces", both=["tools.arguments-are-json"])
def tool_args_empty_string(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A call without arguments has an empty string instead of an empty object."""
    return rearranged(pieces, lambda arguments: "" if arguments == "{}" else arguments)


@fault("tool-args-cut-when-long", "pieces", both=["tools.arguments-are-json"])
def tool_args_cut_when_long(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Arguments longer than forty characters lose their end."""
    return rearranged(pieces, lambda arguments: arguments[:40])


@fault("tool-args-against-schema", "pieces", serenity_edge=["tools.strict-arguments-match-schema"])
def tool_args_against_schema(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Arguments lack every member that the schema requires, also with `strict`."""
    return rearranged(pieces, lambda arguments: "{}")


@fault("tool-name-repeated-in-deltas", "chunks", serenity_edge=["tools.id-and-name-come-once"])
async def tool_name_repeated_in_deltas(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Each fragment carries the whole function name."""
    names: dict[int, str] = {}

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            function = call["function"]
            function["name"] = names.setdefault(call["index"], function.get("name", ""))

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("tool-type-or-id-repeated-in-deltas", "chunks", serenity_edge=["tools.id-and-name-come-once"])
async def tool_type_or_id_repeated_in_deltas(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Each fragment carries type and id again."""
    ids: dict[int, str] = {}

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call["id"] = ids.setdefault(call["index"], call.get("id", ""))
            call["type"] = "function"

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("tool-name-fragmented", "chunks", serenity_edge=[FRAGMENT])
async def tool_name_fragmented(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The name of a function is split over two fragments."""
    async for chunk in chunks:
        named = next((call for call in tool_calls(chunk) if call["function"].get("name")), None)
        if named is None:
            yield chunk
            continue
        name = named["function"]["name"]
        named["function"]["name"] = name[:2]
        yield chunk
        rest = [{"index": named["index"], "function": {"name": name[2:]}}]
        yield {**chunk, "choices": [{**choices(chunk)[0], "delta": {"tool_calls": rest}}]}


@fault(
    "tool-name-never-sent",
    "chunks",
    ark=["chunk.choices.delta.tool_calls.function.name.required", FRAGMENT, "stream.folds-to-a-valid-message"],
    serenity_edge=[FRAGMENT, "stream.folds-to-a-valid-message"],
)
async def tool_name_never_sent(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A streamed call ends without any function name."""

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call["function"].pop("name", None)

    async for chunk in edited(chunks, edit):
        yield chunk


@fault(
    "tool-id-never-streamed",
    "chunks",
    ark=[FRAGMENT, "chunk.choices.delta.tool_calls.id.required", "stream.folds-to-a-valid-message"],
    serenity_edge=[FRAGMENT, "stream.folds-to-a-valid-message"],
)
async def tool_id_never_streamed(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A streamed call has no id."""

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call.pop("id", None)

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("tool-type-never-streamed", "chunks", both=["stream.folds-to-a-valid-message"])
async def tool_type_never_streamed(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A streamed call has no type, so that the deltas make no valid call."""

    def edit(chunk: Chunk) -> None:
        for call in tool_calls(chunk):
            call.pop("type", None)

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("calls-in-fragments", "chunks", ark=["tools.calls-arrive-complete"])
async def calls_in_fragments(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A call is streamed in two fragments instead of complete."""
    async for chunk in chunks:
        call = next(tool_calls(chunk), None)
        if call is None:
            yield chunk
            continue
        arguments = call["function"]["arguments"]
        half = len(arguments) // 2
        call["function"]["arguments"] = arguments[:half]
        yield chunk
        rest = {**call, "function": {**call["function"], "arguments": arguments[half:]}}
        choice = choices(chunk)[0]
        yield {**chunk, "choices": [{**choice, "delta": {"role": "assistant", "tool_calls": [rest]}}]}


@fault("tool-id-missing-or-empty", "completion", both=["tools.ids-are-not-empty"])
def tool_id_missing_or_empty(body: Chunk, exchange: Exchange) -> Chunk:
    """Tool calls of a whole reply have an empty id."""
    for call in tool_calls(body):
        call["id"] = ""
    return body


@fault("tool-ids-equal", "completion", both=["tools.ids-are-distinct"])
def tool_ids_equal(body: Chunk, exchange: Exchange) -> Chunk:
    """Parallel calls of a reply share one id."""
    calls = list(tool_calls(body))
    for call in calls:
        call["id"] = calls[0]["id"]
    return body


@fault("tool-id-reused-across-turns", "completion", both=["tools.ids-differ-across-replies"])
def tool_id_reused_across_turns(body: Chunk, exchange: Exchange) -> Chunk:
    """Ids are made of name and position, so that the same id returns in a later reply."""
    for position, call in enumerate(tool_calls(body)):
        call["id"] = f"{call['function']['name']}:{position}"
    return body


@fault(
    "tool-markup-in-content",
    "pieces",
    ark=["tools.calls-are-structured", *NO_CALL, "tools.allowed-tools-is-obeyed"],
    serenity_edge=["tools.calls-are-structured", *NO_CALL],
)
def tool_markup_in_content(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The model's raw call markup appears as text."""
    return without_calls(pieces, _markup)


@fault("only-first-parallel-call-parsed", "pieces", both=["tools.calls-are-structured"])
def only_first_parallel_call_parsed(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Of several calls the first becomes structured and the rest stay text."""
    return without_calls(pieces, _markup, first=1)


@fault("tool-stream-differs-from-nonstream", "pieces", both=["stream.equals-whole"])
def tool_stream_differs_from_nonstream(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The stream's parser of calls keeps less of the arguments than the one for whole replies."""
    return rearranged(pieces, str.upper if exchange.streamed else str)


@fault("calls-lost-at-second-request", "pieces", both=[*NO_CALL, "response.answer-is-not-empty"])
async def calls_lost_at_second_request(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The parser of calls works once per process: later replies have their calls dropped."""
    reply = Reply()
    used = exchange.memory.get("parsed", False)
    async for piece in pieces:
        reply.add(piece)
        if isinstance(piece, CallOpened):
            exchange.memory["parsed"] = True
        if used and isinstance(piece, CallOpened | CallArguments | CallClosed):
            continue
        yield Finished("stop") if used and piece == Finished("tool_calls") else piece


@fault("call-only-content-wrong", "completion", both=["tools.call-only-content"])
def call_only_content_wrong(body: Chunk, exchange: Exchange) -> Chunk:
    """`content` of a reply with calls alone is an empty string."""
    for choice in choices(body):
        if choice["message"].get("tool_calls"):
            choice["message"]["content"] = choice["message"].get("content") or ""
    return body


@fault("n-above-one-disables-parsers", "pieces", serenity_edge=["choices.each-keeps-the-form"])
def n_above_one_disables_parsers(pieces: Pieces, exchange: Exchange) -> Pieces:
    """With n above 1 the calls of every choice stay raw text."""
    several = exchange.data.get("n") not in (None, 1)
    return without_calls(pieces, _markup) if several else pieces


def _markup(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return {}
