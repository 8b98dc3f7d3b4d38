"""Questions to be answered with tool calls, and the answers that follow from the tools' results."""

# ruff: noqa: E501, SIM905 - tables of words and phrases, one row a line
from __future__ import annotations

import json
import random
from collections.abc import Callable
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


def _string(rng: random.Random, *notes: str) -> Schema:
    return {"type": "string", "description": rng.choice(notes)} if notes and rng.random() < 0.35 else {"type": "string"}


def _place(rng: random.Random) -> str:
    return rng.choice(v.CITIES) if rng.random() < 0.65 else v.invented_word(rng).capitalize()


def weather(rng: random.Random) -> ToolTask:
    """Weather in a place, with an optional unit."""
    place, key = _place(rng), rng.choice(["city", "city", "location", "place"])
    unit = rng.choice(["celsius", "fahrenheit"])
    properties: Schema = {key: _string(rng, "City name", "The city", "Name of the city, for example Paris")}
    arguments: Schema = {key: place}
    question = rng.choice(
        [
            f"What is the weather in {place}?", f"What's the weather like in {place} today?", f"Weather in {place}",
            f"How is the weather in {place}?", f"Is it raining in {place}?", f"Get the weather for {place}.",
            f"What is the weather in {place} right now?", f"Tell me the weather in {place}.",
            f"What is the current weather in {place}?", f"How warm is it in {place}?",
            f"Check the weather in {place}, please.", f"Use the tool to get the weather in {place}.",
        ]
    )  # fmt: skip
    optional: list[str] = []
    if rng.random() < 0.35:
        properties["unit"] = {"type": "string", "enum": ["celsius", "fahrenheit"]}
        if rng.random() < 0.6:
            question, arguments["unit"] = (
                f"{question.rstrip('?.')} in {unit}{question[-1] if question[-1] in '?.' else ''}",
                unit,
            )
        else:
            optional = ["unit"]
    degrees, sky = rng.randint(-9, 35), rng.choice(["sunny", "cloudy", "rainy", "snowy", "windy", "clear"])
    result = rng.choice(
        [
            json.dumps({"temperature": degrees, "condition": sky}), json.dumps({key: place, "temp_c": degrees, "sky": sky}),
            f"{degrees} degrees, {sky}", f"{sky}, {degrees} C", json.dumps({"temperature": degrees, "conditions": sky}),
        ]
    )  # fmt: skip
    names = ["get_weather", "get_weather", "get_weather", "get_current_weather", "weather", "lookup_weather"]
    described = rng.choice(["Get the current weather", "Get the weather for a city", "Current weather in a city", ""])
    answer = f"It is {degrees} degrees and {sky} in {place}."
    return ToolTask(rng.choice(names), described, properties, question, arguments, result, answer, optional)


def clock(rng: random.Random) -> ToolTask:
    """The time in a place."""
    place, key = _place(rng), rng.choice(["city", "city", "timezone", "location"])
    question = rng.choice(
        [
            f"What time is it in {place}?",
            f"Tell me the time in {place}.",
            f"Current time in {place}",
            f"Get the time in {place}.",
        ]
    )
    now = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}"
    result = rng.choice([json.dumps({"time": now}), now, json.dumps({key: place, "local_time": now})])
    described = rng.choice(["Get the current time in a city", "Local time of a place", ""])
    name = rng.choice(["get_time", "get_time", "get_current_time", "local_time"])
    return ToolTask(
        name,
        described,
        {key: _string(rng, "City name")},
        question,
        {key: place},
        result,
        f"It is {now} in {place}.",
    )


def exchange(rng: random.Random) -> ToolTask:
    """Exchange rates and conversions."""
    base, quote = rng.sample(v.CURRENCIES, 2)
    keys = rng.choice([("base", "quote"), ("from", "to"), ("source", "target")])
    properties: Schema = {keys[0]: _string(rng, "Currency code"), keys[1]: _string(rng, "Currency code")}
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
    properties: Schema = {"query": _string(rng, "What to search for")}
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
    properties: Schema = {"to": _string(rng, "Address"), "subject": _string(rng)}
    return ToolTask("send_email", rng.choice(["Send an email", ""]), properties, question, {"to": address, "subject": text},
                    json.dumps({"status": "sent"}), f"The email to {address} was sent.")  # fmt: skip


def booking(rng: random.Random) -> ToolTask:
    """Nested objects, arrays, enumerations and switches."""
    kind = rng.random()
    title, city = v.phrase(rng, 2).rstrip(".!?"), _place(rng)
    if kind < 0.35:
        people = rng.sample(v.NAMES, rng.randint(1, 3))
        properties: Schema = {
            "title": _string(rng),
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
        return ToolTask(name, "", {"name": _string(rng), key: address}, question, {"name": person, key: {"city": city, "number": number}},
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
            properties[key], arguments[key] = _string(rng, f"The {key}"), v.word(rng)
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


MAKERS: dict[Callable[[random.Random], ToolTask], float] = {
    weather: 6, clock: 2.5, exchange: 2, calculator: 2, search: 2, message: 1, booking: 2.5, status: 1, generic: 4,
}  # fmt: skip
"""Every kind of tool with its share."""


def tool_task(rng: random.Random) -> ToolTask:
    """One tool with its question; now and then under a meaningless name, so that its description must decide."""
    task = rng.choices(list(MAKERS), list(MAKERS.values()))[0](rng)
    if task.description and task.name not in task.question and rng.random() < 0.08:
        task.name = f"{rng.choice(['tool', 'fn', 'do', 'run'])}_{v.invented_word(rng)}"
    return task


def pair(rng: random.Random) -> tuple[list[ToolTask], str]:
    """Two calls that one question asks for: the same tool for two places, or two different tools."""
    if rng.random() < 0.6:
        make, topic = rng.choice([(weather, "weather"), (weather, "weather"), (clock, "time")])
        first, second = make(rng), make(rng)
        key = next(iter(first.properties))
        places = rng.sample(v.CITIES, 2) if rng.random() < 0.7 else [_place(rng), _place(rng)]
        for task, place in zip((first, second), places, strict=True):
            old = next(iter(task.arguments.values()))
            task.name, task.description, task.properties = (
                first.name,
                first.description,
                {key: first.properties[key]},
            )
            task.answer, task.result = task.answer.replace(old, place), task.result.replace(old, place)
            task.arguments, task.optional = {key: place}, []
        a, b = places
        question = rng.choice(
            [
                f"What is the {topic} in {a} and {b}?", f"What is the {topic} in {a} and in {b}?",
                f"Compare the {topic} in {a} and {b}.", f"Get the {topic} for both {a} and {b}.",
                f"What's the {topic} like in {a} and {b}?", f"Tell me the {topic} in {a} and also in {b}.",
                f"{topic.capitalize()} in {a} and {b}?", f"I need the {topic} in {a} and the {topic} in {b}.",
            ]
        )  # fmt: skip
        return [first, second], question
    makers = rng.sample([weather, clock, exchange, calculator, search, status], 2)
    first, second = makers[0](rng), makers[1](rng)
    joint = rng.choice([" And ", " Also: ", " Then: ", "\n", " Also, "])
    question = first.question + ("" if first.question[-1] in "?.!" else ".") + joint + second.question
    return [first, second], question
