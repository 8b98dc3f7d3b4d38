import pytest

from conformance.gate import Policy, judge_gate


def record(status, **verdicts):
    rows = [
        {"id": name, "level": "must", "topic": name.partition("_")[0], "verdict": value}
        for name, value in verdicts.items()
    ]
    return {"exit_status": status, "requirements": rows}


def test_without_terms_the_gate_is_the_verdict():
    for status in range(6):
        assert judge_gate(record(status, a="pass")).status == status


def test_only_failures_that_the_baseline_lacks_fail():
    before = record(1, a="fail", b="pass")
    assert judge_gate(record(1, a="fail", b="pass"), baseline=before).status == 0
    worse = judge_gate(record(1, a="fail", b="fail"), baseline=before)
    assert (worse.status, worse.reasons) == (1, ["new since the baseline: b"])


def test_a_known_failure_hides_nothing_that_was_never_judged():
    before = record(1, a="fail")
    assert judge_gate(record(1, a="fail", b="inconclusive"), baseline=before).status == 5
    assert judge_gate(record(1, a="fail", b="not_exercised"), baseline=before).status == 5
    assert judge_gate(record(1, a="fail", b="not_exercised"), baseline=before, unprovokable=["b"]).status == 0
    assert judge_gate(record(1, a="fail", b="pass"), baseline=before, cut_short=True).status == 5
    assert judge_gate(record(1, a="fail", b="error"), baseline=before).status == 3
    allowed = judge_gate(record(1, a="fail", b="inconclusive"), baseline=before, policy=Policy((), 1))
    assert allowed.status == 0


@pytest.mark.parametrize("status", [2, 3])
def test_an_interrupted_or_broken_run_is_never_let_through(status):
    assert judge_gate(record(status, a="fail"), baseline=record(1, a="fail"), policy=Policy((), 99)).status == status


def test_stale_waivers_fail_a_run_that_passes():
    gate = judge_gate(record(0, a="pass"), stale=["gone"])
    assert (gate.status, gate.reasons) == (1, ["gone"])


def test_required_topics_must_have_passed():
    policy = Policy(required_topics=("tools", "stream"))
    gate = judge_gate(record(0, tools_a="pass", stream_a="not_applicable"), policy=policy)
    assert gate.status == 5
    assert "stream" in gate.reasons[0]
    both = Policy(("stream",), 1)
    assert judge_gate(record(5, tools_a="pass", tools_b="inconclusive"), policy=both).status == 5


def test_some_inconclusive_musts_can_be_allowed():
    open_end = record(5, a="pass", b="inconclusive")
    assert judge_gate(open_end, policy=Policy((), 1)).status == 0
    assert judge_gate(open_end, policy=Policy((), 0)).status == 5
    assert judge_gate(open_end).status == 5
    assert judge_gate(open_end, policy=Policy((), 1), cut_short=True).status == 5
    assert judge_gate(record(5, a="pass", b="inconclusive", c="not_exercised"), policy=Policy((), 1)).status == 5
    assert judge_gate(record(5, a="pass", b="error", c="inconclusive"), policy=Policy((), 1)).status == 5
