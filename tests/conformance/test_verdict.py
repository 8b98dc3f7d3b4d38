import itertools
from pathlib import Path

import pytest

import spec
from conformance.verdict import Observed, run_verdict, table, verdict

README = Path(__file__).parents[2] / "README.md"
SEEN = {
    "violated": Observed(kept=3, violated=1, undecided=2),
    "kept": Observed(kept=1, undecided=5),
    "undecided": Observed(undecided=1),
    "unseen": Observed(),
    "broken": Observed(kept=1, broken=True),
    "violated and broken": Observed(violated=1, broken=True),
}


@pytest.mark.parametrize(
    ("seen", "must", "should", "may"),
    [
        ("violated", "fail", "warn", "warn"),
        ("kept", "pass", "pass", "pass"),
        ("undecided", "inconclusive", "inconclusive", "inconclusive"),
        ("unseen", "not_exercised", "not_exercised", "not_exercised"),
        ("broken", "error", "error", "error"),
        ("violated and broken", "fail", "warn", "warn"),
    ],
)
def test_the_whole_table(seen, must, should, may):
    assert [verdict(level, SEEN[seen]) for level in ("must", "should", "may")] == [must, should, may]


def test_strict_raises_should_and_leaves_may():
    assert verdict("should", SEEN["violated"], strict=True) == "fail"
    assert verdict("may", SEEN["violated"], strict=True) == "warn"


@pytest.mark.parametrize(("seen", "level"), [*itertools.product(SEEN, ("must", "should", "may"))])
def test_what_does_not_apply_is_never_judged(seen, level):
    assert verdict(level, SEEN[seen], applicable=False, waived=True) == "not_applicable"


def test_only_a_violation_can_be_waived():
    assert verdict("must", SEEN["violated"], waived=True) == "waived"
    assert verdict("must", SEEN["kept"], waived=True) == "pass"
    assert verdict("must", SEEN["unseen"], waived=True) == "not_exercised"


@pytest.mark.parametrize(
    ("musts", "unprovokable", "expected"),
    [
        ({"pass": 5}, 0, "conformant"),
        ({"pass": 5, "not_applicable": 3}, 0, "conformant"),
        ({"pass": 5, "not_exercised": 2}, 2, "conformant"),
        ({"pass": 5, "not_exercised": 3}, 2, "incomplete"),
        ({"pass": 5, "inconclusive": 1}, 0, "incomplete"),
        ({"pass": 5, "waived": 1}, 0, "incomplete"),
        ({"pass": 5, "error": 1}, 0, "incomplete"),
        ({"not_applicable": 5}, 0, "incomplete"),
        ({"not_exercised": 5}, 5, "incomplete"),
        ({}, 0, "incomplete"),
        ({"pass": 5, "fail": 1, "error": 1, "inconclusive": 9}, 0, "non-conformant"),
    ],
)
def test_a_run_is_conformant_only_if_every_must_is(musts, unprovokable, expected):
    assert run_verdict(musts, unprovokable) == expected


def test_the_readme_prints_this_table():
    assert f"\n{table()}\n" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", spec.profile_names())
def test_the_readme_counts(name):
    """The table of what is checked is that of the data."""
    profile = spec.load_profile(name)
    judges = [profile.requirements[requirement].judge for requirement in profile.promises]
    musts = sum(promise.level == "must" for promise in profile.promises.values())
    derived, untestable = judges.count("schema"), judges.count("untestable")
    row = f"| `{name}` | {len(judges)} | {musts} | {derived} | {len(judges) - derived} | {untestable} |"
    assert row in README.read_text(encoding="utf-8"), f"README.md should say {row}"
