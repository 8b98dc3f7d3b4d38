"""Which model answered, by name."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.laws.conditions import readable
from conformance.laws.registry import Violation, law
from conformance.laws.relations import shortened
from conformance.reply import reply_of
from conformance.wire.exchange import Exchange
from spec.model import Promise


@law("models.reply-names-the-model", applies=lambda x: readable(x) and isinstance(x.asks("model"), str))
def reply_names_the_model(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """`model` in a reply, and in each of its chunks, is the model that was asked for."""
    reply = reply_of(x)
    assert reply is not None
    named = [chunk.get("model") for chunk in x.chunks] if reply.streamed else [reply.model]
    # That the member is there, and a string, is for the document's own constraints to say.
    others = [name for name in named if isinstance(name, str) and name != x.asks("model")]
    if others:
        yield Violation("the reply names another model", shortened(x.asks("model")), shortened(others[0]))
