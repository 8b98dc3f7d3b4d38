"""When to ask again: only where the endpoint asks for patience, and never so that a violation is hidden.

Every attempt is recorded and judged on its own; a retry only gives the probe an answer to go on with.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from conformance.wire.exchange import Exchange

LONGEST_WAIT_S = 60.0
FIRST_BACKOFF_S = 1.0


def retry_after_s(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, section 10.2.3), or None where it is no such value."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())


def wait_before_retry(exchange: Exchange, attempt: int) -> float | None:
    """Seconds to wait before the same request may be sent again, or None where it must not be."""
    if exchange.status not in (429, 503):
        return None
    assert exchange.received is not None
    asked = retry_after_s(exchange.received.header("retry-after"))
    if exchange.status == 503 and asked is None:
        return None
    return min(LONGEST_WAIT_S, asked if asked is not None else FIRST_BACKOFF_S * 2**attempt)
