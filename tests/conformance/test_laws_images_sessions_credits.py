"""The laws of images, sessions, credits, survival and result order, on cases made by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.judging import KEPT, UNDECIDED, UNSEEN, case_found, case_verdict, verdict
from tests.conformance.made import completion, exchange, refused, streamed, whole


def listing(*entries: Any, status: int = 200) -> Any:
    return exchange(b"", status, json.dumps({"object": "list", "data": list(entries)}).encode())


class TestImages:
    LIMIT = "images.listing-gives-the-limit"

    def limit(self, *entries: Any, status: int = 200, **params: Any) -> str:
        one = listing(*entries, status=status)
        numbers = {"member": "references.max", "min": 1, "max": 8, **params}
        return case_verdict("image-limit", self.LIMIT, {"model": "m"}, listing=one, params=numbers)

    @pytest.mark.parametrize("value", [1, 4, 8])
    def test_a_documented_limit(self, value: int) -> None:
        assert self.limit({"id": "other"}, {"id": "a"}, {"id": "m", "references": {"max": value}}) == KEPT

    @pytest.mark.parametrize("value", [0, 9, "4", 2.5, True, None])
    def test_no_documented_limit(self, value: Any) -> None:
        assert "no documented limit" in self.limit({"id": "m", "references": {"max": value}})

    def test_the_promise_names_member_and_range(self) -> None:
        assert self.limit({"id": "m", "images": 12}, member="images", min=1, max=16) == KEPT

    def test_no_entry_no_verdict(self) -> None:
        assert "no documented limit" in self.limit({"id": "m"})
        assert self.limit({"id": "other"}) == UNDECIDED
        for status in (199, 404):
            assert self.limit({"id": "m", "references": {"max": 4}}, status=status) == UNDECIDED

    def test_remote(self) -> None:
        name = "images.https-url-is-accepted"
        assert case_verdict("remote-image", name, asked=whole()) == KEPT
        assert case_verdict("remote-image", name, asked=refused()) == UNDECIDED
        assert case_verdict("remote-image", name, asked=refused(500)) not in (KEPT, UNDECIDED)


def turn(prompt: int, content: str = "Yes.", generated: int = 4, **asked: Any) -> Any:
    body = completion(content)
    body["usage"] = {"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated}
    return whole(asked, body)


CAP = "max_session"


class TestSessions:
    APART = "sessions.do-not-mix"

    def apart(self, alone: list[Any], mixed: list[Any]) -> str:
        return case_verdict("sessions-apart", self.APART, alone=alone, mixed=mixed)

    def test_same_growth(self) -> None:
        assert self.apart([turn(10), turn(20)], [turn(10), turn(20)]) == KEPT
        assert "turn 2" in self.apart([turn(10), turn(20)], [turn(10), turn(29)])
        assert "turn 2" in self.apart([turn(10), turn(20)], [turn(11), turn(20)])
        assert self.apart([turn(10), turn(20)], [turn(110), turn(120)]) == KEPT
        assert "turn 3" in self.apart([turn(10), turn(20), turn(30)], [turn(10), turn(20), turn(31)])

    def test_other_replies_make_other_prompts(self) -> None:
        for other in ("No.", "Zero."):
            assert self.apart([turn(10), turn(20)], [turn(10, other), turn(21)]) == UNDECIDED
        assert self.apart([turn(10), turn(20)], [turn(10), turn(20, "No.")]) == KEPT

    def test_refusals(self) -> None:
        for status in (199, 400):
            for other in (turn(10), refused()):
                assert self.apart([refused(status)], [other]) == UNDECIDED
        assert "refused" in self.apart([turn(10)], [refused()])
        assert self.apart([turn(10)], [refused(503)]) == UNDECIDED

    def test_every_turn_has_its_twin(self) -> None:
        with pytest.raises(ValueError, match="shorter than"):
            self.apart([turn(10), turn(20)], [turn(10)])

    def test_a_refused_turn_changes_nothing(self) -> None:
        name, alone = "sessions.refused-turn-changes-nothing", [turn(10), turn(20)]

        def found(second: int, between: Any) -> str:
            mixed = [turn(10), turn(second)]
            return case_verdict("session-refused-turn", name, alone=alone, mixed=mixed, refused=between)

        assert found(20, refused()) == KEPT
        assert "a refused request changed" in found(25, refused())
        assert found(25, whole()) == UNDECIDED
        assert found(25, refused(500)) == UNDECIDED

    def test_the_cap(self) -> None:
        name = "sessions.cap-bounds-the-session"

        def found(*turns: Any, **params: Any) -> str:
            return case_verdict("session-cap", name, turns=list(turns), params={"cap": CAP, **params})

        assert found(turn(10, max_session=14)) == KEPT
        assert found(turn(10, max_session=15)) == KEPT
        assert found(turn(10, max_session=14), refused(199)) == KEPT
        assert "more tokens than its cap" in found(turn(10, max_session=13))
        assert found(turn(10, max_session=14), refused()) == KEPT
        assert found(refused()) == KEPT
        assert found(refused(500)) == UNDECIDED
        assert found(turn(10)) == UNDECIDED
        assert found(turn(10, limit=14), cap="limit") == KEPT
        many = [turn(2, generated=5, max_session=9) for _ in range(2)]
        assert "longer than its cap" in found(*many)
        assert found(many[0], turn(2, generated=4, max_session=9)) == KEPT
        for missing in ("prompt_tokens", "completion_tokens"):
            body = turn(10).json.value
            del body["usage"][missing]
            assert found(whole({"max_session": 14}, body)) == UNDECIDED


def paid(used: Any, balance: Any) -> Any:
    body = completion()
    body["usage"] |= {"used": used, "left": balance}
    return whole({}, body)


FIELDS = {"used": "used", "balance": "left"}


class TestCredits:
    @pytest.mark.parametrize(
        ("used", "balance", "good"),
        [(0, 5, True), (7, -3, True), (-1, 5, False), ("7", 5, False), (1, None, False), (True, 5, False)],
    )
    def test_are_reported(self, used: Any, balance: Any, good: bool) -> None:
        assert (verdict("credits.are-reported", paid(used, balance), **FIELDS) == KEPT) is good

    def test_only_a_usage_can_report(self) -> None:
        body = completion()
        assert "not reported" in verdict("credits.are-reported", whole({}, body), **FIELDS)
        del body["usage"]
        assert verdict("credits.are-reported", whole({}, body), **FIELDS) == UNSEEN

    def serial(self, *accounts: tuple[int, int]) -> str:
        name = "credits.balance-falls-by-the-cost"
        return case_verdict("serial-credits", name, serial=[paid(*one) for one in accounts], params=FIELDS)

    def test_falls_by_the_cost(self) -> None:
        assert self.serial((1, 100), (2, 98), (3, 95)) == KEPT

    def test_charged_too_little(self) -> None:
        assert "does not fall" in self.serial((1, 100), (2, 100), (3, 100))
        assert "does not fall" in self.serial((1, 100), (2, 99))

    def test_other_traffic_raises_no_alarm(self) -> None:
        assert self.serial((1, 100), (2, 90), (2, 88), (2, 86)) == UNDECIDED
        assert self.serial((1, 100), (2, 90), (2, 85), (2, 81)) == UNDECIDED
        assert self.serial((1, 100), (2, 98), (3, 98)) == UNDECIDED
        assert self.serial((2, 100), (2, 98), (0, 93), (2, 91)) == UNDECIDED
        assert self.serial((0, 100), (0, 99), (0, 97), (0, 94)) == UNDECIDED

    def test_charged_too_much_each_time(self) -> None:
        assert "does not fall" in self.serial((1, 100), (2, 96), (3, 90), (4, 82))
        assert "does not fall" in self.serial((1, 100), (2, 97), (3, 93), (4, 88))
        assert "does not fall" in self.serial((1, 100), (2, 97), (3, 93), (4, 88), (5, 82))
        assert self.serial((1, 100), (2, 96), (3, 90)) == UNDECIDED
        serial = [paid(*one) for one in ((1, 100), (2, 97), (3, 93), (4, 88))]
        (found,) = case_found("serial-credits", "credits.balance-falls-by-the-cost", serial=serial, params=FIELDS)
        assert found.observed == "cost 2, balance fell by 3, cost 3, balance fell by 4, cost 4, balance fell by 5"

    def test_without_credits(self) -> None:
        name = "credits.balance-falls-by-the-cost"
        for half in (whole(), paid(None, 98), paid(2, None)):
            assert case_verdict("serial-credits", name, serial=[paid(2, 100), half], params=FIELDS) == UNDECIDED

    def test_refusals_are_free(self) -> None:
        name = "credits.refusals-are-free"

        def found(step: int, between: Any, *earlier: Any) -> str:
            before, after = [*earlier, paid(2, 100)], [paid(2, 100 - step * n) for n in (1, 2, 3)]
            return case_verdict("credits-refused", name, before=before, refused=between, after=after, params=FIELDS)

        assert found(2, refused()) == KEPT
        assert "more than the answered" in found(3, refused())
        assert "more than the answered" in found(3, refused(), paid(2, 104), paid(2, 102))
        drifting = [paid(2, 106), paid(2, 100)]
        after = [paid(2, 97), paid(2, 94), paid(2, 91)]
        roles = {"before": drifting, "refused": refused(), "after": after}
        assert case_verdict("credits-refused", name, **roles, params=FIELDS) == UNDECIDED
        assert found(3, whole()) == UNDECIDED
        assert found(3, refused(429)) == UNDECIDED


def test_results_in_any_order() -> None:
    name = "messages.tool-results-in-any-order"

    def found(swapped: Any, crossed: str = "Rome 3, Oslo 20", first: Any = None) -> str:
        good = whole({}, completion("Oslo 3, Rome 20"))
        others = {"crossed": whole({}, completion(crossed)), "swapped": swapped}
        return case_verdict("result-order", name, in_order=first or good, again=good, **others)

    assert found(whole({}, completion("Oslo 3, Rome 20"))) == KEPT
    assert "by position" in found(whole({}, completion("Rome 3, Oslo 20")))
    good, crossed = (whole({}, completion(text)) for text in ("Oslo 3, Rome 20", "Rome 3, Oslo 20"))
    roles = {"in_order": good, "again": good, "crossed": crossed, "swapped": crossed}
    (violation,) = case_found("result-order", name, **roles)
    assert (violation.expected, violation.observed) == ("'Oslo 3, Rome 20'", "'Rome 3, Oslo 20'")
    assert found(whole({}, completion("Rome 20, Oslo 3"))) == UNDECIDED
    assert found(whole({}, completion("Oslo 3, Rome 20")), "Oslo 3, Rome 20") == UNDECIDED
    assert "refused" in found(refused())
    for status in (199, 400):
        assert found(refused(), first=refused(status)) == UNDECIDED
    for other in ("Oslo 20", "Zagreb 3"):
        assert found(whole({}, completion("Oslo 3, Rome 20")), other) == KEPT
        assert found(whole({}, completion(other)), "Rome 3") == UNDECIDED


class TestSurvival:
    @pytest.mark.parametrize("status", [200, 400, 404, 422, 499])
    def test_answered(self, status: int) -> None:
        one = whole() if status == 200 else refused(status)
        assert case_verdict("survived", "errors.odd-input-is-survived", asked=one) == KEPT

    @pytest.mark.parametrize("status", [500, 501, 599])
    def test_server_errors(self, status: int) -> None:
        found = case_verdict("survived", "errors.odd-input-is-survived", asked=[whole(), refused(status)])
        assert found == "the request led to a server error"

    @pytest.mark.parametrize("end", ["timeout", "reset", "refused", "protocol-error"])
    def test_silence(self, end: str) -> None:
        found = case_verdict("survived", "errors.odd-input-is-survived", asked=whole(end=end))
        assert "silence" in found

    def test_patience_and_budget(self) -> None:
        assert case_verdict("survived", "errors.odd-input-is-survived", asked=refused(503)) == UNDECIDED
        assert case_verdict("survived", "errors.odd-input-is-survived", asked=whole(end="budget")) == UNDECIDED

    def test_a_stream_without_an_event(self) -> None:
        found = case_verdict("survived", "errors.odd-input-is-survived", asked=streamed([], ending=b""))
        assert "not one event" in found
