"""Credits: each answer says what it cost and what is left, and the account adds up."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.laws.credits import REGULAR
from conformance.probe import probe
from conformance.reply import reply_of
from conformance.traffic.bodies import Bodies
from conformance.wire.exchange import Exchange
from spec.model import Profile


def _reports(x: Exchange, profile: Profile) -> bool | None:
    """Whether an answer speaks of credits; None where there is no answer to tell from."""
    reply = reply_of(x)
    if reply is None or reply.usage is None:
        return None
    params = profile.promises["credits.are-reported"].params
    return params["used"] in reply.usage or params["balance"] in reply.usage


@probe(
    "credits.are-reported", "credits.balance-falls-by-the-cost", "credits.refusals-are-free",
    cost=3 * REGULAR + 1, needs="credits",
)  # fmt: skip
def test_the_account(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Ask a few times in a row, then with refused requests between, and follow the balance.

    Other traffic of the account must not look like a mistake of it: only what is off in the same way each time,
    or charged too little, is believed.
    """
    first = ask(bodies.chat("Hello", max_tokens=4))
    shown = _reports(first, profile)
    ask.case("capability", data={"capability": "credits", "shown": shown}, repeatable=False, asked=first)
    if not shown:
        return
    serial = [first, *(ask(bodies.chat("Hello", max_tokens=4)) for _ in range(REGULAR))]
    ask.case("serial-credits", serial=serial)
    refused, after = [], []
    for _ in range(REGULAR):
        refused.append(ask(bodies.chat("Hello", max_tokens=4, temperature=3)))
        after.append(ask(bodies.chat("Hello", max_tokens=4)))
    ask.case("credits-refused", before=serial, refused=refused, after=after)
