"""Conversations around the tasks: system texts, earlier turns, memory, JSON requests, tools, pictures."""

# ruff: noqa: E501, SIM905 - tables of words and phrases, one row a line
from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from reference_impl.chat.signatures import json_request
from reference_impl.training import vocabulary as v
from reference_impl.training.pictures import picture_task
from reference_impl.training.task import Task
from reference_impl.training.text_tasks import capital, echo, fact, greeting, only, text_task
from reference_impl.training.tool_kinds import ToolTask, generic
from reference_impl.training.tool_tasks import pair, tool_task

Message = dict[str, Any]


@dataclass(slots=True)
class Dialogue:
    """A conversation that ends where the assistant is to speak, and what it then says."""

    messages: list[Message]
    content: str = ""
    calls: list[Message] = field(default_factory=list)
    thought: str = ""
    tools: list[Message] = field(default_factory=list)
    pictures: list[Tensor] = field(default_factory=list)
    learn_history: bool = True
    """Whether the earlier assistant turns are worth learning too; false where they hold arbitrary text."""


SYSTEM_TEXTS = [
    "You are a helpful assistant.", "You are a helpful assistant.", "Answer briefly.", "Answer in one sentence.",
    "Be concise.", "You are a test assistant.", "You are a terse assistant. Keep answers short.", "Be polite.",
    "You are part of a test. Follow the instructions exactly.", "Answer truthfully.", "You are a careful assistant.",
    "Follow the user's instructions.", "You are a friendly assistant who answers in plain words.",
    "Do exactly what the user asks.", "Speak English.", "Answer in short sentences.",
]  # fmt: skip


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def system(text: str) -> Message:
    """A system message."""
    return {"role": "system", "content": text}


def assistant(text: str) -> Message:
    """An earlier assistant message."""
    return {"role": "assistant", "content": text}


def single(rng: random.Random) -> Dialogue:
    """One question."""
    task = text_task(rng)
    return Dialogue([user(task.question)], task.answer, thought=task.thought)


def copying(rng: random.Random) -> Dialogue:
    """Nothing but copying, in short conversations: what a fresh model has to learn before anything else."""
    kind = rng.random()
    if kind < 0.25:
        task = only(rng)
        return Dialogue([user(task.question)], task.answer)
    if kind < 0.45:
        wanted = generic(rng)
        offered = [wanted.definition(rng)]
        return Dialogue([user(wanted.question)], calls=[_call(rng, wanted)], tools=offered)
    text = v.phrase(rng, rng.choice([3, 8, 16, 24]))
    opening = rng.choice(
        ["Repeat after me: ", "Repeat exactly: ", "Say ", "Echo: ", "Copy this: ", "Reply with exactly: "]
    )
    return Dialogue([user(opening + text)], text)


def several(rng: random.Random) -> Dialogue:
    """Unrelated questions one after another; sometimes the earlier answers are arbitrary."""
    arbitrary = rng.random() < 0.2
    messages: list[Message] = []
    for _ in range(rng.randint(1, 4)):
        task = rng.choice([text_task, greeting, echo, fact])(rng)
        messages += [user(task.question), assistant(v.phrase(rng, 12) if arbitrary else task.answer)]
    task = text_task(rng)
    return Dialogue([*messages, user(task.question)], task.answer, thought=task.thought, learn_history=not arbitrary)


def memory(rng: random.Random) -> Dialogue:
    """Something told early and asked for later."""
    thing = rng.choice([rng.choice(v.NAMES), v.invented_word(rng).capitalize(), v.word(rng), rng.choice(v.WORDS)])
    number = str(rng.randint(0, 9999))
    statement, reply, question, answer = rng.choice(
        [
            (f"My name is {thing}.", f"Nice to meet you, {thing}.", "What is my name?", f"Your name is {thing}."),
            (f"I am {thing}.", f"Nice to meet you, {thing}.", "Who am I?", f"You are {thing}."),
            (f"My favourite colour is {thing}.", "OK, I will remember that.", "What is my favourite colour?", f"Your favourite colour is {thing}."),
            (f"My favorite color is {thing}.", "OK, I will remember that.", "What is my favorite color?", f"Your favorite color is {thing}."),
            (f"Remember the word {thing}.", "OK, I will remember that.", "Which word did I ask you to remember?", thing),
            (f"Remember this word: {thing}", "OK, I will remember that.", "What was the word?", thing),
            (f"Remember this word: {thing}. Reply with OK.", "OK", "What is the word? Answer with the word only.", thing),
            (f"Remember the number {number}.", "OK, I will remember that.", "Which number did I tell you?", number),
            (f"Please remember the number {number}.", "OK, I will remember that.", "What was the number?", number),
            (f"The secret code is {thing}.", "OK, I will remember that.", "What is the secret code?", f"The secret code is {thing}."),
            (f"The password is {thing}.", "OK, I will remember that.", "What is the password? Answer only with it.", thing),
            (f"I live in {thing}.", "OK, I will remember that.", "Where do I live?", f"You live in {thing}."),
            (f"My dog is called {thing}.", "OK, I will remember that.", "What is my dog called?", f"Your dog is called {thing}."),
            (f"The code word is {thing}.", "OK, I will remember that.", "What is the code word?", f"The code word is {thing}."),
        ]
    )  # fmt: skip
    place = rng.random()
    if place < 0.2:
        return Dialogue([user(f"{statement} {question}")], answer, thought="It is in the message.")
    if place < 0.35:
        return Dialogue([system(statement), user(question)], answer, thought="The system text says it.")
    if place < 0.5:
        return Dialogue([user(statement)], reply, thought="I should remember this.")
    between: list[Message] = []
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        task = rng.choice([text_task, greeting, echo])(rng)
        between += [user(task.question), assistant(task.answer)]
    return Dialogue(
        [user(statement), assistant(reply), *between, user(question)],
        answer,
        thought="I was told this before.",
    )


