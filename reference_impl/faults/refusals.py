"""Faults of refusals: their status, their shape, and what they give away."""

from __future__ import annotations

from reference_impl.faults.edits import DONE, Events, crash
from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.contract import Refused
from reference_impl.server.strict_json import Json


def _error(refused: Refused) -> dict[str, object]:
    error: dict[str, object] = refused.body["error"]
    return error


@fault("midstream-error-then-done", "broken", both=["stream.error-event-ends-without-done"])
async def midstream_error_then_done(events: Events, exchange: Exchange) -> Events:
    """An error event is followed by [DONE], as if the stream ended well."""
    async for event in events:
        yield event
    yield DONE


@fault("midstream-error-swallowed", "broken", both=["stream.error-is-one-event"])
async def midstream_error_swallowed(events: Events, exchange: Exchange) -> Events:
    """A gateway drops the error and ends the stream as if nothing had happened."""
    yield DONE


@fault("midstream-error-named-event", "broken", both=["stream.error-is-one-event"])
async def midstream_error_named_event(events: Events, exchange: Exchange) -> Events:
    """The error comes as an event without an error object."""
    yield b'data: {"message":"upstream failed"}\n\n'


@fault("error-detail-body", "refusal", both=["errors.body-is-an-error-object"])
def error_detail_body(refused: Refused, exchange: Exchange) -> Refused:
    """The framework's validation body comes instead of the error object."""
    location = ["body", _error(refused)["param"]]
    return Refused(refused.status, {"detail": [{"loc": location, "msg": _error(refused)["message"]}]})


@fault("error-is-a-string", "refusal", both=["errors.body-is-an-error-object"])
def error_is_a_string(refused: Refused, exchange: Exchange) -> Refused:
    """`error` is a plain string."""
    return Refused(refused.status, {"error": _error(refused)["message"]}, refused.headers)


@fault("error-fields-flat", "refusal", both=["errors.body-is-an-error-object"])
def error_fields_flat(refused: Refused, exchange: Exchange) -> Refused:
    """Message, type and code stand at the top without `error` around them."""
    return Refused(refused.status, {"object": "error", **_error(refused)}, refused.headers)


@fault("error-type-off-list", "refusal", serenity_edge=["error.error.type.enum"])
def error_type_off_list(refused: Refused, exchange: Exchange) -> Refused:
    """error.type is the name of an exception class."""
    _error(refused)["type"] = "BadRequestError"
    return refused


@fault("error-type-always-invalid-request", "refusal", serenity_edge=["errors.type-fits-the-status"])
def error_type_always_invalid_request(refused: Refused, exchange: Exchange) -> Refused:
    """error.type is invalid_request_error whatever went wrong."""
    _error(refused)["type"] = "invalid_request_error"
    return refused


@fault("error-message-not-text", "refusal", both=["error.error.message.type"])
def error_message_not_text(refused: Refused, exchange: Exchange) -> Refused:
    """error.message is an array."""
    _error(refused)["message"] = [_error(refused)["message"]]
    return refused


@fault("error-body-is-html", "error_body", both=["errors.body-is-json"])
def error_body_is_html(body: bytes, exchange: Exchange) -> bytes:
    """A refusal has a page of a proxy as its body."""
    return b"<html><body><h1>400 Bad Request</h1></body></html>"


@fault("error-message-empty", "refusal", both=["errors.message-is-text"])
def error_message_empty(refused: Refused, exchange: Exchange) -> Refused:
    """error.message is empty."""
    _error(refused)["message"] = ""
    return refused


@fault(
    "error-param-missing",
    "refusal",
    ark=["errors.unknown-parameter-names-the-field"],
    serenity_edge=["errors.param-names-the-parameter"],
)
def error_param_missing(refused: Refused, exchange: Exchange) -> Refused:
    """The refusal of a parameter does not name it."""
    if refused.status == 400:
        _error(refused)["param"] = None
    return refused


@fault("unknown-parameter-code-missing", "refusal", ark=["errors.unknown-parameter-is-named"])
def unknown_parameter_code_missing(refused: Refused, exchange: Exchange) -> Refused:
    """The refusal of an unknown field has a general code."""
    if _error(refused)["code"] == "unknown_parameter":
        _error(refused)["code"] = "bad_request"
    return refused


@fault("unknown-parameter-in-type", "refusal", ark=["errors.unknown-parameter-in-code"])
def unknown_parameter_in_type(refused: Refused, exchange: Exchange) -> Refused:
    """unknown_parameter stands in error.type."""
    if _error(refused)["code"] == "unknown_parameter":
        _error(refused).update(type="unknown_parameter", code=None)
    return refused


@fault("bad-input-500", "refusal", both=["errors.client-mistakes-are-not-5xx"])
def bad_input_500(refused: Refused, exchange: Exchange) -> Refused:
    """Mistakes of the client are answered with 500."""
    if refused.status == 400:
        refused.status = 500
    return refused


@fault("bad-input-422", "refusal", both=["errors.invalid-parameter-is-400"])
def bad_input_422(refused: Refused, exchange: Exchange) -> Refused:
    """Invalid parameters are answered with 422."""
    if refused.status == 400 and _error(refused)["code"] != "unknown_parameter":
        refused.status = 422
    return refused


@fault("undocumented-status", "refusal", serenity_edge=["errors.documented-statuses-only"])
def undocumented_status(refused: Refused, exchange: Exchange) -> Refused:
    """A body that is no JSON is answered with 418."""
    if _error(refused)["code"] == "invalid_json":
        refused.status = 418
    return refused


