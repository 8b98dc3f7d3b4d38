"""Reading typed members out of request JSON, with the path that a refusal names.

Only the reading is shared; which members exist, and what their values may be, stands in each dialect.
An explicit null for an optional member is read as its absence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from reference_impl.server.strict_json import Json


class Invalid(Exception):
    """A request member is not what the document allows.

    `param` is its path (`tools[0].function.name`), `code` a short machine-readable reason, and `constraint`
    the JSON Schema keyword that it breaks, where there is one.
    """

    def __init__(self, message: str, param: str, code: str = "invalid_value", constraint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        self.constraint = constraint


def describe(value: Json) -> str:
    """The JSON type of a value in words, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def wrong_type(param: str, expected: str, value: Json) -> Invalid:
    """The refusal of a value of the wrong JSON type."""
    return Invalid(f"'{param}' must be {expected}, not {describe(value)}.", param, "invalid_type", "type")


class Fields:
    """A JSON object at a path, read member by member; every reader raises `Invalid`."""

    def __init__(self, value: Json, path: str) -> None:
        if not isinstance(value, dict):
            raise wrong_type(path, "an object", value)
        self.members: dict[str, Any] = value
        self.path = path

    def at(self, name: str) -> str:
        """The path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def has(self, name: str) -> bool:
        """Whether the member is there and is not null."""
        return self.members.get(name) is not None

    def require(self, name: str) -> Json:
        """The member's value, whatever its type."""
        if name not in self.members:
            raise Invalid(f"'{self.at(name)}' is required.", self.at(name), "missing_required_parameter", "required")
        return self.members[name]

    def string(
        self,
        name: str,
        *,
        one_of: Collection[str] | None = None,
        min_length: int = 0,
        max_length: int | None = None,
        pattern: re.Pattern[str] | None = None,
        rule: str = "",
    ) -> str | None:
        """An optional string; `rule` says in words what `pattern` demands."""
        return self._string(self.members.get(name), name, one_of, min_length, max_length, pattern, rule)

    def required_string(
        self,
        name: str,
        *,
        one_of: Collection[str] | None = None,
        min_length: int = 0,
        max_length: int | None = None,
        pattern: re.Pattern[str] | None = None,
        rule: str = "",
    ) -> str:
        """A string that must be there."""
        value = self.require(name)
        if not isinstance(value, str):
            raise wrong_type(self.at(name), "a string", value)
        self._string(value, name, one_of, min_length, max_length, pattern, rule)
        return value

    def _string(
        self,
        value: Json,
        name: str,
        one_of: Collection[str] | None,
        min_length: int,
        max_length: int | None,
        pattern: re.Pattern[str] | None,
        rule: str,
    ) -> str | None:
        if value is None:
            return None
        where = self.at(name)
        if not isinstance(value, str):
            raise wrong_type(where, "a string", value)
        if one_of is not None and value not in one_of:
            raise Invalid(f"'{where}' must be one of {', '.join(one_of)}.", where, constraint="enum")
        if len(value) < min_length:
            raise Invalid(f"'{where}' must have at least {min_length} character(s).", where, constraint="minLength")
        if max_length is not None and len(value) > max_length:
            raise Invalid(f"'{where}' must have at most {max_length} characters.", where, constraint="maxLength")
        if pattern is not None and not pattern.fullmatch(value):
            raise Invalid(f"'{where}' {rule}.", where, constraint="pattern")
        return value

    def number(self, name: str, low: float | None = None, high: float | None = None) -> float | None:
        """An optional number within [low, high]."""
        value = self.members.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_type(self.at(name), "a number", value)
        self._within(name, value, low, high)
        return float(value)

    def integer(self, name: str, low: int | None = None, high: int | None = None) -> int | None:
        """An optional integer within [low, high]; 3.0 is the integer 3, as in JSON Schema."""
        value = self.members.get(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_type(self.at(name), "an integer", value)
        self._within(name, value, low, high)
        return value

    def _within(self, name: str, value: float, low: float | None, high: float | None) -> None:
        if low is not None and value < low:
            raise Invalid(f"'{self.at(name)}' must be at least {low}.", self.at(name), constraint="minimum")
        if high is not None and value > high:
            raise Invalid(f"'{self.at(name)}' must be at most {high}.", self.at(name), constraint="maximum")

    def boolean(self, name: str, default: bool = False) -> bool:
        """An optional boolean."""
        value = self.members.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise wrong_type(self.at(name), "a boolean", value)
        return value

    def object(self, name: str) -> Fields | None:
        """An optional object."""
        return Fields(self.members[name], self.at(name)) if self.has(name) else None

    def required_object(self, name: str) -> Fields:
        """An object that must be there."""
        return Fields(self.require(name), self.at(name))

    def array(self, name: str, *, min_items: int = 0, max_items: int) -> list[Any] | None:
        """An optional array of at most `max_items` values."""
        value = self.members.get(name)
        if value is None:
            return None
        where = self.at(name)
        if not isinstance(value, list):
            raise wrong_type(where, "an array", value)
        if len(value) < min_items:
            raise Invalid(f"'{where}' must have at least {min_items} item(s).", where, "array_too_short", "minItems")
        if len(value) > max_items:
            raise Invalid(f"'{where}' must have at most {max_items} items.", where, "array_too_long", "maxItems")
        return value

    def objects(self, name: str, *, min_items: int = 0, max_items: int) -> Iterator[Fields]:
        """The objects of an optional array."""
        for index, item in enumerate(self.array(name, min_items=min_items, max_items=max_items) or ()):
            yield Fields(item, f"{self.at(name)}[{index}]")

    def string_or_strings(self, name: str, *, max_items: int) -> list[str]:
        """An optional string or array of strings, as a list."""
        value = self.members.get(name)
        if value is None:
            return []
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list):
            raise wrong_type(self.at(name), "a string or an array of strings", value)
        items = self.array(name, max_items=max_items) or []
        for index, item in enumerate(items):
            if not isinstance(item, str):
                raise wrong_type(f"{self.at(name)}[{index}]", "a string", item)
        return items
