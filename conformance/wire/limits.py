"""Bounds for everything an endpoint can stretch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes. An exchange that passes one of them is cut, recorded and marked, never waited out.

    `exchange_s` bounds a whole exchange, from connecting to the last byte; `idle_s` the silence between bytes.
    Serenity Edge allows itself 600 s for an answer, so a certification that must not cut it short sets more.
    """

    connect_s: float = 10.0
    idle_s: float = 60.0
    exchange_s: float = 120.0
    body_bytes: int = 16 * 1024 * 1024
    header_bytes: int = 64 * 1024
    decoded_bytes: int = 32 * 1024 * 1024
    arrivals: int = 100_000
