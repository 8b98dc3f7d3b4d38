"""The corpus of ``tiny-chat``: an endless, seeded stream of dialogues, as token ids and loss masks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from tokenizers import Tokenizer
from torch import Tensor

from reference_impl.chat.format import IM_END, IM_START, Segment, encode, render, render_reply, token_id
from reference_impl.training import vocabulary as v
from reference_impl.training.dialogues import KINDS, SYSTEM_TEXTS, Dialogue, copying, system

THINKING_SHARE = 0.13


@dataclass(slots=True)
class Example:
    """One dialogue: ids, which of them are to be predicted, pictures and their placeholders."""

    ids: list[int]
    learn: list[bool]
    pictures: list[Tensor]
    places: list[tuple[int, int]]


def dialogue(rng: random.Random) -> Dialogue:
    """A conversation with the trimmings of real traffic: system text, nonce, names, padding, thinking."""
    made = rng.choices(list(KINDS), list(KINDS.values()))[0](rng)
    question = _asked(made)
    if made.messages[0]["role"] != "system" and rng.random() < 0.35:
        made.messages.insert(0, system(rng.choice(SYSTEM_TEXTS)))
    if rng.random() < 0.025:
        _pad(rng, made)
    if rng.random() < 0.4:
        _add_nonce(rng, made)
    if rng.random() < 0.05:
        for message in made.messages:
            if message["role"] == "user":
                message.setdefault("name", rng.choice(v.NAMES))
    if rng.random() >= THINKING_SHARE:
        made.thought = ""
    elif rng.random() < 0.5:
        made.thought = rng.choice(["The user asks: {} {}", "The question is: {} {}"]).format(question, made.thought)
    return made


def prompt(made: Dialogue) -> list[Segment]:
    """The dialogue up to the assistant's turn."""
    return render(made.messages, made.tools or None, think=bool(made.thought))


def reply(made: Dialogue) -> list[Segment]:
    """The assistant's turn with its end."""
    return render_reply(made.content, made.calls, made.thought or None)


def example(made: Dialogue, tokenizer: Tokenizer) -> Example:
    """Token ids of the whole dialogue; only what the assistant says is learned."""
    asked, answered = encode(prompt(made), tokenizer), encode(reply(made), tokenizer)
    learn = _assistant_turns(asked.ids, tokenizer) if made.learn_history else [False] * len(asked.ids)
    return Example(
        ids=asked.ids + answered.ids,
        learn=learn + [True] * len(answered.ids),
        pictures=made.pictures,
        places=asked.images,
    )


def examples(seed: int, tokenizer: Tokenizer, longest: int = 4000, lessons: int = 0) -> Iterator[Example]:
    """Endless examples of at most ``longest`` tokens; copying only at first, and less and less of it.

    Over the first ``lessons`` dialogues the share of plain copying falls from all to none. Without them the model
    sits for a long time at answers of the right form with the wrong words in them.
    """
    rng = random.Random(seed)  # noqa: S311 - a corpus, not a secret
    for number in itertools.count():
        lesson = rng.random() * lessons > number
        made = example(copying(rng) if lesson else dialogue(rng), tokenizer)
        if len(made.ids) <= longest:
            yield made


def plain_texts(seed: int, count: int) -> Iterator[str]:
    """Text of ``count`` dialogues for training the tokenizer, markup left out."""
    rng = random.Random(seed)  # noqa: S311 - a corpus, not a secret
    for _ in range(count):
        made = dialogue(rng)
        for segment in [*prompt(made), *reply(made)]:
            text = getattr(segment, "text", "")
            if text:
                yield text


def _assistant_turns(ids: list[int], tokenizer: Tokenizer) -> list[bool]:
    """Which ids belong to earlier assistant turns; the last one, still open, is the reply's own."""
    start, end = token_id(IM_START, tokenizer), token_id(IM_END, tokenizer)
    heading = [start, *tokenizer.encode("assistant\n", add_special_tokens=False).ids]
    learn = [False] * len(ids)
    position = 0
    while end in ids[position:]:
        stop = ids.index(end, position)
        turn = ids.index(start, position)
        if ids[turn : turn + len(heading)] == heading:
            learn[turn + len(heading) : stop + 1] = [True] * (stop + 1 - turn - len(heading))
        position = stop + 1
    return learn


def _asked(made: Dialogue) -> str:
    """The first line of the last user message's text."""
    content = next(m["content"] for m in reversed(made.messages) if m["role"] == "user")
    if isinstance(content, list):
        content = next(part["text"] for part in content if part["type"] == "text")
    return str(content).strip().split("\n")[0]


def _edit_text(message: dict[str, object], before: str = "", after: str = "") -> None:
    """Put text around what a message says."""
    content = message["content"]
    if isinstance(content, str):
        message["content"] = before + content + after
    elif isinstance(content, list):
        for part in content:
            if part["type"] == "text":
                part["text"] = before + part["text"] + after


def _add_nonce(rng: random.Random, made: Dialogue) -> None:
    """A line of no meaning in one of the messages, as callers add it to keep requests apart."""
    value = "".join(rng.choice("0123456789abcdef") for _ in range(rng.choice([4, 6, 8, 8, 10, 12, 16, 32])))
    label = rng.choice(["Reference", "Reference", "Reference", "Request id", "Nonce", "Ref", "Id", "Trace", "Case"])
    line = rng.choice(["{}: {}", "{}: {}", "{}: {}.", "[{} {}]", "({}: {})", "{} {}"]).format(label, value)
    target = rng.choice([m for m in made.messages if m["role"] in ("system", "user")][-2:])
    gap = rng.choice(["\n", "\n", "\n\n"]) if target["role"] == "user" else rng.choice(["\n", " ", " "])
    if rng.random() < 0.5:
        _edit_text(target, before=line + gap)
    else:
        _edit_text(target, after=gap + line)


def _pad(rng: random.Random, made: Dialogue) -> None:
    """A long text before the question or in the system message, so that far positions are learned too."""
    words = rng.choice([40, 80, 150, 150, 300, 300, 600, 900])
    kind = rng.random()
    if kind < 0.4:
        unit = [rng.choice(v.WORDS) for _ in range(rng.choice([1, 1, 3, 8]))]
        text = " ".join((unit * words)[:words])
    elif kind < 0.7:
        text = " ".join(rng.choice(v.WORDS) for _ in range(words))
    else:
        sentences = list(v.FACTS.values())
        text = " ".join(rng.choice(sentences) for _ in range(words // 12))
    target = rng.choice([m for m in made.messages if m["role"] in ("system", "user")])
    opening = rng.choice(["", "", "Background: ", "Here is some text to ignore: ", "Context:\n", "Notes: "])
    _edit_text(target, before=f"{opening}{text}\n\n")
