"""A state machine of kept conversations: drawn turns, refusals and strangers, each session then replayed in peace.

Hypothesis chooses the steps. Nothing is asserted here: once the steps are over, each session becomes a case beside
an undisturbed one with the same turns, and the laws compare the two.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.ask import Asker
from conformance.traffic.bodies import Bodies, Body, changed
from conformance.wire.exchange import Exchange

TEXTS = ("My name is Anna.", "I live in Oslo.", "I like tea.", "What is my name?", "Łódź 🙂")
KINDS = ("turn", "turn", "turn", "refusal", "stranger")
SESSIONS = 2
STEPS = 8
EXAMPLES = 6  # the first that Hypothesis tries is always the simplest


@dataclass(slots=True)
class Kept:
    """One session: its turns, and what was refused in it."""

    name: str
    turns: list[tuple[Body, Exchange]] = field(default_factory=list)
    refused: list[Exchange] = field(default_factory=list)


class Hand:
    """Sends for the machine, at most a given number of requests."""

    def __init__(self, ask: Asker, bodies: Bodies, session: str, cap: str, requests: int) -> None:
        self.ask, self.bodies, self.session, self.cap, self.left = ask, bodies, session, cap, requests

    def take(self, count: int) -> bool:
        """Whether so many requests may still be sent; they are taken."""
        if self.left < count:
            return False
        self.left -= count
        return True

    def turn(self, name: str, text: str, stream: bool) -> Body:
        """One turn of a session: the new message and nothing else of the conversation."""
        fields: dict[str, Any] = {self.session: name, self.cap: 4096, "stream": stream}
        if stream:
            fields["stream_options"] = {"include_usage": True}
        return self.bodies.chat(max_tokens=8, messages=[{"role": "user", "content": text}], **fields)


def machine_of(hand: Hand) -> type[RuleBasedStateMachine]:
    """The machine, bound to the hand that sends for it."""

    class Conversations(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.kept = [Kept(hand.ask.nonce()) for _ in range(SESSIONS)]

        @rule(
            kind=st.sampled_from(KINDS),
            which=st.integers(0, SESSIONS - 1),
            text=st.sampled_from(TEXTS),
            other=st.booleans(),
        )
        def step(self, kind: str, which: int, text: str, other: bool) -> None:
            one = self.kept[which]
            if kind == "turn" and hand.take(2):  # one for now and one for the replay
                body = hand.turn(one.name, text, stream=other)
                one.turns.append((body, hand.ask(body)))
            elif kind == "refusal" and one.turns and hand.take(1):
                body = hand.turn(one.name, text, stream=False)
                defect = changed(body, **({hand.cap: ...} if other else {"stop": ["\n\n\n"]}))
                one.refused.append(hand.ask(defect))
            elif kind == "stranger" and hand.take(1):
                hand.ask(hand.bodies.chat(text, max_tokens=8))

        def teardown(self) -> None:
            for one in self.kept:
                replay(hand, one)

    return Conversations


def replay(hand: Hand, one: Kept) -> None:
    """Hold the same turns in a session of their own, and write both down as cases."""
    if len(one.turns) < 2:
        hand.left += len(one.turns)
        return
    name = hand.ask.nonce()
    alone = [hand.ask(changed(body, **{hand.session: name})) for body, _ in one.turns]
    mixed = [exchange for _, exchange in one.turns]
    hand.ask.case("sessions-apart", repeatable=False, alone=alone, mixed=mixed)
    if one.refused:
        hand.ask.case("session-refused-turn", repeatable=False, alone=alone, mixed=mixed, refused=one.refused)


def explore_sessions(hand: Hand) -> None:
    """Run the machine until the hand has sent all it may; the same seed of the run draws the same steps."""
    number = 0
    while hand.left > 1:
        digest = hashlib.sha256(f"{hand.ask.session.seed}:{hand.ask.probe}:{number}".encode()).digest()
        bound = seed(int.from_bytes(digest[:8]))(machine_of(hand))
        run_state_machine_as_test(
            bound,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                phases=(Phase.generate,),
                deadline=None,
                database=None,
                print_blob=False,
                verbosity=Verbosity.quiet,
                suppress_health_check=list(HealthCheck),
            ),
        )
        number += 1
    while hand.take(1):
        hand.ask(hand.bodies.chat("Hello", max_tokens=8))
