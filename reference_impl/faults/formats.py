"""Faults of response formats: fenced, not enforced, dropped, or fatal."""

from __future__ import annotations

import json

from reference_impl.faults.edits import Pieces, crash, refuse
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.pieces import Content, Finished
from reference_impl.server.strict_json import Json


@fault("json-object-fenced", "pieces", serenity_edge=["json.object-mode-yields-json"])
async def json_object_fenced(pieces: Pieces, exchange: Exchange) -> Pieces:
    """JSON mode returns the JSON inside a Markdown fence."""

    form = exchange.data.get("response_format")
    fenced = isinstance(form, dict) and form.get("type") == "json_object"
    if fenced:
        yield Content("```json\n")
    async for piece in pieces:
        if fenced and isinstance(piece, Finished):
            yield Content("\n```")
        yield piece


@fault("json-schema-not-enforced", "request", serenity_edge=["json.strict-schema-is-met", "json.schema-is-met"])
def json_schema_not_enforced(data: Json, exchange: Exchange) -> Json:
    """A strict json_schema is accepted and only makes an object of any kind."""
    form = data.get("response_format") if isinstance(data, dict) else None
    if isinstance(form, dict) and form.get("type") == "json_schema" and form.get("json_schema"):
        other = {"type": "object", "properties": {"cost": {"type": "string", "maxLength": 4}}, "required": ["cost"]}
        return {**data, "response_format": {**form, "json_schema": {"name": "other", "schema": other}}}
    return data


@fault("response-format-malformed-500", "request", both=["request.response_format.json_schema.json_schema.required"])
def response_format_malformed_500(data: Json, exchange: Exchange) -> Json:
    """json_schema without its wrapper raises 500."""
    form = data.get("response_format") if isinstance(data, dict) else None
    if isinstance(form, dict) and form.get("type") == "json_schema" and "json_schema" not in form:
        crash("KeyError: 'json_schema'")
    return data


@fault(
    "response-format-dropped-by-gateway",
    "request",
    serenity_edge=["json.object-mode-yields-json", "json.schema-is-met", "json.strict-schema-is-met"],
)
def response_format_dropped_by_gateway(data: Json, exchange: Exchange) -> Json:
    """A gateway deletes response_format."""
    return (
        {name: value for name, value in data.items() if name != "response_format"} if isinstance(data, dict) else data
    )


@fault("response-format-refused", "request", both=["json.every-format-is-accepted"])
def response_format_refused(data: Json, exchange: Exchange) -> Json:
    """json_object is refused as unsupported."""
    form = data.get("response_format") if isinstance(data, dict) else None
    if isinstance(form, dict) and form.get("type") == "json_object":
        refuse("'response_format.type' must be one of text, json_schema.", "response_format.type")
    return data


@fault("schema-recursion-kills-server", "request", both=["json.difficult-schema-is-survived"])
def schema_recursion_kills_server(data: Json, exchange: Exchange) -> Json:
    """A cyclic or very deep JSON Schema raises 500."""
    text = json.dumps(data)
    if '"$ref"' in text or text.count('"properties"') > 8:
        crash("maximum recursion depth exceeded")
    return data
