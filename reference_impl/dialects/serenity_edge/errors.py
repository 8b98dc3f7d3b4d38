"""Serenity Edge's error object (`ErrorResponse` under 400) and the statuses that its document lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from reference_impl.server.contract import Refused
from reference_impl.server.fields import Invalid

ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "rate_limit_error",
    "server_error",
]

RETRY_AFTER = {"retry-after": "1"}


def _refused(
    status: int,
    message: str,
    kind: ErrorType,
    code: str | None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Refused:
    body = {"error": {"message": message, "type": kind, "code": code, "param": param}}
    return Refused(status, body, headers)


class SerenityEdgeErrors:
    """Every refusal of this dialect."""

    def malformed(self, message: str) -> Refused:
        """400: the body cannot be read."""
        return _refused(400, message, "invalid_request_error", "invalid_json")

    def invalid(self, problem: Invalid) -> Refused:
        """400: a parameter is invalid."""
        param = problem.param or None
        return _refused(400, problem.message, "invalid_request_error", problem.code, param)

    def too_many_images(self, count: int, limit: int) -> Refused:
        """400 with code too_many_images and param messages."""
        message = f"The conversation has {count} images; this model reads at most {limit}."
        return _refused(400, message, "invalid_request_error", "too_many_images", "messages")

    def prompt_too_long(self, tokens: int, limit: int) -> Refused:
        """400: the conversation does not fit the context."""
        message = f"The conversation has {tokens} tokens; the model's context leaves room for {limit}."
        return _refused(400, message, "invalid_request_error", "context_length_exceeded", "messages")

    def unauthorized(self, message: str) -> Refused:
        """401: missing or invalid API key."""
        headers = {"www-authenticate": "Bearer"}
        return _refused(401, message, "authentication_error", "invalid_api_key", headers=headers)

    def no_such_model(self, model_id: str) -> Refused:
        """404: the model does not exist or is not available to this key."""
        message = f"The model {model_id[:200]!r} does not exist or is not available to this key."
        return _refused(404, message, "not_found_error", "model_not_found", "model")

    def no_such_route(self) -> Refused:
        """404: nothing is served under this path."""
        return _refused(404, "Nothing is served under this path.", "not_found_error", "not_found")

    def wrong_method(self, method: str, allowed: Sequence[str]) -> Refused:
        """405, with Allow."""
        message = f"{method[:20]} is not allowed here; use {' or '.join(allowed)}."
        headers = {"allow": ", ".join(allowed)}
        return _refused(405, message, "invalid_request_error", "method_not_allowed", headers=headers)

    def too_large(self, limit: int) -> Refused:
        """413: the body is larger than the gateway accepts."""
        message = f"The request body is larger than {limit} bytes (4 MB)."
        return _refused(413, message, "invalid_request_error", "request_too_large")

    def rate_limited(self) -> Refused:
        """429 with Retry-After."""
        message = "Rate limit exceeded; wait for the seconds in Retry-After."
        return _refused(429, message, "rate_limit_error", "rate_limit_exceeded", headers=RETRY_AFTER)

    def at_capacity(self) -> Refused:
        """429 with Retry-After: the service is temporarily at capacity for this model."""
        message = "The service is temporarily at capacity for this model."
        return _refused(429, message, "rate_limit_error", "at_capacity", headers=RETRY_AFTER)

    def upstream_failed(self) -> Refused:
        """500: the model service returned an unexpected response."""
        message = "The model service returned an unexpected response."
        return _refused(500, message, "server_error", "upstream_error")

    def timed_out(self) -> Refused:
        """500: no answer within 600 seconds."""
        return _refused(500, "The request got no answer within 600 seconds.", "server_error", "timeout")

    def stream_broken(self) -> Refused:
        """The last event of a stream that failed; the document is silent, so there is no terminator."""
        message = "The model service returned an unexpected response while streaming."
        return _refused(500, message, "server_error", "upstream_error")

    def internal(self) -> Refused:
        """500: an error in the gateway."""
        return _refused(500, "The gateway failed to handle the request.", "server_error", "internal_error")

    def unavailable(self) -> Refused:
        """503: the model service is temporarily unavailable."""
        message = "The model service is temporarily unavailable; retry later."
        return _refused(503, message, "server_error", "service_unavailable")
