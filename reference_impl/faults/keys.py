"""Faults of keys: let in, refused with another status, or given away."""

from __future__ import annotations

import hashlib

from reference_impl.faults.hooks import Exchange
from reference_impl.faults.registry import fault
from reference_impl.server.contract import Refused


@fault("auth-error-leaks-internals", "refusal", both=["auth.no-secrets-in-refusals"])
def auth_error_leaks_internals(refused: Refused, exchange: Exchange) -> Refused:
    """The refusal of a key repeats the key and its digest."""
    if refused.status == 401:
        key = exchange.authorization.partition(" ")[2]
        digest = hashlib.sha256(key.encode()).hexdigest()
        refused.body["error"]["message"] = f"Key {key} (hash={digest}) is not in KeyTable."
    return refused


@fault("bad-key-500", "refusal", ark=["auth.wrong-key-is-refused"], serenity_edge=["auth.wrong-key-is-401"])
def bad_key_500(refused: Refused, exchange: Exchange) -> Refused:
    """A wrong key surfaces as 500."""
    if refused.status == 401 and exchange.authorization:
        refused.status = 500
    return refused


@fault("missing-key-403", "refusal", both=["auth.missing-key-is-401"])
def missing_key_403(refused: Refused, exchange: Exchange) -> Refused:
    """A request without a key is answered with 403."""
    if refused.status == 401 and not exchange.authorization:
        refused.status = 403
    return refused


@fault("wrong-key-403", "refusal", both=["auth.wrong-key-is-401"])
def wrong_key_403(refused: Refused, exchange: Exchange) -> Refused:
    """A wrong key is answered with 403."""
    if refused.status == 401 and exchange.authorization:
        refused.status = 403
    return refused


@fault("wrong-key-served", "key", both=["auth.wrong-key-is-refused"])
def wrong_key_served(refused: Refused, exchange: Exchange) -> bool:
    """A missing or wrong key is served as a right one."""
    return True


@fault("right-key-refused", "raw", both=["auth.bearer-key-is-accepted"])
def right_key_refused(body: bytes, exchange: Exchange) -> bytes:
    """A valid key in the bearer scheme is refused."""
    if exchange.authorization:
        error = {"message": "Send the key in X-Api-Key.", "type": "authentication_error", "code": None, "param": None}
        raise Refused(401, {"error": error})
    return body
