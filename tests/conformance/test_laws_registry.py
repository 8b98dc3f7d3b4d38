"""How laws are registered: once for each requirement, each with its published text."""

from __future__ import annotations

import pytest

from conformance.laws import registry
from conformance.laws.registry import Law, Violation, case_law, judged_ids, law, run_law


@pytest.fixture(autouse=True)
def _empty(monkeypatch):
    for name in ("EXCHANGE_LAWS", "CASE_LAWS", "RUN_LAWS"):
        monkeypatch.setattr(registry, name, {})


def check(*_):
    """Water
    is wet."""
    return ()


def test_a_law_over_exchanges():
    assert law("a.b", applies=bool)(check) is check
    assert {"a.b": Law("a.b", check, bool)} == registry.EXCHANGE_LAWS
    with pytest.raises(ValueError, match=r"two laws for a\.b"):
        law("a.b", applies=bool)(check)


def test_a_law_over_cases():
    assert case_law("a.b", kind="pair")(check) is check
    case_law("a.b", kind="other")(check)
    case_law("c.d", kind="pair", applies=bool)(check)
    first, second = registry.CASE_LAWS["pair"]
    assert (first.requirement, first.kind, first.applies(None)) == ("a.b", "pair", True)
    assert (second.requirement, second.applies) == ("c.d", bool)
    with pytest.raises(ValueError, match=r"two laws for a\.b over pair cases"):
        case_law("a.b", kind="pair")(check)


def test_one_law_for_whatever_a_case_names():
    case_law("", kind="pair")(check)
    with pytest.raises(ValueError, match="two laws for the named requirements over pair cases"):
        case_law("", kind="pair")(check)


def test_a_law_over_a_run():
    assert run_law("a.b")(check) is check
    assert registry.RUN_LAWS["a.b"].applies([]) is True
    with pytest.raises(ValueError, match=r"two laws over the run for a\.b"):
        run_law("a.b")(check)


def test_every_judged_id_is_told():
    law("a.b", applies=bool)(check)
    case_law("c.d", kind="pair")(check)
    case_law("", kind="pair")(check)
    run_law("e.f")(check)
    assert judged_ids() == {"a.b", "c.d", "e.f"}


def test_the_text_is_the_docstring_on_one_line():
    assert Law("a.b", check, bool).text == "Water is wet."
    assert Law("a.b", lambda *_: (), bool).text == ""


def test_a_violation_is_what_it_says():
    said = Violation("wrong", expected="a", observed="b", exchanges=("1",))
    assert (said.message, said.expected, said.observed, said.exchanges) == ("wrong", "a", "b", ("1",))
    assert Violation("wrong") == Violation("wrong", "", "", ()) != said