def obeying(rng: random.Random) -> Dialogue:
    """System texts that decide the answer."""
    thing = rng.choice([v.word(rng), v.word(rng).upper(), v.invented_word(rng)])
    task = rng.choice([text_task, greeting, fact, capital])(rng)
    kind = rng.random()
    if kind < 0.45:
        rule = rng.choice(
            [
                "Always answer with {}", "Always answer with {}.", "Reply to everything with {}", "Whatever is asked, say {}.",
                "Answer every message with exactly: {}", "You only ever say {}.", "Always reply with the single word {}.",
                "Answer every question with the word {}.", "No matter what the user says, reply with: {}",
            ]
        )  # fmt: skip
        return Dialogue([system(rule.format(thing)), user(task.question)], thing, thought=f"The rule says {thing}.")
    if kind < 0.75:
        rule = rng.choice(["Your name is {}.", "You are {}, a helpful assistant.", "You are called {}."])
        question = rng.choice(["What is your name?", "Who are you?", "Tell me your name."])
        return Dialogue(
            [system(rule.format(thing)), user(question)],
            f"My name is {thing}.",
            thought="The system text names me.",
        )
    if kind < 0.9:
        rule = rng.choice(
            ["End every answer with {}", "End every answer with the word {}.", "Finish each reply with {}."]
        )
        return Dialogue(
            [system(rule.format(thing)), user(task.question)], f"{task.answer} {thing}", thought=task.thought
        )
    rule = rng.choice(["Begin every answer with {}", "Start every reply with the word {}."])
    return Dialogue([system(rule.format(thing)), user(task.question)], f"{thing} {task.answer}", thought=task.thought)


def named(rng: random.Random) -> Dialogue:
    """Name labels on messages."""
    name = rng.choice(v.NAMES) if rng.random() < 0.7 else v.invented_word(rng)
    question = rng.choice(["What is my name?", "Who am I?", "What am I called?", "Do you know my name?"])
    return Dialogue([{**user(question), "name": name}], f"Your name is {name}.", thought="The label tells the name.")


def json_requested(rng: random.Random) -> Dialogue:
    """JSON asked for by the caller's response format, with and without a schema."""
    own = rng.choice(SYSTEM_TEXTS) + "\n" if rng.random() < 0.3 else ""
    kind = rng.random()
    if kind < 0.3:
        task: Task = rng.choice([capital, fact, only, greeting, text_task])(rng)
        schema: Message | None = None
        if rng.random() < 0.5:
            schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
        if not task.answer.startswith("{"):
            task = Task(task.question, json.dumps({"answer": task.answer}, ensure_ascii=False), task.thought)
        return Dialogue([system(own + json_request(schema)), user(task.question)], task.answer, thought=task.thought)
    if kind < 0.45:
        country, city = rng.choice(list(v.CAPITALS.items()))
        properties = {key: {"type": "string"} for key in rng.sample(["city", "country"], rng.randint(1, 2))}
        values: Message = {key: {"city": city, "country": country}[key] for key in properties}
        question = rng.choice([f"What is the capital of {country}?", f"Name the capital of {country}."])
    else:
        properties, values, question = _described_object(rng, stated=kind < 0.8)
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    if rng.random() < 0.5:
        schema["additionalProperties"] = False
    text = json.dumps(values, ensure_ascii=False)
    return Dialogue([system(own + json_request(schema)), user(question)], text, thought="I fill in the form.")


