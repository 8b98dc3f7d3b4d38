"""What a reply is made of while it is generated: the events that every dialect shapes in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reasoning:
    """New thinking text."""

    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """New answer text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallOpened:
    """A tool call begins; `index` counts the calls of one reply from 0."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """New text of a call's JSON arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallClosed:
    """The call is complete."""

    index: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is over, for a reason in the words of finish_reason; always the last piece."""

    reason: str


Piece = Reasoning | Content | CallOpened | CallArguments | CallClosed | Finished


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same pieces with neighbouring texts of one kind joined."""
    last: Piece | None = None
    for piece in pieces:
        match last, piece:
            case Reasoning(before), Reasoning(text):
                last = Reasoning(before + text)
            case Content(before), Content(text):
                last = Content(before + text)
            case CallArguments(index, before), CallArguments(same, text) if index == same:
                last = CallArguments(index, before + text)
            case _:
                if last is not None:
                    yield last
                last = piece
    if last is not None:
        yield last


@dataclass(slots=True)
class Call:
    """One tool call of a reply; `complete` is False when the token limit cut it."""

    name: str
    arguments: str = ""
    complete: bool = False


@dataclass(slots=True)
class Reply:
    """The pieces of one choice, put together."""

    reasoning: str = ""
    content: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str = "stop"

    def add(self, piece: Piece) -> None:
        """Append one piece."""
        match piece:
            case Reasoning(text):
                self.reasoning += text
            case Content(text):
                self.content += text
            case CallOpened(_, name):
                self.calls.append(Call(name))
            case CallArguments(index, text):
                self.calls[index].arguments += text
            case CallClosed(index):
                self.calls[index].complete = True
            case Finished(reason):
                self.finish = reason

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Reply:
        """All pieces at once."""
        reply = cls()
        for piece in pieces:
            reply.add(piece)
        return reply
