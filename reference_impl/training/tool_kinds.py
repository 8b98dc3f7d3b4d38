"""Kinds of tools: what each is called, what it takes, and a question that needs it."""

# ruff: noqa: E501, SIM905 - tables of words and phrases, one row a line
from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from reference_impl.training import vocabulary as v

Schema = dict[str, Any]


@dataclass(slots=True)
class ToolTask:
    """One function, a question that needs it, the arguments to give, a result, and the sentence it leads to."""

    name: str
    description: str
    properties: Schema
    question: str
    arguments: Schema
    result: str
    answer: str
    optional: list[str] = field(default_factory=list)

    def definition(self, rng: random.Random) -> Schema:
        """The tool as a caller declares it; descriptions and strictness come and go."""
        required = [name for name in self.properties if name not in self.optional]
        parameters: Schema = {"type": "object", "properties": self.properties, "required": required}
        if rng.random() < 0.3:
            parameters["additionalProperties"] = False
        if not self.properties and rng.random() < 0.5:
            parameters = {}
        function: Schema = {"name": self.name, "parameters": parameters}
        if self.description and rng.random() < 0.85:
            function["description"] = self.description + rng.choice(["", ".", ""])
        return {"type": "function", "function": function}


def text_schema(rng: random.Random, *notes: str) -> Schema:
    """A string, now and then with one of the descriptions."""
    return {"type": "string", "description": rng.choice(notes)} if notes and rng.random() < 0.35 else {"type": "string"}


def place_name(rng: random.Random) -> str:
    """A city, or an invented one."""
    return rng.choice(v.CITIES) if rng.random() < 0.65 else v.invented_word(rng).capitalize()


def exchange(rng: random.Random) -> ToolTask:
    """Exchange rates and conversions."""
    base, quote = rng.sample(v.CURRENCIES, 2)
    keys = rng.choice([("base", "quote"), ("from", "to"), ("source", "target")])
    properties: Schema = {keys[0]: text_schema(rng, "Currency code"), keys[1]: text_schema(rng, "Currency code")}
    arguments: Schema = {keys[0]: base, keys[1]: quote}
    if rng.random() < 0.3:
        amount = rng.randint(1, 9999)
        properties, arguments = {"amount": {"type": "number"}, **properties}, {"amount": amount, **arguments}
        question = rng.choice([f"Convert {amount} {base} to {quote}.", f"How much is {amount} {base} in {quote}?"])
        name, value = rng.choice(["convert", "convert_currency"]), round(amount * rng.uniform(0.2, 9), 2)
        result, answer = json.dumps({"result": value}), f"{amount} {base} is {value} {quote}."
    else:
        question = rng.choice(
            [
                f"What is the {base} to {quote} exchange rate?", f"Exchange rate from {base} to {quote}?",
                f"What is the exchange rate from {base} to {quote}?", f"How many {quote} is one {base}?",
            ]
        )  # fmt: skip
        name, value = "get_exchange_rate", round(rng.uniform(0.2, 9), 2)
        result, answer = json.dumps({"rate": value}), f"One {base} is {value} {quote}."
    return ToolTask(
        name,
        rng.choice(["Exchange rates", "Get an exchange rate", ""]),
        properties,
        question,
        arguments,
        result,
        answer,
    )


def calculator(rng: random.Random) -> ToolTask:
    """Numbers, whole and with fractions."""
    name, joint = rng.choice([("add", "plus"), ("multiply", "times"), ("add", "and"), ("subtract", "minus")])
    whole = rng.random() < 0.7
    a, b = (
        (rng.randint(0, 9999), rng.randint(0, 999))
        if whole
        else (round(rng.uniform(0, 99), 1), round(rng.uniform(0, 9), 2))
    )
    kind = "integer" if whole and rng.random() < 0.5 else "number"
    wording = (
        f"Use the tool to {name} {a} and {b}." if joint == "and" or rng.random() < 0.5 else f"What is {a} {joint} {b}?"
    )
    value = {"add": a + b, "multiply": a * b, "subtract": a - b}[name]
    value = value if isinstance(value, int) else round(value, 3)
    properties: Schema = {"a": {"type": kind}, "b": {"type": kind}}
    name = rng.choice([name, f"{name}_numbers"])
    result = rng.choice([str(value), json.dumps({"result": value})])
    return ToolTask(
        name,
        f"Can {name.split('_')[0]} two numbers",
        properties,
        wording,
        {"a": a, "b": b},
        result,
        f"The result is {value}.",
    )


def search(rng: random.Random) -> ToolTask:
    """Free text to look for."""
    text, found = v.phrase(rng, 4).rstrip(".!?"), v.phrase(rng, 4)
    question = rng.choice(
        [
            f"Search for {text}",
            f"Look up {text}",
            f"Find {text}",
            f"Search the web for '{text}'",
            f"Search for: {text}",
        ]
    )
    name = rng.choice(["search", "web_search", "search_docs", "find", "search_web"])
    properties: Schema = {"query": text_schema(rng, "What to search for")}
    arguments: Schema = {"query": text}
    if rng.random() < 0.25:
        limit = rng.randint(1, 50)
        properties["limit"] = {"type": "integer", "minimum": 1, "maximum": 50}
        question, arguments["limit"] = f"{question} with at most {limit} results", limit
    result = json.dumps({"results": [found]}, ensure_ascii=False)
    return ToolTask(
        name,
        rng.choice(["Search the web", "Full-text search", ""]),
        properties,
        question,
        arguments,
        result,
        f"I found: {found}",
    )


