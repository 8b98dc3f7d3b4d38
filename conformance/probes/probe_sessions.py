"""Conversations that the endpoint keeps: turn after turn, capped, apart from one another, and unharmed by refusals."""

from __future__ import annotations

from typing import Any

from conformance.ask import Asker
from conformance.probe import probe
from conformance.reply import reply_of
from conformance.traffic.bodies import Bodies, Body, changed
from conformance.traffic.session_machine import Hand, explore_sessions
from conformance.wire.exchange import Exchange
from spec.model import Profile

ROOM = 4096
DRAWN = 48
TURNS = ("My name is Anna.", "I live in Oslo.", "I like tea.", "What is my name?")


class Talk:
    """One session under test: its id, its cap, and the fields that carry them."""

    def __init__(self, bodies: Bodies, profile: Profile, name: str, cap: int = ROOM) -> None:
        promise = profile.promises["sessions.accepts-turns"]
        self.session, self.cap = str(promise.params["session"]), str(promise.params["cap"])
        self.bodies, self.fields = bodies, {self.session: name, self.cap: cap}

    def turn(self, text: str, max_tokens: int = 8, **fields: Any) -> Body:
        """The next turn: only the new message; the nonce is the session's name, not part of the text."""
        message = {"role": "user", "content": text}
        return self.bodies.chat(max_tokens=max_tokens, **{"messages": [message], **self.fields, **fields})


def _offers_sessions(ask: Asker, first: Exchange) -> bool:
    ask.case("capability", data={"capability": "sessions"}, repeatable=False, asked=first)
    return first.ok


@probe("sessions.accepts-turns", "sessions.remembers", effort="smoke", cost=3, needs="sessions")
def test_two_turns(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send two turns, each with only its new message, and the second one alone without a session.

    The prompt of the second turn holds the first turn as well, and is longer than the message alone.
    """
    talk = Talk(bodies, profile, ask.nonce())
    first = ask(talk.turn(TURNS[0]))
    if not _offers_sessions(ask, first):
        return
    second = ask(talk.turn(TURNS[1]))
    ask.case("accepted", ["sessions.accepts-turns"], asked=[first, second])
    alone = ask(bodies.chat(max_tokens=8, messages=[{"role": "user", "content": TURNS[1]}]))
    if second.ok:
        ask.case("longer-prompt", ["sessions.remembers"], shorter=alone, longer=second)


@probe(
    "sessions.do-not-mix",
    "sessions.refused-turn-changes-nothing",
    "sessions.needs-the-cap",
    "sessions.refuses-stop",
    "sessions.null-stop-is-accepted",
    "sessions.accepts-turns",
    cost=10,
    needs="sessions",
)
def test_a_disturbed_session(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Hold one session in peace, and one with a turn of a third between and with refused requests between.

    Both must grow alike. What is refused, a turn without the cap and a turn with a stop string, is sent again
    without the defect and must then be accepted.
    """
    peaceful, busy, other = (Talk(bodies, profile, ask.nonce()) for _ in range(3))
    alone = [ask(peaceful.turn(TURNS[0]))]
    if not alone[0].ok:
        return
    alone += [ask(peaceful.turn(text)) for text in TURNS[1:3]]
    first = ask(busy.turn(TURNS[0]))
    between = ask(other.turn("The capital of Italy is Rome, and this is another conversation."))
    second = ask(busy.turn(TURNS[1]))
    no_cap = ask(changed(busy.turn(TURNS[2]), **{busy.cap: ...}))
    with_stop = ask(busy.turn(TURNS[2], stop=["\n\n\n"]))
    third = ask(busy.turn(TURNS[2]))
    with_null = ask(busy.turn(TURNS[3], stop=None))
    broken = {"broken": "a session without its token cap"}
    ask.case("refused", ["sessions.needs-the-cap"], broken, control=third, defect=no_cap)
    broken = {"broken": "a stop string in a session"}
    ask.case("refused", ["sessions.refuses-stop"], broken, control=third, defect=with_stop)
    ask.case("accepted", ["sessions.accepts-turns"], asked=[*alone, first, second, third])
    if third.ok:  # otherwise a refusal may be about something else
        ask.case("accepted", ["sessions.null-stop-is-accepted"], asked=with_null)
    ask.case("sessions-apart", alone=alone[:2], mixed=[first, second], other=between)
    ask.case("session-refused-turn", alone=alone[1:], mixed=[second, third], refused=[no_cap, with_stop])


@probe("sessions.cap-bounds-the-session", cost=4, needs="sessions")
def test_a_full_session(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Fill a session up to its cap, and start one whose first message is longer than its cap.

    Whether the turn that does not fit is refused or cut short is left open; more than the cap is never held.
    """
    too_small = ask(Talk(bodies, profile, ask.nonce(), cap=4).turn(TURNS[0]))
    ask.case("session-cap", turns=too_small)
    measured = reply_of(ask(Talk(bodies, profile, ask.nonce()).turn(TURNS[0], max_tokens=16)))
    if measured is None or measured.prompt_tokens is None or measured.completion_tokens is None:
        return
    # room for the first turn and its reply, and for the second message, but not for a long reply to that
    tight = Talk(bodies, profile, ask.nonce(), cap=2 * (measured.prompt_tokens + measured.completion_tokens) + 2)
    turns = [ask(tight.turn(TURNS[0], max_tokens=16)), ask(tight.turn("Tell me a long story.", max_tokens=64))]
    ask.case("session-cap", repeatable=False, turns=turns)


@probe(
    "sessions.do-not-mix", "sessions.refused-turn-changes-nothing", effort="exhaustive", cost=DRAWN, needs="sessions"
)
def test_drawn_sessions(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Hold drawn conversations: turns of two sessions, refusals and strangers in any order, then each one in peace.

    The steps are drawn by a state machine; whatever was between them, a session must grow as it does alone.
    """
    params = profile.promises["sessions.accepts-turns"].params
    explore_sessions(Hand(ask, bodies, str(params["session"]), str(params["cap"]), DRAWN))