@fault("refusal-as-stream", "refusal", both=["stream.refusals-are-not-streams"])
def refusal_as_stream(refused: Refused, exchange: Exchange) -> Refused:
    """A refused request that asked for a stream gets status 200."""
    if exchange.streamed and refused.status == 400:
        refused.status = 200
    return refused


@fault("refusal-differs-in-streams", "refusal", both=["errors.same-streamed-and-whole"])
def refusal_differs_in_streams(refused: Refused, exchange: Exchange) -> Refused:
    """The same defect has another code where a stream was asked for."""
    if exchange.streamed and _error(refused)["code"] != "unknown_parameter":
        _error(refused)["code"] = "stream_error"
    return refused


@fault("refusal-changes-on-repeat", "refusal", both=["errors.repeat"])
def refusal_changes_on_repeat(refused: Refused, exchange: Exchange) -> Refused:
    """The same defect gets another code at every second time."""
    exchange.memory["refusals"] = exchange.memory.get("refusals", 0) + 1
    if exchange.memory["refusals"] % 2 == 0 and _error(refused)["code"] != "unknown_parameter":
        _error(refused)["code"] = "retry"
    return refused


@fault("traceback-in-error", "refusal", both=["errors.no-internals"])
def traceback_in_error(refused: Refused, exchange: Exchange) -> Refused:
    """The message of an error holds a stack trace."""
    trace = 'Traceback (most recent call last):\n  File "/srv/app/server.py", line 12, in validate\n'
    _error(refused)["message"] = f"{trace}ValueError: {_error(refused)['message']}"
    return refused


@fault("rate-limit-without-retry-after", "refusal", serenity_edge=["errors.retry-after-on-429"])
def rate_limit_without_retry_after(refused: Refused, exchange: Exchange) -> Refused:
    """429 comes without Retry-After."""
    refused.headers.pop("retry-after", None)
    return refused


@fault("rate-limit-is-503", "refusal", serenity_edge=["errors.rate-limit-is-429"])
def rate_limit_is_503(refused: Refused, exchange: Exchange) -> Refused:
    """A rate limit is answered with 503."""
    if _error(refused)["code"] == "rate_limit_exceeded":
        refused.status = 503
    return refused


@fault("overload-is-500", "refusal", serenity_edge=["errors.overload-is-429-or-503"])
def overload_is_500(refused: Refused, exchange: Exchange) -> Refused:
    """A service that is down is answered with 500."""
    if refused.status == 503:
        refused.status = 500
    return refused


@fault("upstream-error-without-code", "refusal", serenity_edge=["errors.upstream-error-is-500"])
def upstream_error_without_code(refused: Refused, exchange: Exchange) -> Refused:
    """A failure of the model service has no code."""
    if _error(refused)["code"] == "upstream_error":
        _error(refused)["code"] = None
    return refused


@fault("timeout-is-504", "refusal", serenity_edge=["errors.timeout-is-500"])
def timeout_is_504(refused: Refused, exchange: Exchange) -> Refused:
    """A timeout is answered with 504."""
    if _error(refused)["code"] == "timeout":
        refused.status = 504
    return refused


@fault("unknown-model-wrong-status", "refusal", both=["models.unknown-model-is-404"])
def unknown_model_wrong_status(refused: Refused, exchange: Exchange) -> Refused:
    """An unknown model is answered with 400."""
    if _error(refused)["code"] == "model_not_found":
        refused.status = 400
    return refused


@fault("unknown-model-answered", "request", both=["models.unknown-model-is-refused"])
def unknown_model_answered(data: Json, exchange: Exchange) -> Json:
    """An unknown model is answered by whatever is loaded."""
    if isinstance(data, dict) and isinstance(data.get("model"), str) and "tiny" not in data["model"]:
        return {**data, "model": exchange.default_model}
    return data


@fault("reply-names-another-model", "completion", both=["models.reply-names-the-model"])
def reply_names_another_model(body: dict[str, object], exchange: Exchange) -> dict[str, object]:
    """A reply names the file of the weights and not the model that was asked for."""
    return {**body, "model": "weights/tiny.safetensors"}


@fault("non-object-body-500", "request", both=["wire.non-object-body-is-refused"])
def non_object_body_500(data: Json, exchange: Exchange) -> Json:
    """A JSON body that is no object crashes the validator."""
    if not isinstance(data, dict):
        crash("no object")
    return data


@fault("malformed-json-500", "raw", both=["wire.malformed-json-is-refused"])
def malformed_json_500(body: bytes, exchange: Exchange) -> bytes:
    """A body that does not end like an object crashes the server."""
    if not body.rstrip().endswith((b"}", b"]", b'"')):
        crash("the body is cut off")
    return body


@fault("large-body-400", "refusal", serenity_edge=["limits.large-body-is-413"])
def large_body_400(refused: Refused, exchange: Exchange) -> Refused:
    """A body above the documented size is answered with 400."""
    if refused.status == 413:
        refused.status = 400
    return refused


@fault("odd-input-500", "refusal", both=["errors.odd-input-is-survived"])
def odd_input_500(refused: Refused, exchange: Exchange) -> Refused:
    """Odd JSON, such as NaN or a repeated name, raises 500."""
    message = str(_error(refused)["message"])
    if any(word in message for word in ("NaN", "Infinity", "repeated name", "byte order", "deeper", "out of range")):
        refused.status = 500
    return refused
