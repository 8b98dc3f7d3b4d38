"""Faults of chunk objects: their fields, their deltas and their order."""

from __future__ import annotations

from collections import defaultdict

from reference_impl.faults.edits import Chunk, Chunks, Pieces, choices, deltas, edited, finishes
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.pieces import Content, Finished


@fault("deltas-cumulative", "chunks", both=["stream.deltas-are-increments"])
async def deltas_cumulative(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Each delta repeats all text so far instead of only the new part."""
    so_far: dict[int, str] = defaultdict(str)
    async for chunk in chunks:
        for choice in choices(chunk):
            if choice["delta"].get("content"):
                so_far[choice["index"]] += choice["delta"]["content"]
                choice["delta"]["content"] = so_far[choice["index"]]
        yield chunk


@fault("first-text-lost", "chunks", both=["stream.equals-whole"])
async def first_text_lost(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The first token of a streamed answer is dropped where thinking comes before it."""
    thought = lost = False
    async for chunk in chunks:
        for delta in deltas(chunk):
            thought = thought or bool(delta.get("reasoning"))
            if thought and not lost and delta.get("content"):
                delta["content"] = ""
                lost = True
        yield chunk


@fault("text-lost-when-long", "chunks", both=["stream.equals-whole"])
async def text_lost_when_long(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The tenth text delta of a stream is lost."""
    count = 0
    async for chunk in chunks:
        count += any(delta.get("content") for delta in deltas(chunk))
        if count == 10 and not finishes(chunk):
            count += 1
            continue
        yield chunk


@fault("nul-byte-in-output", "pieces", both=["wire.no-nul-characters"])
async def nul_byte_in_output(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The answer ends with a NUL character from a stray byte token."""
    async for piece in pieces:
        if isinstance(piece, Finished):
            yield Content("\x00")
        yield piece


@fault("control-tokens-in-content", "pieces", both=["wire.no-control-tokens"])
async def control_tokens_in_content(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The token that ends a turn appears in the visible text."""
    async for piece in pieces:
        if isinstance(piece, Finished) and piece.reason == "stop":
            yield Content("<|im_end|>")
        yield piece


@fault("character-torn", "pieces", both=["wire.whole-characters"])
async def character_torn(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Tokens are decoded one by one, so that a character of several bytes becomes replacement characters."""
    async for piece in pieces:
        if isinstance(piece, Content) and not piece.text.isascii():
            torn = [char if char.isascii() else "\ufffd" * len(char.encode()) for char in piece.text]
            yield Content("".join(torn))
        else:
            yield piece


@fault("delta-and-full-message-together", "chunks", both=["stream.no-whole-message"])
async def delta_and_full_message_together(chunks: Chunks, exchange: Exchange) -> Chunks:
    """Every chunk carries a growing message beside its delta."""
    text = ""
    async for chunk in chunks:
        for choice in choices(chunk):
            text += choice["delta"].get("content") or ""
            choice["message"] = {"role": "assistant", "content": text}
        yield chunk


@fault("chunk-created-drifts", "chunks", both=["stream.one-created"])
async def chunk_created_drifts(chunks: Chunks, exchange: Exchange) -> Chunks:
    """`created` grows from chunk to chunk."""
    number = 0
    async for chunk in chunks:
        chunk["created"] += number
        number += 1
        yield chunk


@fault("chunk-id-differs", "chunks", both=["stream.one-id"])
async def chunk_id_differs(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The last chunk of a choice has an id of its own."""

    def edit(chunk: Chunk) -> None:
        if finishes(chunk):
            chunk["id"] += "-end"

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("chunk-model-differs", "chunks", both=["stream.one-model"])
async def chunk_model_differs(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The chunks behind the first name the model by another id."""
    first = True
    async for chunk in chunks:
        if not first:
            chunk["model"] += "-0001"
        first = False
        yield chunk


@fault("chunk-object-misspelled", "chunks", both=["chunk.object.const"])
def chunk_object_misspelled(chunks: Chunks, exchange: Exchange) -> Chunks:
    """`object` of a chunk is not the documented constant."""
    return edited(chunks, lambda chunk: chunk.update(object="chat.completions.chunk"))


@fault("chunk-model-null", "chunks", both=["chunk.model.type"])
def chunk_model_null(chunks: Chunks, exchange: Exchange) -> Chunks:
    """`model` is null in chunks."""
    return edited(chunks, lambda chunk: chunk.update(model=None))


@fault(
    "choice-index-counts-chunks",
    "chunks",
    ark=["chunk.choices.index.const"],
    serenity_edge=["choices.count-is-n"],
)
async def choice_index_counts_chunks(chunks: Chunks, exchange: Exchange) -> Chunks:
    """choices[].index grows with each chunk instead of naming the choice."""
    number = 0
    async for chunk in chunks:
        for choice in choices(chunk):
            choice["index"] = number
        number += 1
        yield chunk


@fault("choice-index-same-for-all-choices", "chunks", serenity_edge=["stream.finish-once"])
async def choice_index_same_for_all_choices(chunks: Chunks, exchange: Exchange) -> Chunks:
    """With several choices every finish chunk carries the index 0."""

    def edit(chunk: Chunk) -> None:
        if finishes(chunk):
            for choice in choices(chunk):
                choice["index"] = 0

    async for chunk in edited(chunks, edit):
        yield chunk


@fault("role-never-sent", "chunks", both=["stream.role-comes-first"])
async def role_never_sent(chunks: Chunks, exchange: Exchange) -> Chunks:
    """No chunk of a stream carries the assistant role."""
    async for chunk in chunks:
        for delta in deltas(chunk):
            delta.pop("role", None)
        yield chunk


@fault("role-empty-string", "chunks", both=["chunk.choices.delta.role.enum"])
async def role_empty_string(chunks: Chunks, exchange: Exchange) -> Chunks:
    """delta.role is an empty string from the second chunk on."""
    async for chunk in _later_roles(chunks, ""):
        yield chunk


@fault("role-null-on-later-chunks", "chunks", both=["chunk.choices.delta.role.type"])
async def role_null_on_later_chunks(chunks: Chunks, exchange: Exchange) -> Chunks:
    """delta.role is null from the second chunk on."""
    async for chunk in _later_roles(chunks, None):
        yield chunk


@fault("role-on-every-chunk", "chunks", serenity_edge=["stream.role-comes-only-first"])
async def role_on_every_chunk(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The role is repeated in each chunk."""
    async for chunk in _later_roles(chunks, "assistant"):
        yield chunk


@fault("role-only-in-the-first-chunk", "chunks", ark=["stream.role-on-every-delta"])
async def role_only_in_the_first_chunk(chunks: Chunks, exchange: Exchange) -> Chunks:
    """The role comes once, as other vendors send it, and not in every delta as the sample shows."""
    first = True
    async for chunk in chunks:
        for delta in deltas(chunk):
            if not first:
                delta.pop("role", None)
        first = False
        yield chunk


async def _later_roles(chunks: Chunks, role: str | None) -> Chunks:
    met: set[int] = set()
    async for chunk in chunks:
        for choice in choices(chunk):
            if choice["index"] in met:
                choice["delta"]["role"] = role
            met.add(choice["index"])
        yield chunk


@fault("first-chunk-empty", "chunks", ark=["stream.starts-with-the-first-token"])
async def first_chunk_empty(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A chunk with the role alone is sent before anything is generated."""
    first = True
    async for chunk in chunks:
        if first and choices(chunk):
            empty = {**choices(chunk)[0], "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
            yield {**chunk, "choices": [empty]}
        first = False
        yield chunk


@fault("chunk-without-choices", "chunks", both=["stream.no-empty-choices"])
async def chunk_without_choices(chunks: Chunks, exchange: Exchange) -> Chunks:
    """A chunk without choices and without usage comes first, as a sign of life."""
    first = True
    async for chunk in chunks:
        if first:
            yield {**chunk, "choices": []}
        first = False
        yield chunk
