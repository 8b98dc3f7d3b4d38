"""One plain request before the rest: is anybody there, does the key fit, is it a chat-completions endpoint at all?"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.ask import Asker, Session
from conformance.traffic.bodies import Bodies
from conformance.wire.exchange import Exchange
from spec.model import Profile


@dataclass(frozen=True, slots=True)
class Preflight:
    """`go`: the run makes sense. Otherwise `sentence` says why not; `broken` tells that what came back is wrong."""

    go: bool
    sentence: str = ""
    broken: bool = False


def preflight(session: Session, profile: Profile) -> Preflight:
    """Send one plain request, recorded and judged like any other."""
    ask = Asker(session, "preflight::plain", "preflight")
    exchange = ask(Bodies(profile, session.target, ask.nonce).chat("Hello", max_tokens=16))
    return _verdict(exchange, session.target.base_url, session.target.model)


def _verdict(exchange: Exchange, base_url: str, model: str) -> Preflight:
    if exchange.end == "refused":
        return Preflight(False, f"Nothing answers at {base_url}: {exchange.problem}.")
    if exchange.received is None or exchange.end == "timeout":
        return Preflight(False, f"{base_url} gave no usable answer: {exchange.problem}.")
    match exchange.status:
        case 401 | 403:
            sent = any(name == "authorization" for name, _ in exchange.sent.headers)
            what = "refused the key" if sent else "wants a key, and none was given (see --api-key-env)"
            return Preflight(False, f"{base_url} {what} (HTTP {exchange.status}).")
        case 404:
            return Preflight(False, f"{base_url} knows neither this path nor the model {model!r} (HTTP 404).")
        case 429:
            return Preflight(False, f"{base_url} limits the rate of the very first request (HTTP 429).")
        case status if status >= 500:
            return Preflight(False, f"{base_url} failed on a plain request (HTTP {status}).")
        case status if 300 <= status < 400:
            return Preflight(False, f"{base_url} redirects (HTTP {status}); redirects are not followed.")
        case status if status >= 400:
            return Preflight(False, f"{base_url} refused a plain request (HTTP {status}).")
    if not exchange.json.ok or not isinstance(exchange.json.value, dict):
        kind = exchange.media_type or "no content type"
        return Preflight(False, f"{base_url} answered {kind} that is not a JSON object.", broken=True)
    return Preflight(True)
