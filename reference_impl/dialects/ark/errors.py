"""ARK's error object.

The document shows `{"error": {…}}` for streams and the code `unknown_parameter`; the other members follow
the OpenAI object that its SDK samples rely on (type, param, code).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference_impl.server.contract import Refused
from reference_impl.server.fields import Invalid


def _refused(
    status: int,
    message: str,
    kind: str,
    code: str | None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Refused:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Refused(status, body, headers)


class ArkErrors:
    """Every refusal of this dialect."""

    def malformed(self, message: str) -> Refused:
        """400: the body cannot be read."""
        return _refused(400, message, "invalid_request_error", "invalid_json")

    def invalid(self, problem: Invalid) -> Refused:
        """400: a member is not what the document allows."""
        return _refused(400, problem.message, "invalid_request_error", problem.code, problem.param)

    def too_large(self, limit: int) -> Refused:
        """413: the body is larger than this server reads."""
        message = f"The request body is larger than {limit} bytes."
        return _refused(413, message, "invalid_request_error", "request_too_large")

    def unauthorized(self, message: str) -> Refused:
        """401: no key, or a wrong one."""
        headers = {"www-authenticate": "Bearer"}
        return _refused(401, message, "authentication_error", "invalid_api_key", headers=headers)

    def out_of_credits(self) -> Refused:
        """402: the balance is used up."""
        return _refused(402, "The credit balance is used up.", "insufficient_quota", "insufficient_credits")

    def no_such_model(self, model_id: str) -> Refused:
        """404: not a model of List models."""
        message = f"The model {model_id[:200]!r} does not exist."
        return _refused(404, message, "invalid_request_error", "model_not_found", "model")

    def no_such_route(self) -> Refused:
        """404: nothing is served under this path."""
        return _refused(404, "Nothing is served under this path.", "invalid_request_error", "not_found")

    def wrong_method(self, method: str, allowed: Sequence[str]) -> Refused:
        """405, with Allow."""
        headers = {"allow": ", ".join(allowed)}
        message = f"{method[:20]} is not allowed here; use {' or '.join(allowed)}."
        return _refused(405, message, "invalid_request_error", "method_not_allowed", headers=headers)

    def prompt_too_long(self, tokens: int, limit: int) -> Refused:
        """400: the conversation does not fit the context."""
        message = f"The conversation has {tokens} tokens; the model's context leaves room for {limit}."
        return _refused(400, message, "invalid_request_error", "context_length_exceeded", "messages")

    def session_full(self, tokens: int, cap: int) -> Refused:
        """400: the session's cap leaves no room for another turn."""
        message = f"The session would hold {tokens} tokens with this turn; ark_max_session_tokens is {cap}."
        return _refused(400, message, "invalid_request_error", "session_tokens_exceeded", "ark_max_session_tokens")

    def rate_limited(self) -> Refused:
        """429, with Retry-After."""
        message = "Too many requests; try again in a second."
        return _refused(429, message, "rate_limit_error", "rate_limit_exceeded", headers={"retry-after": "1"})

    def at_capacity(self) -> Refused:
        """429: the queue is full, with Retry-After."""
        message = "The model is at capacity; try again in a second."
        return _refused(429, message, "rate_limit_error", "at_capacity", headers={"retry-after": "1"})

    def overloaded(self) -> Refused:
        """503: the model service is away."""
        message = "The model service is temporarily unavailable."
        return _refused(503, message, "server_error", "service_unavailable")

    def upstream_failed(self) -> Refused:
        """500: the model service failed."""
        return _refused(500, "The model service failed to answer.", "server_error", "upstream_error")

    def timed_out(self) -> Refused:
        """500: no answer within the time limit."""
        return _refused(500, "The request got no answer in time.", "server_error", "timeout")

    def stream_broken(self) -> Refused:
        """The last event of a stream that failed after it had started."""
        message = "The reply broke off: the model service failed while generating."
        return _refused(500, message, "server_error", "upstream_error")

    def internal(self) -> Refused:
        """500: a defect of this server."""
        return _refused(500, "The server failed to handle the request.", "server_error", "internal_error")
