"""Faults of reasoning: where it goes, whether it was asked for, and what it counts."""

from __future__ import annotations

from reference_impl.faults.edits import Chunk, Pieces, choices, crash
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.pieces import Content, Finished, Piece, Reasoning
from reference_impl.server.strict_json import Json


@fault("truncated-thinking-becomes-content", "completion", both=["reasoning.cut-thinking-stays-reasoning"])
def truncated_thinking_becomes_content(body: Chunk, exchange: Exchange) -> Chunk:
    """When the limit hits during thinking, a whole reply returns the thoughts as the answer."""
    for choice in choices(body):
        message = choice["message"]
        if choice["finish_reason"] == "length" and message.get("reasoning") and not message.get("content"):
            message["content"] = message.pop("reasoning")
    return body


@fault("answer-lands-in-reasoning", "pieces", both=["reasoning.answer-is-content", "response.answer-is-not-empty"])
async def answer_lands_in_reasoning(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The answer behind the thinking is put into the reasoning too, and content is empty."""
    thought = False
    async for piece in pieces:
        thought = thought or isinstance(piece, Reasoning)
        yield Reasoning(piece.text) if thought and isinstance(piece, Content) else piece


@fault("reasoning-only-stop", "pieces", both=["reasoning.answer-is-content", "response.answer-is-not-empty"])
async def reasoning_only_stop(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The model ends right after thinking: no content, and finish_reason stop."""
    thought = False
    async for piece in pieces:
        thought = thought or isinstance(piece, Reasoning)
        if not (thought and isinstance(piece, Content)):
            yield piece


@fault("reasoning-dropped", "pieces", both=["reasoning.on-yields-reasoning"])
async def reasoning_dropped(pieces: Pieces, exchange: Exchange) -> Pieces:
    """The thinking is thrown away although it was asked for."""
    async for piece in pieces:
        if not isinstance(piece, Reasoning):
            yield piece


@fault(
    "reasoning-markup-in-content",
    "pieces",
    both=["reasoning.no-markup-in-content", "reasoning.cut-thinking-stays-reasoning", "reasoning.on-yields-reasoning"],
)
async def reasoning_markup_in_content(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Thinking comes as content, in its markup, with the answer behind it."""
    thinking = False
    async for piece in pieces:
        if isinstance(piece, Reasoning):
            yield Content(piece.text if thinking else f"<think>{piece.text}")
            thinking = True
            continue
        if thinking:
            yield Content("</think>")
            thinking = False
        yield piece


@fault("reasoning-tokens-zero", "usage", both=["reasoning.text-implies-tokens"])
def reasoning_tokens_zero(usage: Chunk, exchange: Exchange) -> Chunk:
    """reasoning_tokens is 0 whatever was thought."""
    usage["completion_tokens_details"]["reasoning_tokens"] = 0
    return usage


@fault("reasoning-off-ignored", "request", ark=["reasoning.none-and-minimal-are-off"])
def reasoning_off_ignored(data: Json, exchange: Exchange) -> Json:
    """The efforts none and minimal think anyway."""
    return _with_effort(data, "high", of=("none", "minimal"))


@fault("reasoning-low-thinks", "request", ark=["reasoning.low-is-off"])
def reasoning_low_thinks(data: Json, exchange: Exchange) -> Json:
    """The effort low thinks, as it does at other vendors."""
    return _with_effort(data, "high", of=("low",))


@fault("reasoning-by-default", "request", ark=["reasoning.default-is-off"])
def reasoning_by_default(data: Json, exchange: Exchange) -> Json:
    """Without an effort the model thinks."""
    if not isinstance(data, dict) or data.get("reasoning_effort") or data.get("reasoning"):
        return data
    return {**data, "reasoning_effort": "high"}


@fault("reasoning-object-ignored", "request", ark=["reasoning.object-form-equals-field"])
def reasoning_object_ignored(data: Json, exchange: Exchange) -> Json:
    """The form `reasoning: {effort}` has no effect."""
    return {**data, "reasoning": None} if isinstance(data, dict) and "reasoning" in data else data


@fault("reasoning-exclude-ignored", "request", serenity_edge=["reasoning.exclude-hides-text"])
def reasoning_exclude_ignored(data: Json, exchange: Exchange) -> Json:
    """Thinking that the request hides is returned."""
    reasoning = data.get("reasoning") if isinstance(data, dict) else None
    if not isinstance(reasoning, dict) or reasoning.get("exclude") is not True:
        return data
    return {**data, "reasoning": {"effort": "medium", **reasoning, "exclude": False}}


@fault("reasoning-exclude-ignored-in-streams", "request", serenity_edge=["reasoning.exclude-hides-text"])
def reasoning_exclude_ignored_in_streams(data: Json, exchange: Exchange) -> Json:
    """Thinking that the request hides is returned where the reply is streamed."""
    return reasoning_exclude_ignored(data, exchange) if exchange.streamed else data


@fault("reasoning-effort-value-500", "request", both=["reasoning.every-effort-is-accepted"])
def reasoning_effort_value_500(data: Json, exchange: Exchange) -> Json:
    """A documented effort that the chat template does not know raises 500."""
    if isinstance(data, dict):
        nested = data.get("reasoning")
        efforts = [data.get("reasoning_effort"), nested.get("effort") if isinstance(nested, dict) else None]
        if any(effort in ("xhigh", "minimal") or (exchange.dialect != "ark" and effort == "low") for effort in efforts):
            crash("an effort the template does not know")
    return data


@fault("stop-fires-inside-reasoning", "pieces", both=["stop.ignores-reasoning"])
async def stop_fires_inside_reasoning(pieces: Pieces, exchange: Exchange) -> Pieces:
    """A stop string that occurs in the thinking ends the reply before any answer."""
    stop = exchange.data.get("stop")
    stops = [stop] if isinstance(stop, str) else stop or []
    thought = ""
    async for piece in pieces:
        yield piece
        if isinstance(piece, Reasoning):
            thought += piece.text
            if any(text and text in thought for text in stops):
                yield Finished("stop")
                return


@fault("reasoning-refused-by-plain-model", "request", serenity_edge=["reasoning.without-ability-is-survived"])
def reasoning_refused_by_plain_model(data: Json, exchange: Exchange) -> Json:
    """An effort sent to a model that cannot think raises 500."""
    if isinstance(data, dict) and data.get("reasoning") and str(data.get("model")).endswith("-text"):
        crash("no thinking template")
    return data


@fault("reasoning-ends-up-in-calls-turns", "pieces", both=["reasoning.no-markup-in-content"])
def reasoning_ends_up_in_calls_turns(pieces: Pieces, exchange: Exchange) -> Pieces:
    """Where thinking and tools meet, the closing mark of the thought stays in the content."""
    return _marked(pieces) if exchange.data.get("tools") else pieces


async def _marked(pieces: Pieces) -> Pieces:
    last: Piece | None = None
    async for piece in pieces:
        if isinstance(last, Reasoning) and not isinstance(piece, Reasoning):
            yield Content("</think>")
        yield piece
        last = piece


def _with_effort(data: Json, effort: str, of: tuple[str, ...]) -> Json:
    if not isinstance(data, dict):
        return data
    nested = data.get("reasoning")
    if data.get("reasoning_effort") in of:
        return {**data, "reasoning_effort": effort}
    if isinstance(nested, dict) and nested.get("effort") in of:
        return {**data, "reasoning": {**nested, "effort": effort}}
    return data
