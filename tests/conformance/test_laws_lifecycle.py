"""The laws of requests beside and after one another, and the relations that many promises share."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, case_verdict, run_verdict
from tests.conformance.made import call, chunk, completion, exchange, refused, streamed, whole

ONE, TWO = "0123456789ab", "ba9876543210"
MIX = "wire.requests-do-not-mix"


def asking(nonce, content="Hello", prompt=5, **more):
    body = completion(content)
    body["usage"]["prompt_tokens"] = prompt
    return whole({"messages": [{"role": "user", "content": f"Hi\nReference: {nonce}"}]}, body, **more)


def test_requests_sent_together():
    good = {"together": [asking(ONE, ONE), asking(TWO)], "alone": [asking(ONE), asking(TWO)]}
    assert case_verdict("together", MIX, **good) == KEPT
    leak = {**good, "together": [asking(ONE), asking(TWO, f"It is {ONE}.")]}
    assert "only another request holds" in case_verdict("together", MIX, **leak)
    for prompt in (4, 6):
        counted = {**good, "together": [asking(ONE), asking(TWO, prompt=prompt)]}
        assert "prompt_tokens differ" in case_verdict("together", MIX, **counted)
    stream = streamed(COUNTED)
    for status in (429, 400, 199):
        assert case_verdict("together", MIX, together=[asking(ONE), refused(status)], alone=[]) == UNDECIDED
        odd = replace(stream, received=replace(stream.received, status=status))
        assert case_verdict("together", MIX, together=[asking(ONE), odd], alone=[]) == UNDECIDED


def test_replies_without_counts_are_not_compared():
    bare = whole(body={**completion(), "usage": None})
    roles = {"together": [bare, asking(TWO)], "alone": [asking(ONE), asking(TWO)]}
    assert case_verdict("together", MIX, **roles) == KEPT
    assert case_verdict("together", MIX, together=roles["alone"], alone=[bare, asking(TWO)]) == KEPT
    roles["together"][1] = asking(TWO, prompt=6)
    assert "prompt_tokens differ" in case_verdict("together", MIX, **roles)


def test_streams_that_run_into_one_another():
    same = [streamed([chunk({"content": "a"}), chunk({}, "stop")]) for _ in range(2)]
    assert "share an id" in case_verdict("together", MIX, together=same, alone=[])
    mine, mixed = asking(ONE), streamed([chunk({"content": "a"}), chunk({}, "stop")])
    assert case_verdict("together", MIX, together=[mine, mixed], alone=[]) == KEPT
    strayed = streamed([chunk({"content": "a"}), {**chunk({}, "stop"), "id": mine.json.value["id"]}])
    assert "share an id" in case_verdict("together", MIX, together=[mine, strayed], alone=[])


def test_echoes_over_a_run():
    first, second = asking(ONE), asking(TWO, f"It is {ONE}.")
    assert run_verdict(MIX, first, second) == KEPT  # one probe: it may be one conversation
    for probe in ("made::elsewhere", "another::elsewhere"):
        assert "only another request holds" in run_verdict(MIX, first, replace(second, probe=probe))
    assert run_verdict(MIX, replace(first, probe="made::elsewhere"), asking(TWO, "0123456789abc")) == KEPT


COUNTED = [chunk({"content": "a"}), chunk({}, "stop"), chunk(None, usage={"prompt_tokens": 5})]


def hung_up(after, cut_end="hung-up", before=None):
    cut = streamed(COUNTED[:1], ending=b"", end=cut_end)
    roles = {"before": before or streamed(COUNTED), "cut": cut, "after": after}
    return case_verdict("hung-up", "wire.hang-up-leaves-the-next-alone", **roles)


def test_after_a_hang_up():
    assert hung_up(streamed(COUNTED)) == KEPT
    assert "no whole answer" in hung_up(streamed(COUNTED, end="timeout"))
    assert "answered differently" in hung_up(refused(400))
    assert "answered differently" in hung_up(whole({"stream": True}))
    for prompt in (4, 6):
        other = [*COUNTED[:2], chunk(None, usage={"prompt_tokens": prompt})]
        assert "other prompt_tokens" in hung_up(streamed(other))
    assert "answered differently" in hung_up(streamed(COUNTED), before=asking(ONE))
    good = streamed(COUNTED)
    for status in (199, 500):
        odd = replace(good, received=replace(good.received, status=status))
        assert "answered differently" in hung_up(odd)
    assert "come to its finish" in hung_up(streamed([COUNTED[0], COUNTED[2]]))
    assert "come to its finish" in hung_up(streamed(COUNTED[:1], ending=b""))
    assert hung_up(refused(429)) == UNDECIDED
    for end in ("complete", "timeout"):
        assert hung_up(streamed(COUNTED), cut_end=end) == UNDECIDED
    assert hung_up(streamed(COUNTED), before=refused(400)) == UNDECIDED


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        ("a", ["a", "a"], KEPT),
        ("a", ["b", "b"], "once it has been seen"),
        ("b", ["a", "a", "a"], "once it has been seen"),
        ("a", ["a", "b"], UNDECIDED),
        ("a", ["b", "a"], UNDECIDED),
        ("a", ["b"], UNDECIDED),
    ],
)
def test_the_cache_keeps_the_answer(first, again, expected):
    roles = {"first": whole(body=completion(first)), "again": [whole(body=completion(text)) for text in again]}
    assert expected in case_verdict("cached", "wire.cache-keeps-the-answer", **roles)


def test_accepted():
    kind = "accepted"
    assert case_verdict(kind, "any.id", asked=[whole(), streamed(COUNTED)]) == KEPT
    assert "is refused" in case_verdict(kind, "any.id", asked=[whole(), refused(422)])
    assert "is refused" in case_verdict(kind, "any.id", asked=[refused(429), refused(500)])
    for trouble in (refused(429), refused(503), whole(end="timeout"), replace(whole(), received=None, end="refused")):
        assert case_verdict(kind, "any.id", asked=[whole(), trouble]) == UNDECIDED


def count(prompt, **more):
    return asking(ONE, prompt=prompt, **more)


def test_same_prompt():
    kind = "same-prompt"
    assert case_verdict(kind, "any.id", plain=count(5), changed=[count(5), count(5)]) == KEPT
    assert "prompt_tokens changed" in case_verdict(kind, "any.id", plain=count(5), changed=[count(5), count(6)])
    assert "is refused" in case_verdict(kind, "any.id", plain=count(5), changed=refused())
    assert case_verdict(kind, "any.id", plain=refused(), changed=count(5)) == UNDECIDED
    assert case_verdict(kind, "any.id", plain=count(5), changed=refused(429)) == UNDECIDED
    bare = whole(body={**completion(), "usage": None})
    assert case_verdict(kind, "any.id", plain=bare, changed=count(5)) == UNDECIDED


def test_same_kind_of_reply():
    body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in COUNTED)
    unasked = exchange({"model": "m"}, 200, body, "text/event-stream")
    assert "kind of reply changed" in case_verdict("same-prompt", "any.id", plain=count(5), changed=unasked)
    assert case_verdict("same-prompt", "any.id", plain=count(5), changed=streamed(COUNTED)) == KEPT


def test_longer_prompt():
    kind = "longer-prompt"
    assert case_verdict(kind, "any.id", shorter=count(5), longer=count(6)) == KEPT
    assert "did not grow" in case_verdict(kind, "any.id", shorter=count(5), longer=count(5))
    assert "did not grow" in case_verdict(kind, "any.id", shorter=[count(5), count(5)], longer=[count(6), count(4)])
    assert "is refused" in case_verdict(kind, "any.id", shorter=count(5), longer=refused())
    assert case_verdict(kind, "any.id", shorter=refused(), longer=count(6)) == UNDECIDED


def said(text="Hi", finish="stop", **message):
    return whole(body=completion(text, finish, **message))


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        (said(), True),
        (said("Ho"), False),
        (said(finish="length"), False),
        (said(reasoning="Hm"), False),
        (said(tool_calls=[call()]), False),
        (streamed([chunk({"content": "H"}), chunk({"content": "i"}), chunk({}, "stop")]), True),
    ],
)
def test_same_text(changed, kept):
    found = case_verdict("same-text", "any.id", plain=said(), again=said(), changed=changed)
    assert (found == KEPT) is kept


def test_same_text_needs_a_steady_endpoint():
    assert case_verdict("same-text", "any.id", plain=said(), again=said("Ho"), changed=said()) == UNDECIDED
    assert case_verdict("same-text", "any.id", plain=said(), changed=said("Ho")) == UNDECIDED
    assert "is refused" in case_verdict("same-text", "any.id", plain=said(), again=said(), changed=refused())
    assert case_verdict("same-text", "any.id", plain=said(), again=said(), changed=refused(503)) == UNDECIDED
