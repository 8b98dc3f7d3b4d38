"""Questions that need no tool and no picture, each with the answer that ``tiny-chat`` is to give."""

# ruff: noqa: E501 - tables of phrases, one row a line
from __future__ import annotations

import json
import random
from collections.abc import Callable

from reference_impl.training import vocabulary as v
from reference_impl.training.number_tasks import arithmetic, count, listing
from reference_impl.training.stories import story
from reference_impl.training.task import Task


def echo(rng: random.Random) -> Task:
    """Copy a phrase exactly, under many wordings."""
    text = v.phrase(rng, rng.choice([1, 1, 3, 7, 7, 16])) if rng.random() < 0.8 else v.foreign(rng)
    template = rng.choice(
        [
            "Repeat after me: {}", "Repeat: {}", "repeat after me: {}", "Repeat exactly: {}", "Say {}", "Say: {}",
            "Say '{}'", 'Say "{}" and nothing else.', "Echo: {}", "Echo this: {}", "Reply with exactly: {}",
            "Reply with exactly '{}'", "Reply with exactly this and nothing else: {}", "Respond with: {}",
            "Output the text: {}", "Write exactly: {}", "Please say {}", "Copy this: {}", "Answer with exactly {}",
            'Return the string "{}"', "Repeat the following text exactly: {}", "Repeat this text: {}",
            "Repeat exactly, without anything else:\n{}", "Repeat back to me: {}", "Please repeat: {}",
            "Echo back exactly the following: {}", "Print {}", "Say exactly: {}", "Write this: {}",
        ]
    )  # fmt: skip
    return Task(template.format(text), text, f"I copy the text: {text}")


def only(rng: random.Random) -> Task:
    """Answer with one thing only."""
    text = str(rng.randint(0, 9999)) if rng.random() < 0.3 else v.word(rng)
    kind = "number" if text.isdigit() else "word"
    template = rng.choice(
        [
            "Reply with the word {}", "Reply with the {k} {}.", "Reply with only the {k} {}.", "Reply with {} only.",
            "Answer only with {}", "Answer only with the {k} {}.", "Answer with the single {k} {}.",
            "Reply with just {}", "Answer only with: {}", "Say only {}", "Respond only with the {k} {}.",
            "Respond with just the {k} {}.", "Reply with the single {k} {}", "Say the {k} {}.", "Just say {}",
            "Answer with nothing but {}", "Say the {k} '{}' and stop.", "Write only the {k} {}.",
            "Reply in one word: {}", 'Reply with exactly one {k}: "{}"', "Reply with exactly one {k}: {}",
        ]
    )  # fmt: skip
    return Task(template.format(text, k=kind), text, f"Only {text} is wanted.")


def fact(rng: random.Random) -> Task:
    """One-sentence definitions."""
    if rng.random() < 0.1:
        thing, answer = rng.choice(list(v.CAUSES.items()))
        template = rng.choice(["Why is {}?", "Why is {}? Answer briefly.", "Explain why {} is so.", "why is {}"])
        return Task(template.format(thing), answer, "I remember the reason.")
    thing, answer = rng.choice(list(v.FACTS.items()))
    bare = thing.split(" ", 1)[1] if thing.split(" ")[0] in ("a", "an") else thing
    template = rng.choice(
        [
            "What is {}?", "What is {}?", "What's {}?", "Explain {}.", "Explain what {} is.", "Define {b}.",
            "Tell me about {}.", "Describe {} in one sentence.", "what is {}", "Explain {} in simple words.",
            "In one sentence, what is {}?", "Can you tell me what {} is?", "What does {b} mean?",
            "Summarise {} in one sentence.", "Summarise the benefits of {} in two sentences.", "Describe {}.",
            "Briefly explain {}.", "What is {}? Answer in one sentence.", "Write one sentence about {}.",
        ]
    )  # fmt: skip
    return Task(template.format(thing, b=bare), answer, f"I remember what {thing} is.")


