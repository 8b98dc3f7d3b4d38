"""Model names that do not exist, beside the one that does."""

from __future__ import annotations

import pytest

from conformance.ask import Asker
from conformance.probe import probe
from conformance.probes.pairs import REFUSALS, refuse
from conformance.traffic.bodies import Bodies, changed
from conformance.traffic.carriers import SHORT
from conformance.traffic.defects import Variant

UNKNOWN = ("models.unknown-model-is-refused", "models.unknown-model-is-404")
#: Names that may also be refused for their form, so that only the refusal counts.
STRANGE = {"empty": "", "blank": " ", "path": "../../etc/passwd", "long": "m" * 2000}


@probe(*UNKNOWN, *REFUSALS, "models.reply-names-the-model", "errors.same-streamed-and-whole", effort="standard", cost=3)
def test_almost_the_model(ask: Asker, bodies: Bodies) -> None:
    """Ask for a model whose name only begins like a real one, whole and streamed, beside the real one.

    Whoever answers with whatever is loaded hides every typing error.
    """
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    strange = changed(body, model=f"{body['model']}-conformance-unknown")
    control, whole, streamed = ask(body), ask(strange), ask({**strange, "stream": True})
    told = {"broken": "the model does not exist", "field": "model", "own_status": True}
    ask.case("refused", UNKNOWN, told, control=control, defect=[whole, streamed])
    ask.case("refused-both-ways", ["errors.same-streamed-and-whole"], whole=whole, streamed=streamed)


@pytest.mark.parametrize("name", STRANGE)
@probe(UNKNOWN[0], *REFUSALS, effort="exhaustive", cost=2)
def test_strange_models(ask: Asker, bodies: Bodies, name: str) -> None:
    """Ask for models with strange names: each is refused, and none is looked for in a file system."""
    body = bodies.chat("Say OK.", max_tokens=SHORT)
    variant = Variant(f"the model {STRANGE[name][:30]!r} does not exist", changed(body, model=STRANGE[name]))
    refuse(ask, ask(body), variant, UNKNOWN[:1], "model", own_status=True)
