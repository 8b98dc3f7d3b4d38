"""Keys: the right one, none, a wrong one, and a header that is no key at all."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.auth import KEYS
from conformance.laws.refusals import is_refusal
from conformance.probe import probe
from conformance.traffic.bodies import Bodies
from conformance.traffic.carriers import SHORT
from conformance.wire.exchange import Exchange

CAPABILITY = "keys"
REFUSED = ("auth.missing-key-is-401", "auth.wrong-key-is-401", "auth.wrong-key-is-refused")
BODIES = (
    "auth.no-secrets-in-refusals",
    "errors.body-is-json",
    "errors.body-is-an-error-object",
    "errors.message-is-text",
)


@probe(
    *REFUSED, *BODIES, "auth.bearer-key-is-accepted", "errors.type-fits-the-status", effort="smoke", cost=3, needs="key"
)
def test_keys(ask: Asker, bodies: Bodies) -> None:
    """Send one request with the right key, without a key and with a wrong one.

    Only the key differs, so that nothing else can be the reason of a refusal.
    """
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    control, missing, wrong = ask(body), ask(body, key="missing"), ask(body, key="wrong")
    _together(ask, control, missing, [wrong])


@probe(*REFUSED, *BODIES, effort="standard", cost=4, needs="key")
def test_odd_keys(ask: Asker, bodies: Bodies) -> None:
    """Send a key header without a key, and a wrong key with a streamed request.

    What reads only the scheme, or checks the key after the stream has begun, lets these pass.
    """
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    control, missing = ask(body), ask(body, key="missing")
    odd = [ask(body, key="malformed"), ask({**body, "stream": True}, key="wrong")]
    _together(ask, control, missing, odd)


def _together(ask: Asker, control: Exchange, missing: Exchange, wrong: list[Exchange]) -> None:
    # Whoever gives a key says that keys are checked, unless they declare that they are not.
    checked = ask.session.target.capabilities.get(CAPABILITY, True)
    told = {"declared": checked}
    ask.case(KEYS, REFUSED[2:], told, control=control, missing=missing, wrong=wrong)
    if any(is_refusal(x) for x in (missing, *wrong)):
        ask.case("capability", data={"capability": CAPABILITY, "shown": True}, asked=[missing, *wrong])


@probe(*REFUSED, "auth.bearer-key-is-accepted", "auth.no-secrets-in-refusals", effort="smoke", cost=0)
def test_no_key_at_hand(ask: Asker) -> None:
    """Note where the run has no key at all: then nothing about keys can be seen."""
    if ask.session.target.key() is None:
        ask.case("capability", data={"capability": CAPABILITY, "shown": False})
