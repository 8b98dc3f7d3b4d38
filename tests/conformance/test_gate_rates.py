"""Bounds on rates: what is shown to be seldom is let through, what is not shown is not enough."""

import itertools
import json

import pytest

from conformance.gate import Policy, judge_gate
from conformance.rates import RateBound, is_sporadic
from tests.conformance.endpoints import answer, serving
from tests.conformance.made import completion

ONCE_OF_THREE, EACH_TIME, NOT_SENT_AGAIN = "1/3", "3/3", "1/1"
CONFIG = """
[targets.edge]
profile = "serenity-edge"
base_url = "{url}"
model = "m"

[[policy.rates]]
requirements = "response.id.*"
max_violation_rate = {rate}
"""


def row(violated, kept, *reproduced, name="stream.a", verdict=None, level="must"):
    verdict = verdict or ("fail" if violated else "pass" if kept else "not_exercised")
    return {
        "id": name, "level": level, "topic": "stream", "verdict": verdict,
        "observations": {"kept": kept, "violated": violated, "undecided": 7},
        "violations": [{"reproduced": times} for times in reproduced or (ONCE_OF_THREE,) * bool(violated)],
    }  # fmt: skip


def gate(*rows, rate=0.01, pattern="stream.*", unprovokable=(), baseline=None, **bound):
    failed, whole = (any(r["verdict"] == v for r in rows) for v in ("fail", "not_exercised"))
    status = 1 if failed else 5 if whole else 0
    policy = Policy(rates=(RateBound(pattern, rate, **bound),))
    return judge_gate(
        {"exit_status": status, "requirements": list(rows)}, policy=policy, unprovokable=unprovokable, baseline=baseline
    )


@pytest.mark.parametrize(
    ("violated", "kept", "status"),
    [
        (0, 298, 5),  # the rate below 1 % is shown by 299 observations without a violation, not by 298
        (0, 299, 0),
        (0, 0, 5),
        (1, 472, 0),  # and with one violation by 473, of which tables of the method know
        (1, 471, 1),
        (1, 50, 1),
        (1, 0, 1),
        (5, 10_000, 0),
        (200, 10_000, 1),
        (10_000, 10_000, 1),
    ],
)
def test_a_rate_has_to_be_shown(violated, kept, status):
    found = gate(row(violated, kept))
    assert found.status == status, found.reasons
    assert found.reasons or not violated


def test_the_reason_says_what_was_seen_and_what_is_missing():
    assert gate(row(0, 298)).reasons == [
        "too little seen to bound the rate of stream.a (0 of 298): "
        "1 % allowed, with 95 % confidence takes 299 without violation"
    ]
    assert gate(row(1, 999)).reasons == [
        "stream.a violated 1 of 1000 times, between 0.00513 % and 0.473 %; 1 % allowed, with 95 % confidence: within"
    ]


def test_more_confidence_and_more_observations_take_more():
    assert gate(row(0, 299), confidence=0.99).status == 5
    assert gate(row(0, 459), confidence=0.99).status == 0
    assert gate(row(0, 299), min_observations=300).status == 5
    assert gate(row(1, 999), min_observations=1001).status == 1


@pytest.mark.parametrize(
    ("reproduced", "sporadic"),
    [
        ((ONCE_OF_THREE,), True),
        (("2/3", NOT_SENT_AGAIN), True),
        ((EACH_TIME,), False),
        ((ONCE_OF_THREE, EACH_TIME), False),
        ((NOT_SENT_AGAIN,), False),
        ((), False),
    ],
)
def test_what_comes_back_each_time_is_no_matter_of_chance(reproduced, sporadic):
    broken = {"violations": [{"reproduced": times} for times in reproduced]}
    assert is_sporadic(broken) is sporadic
    if reproduced:
        assert gate(row(1, 9_999, *reproduced)).status == (0 if sporadic else 1)


def test_another_failure_and_what_was_never_judged_are_not_let_through_with_it():
    seldom = row(1, 999)
    assert gate(seldom, row(1, 9_999, name="wire.b")).status == 1
    assert gate(seldom, row(0, 0, name="wire.b", verdict="inconclusive")).status == 5
    assert gate(seldom, row(1, 9_999, name="wire.b"), baseline={"requirements": [row(1, 1, name="wire.b")]}).status == 0


def test_every_bound_that_names_it_counts():
    bounds = RateBound("stream.*", 0.01), RateBound("*.a", 0.001)
    run = {"exit_status": 1, "requirements": [row(1, 999)]}
    assert judge_gate(run, policy=Policy(rates=bounds)).status == 1


def test_what_exceeds_a_bound_fails_even_where_it_only_warns_or_is_known():
    often = row(50, 50, verdict="warn", level="should")
    assert gate(often).status == 1
    known = row(50, 50)
    assert gate(known, baseline={"requirements": [known]}).status == 1


def test_a_bound_is_not_about_what_does_not_apply_but_about_something():
    whole = row(0, 999)
    for verdict in ("not_applicable", "waived"):
        assert gate(whole, row(0, 0, name="stream.b", verdict=verdict), pattern="stream.a").status == 0
        assert gate(whole, row(0, 0, name="stream.b", verdict=verdict), pattern="stream.b").status == 5
    unseen = row(0, 0, name="stream.b")
    assert gate(whole, unseen).status == 5
    nothing = gate(whole, pattern="nosuch.*")
    assert (nothing.status, nothing.reasons) == (5, ["the rate bound of nosuch.* is about nothing that was judged"])


def test_open_rates_are_not_undone_by_allowed_open_ends():
    policy = Policy((), 1, (RateBound("stream.a", 0.01),))
    rows = [row(0, 10), row(0, 0, name="stream.b", verdict="inconclusive")]
    assert judge_gate({"exit_status": 5, "requirements": rows}, policy=policy).status == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "rate", "status", "verdict", "words"),
    [
        (7, 0.4, 0, "non-conformant", "40 % allowed"),
        (7, 0.01, 1, "non-conformant", "too little seen"),
        ("a", 0.4, 0, "conformant", ""),
        ("a", 0.01, 5, "conformant", "too little seen"),
    ],
)
def test_the_gate_of_a_run_bounds_what_comes_and_goes(cli, tmp_path, first, rate, status, verdict, words):
    numbers = itertools.count(1)

    def handler(connection, _):
        name = first if next(numbers) == 1 else "a"
        connection.sendall(answer(json.dumps({**completion(), "id": name}).encode()))

    with serving(handler) as url:
        (tmp_path / "conformance.toml").write_text(CONFIG.format(url=url, rate=rate), encoding="utf-8")
        done = cli("run", "--target", "edge", "--only", "response.id.type", "--out", "out")
    found = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (done.returncode, found["verdict"]) == (status, verdict), done.stdout
    assert found["requirements"][0]["verdict"] == ("fail" if first == 7 else "pass"), "the verdict is not bent"
    assert words in done.stdout
