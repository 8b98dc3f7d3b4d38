"""What an endpoint can do: declared, shown by its answers, or left open."""

from pathlib import Path

import pytest

from conformance.capabilities import KIND, NOT_ASKED, discover
from conformance.record import Ending, _notes
from conformance.results import Judged
from conformance.settings import Settings
from conformance.target import Target
from tests.conformance.made import case, refused, whole


def found(asked, declared=None):
    looked_for = case(KIND, {"capability": "vision"}, asked=asked)
    return discover(declared or {}, [looked_for], {"tools"})


@pytest.mark.parametrize(
    ("answer", "state"), [(whole(), "yes"), (refused(400), "no"), (refused(429), "unknown"), (refused(503), "unknown")]
)
def test_answers_show_what_is_offered(answer, state):
    assert found(answer)["vision"].state == state


def test_what_is_declared_counts_more():
    assert found(whole(), {"vision": False})["vision"].state == "no"


def test_only_what_was_asked_for_in_vain_is_noted():
    capabilities = found(refused(503))
    assert capabilities["tools"].source == NOT_ASKED
    target = Target("http://127.0.0.1:1/v1", "m")
    notes = _notes([], Settings("ark", target, Path()), Judged([], [], capabilities), Ending())
    assert "Whether the endpoint offers vision is not known." in notes
    assert not any("tools" in note for note in notes)
