import multiprocessing
import time
from contextlib import suppress

import pytest

from conformance.wire.budget import GOOD_ANSWERS, Amount, Budget, BudgetSpent, Caps


def take_all(path, caps, taken):
    budget = Budget(path, caps)
    count = 0
    try:
        while True:
            budget.settle(budget.take(Amount(1)), Amount(1))
            count += 1
    except BudgetSpent:
        taken.put(count)


def test_a_cap_holds_over_processes_to_the_request(tmp_path):
    context = multiprocessing.get_context("spawn")
    taken = context.Queue()
    processes = [context.Process(target=take_all, args=(tmp_path / "b", Caps(requests=50), taken)) for _ in range(3)]
    for process in processes:
        process.start()
    assert sum(taken.get(timeout=30) for _ in processes) == 50
    for process in processes:
        process.join()
    assert Budget(tmp_path / "b", Caps()).read().requests == 50


def test_tokens_in_flight_count_until_the_answer_says_less(tmp_path):
    budget = Budget(tmp_path / "b", Caps(tokens=100))
    budget.take(Amount(60))
    with pytest.raises(BudgetSpent, match="100 tokens"):
        budget.take(Amount(60))


def test_what_is_not_used_is_given_back(tmp_path):
    budget = Budget(tmp_path / "b", Caps(tokens=100))
    for _ in range(10):
        budget.settle(budget.take(Amount(60)), Amount(4))
    assert budget.read().tokens == 40


def test_money_is_capped_like_tokens(tmp_path):
    budget = Budget(tmp_path / "b", Caps(cost=1.0))
    budget.settle(budget.take(Amount(0, 0.75)), Amount(0, 0.75))
    with pytest.raises(BudgetSpent, match="cost more than"):
        budget.take(Amount(0, 0.5))


def test_once_spent_it_stays_spent(tmp_path):
    budget = Budget(tmp_path / "b", Caps(tokens=10))
    with pytest.raises(BudgetSpent):
        budget.take(Amount(11))
    with pytest.raises(BudgetSpent):
        budget.take(Amount(1))
    assert budget.read().requests == 0


def test_time_is_a_cap(tmp_path):
    with pytest.raises(BudgetSpent, match="time"):
        Budget(tmp_path / "b", Caps(until=time.time() - 1)).take(Amount())


def test_patience_beyond_the_run_s_time_ends_it_at_once(tmp_path):
    budget = Budget(tmp_path / "b", Caps(until=time.time() + 10))
    assert budget.take(Amount()).wait == pytest.approx(0, abs=0.2)
    budget.hush(60)
    with pytest.raises(BudgetSpent, match="time"):
        budget.take(Amount())
    assert budget.read().requests == 1


def test_requests_are_paced_and_patience_is_shared(tmp_path):
    budget = Budget(tmp_path / "b", Caps(requests_per_minute=60))
    assert budget.take(Amount()).wait == pytest.approx(0, abs=0.2)
    assert budget.take(Amount()).wait == pytest.approx(1, abs=0.2)
    budget.hush(30)
    assert Budget(tmp_path / "b", Caps()).take(Amount()).wait == pytest.approx(30, abs=0.5)


class Full(Exception):
    """There was no room for one more request."""


def full(_):
    raise Full


@pytest.fixture
def budget(tmp_path):
    """A budget that never waits for room: it says that there is none."""
    return Budget(tmp_path / "b", Caps(), sleep=full)


def room(budget):
    """How many more requests may be sent now. They are taken."""
    turns = []
    with suppress(Full):
        while len(turns) < 50:
            turns.append(budget.take(Amount()))
    return turns


def test_without_complaint_nothing_limits_how_many_are_in_flight(budget):
    assert [budget.take(Amount()) for _ in range(64)]
    assert budget.read().window == 0


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("together", "left"), [(1, 1), (2, 1), (4, 2), (5, 2), (8, 4)])
def test_too_much_halves_what_may_be_in_flight_once_for_all_that_were(budget, status, together, left):
    turns = [budget.take(Amount()) for _ in range(together)]
    for turn in turns:
        budget.settle(turn, Amount(), status)
    assert len(room(budget)) == left


def test_what_is_still_in_flight_takes_room(budget):
    first, second, *_ = [budget.take(Amount()) for _ in range(4)]
    budget.settle(first, Amount(), 429)
    assert room(budget) == [], "three are in flight, and two may be"
    budget.settle(second, Amount())
    assert room(budget) == []
    assert budget.take(Amount(), crowd=True), "what is sent at the same time on purpose is"


def test_too_much_again_halves_again_and_never_below_one(budget):
    turns = [budget.take(Amount()) for _ in range(8)]
    for turn in turns:
        budget.settle(turn, Amount(), 429)
    for left in (4, 2, 1, 1):
        turns = room(budget)
        assert len(turns) == left
        for turn in turns:
            budget.settle(turn, Amount(), 429)


def test_good_answers_make_room_one_by_one(budget):
    turns = [budget.take(Amount()) for _ in range(4)]
    budget.settle(turns[0], Amount(), 429)
    for turn in turns[1:]:
        budget.settle(turn, Amount(), 0)  # no answer is no good answer
    for _ in range(GOOD_ANSWERS - 1):
        budget.settle(budget.take(Amount()), Amount(), 400)
    assert budget.read().window == 2
    budget.settle(budget.take(Amount()), Amount())
    assert len(room(budget)) == 3


def test_who_waits_for_room_gets_it_when_another_s_answer_is_there(tmp_path):
    other = Budget(tmp_path / "b", Caps())
    turns = [other.take(Amount()) for _ in range(2)]
    other.settle(turns[0], Amount(), 429)
    waits = []

    def answered(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            other.settle(turns[1], Amount())

    assert Budget(tmp_path / "b", Caps(), sleep=answered).take(Amount())
    assert len(waits) == 3
    assert other.read().waiting_s == pytest.approx(sum(waits), abs=0.01)


def test_who_waits_for_room_is_told_of_a_cap(tmp_path):
    other = Budget(tmp_path / "b", Caps())
    turns = [other.take(Amount()) for _ in range(2)]
    other.settle(turns[0], Amount(), 429)
    waiting = Budget(tmp_path / "b", Caps(), sleep=lambda _: other.stop("the disk is full"))
    with pytest.raises(BudgetSpent, match="disk"):
        waiting.take(Amount())


def test_a_worker_that_died_does_not_keep_its_room(tmp_path):
    budget = Budget(tmp_path / "b", Caps(), longest_s=0.0, sleep=full)
    turns = [budget.take(Amount()) for _ in range(2)]
    budget.settle(turns[0], Amount(), 429)
    assert budget.take(Amount()), "the other one is older than any exchange"
    budget.reopen()
    assert budget.read().in_flight == []
