"""The points at which a fault may change what the server does; without faults each is the identity."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from reference_impl.server.pieces import Piece
from reference_impl.server.strict_json import Json

if TYPE_CHECKING:  # torch is not needed to list the faults
    from reference_impl.engine.request import GenerationRequest
    from reference_impl.server.contract import Refused
    from reference_impl.server.fields import Invalid

Changed = TypeVar("Changed")

Hook = Literal[
    "key", "raw", "request", "invalid", "generation", "pieces", "completion", "chunks", "usage", "refusal",
    "events", "broken", "body", "error_body", "headers", "models",
]  # fmt: skip


class Planted(Protocol):
    """One function of a fault, at one hook."""

    @property
    def hook(self) -> Hook:
        """Where it applies."""
        ...

    @property
    def change(self) -> Callable[..., Any]:
        """Takes the value at the hook and the exchange, and returns the value to go on with."""
        ...


@dataclass(slots=True)
class Exchange:
    """One request on its way through the server, and the faults that see it.

    `number` counts the chat requests of the server from 1, `in_flight` those being answered when this one
    came; `memory` lives as long as the server, so that a fault can remember earlier requests.
    """

    dialect: str
    request_id: str = ""
    number: int = 0
    in_flight: int = 0
    api_key: str = ""
    authorization: str = ""
    default_model: str = ""
    induce: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    planted: tuple[Planted, ...] = ()

    @property
    def streamed(self) -> bool:
        """Whether the client asked for a stream."""
        return self.data.get("stream") is True

    def raw(self, body: bytes) -> bytes:
        """The request body before it is parsed."""
        return self._through("raw", body)

    def request(self, data: Json) -> Json:
        """The parsed request before it is validated; a fault may raise Refused."""
        return self._through("request", data)

    def repaired(self, data: Json, problem: Invalid) -> Json:
        """A request to take instead of one that is refused for `problem`, or None to refuse it."""
        for fault in self.planted:
            if fault.hook == "invalid":
                repaired = fault.change((data, problem), self)
                if repaired is not None:
                    return repaired
        return None

    def let_in(self, refused: Refused) -> bool:
        """Whether a caller with a missing or wrong key is served all the same."""
        return any(fault.change(refused, self) for fault in self.planted if fault.hook == "key")

    def generation(self, request: GenerationRequest) -> GenerationRequest:
        """What is asked of the engine."""
        return self._through("generation", request)

    def pieces(self, pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
        """The pieces of one choice."""
        return self._through("pieces", pieces)

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        """The whole-body completion object."""
        return self._through("completion", body)

    def chunks(self, chunks: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        """The chunk objects of a stream."""
        return self._through("chunks", chunks)

    def usage(self, usage: dict[str, Any]) -> dict[str, Any]:
        """Every usage object, streamed or not."""
        return self._through("usage", usage)

    def refusal(self, refused: Refused) -> Refused:
        """An error answer: `status`, `body` and `headers`."""
        return self._through("refusal", refused)

    def events(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The bytes of a stream, one event an item."""
        return self._through("events", events)

    def broken(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The bytes with which a stream ends that has failed."""
        return self._through("broken", events)

    def body(self, body: bytes) -> bytes:
        """The bytes of a whole-body answer with status 200."""
        return self._through("body", body)

    def error_body(self, body: bytes) -> bytes:
        """The bytes of an error answer."""
        return self._through("error_body", body)

    def headers(self, headers: dict[str, str]) -> dict[str, str]:
        """The headers of an answer with status 200."""
        return self._through("headers", headers)

    def models(self, listing: dict[str, Any]) -> dict[str, Any]:
        """The model list."""
        return self._through("models", listing)

    def _through(self, hook: Hook, value: Changed) -> Changed:
        for fault in self.planted:
            if fault.hook == hook:
                value = fault.change(value, self)
        return value
