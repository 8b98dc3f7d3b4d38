import multiprocessing
import time

import pytest

from conformance.wire.budget import Amount, Budget, BudgetSpent, Caps


def take_all(path, caps, taken):
    budget = Budget(path, caps)
    count = 0
    try:
        while True:
            budget.take(Amount(1))
            budget.settle(Amount(1), Amount(1))
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
        budget.take(Amount(60))
        budget.settle(Amount(60), Amount(4))
    assert budget.read().tokens == 40


def test_money_is_capped_like_tokens(tmp_path):
    budget = Budget(tmp_path / "b", Caps(cost=1.0))
    budget.take(Amount(0, 0.75))
    budget.settle(Amount(0, 0.75), Amount(0, 0.75))
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
    assert budget.take(Amount()) == pytest.approx(0, abs=0.2)
    budget.hush(60)
    with pytest.raises(BudgetSpent, match="time"):
        budget.take(Amount())
    assert budget.read().requests == 1


def test_requests_are_paced_and_patience_is_shared(tmp_path):
    budget = Budget(tmp_path / "b", Caps(requests_per_minute=60))
    assert budget.take(Amount()) == pytest.approx(0, abs=0.2)
    assert budget.take(Amount()) == pytest.approx(1, abs=0.2)
    budget.hush(30)
    assert Budget(tmp_path / "b", Caps()).take(Amount()) == pytest.approx(30, abs=0.5)
