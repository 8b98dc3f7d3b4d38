"""The only code that talks: requests out, exact bytes and arrival times in."""

from conformance.wire.exchange import Exchange, Received, Sent
from conformance.wire.sse import Event, EventStream, decode
from conformance.wire.strict_json import Parsed, parse

__all__ = ["Event", "EventStream", "Exchange", "Parsed", "Received", "Sent", "decode", "parse"]
