"""Says a derived requirement as one plain sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence

from spec.model import Constraint
from spec.paths import dotted

_WHOLE = {"request": "the request body", "response": "the reply", "chunk": "a chunk", "error": "an error body"}
_OF = {"request": "", "response": " of a reply", "chunk": " of a chunk", "error": " of an error body"}
_LIMIT = {
    "minimum": "below {0}",
    "maximum": "above {0}",
    "minItems": "of fewer than {0} items",
    "maxItems": "of more than {0} items",
    "minLength": "shorter than {0} characters",
    "maxLength": "longer than {0} characters",
    "pattern": "that does not match {0}",
}
_KEPT = {
    "minimum": "is at least {0}",
    "maximum": "is at most {0}",
    "minItems": "has at least {0} items",
    "maxItems": "has at most {0} items",
    "minLength": "has at least {0} characters",
    "maxLength": "has at most {0} characters",
    "pattern": "matches {0}",
}


def title(constraint: Constraint) -> str:
    """One sentence: a request that breaks the constraint is refused, or a reply keeps it."""
    field = _field(constraint)
    sentence = _refusal(constraint, field) if constraint.part == "request" else _shape(constraint, field)
    return sentence[0].upper() + sentence[1:]


def _field(constraint: Constraint) -> str:
    name = dotted(constraint.path)
    return f"`{name}`{_OF[constraint.part]}" if name else _WHOLE[constraint.part]


def _refusal(constraint: Constraint, field: str) -> str:
    keyword, value = constraint.keyword, constraint.value
    match keyword:
        case "type":
            types = [kind for kind in value if kind != "null"] or value
            return f"a request is refused where {field} is not {_one_of(types)}."
        case "required":
            return f"a request is refused where {field} has no `{value}`."
        case "enum":
            return f"a request is refused where {field} is none of {_values(value)}."
        case "const":
            return f"a request is refused where {field} is not {_value(value)}."
        case "additionalProperties":
            return f"a request is refused where {field} has a member the document does not list."
        case _:
            return f"a request is refused where {field} is {_LIMIT[keyword].format(_value(value))}."


def _shape(constraint: Constraint, field: str) -> str:
    keyword, value = constraint.keyword, constraint.value
    match keyword:
        case "type":
            return f"{field} is {_one_of(value)}."
        case "required":
            return f"{field} has the member `{value}`."
        case "enum":
            return f"{field} is one of {_values(value)}."
        case "const":
            return f"{field} is {_value(value)}."
        case "not":
            return f"{field} is not null."
        case "additionalProperties":
            return f"{field} has no member that the document does not list."
        case _:
            return f"{field} {_KEPT[keyword].format(_value(value))}."


def _one_of(types: Sequence[str]) -> str:
    words = [kind if kind == "null" else f"{'an' if kind[0] in 'aio' else 'a'} {kind}" for kind in types]
    return " or ".join(words)


def _value(value: object) -> str:
    return f"`{json.dumps(value)}`" if not isinstance(value, int | float) else str(value)


def _values(values: Sequence[object]) -> str:
    return ", ".join(map(_value, values))