def message(rng: random.Random) -> ToolTask:
    """Mail with an address and a subject."""
    person, text = rng.choice(v.NAMES), v.phrase(rng, 4).rstrip(".!?")
    address = f"{person.lower()}@{rng.choice(['example.com', 'example.org', 'mail.test'])}"
    question = rng.choice(
        [f"Send an email to {address} with subject {text}", f"Email {address} with the subject {text}"]
    )
    properties: Schema = {"to": text_schema(rng, "Address"), "subject": text_schema(rng)}
    return ToolTask("send_email", rng.choice(["Send an email", ""]), properties, question, {"to": address, "subject": text},
                    json.dumps({"status": "sent"}), f"The email to {address} was sent.")  # fmt: skip


def booking(rng: random.Random) -> ToolTask:
    """Nested objects, arrays, enumerations and switches."""
    kind = rng.random()
    title, city = v.phrase(rng, 2).rstrip(".!?"), place_name(rng)
    if kind < 0.35:
        people = rng.sample(v.NAMES, rng.randint(1, 3))
        properties: Schema = {
            "title": text_schema(rng),
            "attendees": {"type": "array", "items": {"type": "string"}},
        }
        question = f"Create an event called {title} with {' and '.join(people)}"
        return ToolTask("create_event", "Create a calendar event", properties, question, {"title": title, "attendees": people},
                        json.dumps({"ok": True}), f"The event {title} was created.")  # fmt: skip
    if kind < 0.7:
        number = rng.randint(1, 200)
        inner: Schema = {"city": {"type": "string"}, "number": {"type": "integer"}}
        address: Schema = {"type": "object", "properties": inner, "required": ["city", "number"]}
        if rng.random() < 0.5:
            address["additionalProperties"] = False
        name, key = rng.choice([("ship_order", "address"), ("set_address", "address"), ("book_room", "place")])
        question = f"{name.replace('_', ' ').capitalize()} for {rng.choice(v.NAMES)} to number {number} in {city}"
        person = question.split(" for ")[1].split(" to ")[0]
        return ToolTask(name, "", {"name": text_schema(rng), key: address}, question, {"name": person, key: {"city": city, "number": number}},
                        json.dumps({"ok": True}), "Done.")  # fmt: skip
    colour, on = rng.choice(["red", "green", "blue"]), rng.random() < 0.5
    level = rng.choice([rng.randint(0, 100), round(rng.uniform(0, 1), 2)])
    properties = {
        "colour": {"type": "string", "enum": ["red", "green", "blue"]}, "on": {"type": "boolean"},
        "level": {"type": "number", "minimum": 0, "maximum": 100},
    }  # fmt: skip
    question = f"Switch the lamp {'on' if on else 'off'} in {colour} at level {level}"
    return ToolTask("set_lamp", "Control a lamp", properties, question, {"colour": colour, "on": on, "level": level},
                    json.dumps({"ok": True}), f"The lamp is {'on' if on else 'off'}.")  # fmt: skip


def status(rng: random.Random) -> ToolTask:
    """Functions without any parameter."""
    thing = rng.choice(["server", "battery", "queue", "build", "order", "network", v.invented_word(rng)])
    state = rng.choice(["ready", "busy", "idle", "full", "down"])
    verb = rng.choice(["get", "check"])
    question = rng.choice(
        [f"What is the {thing} status?", f"{verb.capitalize()} the {thing} status.", f"How is the {thing}?"]
    )
    return ToolTask(
        f"{verb}_{thing}_status",
        f"Status of the {thing}",
        {},
        question,
        {},
        json.dumps({"status": state}),
        f"The {thing} is {state}.",
    )


def generic(rng: random.Random) -> ToolTask:
    """Any verb and thing, with values that have to be copied from the question."""
    verb = rng.choice("get lookup find create delete update set check list open read book".split())
    thing = rng.choice(
        [
            *"order user file ticket invoice room flight task note price stock lamp record".split(),
            v.invented_word(rng),
        ]
    )
    keys = rng.sample(
        [
            *"id name date amount count title status path code symbol value x key room note text word".split(),
            v.invented_word(rng),
        ],
        rng.randint(1, 4),
    )
    properties: Schema = {}
    arguments: Schema = {}
    for key in keys:
        kind = rng.random()
        if kind < 0.35:
            properties[key], arguments[key] = {"type": "integer"}, rng.randint(0, 99999)
        elif kind < 0.45:
            properties[key], arguments[key] = {"type": "number"}, round(rng.uniform(0, 99), 2)
        elif kind < 0.55:
            options = rng.sample(v.WORDS, 3)
            properties[key], arguments[key] = {"type": "string", "enum": options}, rng.choice(options)
        else:
            properties[key], arguments[key] = text_schema(rng, f"The {key}"), v.word(rng)
    listed = rng.choice([" and ", ", "]).join(
        f"{k}{rng.choice([' ', ' ', '=', ': '])}{value}" for k, value in arguments.items()
    )
    name = f"{verb}_{thing}" if rng.random() < 0.85 else f"{verb}-{thing}-{rng.randint(1, 99)}"
    question = rng.choice(
        [
            f"{verb.capitalize()} the {thing} with {listed}", f"Call {name} with {listed}", f"Use {name}: {listed}",
            f"Please {verb} {thing} {listed}.", f"Call the function {name} with {listed}.", f"Use the tool {name} with {listed}",
        ]
    )  # fmt: skip
    return ToolTask(
        name,
        f"{verb.capitalize()} a {thing}",
        properties,
        question,
        arguments,
        json.dumps({"ok": True}),
        "Done.",
    )
