"""How a reply ends when something outside it ends it, and what it takes to get one at all."""

from __future__ import annotations

from conformance.ask import Asker
from conformance.probe import probe
from conformance.probes.observed import WHOLE_REPLY
from conformance.traffic.bodies import Bodies, changed
from conformance.traffic.ledger import explore
from conformance.traffic.strategies import field_subsets
from spec.model import Profile


@probe("request.optional-fields-may-be-left-out", *WHOLE_REPLY, cost=1)
def test_required_fields_alone(ask: Asker, bodies: Bodies) -> None:
    """Send nothing but the model and the messages: everything else may be left out."""
    body = changed(bodies.chat("Reply with the word yes."), max_tokens=..., temperature=...)
    ask.case("accepted", ("request.optional-fields-may-be-left-out",), asked=ask(body))


@probe("request.optional-fields-may-be-left-out", effort="exhaustive", cost=12)
def test_any_fields_left_out(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Draw which of the optional fields are sent: any part of them makes a request."""
    optional = {
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["zq~zq"],
        "n": 1,
        "stream": True,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.1,
        "seed": 5,
        "user": "reader-7",
        "response_format": {"type": "text"},
    }
    allowed = {name: value for name, value in optional.items() if profile.accepts(name)}

    def send(fields: dict[str, object]) -> None:
        body = changed(bodies.chat("Say hello.", 16), **{"temperature": ..., **fields})
        ask.case(
            "accepted",
            ("request.optional-fields-may-be-left-out", "request.documented-values-are-accepted"),
            asked=ask(body),
        )

    explore(ask, field_subsets(allowed), send, examples=12)


@probe("finish.inference-timeout", needs="induce", cost=1)
def test_inference_timeout(ask: Asker, bodies: Bodies) -> None:
    """Have the model run out of time: what it has said comes back, with the reason."""
    ask(bodies.chat(), induce="inference_timeout")


@probe("finish.content-filter", needs="induce", cost=1)
def test_content_filter(ask: Asker, bodies: Bodies) -> None:
    """Have the output withheld: the reply says so."""
    ask(bodies.chat(), induce="content_filter")
