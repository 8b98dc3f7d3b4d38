"""The shapes that pass between a dialect and the HTTP layer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from reference_impl.faults.hooks import Exchange
from reference_impl.server.fields import Invalid
from reference_impl.server.strict_json import Json

Chunk = dict[str, Any]


class Refused(Exception):
    """An answer that is an error object, in the vendor's own shape."""

    def __init__(self, status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


class Errors(Protocol):
    """The refusals that the HTTP layer itself has to make, in the vendor's shape."""

    def malformed(self, message: str) -> Refused:
        """The body is not JSON, or not the media type."""
        ...

    def invalid(self, problem: Invalid) -> Refused:
        """A member is not what the document allows."""
        ...

    def too_large(self, limit: int) -> Refused:
        """The body has more than `limit` bytes."""
        ...

    def unauthorized(self, message: str) -> Refused:
        """No key, or a wrong one."""
        ...

    def no_such_route(self) -> Refused:
        """Nothing is served under this path."""
        ...

    def wrong_method(self, method: str, allowed: Sequence[str]) -> Refused:
        """The path is served, but not with this method."""
        ...

    def prompt_too_long(self, tokens: int, limit: int) -> Refused:
        """The conversation does not fit the context."""
        ...

    def at_capacity(self) -> Refused:
        """The queue is full."""
        ...

    def timed_out(self) -> Refused:
        """No answer within the time limit."""
        ...

    def stream_broken(self) -> Refused:
        """The reply broke off; its body is also the last event of a stream."""
        ...

    def internal(self) -> Refused:
        """A defect of this server."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A reply in one piece."""

    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A reply in chunks; the stream ends with `[DONE]` unless the iterator raises."""

    chunks: AsyncIterator[Chunk]


class Dialect(Protocol):
    """One vendor's document, as the HTTP layer needs it."""

    name: str
    base_path: str
    body_limit: int
    time_limit: float

    @property
    def errors(self) -> Errors:
        """The vendor's refusals."""
        ...

    def answer(self, data: Json, exchange: Exchange) -> AbstractAsyncContextManager[Whole | Streamed]:
        """Answer a chat request; everything it holds is freed when the context ends.

        Raises Invalid, Refused, PromptTooLong and QueueFull.
        """
        ...

    def model_list(self) -> dict[str, Any]:
        """The body of GET models."""
        ...

    def model(self, model_id: str) -> dict[str, Any]:
        """The body of GET models/ID; raises Refused."""
        ...