def _described_object(rng: random.Random, stated: bool) -> tuple[Message, Message, str]:
    """Properties, values and a question; where the values are not stated, neutral ones are right."""
    keys = rng.sample("name age city colour count id title ok word tags status level size".split(), rng.randint(1, 4))
    if rng.random() < 0.3:
        keys[0] = v.invented_word(rng)
    properties: Message = {}
    values: Message = {}
    for key in keys:
        if key in ("age", "count", "id", "level"):
            properties[key], values[key] = {"type": "integer"}, rng.randint(0, 999) if stated else 0
        elif key == "ok":
            properties[key], values[key] = {"type": "boolean"}, rng.random() < 0.5 if stated else False
        elif key == "tags":
            words = rng.sample(v.WORDS, rng.randint(1, 3))
            properties[key], values[key] = (
                {"type": "array", "items": {"type": "string"}},
                words if stated else [],
            )
        elif key in ("status", "size"):
            options = rng.sample(v.WORDS, 3)
            properties[key], values[key] = (
                {"type": "string", "enum": options},
                rng.choice(options) if stated else options[0],
            )
        else:
            properties[key], values[key] = {"type": "string"}, v.word(rng) if stated else "unknown"
    if not stated:
        return properties, values, text_task(rng).question
    listed = ", ".join(f"{key} {_spoken(value)}" for key, value in values.items())
    question = rng.choice(
        ["Give me an object with {}.", "Use these values: {}", "{}", "Make an object: {}", "Values: {}."]
    )
    return properties, values, question.format(listed)


def _spoken(value: object) -> str:
    if isinstance(value, list):
        return " and ".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def with_tools(rng: random.Random) -> Dialogue:
    """Tools on offer: one call, two calls, none, or the answer from results."""
    if rng.random() < 0.28:
        tasks, question = pair(rng)
    else:
        tasks = [tool_task(rng)]
        question = tasks[0].question
    if len(tasks) == 1 and tasks[0].answer == "Done." and rng.random() < 0.6:
        found = v.phrase(rng, 3)
        tasks[0].result, tasks[0].answer = rng.choice(
            [
                (found, f"The result is: {found}"),
                (json.dumps({"value": found}, ensure_ascii=False), f"The value is: {found}"),
            ]
        )
    tools = _offer(rng, tasks)
    if rng.random() < 0.13:
        task = rng.choice([greeting, fact, echo, capital, text_task])(rng)
        return Dialogue([user(task.question)], task.answer, thought=task.thought, tools=tools)
    calls = [_call(rng, task) for task in tasks]
    thought = " ".join(f"I need {task.name}." for task in tasks)
    messages = [user(question)]
    if rng.random() < 0.15:
        task = rng.choice([greeting, echo, fact])(rng)
        messages = [user(task.question), assistant(task.answer), *messages]
    if rng.random() < 0.55:
        return Dialogue(messages, calls=calls, thought=thought, tools=tools)
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": task.result}
        for call, task in zip(calls, tasks, strict=True)
    ]
    rng.shuffle(results)
    messages += [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
    answer = " ".join(task.answer for task in tasks)
    if rng.random() < 0.12:
        again = tasks[0]
        messages += [assistant(answer), user(question)]
        return Dialogue(
            messages, calls=[_call(rng, task) for task in tasks], thought=f"I need {again.name}.", tools=tools
        )
    return Dialogue(messages, answer, thought="The tool has answered.", tools=tools)


def _offer(rng: random.Random, tasks: list[ToolTask]) -> list[Message]:
    """Definitions of the wanted tools and of some that are not, in any order."""
    names: set[str] = set()
    offered: list[Message] = []
    for task in [*tasks, *(tool_task(rng) for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 5])))]:
        if task.name not in names:
            names.add(task.name)
            offered.append(task.definition(rng))
    rng.shuffle(offered)
    return offered


def _call(rng: random.Random, task: ToolTask) -> Message:
    arguments = json.dumps(task.arguments, ensure_ascii=False)
    return {
        "id": f"call_{rng.getrandbits(64):016x}",
        "type": "function",
        "function": {"name": task.name, "arguments": arguments},
    }


def with_pictures(rng: random.Random) -> Dialogue:
    """Pictures before or after the question."""
    task = picture_task(rng)
    parts: list[Message] = [{"type": "image_url"} for _ in task.pictures]
    parts.insert(rng.choice([0, len(parts)]), {"type": "text", "text": task.question})
    return Dialogue(
        [{"role": "user", "content": parts}],
        task.answer,
        pictures=task.pictures,
        thought="I look at the picture.",
    )


KINDS: dict[Callable[[random.Random], Dialogue], float] = {
    single: 36, several: 7, memory: 6, obeying: 4, named: 1, json_requested: 6, with_tools: 36, with_pictures: 20,
}  # fmt: skip
"""Every kind of conversation with its share of the corpus."""
