"""A bounded variant of a document for generating requests: valid for the endpoint, and cheap to answer.

Nothing of it is kept in a file. From the document it takes away what only an offered capability allows, and adds
bounds: the known model, a small token limit, few and short messages, closed objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from spec.derive import ROOTS, resolve
from spec.keywords import type_names

#: A grey picture of one pixel; random base64 would be no picture.
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)
#: Fields that bound how much is generated, and the largest number of choices to ask for.
TOKEN_LIMITS, CHOICES = ("max_tokens", "max_completion_tokens"), 2

Schema = Mapping[str, Any]


def bounded(
    openapi: Schema,
    models: Sequence[str],
    offers: Set[str] = frozenset({"tools", "json"}),
    max_tokens: int = 16,
    text_length: int = 60,
    items: int = 3,
) -> dict[str, Any]:
    """`openapi` with its request schema bounded; `offers` are the endpoint's capabilities.

    Sessions are never generated: they live on at the endpoint, and their rules reach over several fields.
    """
    limits = _Limits(openapi, frozenset(offers) - {"sessions"}, text_length, items)
    request = limits.bound(openapi["components"]["schemas"][ROOTS["request"]])
    if request is None:
        raise ValueError("the request schema itself needs a capability that is not offered")
    fields = request["properties"]
    fields["model"] = {"type": "string", "enum": list(models)}
    for name in TOKEN_LIMITS:
        if name in fields:
            fields[name] = {"type": "integer", "minimum": 1, "maximum": max_tokens}
    if "n" in fields and "const" not in fields["n"]:
        fields["n"] = {**fields["n"], "maximum": CHOICES}
    request["required"] = list(dict.fromkeys([*request["required"], "max_tokens"]))
    schemas = {**openapi["components"]["schemas"], ROOTS["request"]: request}
    return {**openapi, "components": {**openapi["components"], "schemas": schemas}}


def whole_numbers(value: Any) -> Any:
    """The same JSON value with integral floats as integers: generators write 4.0 where servers want 4."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {name: whole_numbers(member) for name, member in value.items()}
    return [whole_numbers(item) for item in value] if isinstance(value, list) else value


class _Limits:
    def __init__(self, openapi: Schema, offers: frozenset[str], text_length: int, items: int) -> None:
        self.openapi, self.offers, self.text_length, self.items = openapi, offers, text_length, items

    def bound(self, node: Schema, need: str = "") -> dict[str, Any] | None:
        """The bounded schema, or None where it needs what the endpoint does not offer."""
        node = resolve(self.openapi, node)
        need = node.get("x-needs", need)
        if need and need not in self.offers:
            return None
        plain = {key: value for key, value in node.items() if not key.startswith("x-") and key != "default"}
        if "oneOf" in plain:
            branches = [self.bound(branch, need) for branch in plain["oneOf"]]
            plain["oneOf"] = [branch for branch in branches if branch is not None]
            return plain if plain["oneOf"] else None
        types = type_names(plain.get("type", []))
        if "array" in types:
            return self._array(plain, need)
        if "object" in types:
            return self._object(plain, need)
        if "string" in types and "enum" not in plain and "const" not in plain:
            return self._text(plain, need)
        return plain

    def _array(self, plain: dict[str, Any], need: str) -> dict[str, Any] | None:
        items = self.bound(plain.get("items", {}), need)
        if items is None:
            return None
        fewest = max(plain.get("minItems", 0), 1)
        return {
            **plain,
            "items": items,
            "minItems": fewest,
            "maxItems": min(plain.get("maxItems", self.items), self.items),
        }

    def _object(self, plain: dict[str, Any], need: str) -> dict[str, Any] | None:
        members = {name: self.bound(child, need) for name, child in plain.get("properties", {}).items()}
        if any(members[name] is None for name in plain.get("required", ())):
            return None
        kept = {name: member for name, member in members.items() if member is not None}
        return {"required": [], **plain, "properties": kept, "additionalProperties": False}

    def _text(self, plain: dict[str, Any], need: str) -> dict[str, Any]:
        if need == "vision":
            return {**plain, "enum": [PICTURE]}
        longest = min(plain.get("maxLength", self.text_length), self.text_length)
        return {**plain, "minLength": max(plain.get("minLength", 0), 1), "maxLength": longest}
