"""Questions to be answered with tool calls, and the answers that follow from the tools' results."""

# ruff: noqa: E501 - tables of phrases, one row a line
from __future__ import annotations

import json
import random
from collections.abc import Callable

from reference_impl.training import vocabulary as v
from reference_impl.training.tool_kinds import (
    Schema,
    ToolTask,
    booking,
    calculator,
    exchange,
    generic,
    message,
    place_name,
    search,
    status,
    text_schema,
)


def weather(rng: random.Random) -> ToolTask:
    """Weather in a place, with an optional unit."""
    place, key = place_name(rng), rng.choice(["city", "city", "location", "place"])
    unit = rng.choice(["celsius", "fahrenheit"])
    properties: Schema = {key: text_schema(rng, "City name", "The city", "Name of the city, for example Paris")}
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
    place, key = place_name(rng), rng.choice(["city", "city", "timezone", "location"])
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
        {key: text_schema(rng, "City name")},
        question,
        {key: place},
        result,
        f"It is {now} in {place}.",
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
        places = rng.sample(v.CITIES, 2) if rng.random() < 0.7 else [place_name(rng), place_name(rng)]
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
