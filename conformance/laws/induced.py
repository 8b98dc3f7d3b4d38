"""Conditions that no client can provoke: judged where they occur, or where an endpoint lets itself be induced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.laws.conditions import chat
from conformance.laws.refusals import error_of, statuses_of
from conformance.laws.registry import Undecided, Violation, law
from conformance.laws.relations import shortened
from conformance.wire.exchange import Exchange
from spec.model import Promise


def _induced(condition: str) -> Callable[[Exchange], bool]:
    return lambda x: chat(x) and x.facts.get("induce") == condition and x.received is not None


def _answer(x: Exchange, promise: Promise, what: str) -> Iterator[Violation]:
    if x.status == 200:
        raise Undecided(f"the endpoint did not let {what} be induced")
    wanted = statuses_of(promise)
    if x.status not in wanted:
        yield Violation(f"the status does not say {what}", " or ".join(map(str, wanted)), f"HTTP {x.status}")
        return
    code = promise.params.get("code")
    found = (error_of(x) or {}).get("code")
    if code is not None and found != code:
        yield Violation(f"error.code does not say {what}", str(code), shortened(found))


@law("errors.rate-limit-is-429", applies=_induced("rate_limit"))
def rate_limit(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A request above the rate limit is refused with the documented status."""
    yield from _answer(x, promise, "that the rate limit is reached")


@law("errors.overload-is-429-or-503", applies=_induced("overload"))
def overload(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """Lack of capacity, or a service that is down, is answered with a documented status."""
    yield from _answer(x, promise, "that capacity is lacking")


@law("errors.upstream-error-is-500", applies=_induced("upstream_error"))
def upstream_error(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A failure of the model service is answered with the documented status and code."""
    yield from _answer(x, promise, "that the model service failed")


@law("errors.timeout-is-500", applies=_induced("timeout"))
def timeout(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A request that gets no answer in time is answered with the documented status and code."""
    yield from _answer(x, promise, "that time ran out")


@law("errors.retry-after-on-429", applies=lambda x: chat(x) and x.status == 429)
def retry_after(x: Exchange, promise: Promise) -> Iterator[Violation]:
    """A 429 says in `Retry-After` how many seconds to wait: a whole number (RFC 9110, section 10.2.3)."""
    assert x.received is not None
    value = x.received.header(str(promise.params.get("header", "retry-after")))
    if value is None:
        yield Violation("a 429 has no Retry-After", "Retry-After with seconds", "no such header")
    elif not (value.strip().isascii() and value.strip().isdigit()):
        yield Violation("Retry-After is not a number of seconds", "a whole number of seconds", shortened(value))
