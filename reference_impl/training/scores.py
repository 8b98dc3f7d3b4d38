"""Held-out scores: ``python -m reference_impl.training.scores [--model tiny-chat] [--per-family 50]``.

Dialogues come from the training generator under a seed that training never used, so they show how well the model
does what it was trained for, not what it knows about the world. The last family is different: prompts written by
hand, in wordings that the generator does not produce. An answer counts only if it is exactly the expected one (for
hand-written prompts: if it contains the expected text).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator

import torch

from reference_impl.chat.format import encode, render
from reference_impl.model.checkpoint import LoadedModel, load_model
from reference_impl.training import dialogues, text_tasks
from reference_impl.training.corpus import dialogue, prompt, reply
from reference_impl.training.dialogues import Dialogue
from reference_impl.training.greedy import greedy
from reference_impl.training.task import Task

SEED = 987_654_321
LIMIT = 700
"""Tokens after which an answer is given up; the longest story has fewer."""

HAND_WRITTEN = [
    ("Could you tell me which city is the capital of Japan?", "Tokyo"),
    ("I forgot what RAM is. Help me out.", "memory"),
    ("Count upwards, starting at 3 and ending at 7.", "3, 4, 5, 6, 7"),
    ("Give me the numbers from 1 to 5 on one line.", "1, 2, 3, 4, 5"),
    ("Just answer with the word lamp, please.", "lamp"),
    ("I want you to say banana.", "banana"),
    ("Your answer must be exactly: OK", "OK"),
    ("Type the word kilobyte", "kilobyte"),
    ("Please echo 🚀🌍 back to me", "🚀🌍"),
    ("Say this in exactly these words: the cat sat down", "the cat sat down"),
    ("How much is 2+2?", "4"),
    ("5 plus 3 equals what?", "8"),
    ("Name any three animals.", "cat"),
    ("List 3 fruits please", "apple"),
    ("Hi, nice to meet you!", "help"),
    ("What kind of thing is a database, roughly?", "data"),
    ("Please give me JSON where name is Ada and age is 36.", '"name": "Ada"'),
    ("Put this in a JSON object: city Rome", '"city": "Rome"'),
    ("Do you know the colour of my car?", "not know"),
    ("Who will be president in 2090?", "not know"),
    ("My cat is called Miso. What is the name of my cat?", "Miso"),
    ("Say hello in French.", "bonjour"),
    ("What's the reverse of hot?", "cold"),
    ("Write me a tale about a lonely robot.", "robot"),
    ("Is Paris the capital of Italy? yes/no", "no"),
]
"""Prompts in wordings of their own, and what the answer must contain."""


def answer(model: LoadedModel, made: Dialogue) -> str:
    """What the model says, markup included."""
    return model.tokenizer.decode(
        greedy(model, encode(prompt(made), model.tokenizer), made.pictures, LIMIT), skip_special_tokens=False
    )


def expected(model: LoadedModel, made: Dialogue) -> str:
    """What it was to say, without the end of the turn."""
    return model.tokenizer.decode(encode(reply(made), model.tokenizer).ids[:-1], skip_special_tokens=False)


def families() -> Iterator[tuple[str, Callable[[random.Random], Dialogue]]]:
    """Names of what is measured, and makers of dialogues."""
    for task in text_tasks.TASKS:
        yield task.__name__.replace("_", " "), lambda rng, task=task: _from_task(task(rng))  # type: ignore[misc]
    yield "several turns", _plain(dialogues.several)
    yield "memory over turns", _plain(dialogues.memory)
    yield "system text obeyed", _plain(dialogues.obeying)
    yield "name label", _plain(dialogues.named)
    yield "JSON by response format", _plain(dialogues.json_requested)
    yield "one tool call", _chosen(dialogues.with_tools, lambda made: len(made.calls) == 1)
    yield "two tool calls", _chosen(dialogues.with_tools, lambda made: len(made.calls) == 2)
    yield (
        "no call although tools are offered",
        _chosen(dialogues.with_tools, lambda made: not made.calls and made.messages[-1]["role"] == "user"),
    )
    yield (
        "answer from tool results",
        _chosen(dialogues.with_tools, lambda made: not made.calls and made.messages[-1]["role"] == "tool"),
    )
    yield "one picture", _chosen(dialogues.with_pictures, lambda made: len(made.pictures) == 1)
    yield "several pictures", _chosen(dialogues.with_pictures, lambda made: len(made.pictures) > 1)
    yield "thinking, then answering (answer only)", _chosen(dialogue, lambda made: bool(made.thought))
    yield "prompts of 400 to 2,000 tokens", _chosen(dialogue, lambda made: 400 < _rough_length(made) < 2000)
    yield "the whole mixture", dialogue


def _rough_length(made: Dialogue) -> int:
    return sum(len(str(message["content"])) for message in made.messages) // 4


def _from_task(task: Task) -> Dialogue:
    return Dialogue([dialogues.user(task.question)], task.answer)


def _plain(maker: Callable[[random.Random], Dialogue]) -> Callable[[random.Random], Dialogue]:
    def without_thinking(rng: random.Random) -> Dialogue:
        made = maker(rng)
        made.thought = ""
        return made

    return without_thinking


def _chosen(
    maker: Callable[[random.Random], Dialogue], wanted: Callable[[Dialogue], bool]
) -> Callable[[random.Random], Dialogue]:
    def first(rng: random.Random) -> Dialogue:
        while True:
            made = maker(rng)
            if maker is not dialogue:
                made.thought = ""
            if wanted(made):
                return made

    return first


def after_thinking(text: str) -> str:
    """What follows a thinking block."""
    return text.split("</think>\n", 1)[-1]


def measure(model: LoadedModel, per_family: int, show: int = 0) -> Iterator[tuple[str, int, int]]:
    """Family, right answers, and tries; prints up to ``show`` wrong answers of each family."""
    for name, maker in families():
        rng = random.Random(SEED)  # noqa: S311 - a sample, not a secret
        right = shown = 0
        for _ in range(per_family):
            made = maker(rng)
            got, wanted = answer(model, made), expected(model, made)
            if after_thinking(got) == after_thinking(wanted):
                right += 1
            elif shown < show:
                shown += 1
                print(f"  {made.messages[-1]['content']!r}: {got!r} instead of {wanted!r}")
        yield name, right, per_family
    right = 0
    for question, part in HAND_WRITTEN:
        asked = encode(render([dialogues.user(question)]), model.tokenizer)
        got = model.tokenizer.decode(greedy(model, asked, [], LIMIT), skip_special_tokens=False)
        right += part in got
        if show:
            print(f"  {question!r}: {got[:120]!r}")
    yield "hand-written prompts", right, len(HAND_WRITTEN)


def main() -> None:
    """Print a table of right answers per family."""
    parser = argparse.ArgumentParser(prog="python -m reference_impl.training.scores", description=main.__doc__)
    parser.add_argument("--model", default="tiny-chat", help="built-in name or folder (default tiny-chat)")
    parser.add_argument("--per-family", type=int, default=50, help="dialogues per family (default 50)")
    parser.add_argument("--show", type=int, default=0, help="wrong answers to print per family (default 0)")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(chosen.model)
    print("| Family | Right | Of |\n| --- | --- | --- |")
    for name, right, tries in measure(model, chosen.per_family, chosen.show):
        print(f"| {name} | {right} | {tries} |", flush=True)


if __name__ == "__main__":
    main()