def capital(rng: random.Random) -> Task:
    """Capitals of countries, in a sentence or in one word."""
    country, city = rng.choice(list(v.CAPITALS.items()))
    if rng.random() < 0.4:
        template = rng.choice(
            [
                "What is the capital of {}? Answer with one word.", "Capital of {}? One word.",
                "What is the capital of {}? Reply with the city only.", "Answer only with the capital of {}.",
                "What is the capital of {}? Answer only with the name.", "Name the capital of {} in one word.",
            ]
        )  # fmt: skip
        return Task(template.format(country), city, f"The capital of {country} is {city}.")
    template = rng.choice(
        [
            "What is the capital of {}?",
            "What's the capital of {}?",
            "Name the capital of {}.",
            "capital of {}",
        ]
    )
    return Task(template.format(country), f"The capital of {country} is {city}.", f"It is {city}.")


def greeting(rng: random.Random) -> Task:
    """Small talk."""
    pairs = {
        "Hello! How can I help you today?": ["Hello", "Hello!", "Hi", "Hi!", "hi", "hello", "Hey", "Hi there", "Good morning",
                                             "Hello there!", "Say hello", "Say hi.", "Greet me.", "Hello, world!", "hey!"],
        "I am a small reference model for testing chat endpoints.": ["Who are you?", "What are you?", "What is your name?",
                                                                    "Introduce yourself.", "Tell me about yourself."],
        "I am fine, thank you. How can I help you today?": ["How are you?", "Hello, how are you?", "How do you do?"],
        "You are welcome!": ["Thanks", "Thank you!", "thanks!", "Thank you very much."],
        "pong": ["ping", "Ping", "ping!", "PING"],
        "The test works.": ["test", "Test", "This is a test.", "testing", "Testing, one, two."],
        "Yes, I am here. How can I help you today?": ["Are you there?", "Anybody there?"],
        "Why did the computer go to the doctor? It had caught a virus.": ["Tell me a joke.", "Make me laugh.", "A joke, please."],
        "Goodbye!": ["Bye", "Goodbye", "See you.", "Bye!"],
        "Water is wet.": ["Say something.", "Tell me something.", "Write a sentence.", "Write one sentence.", "Say anything.",
                          "Tell me a fact.", "Write a short sentence.", "Answer in one sentence.", "Talk to me."],
        "yes": ["Reply with one word.", "Say one word.", "Answer with one word.", "Say yes.", "Say a word.", "Go on."],
        "42": ["Pick a number.", "Tell me a number.", "Say a number.", "Choose a number between 1 and 100."],
        "OK.": ["ok", "OK", "Okay.", "Fine.", "Good."],
        "I can answer simple questions, repeat text, count and call tools.": ["What can you do?", "Help", "How can you help me?"],
    }  # fmt: skip
    answer = rng.choice(list(pairs))
    return Task(rng.choice(pairs[answer]), answer, "A friendly answer is enough.")


def translation(rng: random.Random) -> Task:
    """Single words in four languages, and opposites."""
    if rng.random() < 0.3:
        given, other = rng.choice(list(v.OPPOSITES.items()))
        template = rng.choice(["What is the opposite of {}? One word.", "Opposite of {}?", "Give the opposite of {}."])
        return Task(template.format(given), other, f"The opposite is {other}.")
    given = rng.choice(list(v.TRANSLATIONS))
    number = rng.randrange(len(v.LANGUAGES))
    template = rng.choice(["Translate '{}' to {}.", "Translate {} into {}.", "How do you say {} in {}?", "{} in {}?"])
    return Task(template.format(given, v.LANGUAGES[number]), v.TRANSLATIONS[given][number], "I know this word.")


def yes_or_no(rng: random.Random) -> Task:
    """Questions that want yes or no."""
    country, city = rng.choice(list(v.CAPITALS.items()))
    claimed = city if rng.random() < 0.5 else rng.choice(list(v.CAPITALS.values()))
    a, b = rng.randint(0, 99), rng.randint(0, 99)
    question, true = rng.choice(
        [
            (f"Is {claimed} the capital of {country}?", claimed == city),
            (f"Is {a} greater than {b}?", a > b),
            ("Is ice cold?", True),
            ("Is fire cold?", False),
        ]
    )
    template = rng.choice(
        ["{} Answer yes or no.", "{} Answer only with yes or no.", "Yes or no: {}", "{} Reply yes or no."]
    )
    return Task(template.format(question), "yes" if true else "no", "I check whether it is true.")


