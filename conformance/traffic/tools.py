"""Tools: functions with usual and unusual schemas, their questions, and strategies that draw more of them."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from conformance.traffic.bodies import CLOCK, RATE, WEATHER

Tool = dict[str, Any]
NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"
LONGEST_NAME = 64
#: Names that also mean something in the protocol, in JSON Schema or in the markup of models.
PROTOCOL_NAMES = ("function", "tool_calls", "none", "auto", "required", "arguments", "DONE", "assistant", "null")


@dataclass(frozen=True, slots=True)
class Task:
    """A tool with an unusual trait, and a question that its call answers."""

    trait: str
    tool: Tool
    question: str


def tool(name: str, parameters: Mapping[str, Any] | None = None, description: str = "", **members: Any) -> Tool:
    """A function tool with exactly these parameters (none at all for None) and further `members`."""
    definition: dict[str, Any] = {"name": name, **members}
    if description:
        definition["description"] = description
    if parameters is not None:
        definition["parameters"] = dict(parameters)
    return {"type": "function", "function": definition}


def name_of(one: Mapping[str, Any]) -> str:
    """The name of a function tool or a custom tool."""
    return str(one.get("function", one.get("custom", {})).get("name", ""))


def named(name: str) -> dict[str, Any]:
    """The `tool_choice` that forces one function."""
    return {"type": "function", "function": {"name": name}}


def allowed(names: Sequence[str], mode: str = "required") -> dict[str, Any]:
    """The `tool_choice` that allows only some of the tools."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def closed(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    """The schema of a closed object; all properties are required unless `required` names them."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties) if required is None else list(required),
        "additionalProperties": False,
    }


def objects(**properties: Any) -> dict[str, Any]:
    """The schema of a closed object with these properties, all required."""
    return closed(properties)


def strict(one: Tool) -> Tool:
    """The same function with its arguments guaranteed."""
    return {**one, "function": {**one["function"], "strict": True}}


def custom_tool(name: str = "note_down") -> Tool:
    """A tool of the kind `custom`, which takes free text."""
    return {"type": "custom", "custom": {"name": name, "description": "Write a note"}}


_TEXT = {"type": "string"}
_PLACE = objects(city=_TEXT, number={"type": "integer"})

UNUSUAL: tuple[Task, ...] = (
    Task("no parameters", tool("check_queue_status", None, "Status of the queue"), "Check the queue status."),
    Task("empty parameters", tool("check_server_status", {}, "Status of the server"), "Check the server status."),
    Task(
        "an object without properties",
        tool("get_build_status", {"type": "object", "properties": {}}, "Status of the build"),
        "What is the build status?",
    ),
    Task(
        "nested objects",
        tool("ship_order", objects(name=_TEXT, address=_PLACE), "Ship an order"),
        "Ship order for Anna to number 12 in Oslo",
    ),
    Task(
        "an enumeration and a switch",
        tool(
            "set_lamp",
            objects(colour={"type": "string", "enum": ["red", "green", "blue"]}, on={"type": "boolean"}),
            "Control a lamp",
        ),
        "Switch the lamp on in red",
    ),
    Task(
        "an array",
        tool("create_event", objects(title=_TEXT, attendees={"type": "array", "items": _TEXT}), "Create an event"),
        "Create an event called lunch with Anna and Ben",
    ),
    Task(
        "a reference to a definition",
        tool(
            "set_address",
            {**objects(address={"$ref": "#/$defs/place"}), "$defs": {"place": _PLACE}},
            "Set an address",
        ),
        "Set address to number 7 in Rome",
    ),
    Task(
        "optional parameters",
        tool("search", closed({"query": _TEXT, "limit": {"type": "integer"}}, ["query"]), "Search the web"),
        "Search for green tea",
    ),
    Task(
        "descriptions and property names beyond ASCII",
        tool("get_price", objects(größe=_TEXT, 名前=_TEXT), "Prix d'un article, 価格 📦"),
        "Get the price with größe 7 and 名前 tea",
    ),
    Task(
        "a choice between types",
        tool("find_item", objects(id={"anyOf": [{"type": "integer"}, {"type": "string"}]}), "Find an item"),
        "Find the item with id 12",
    ),
    Task(
        "a fixed value and limits",
        tool(
            "set_volume",
            objects(unit={"const": "percent"}, level={"type": "integer", "minimum": 0, "maximum": 100}),
            "Set the volume",
        ),
        "Set the volume to level 40",
    ),
)

#: Names at the limits of the documented rule, each valid.
NAMES: Mapping[str, str] = {
    "one letter": "f",
    "64 characters": "get_weather_".ljust(LONGEST_NAME, "x"),
    "digits first": "2nd_lookup",
    "dashes and underscores": "-get_weather-now_",
}


def many(count: int) -> list[Tool]:
    """That many tools, of which the first are the usual ones."""
    rest = [tool(f"lookup_{number}", objects(key=_TEXT), f"Look up table {number}") for number in range(count)]
    return [WEATHER, CLOCK, RATE, *rest][:count]


def chain(depth: int) -> dict[str, Any]:
    """A schema with that many objects inside one another."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = objects(next=schema)
    return schema


def recursive() -> dict[str, Any]:
    """A schema that contains itself: a node with any number of nodes below it."""
    node = closed({"name": _TEXT, "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, ["name"])
    return {**objects(root={"$ref": "#/$defs/node"}), "$defs": {"node": node}}


def endless() -> dict[str, Any]:
    """A schema that refers to nothing but itself, which no finite parser can follow to its end."""
    return {**objects(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}}


def names() -> st.SearchStrategy[str]:
    """Function names that the stricter of the documented rules allows."""
    drawn = st.text(NAME_CHARACTERS, min_size=1, max_size=LONGEST_NAME)
    return st.one_of(drawn, st.sampled_from(PROTOCOL_NAMES), st.just("x" * LONGEST_NAME))


def property_schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of one argument: scalars, enumerations, arrays and shallow objects."""
    words = st.text(string.ascii_lowercase, min_size=1, max_size=6)
    scalars: st.SearchStrategy[dict[str, Any]] = st.one_of(
        st.sampled_from([{"type": kind} for kind in ("string", "integer", "number", "boolean")]),
        st.lists(words, min_size=1, max_size=3, unique=True).map(lambda some: {"type": "string", "enum": some}),
    )
    lists = scalars.map(lambda item: {"type": "array", "items": item, "maxItems": 2})
    inner = st.dictionaries(words, scalars, min_size=1, max_size=2).map(closed)
    return st.one_of(scalars, lists, inner)


def parameters() -> st.SearchStrategy[dict[str, Any]]:
    """Closed objects of a few arguments, all required, so that a call of them is bounded."""
    keys = st.text(string.ascii_lowercase + "_", min_size=1, max_size=8)
    return st.dictionaries(keys, property_schemas(), max_size=3).map(closed)


def tools(most: int = 3) -> st.SearchStrategy[list[Tool]]:
    """One or more tools with distinct names."""
    one = st.builds(tool, names(), parameters(), st.sampled_from(["", "A tool", "Werkzeug für 検索"]))
    return st.lists(one, min_size=1, max_size=most, unique_by=name_of)
