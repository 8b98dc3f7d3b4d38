"""What any answer makes observable, whatever it was asked for: the promises that passive laws judge."""

from __future__ import annotations

#: Any answer with status 200.
ANY_REPLY = (
    "wire.utf8",
    "wire.strict-json",
    "wire.no-duplicate-keys",
    "wire.whole-characters",
    "wire.no-nul-characters",
    "wire.no-control-tokens",
    "wire.bodies-arrive-whole",
    "response.created-is-unix-seconds",
    "response.created-is-now",
    "response.id-is-unique",
    "response.answer-is-not-empty",
    "choices.count-is-n",
    "choices.indices-run-from-zero",
    "finish.no-tool-calls-without-calls",
    "finish.length-means-limit",
)
#: Any usage object.
ANY_USAGE = (
    "usage.total-is-sum",
    "usage.prompt-is-positive",
    "usage.completion-is-positive-when-text",
    "usage.cached-within-prompt",
    "usage.reasoning-within-completion",
    "limits.max-tokens-bounds-output",
)
#: Any reply in one piece.
WHOLE_REPLY = (
    *ANY_REPLY,
    *ANY_USAGE,
    "wire.json-content-type",
    "wire.no-padding-before-body",
    "response.*",
    "choices.indices-are-distinct",
    "stream.default-is-one-body",
    "finish.not-null-in-whole-reply",
    "usage.present-in-whole-reply",
)
#: Any stream that was not asked for its usage.
STREAM = (
    *ANY_REPLY,
    "wire.event-stream-content-type",
    "chunk.*",
    "stream.true-yields-events",
    "stream.ends-with-done",
    "stream.done-comes-once",
    "stream.done-is-exact",
    "stream.every-event-is-closed",
    "stream.events-are-chunks",
    "stream.one-data-line-per-event",
    "stream.no-empty-events",
    "stream.only-data-lines",
    "stream.space-after-colon",
    "stream.one-id",
    "stream.one-created",
    "stream.one-model",
    "stream.role-comes-first",
    "stream.role-comes-only-first",
    "stream.role-on-every-delta",
    "stream.starts-with-the-first-token",
    "stream.finish-once",
    "stream.nothing-after-finish",
    "stream.no-empty-choices",
    "stream.no-whole-message",
    "stream.deltas-are-increments",
    "stream.folds-to-a-valid-message",
    "usage.chunk-only-when-asked",
)
#: Any stream with `include_usage`.
COUNTED_STREAM = (*STREAM, *ANY_USAGE, "usage.chunk-when-asked", "usage.null-before-the-end")