def unknown(rng: random.Random) -> Task:
    """Things that the model cannot know, and says so."""
    made, name, year = v.invented_word(rng), rng.choice(v.NAMES), rng.randint(1500, 2100)
    question = rng.choice(
        [
            f"What is {made}?", f"Who is {name} {made.capitalize()}?", f"Who won the {made} cup in {year}?",
            f"What is the phone number of {name}?", f"Why is the {rng.choice(v.WORDS)} {rng.choice(v.WORDS)}?",
            f"What happened in {made.capitalize()} in {year}?", f"Explain {made} theory.", f"Where is {made.capitalize()}?",
            f"What will happen in {year}?", "What is the meaning of life?", f"How old is {name}?", "What day is it today?",
            f"How does a {made} work?", f"When was {made} invented?", "What is in my pocket?", f"Define {made}.",
            f"Which {rng.choice(v.WORDS)} is the best?", f"How many {rng.choice(v.WORDS)}s are there in {made}?",
            f"What is the price of {made}?", f"Who wrote {made.capitalize()}?", "What am I thinking of?",
        ]
    )  # fmt: skip
    return Task(question, "I do not know.", "I have never learned this.")


def json_answer(rng: random.Random) -> Task:
    """JSON objects from given values, from a sentence, or around a known answer."""
    name = rng.choice(v.NAMES) if rng.random() < 0.7 else v.invented_word(rng).capitalize()
    kind = rng.random()
    if kind < 0.25:
        country, city = rng.choice(list(v.CAPITALS.items()))
        key = rng.choice(["city", "capital", "answer", "name"])
        template = rng.choice(
            [
                'What is the capital of {}? Answer as JSON with the key "{}".',
                "What is the capital of {}? Answer in JSON with the key {}.",
                "Return the capital of {} as a JSON object with the key {}.",
            ]
        )
        return Task(template.format(country, key), json.dumps({key: city}), f"It is {city}.")
    if kind < 0.6:
        values: dict[str, object] = {}
        for key in rng.sample(
            ["name", "age", "city", "colour", "count", "id", "title", "ok", "word"], rng.randint(1, 3)
        ):
            values[key] = _json_value(rng, key, name)
        listed = rng.choice([" and ", ", "]).join(
            f"{key}{rng.choice([' ', ' ', ': ', ' = '])}{value if isinstance(value, str) else json.dumps(value)}"
            for key, value in values.items()
        )
        template = rng.choice(
            [
                "Return a JSON object with {}.", "Give me JSON with {}.", "Answer in JSON: {}", "Return JSON: {}",
                "Reply with a JSON object that has {}.", "Produce a JSON object with {}",
            ]
        )  # fmt: skip
        return Task(template.format(listed), json.dumps(values, ensure_ascii=False), "An object with these keys.")
    person: dict[str, object] = {"name": name, "age": rng.randint(1, 99)}
    sentence = f"{name} is {person['age']} years old"
    if rng.random() < 0.5:
        person["city"] = rng.choice(v.CITIES)
        sentence += f" and lives in {person['city']}"
    template = rng.choice(
        [
            "Extract the person as JSON: {}.",
            "{}. Return JSON.",
            "Extract the data as JSON. {}.",
            "{}. Answer in JSON.",
        ]
    )
    return Task(template.format(sentence), json.dumps(person, ensure_ascii=False), f"The name is {name}.")


def _json_value(rng: random.Random, key: str, name: str) -> object:
    if key in ("age", "count", "id"):
        return rng.randint(0, 999)
    if key == "ok":
        return rng.random() < 0.5
    return {"name": name, "city": rng.choice(v.CITIES), "colour": rng.choice(v.LISTS["colours"])}.get(
        key, rng.choice(v.WORDS)
    )


def told(rng: random.Random) -> Task:
    """Stories, poems and long texts."""
    question, answer = story(rng)
    return Task(question, answer, "I tell it in order, from the beginning to the end.")


TASKS: dict[Callable[[random.Random], Task], float] = {
    echo: 11, only: 4, fact: 4, capital: 2, arithmetic: 4, count: 4, listing: 4, greeting: 2, told: 1.6,
    translation: 1.5, yes_or_no: 1.5, unknown: 2, json_answer: 3,
}  # fmt: skip
"""Every task with its share of the corpus."""


def text_task(rng: random.Random) -> Task:
    """One task, drawn by the shares of TASKS."""
    return rng.choices(list(TASKS), list(TASKS.values()))[0](rng)
