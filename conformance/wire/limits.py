"""Bounds for everything an endpoint can stretch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes. An exchange that passes one of them is cut, recorded and marked, never waited out.

    `exchange_s` bounds a whole exchange, from connecting to the last byte; `first_byte_s` the wait for the first,
    `idle_s` the silence between bytes. `events` and `event_bytes` bound a stream. Of a body that was cut, `kept_bytes`
    are kept as evidence; and once a client has read `run_bytes` in all, no later body may be larger than that.
    Serenity Edge allows itself 600 s for an answer, so a certification that must not cut it short sets more.
    """

    connect_s: float = 10.0
    first_byte_s: float = 120.0
    idle_s: float = 60.0
    exchange_s: float = 120.0
    body_bytes: int = 16 * 1024 * 1024
    header_bytes: int = 64 * 1024
    decoded_bytes: int = 16 * 1024 * 1024
    arrivals: int = 100_000
    events: int = 100_000
    event_bytes: int = 4 * 1024 * 1024
    kept_bytes: int = 256 * 1024
    run_bytes: int = 256 * 1024 * 1024
