"""`--rerun`: what an earlier run left open or saw fail is asked again, and nothing else."""

import json

import pytest

from conformance.wire.journal import read_exchanges
from tests.conformance.endpoints import answer, serving
from tests.conformance.made import completion

OPEN, SEEN = "messages.name-is-accepted", "response.id.type"
BUSY = json.dumps({"error": {"message": "busy", "type": "server_error", "code": None}}).encode()


class Endpoint:
    """Answers every request alike, but for the `faults` that a test sets."""

    def __init__(self):
        self.busy = False
        self.id = "a"
        self.answered = 0

    def __call__(self, connection, _):
        self.answered += 1
        if self.busy and self.answered > 1:  # whoever is busy from the start is not tested at all
            connection.sendall(answer(BUSY, "503 Service Unavailable"))
        else:
            connection.sendall(answer(json.dumps({**completion(), "id": self.id}).encode()))


@pytest.fixture
def endpoint():
    one = Endpoint()
    with serving(one) as url:
        yield one, url


@pytest.fixture
def run(cli, tmp_path, endpoint):
    """Run against the endpoint into a folder: its status, verdicts by requirement, and the probes that sent."""

    def call(out, *words, status):
        endpoint[0].answered = 0
        done = cli("run", "--profile", "serenity-edge", "--base-url", endpoint[1], "--model", "m", "--out", out, *words)
        assert done.returncode == status, done.stdout + done.stderr
        if status == 4:
            return {}, set(), done.stderr
        record = json.loads((tmp_path / out / "results.json").read_text(encoding="utf-8"))
        verdicts = {row["id"]: row["verdict"] for row in record["requirements"]}
        assert sum(record["counts"].values()) == len(verdicts)
        exchanges = read_exchanges(tmp_path / out)
        assert record["cost"]["requests"] == len(exchanges) == endpoint[0].answered
        return verdicts, {x.probe for x in exchanges if x.topic != "preflight"}, done.stdout

    return call


@pytest.mark.slow
def test_what_was_inconclusive_is_asked_again_and_only_that(run, endpoint):
    endpoint[0].busy = True
    before, first, _ = run("first", "--only", OPEN, "--only", SEEN, status=5)
    assert before == {OPEN: "inconclusive", SEEN: "pass"}
    endpoint[0].busy = False
    after, again, said = run("again", "--baseline", "first", "--rerun", "inconclusive", status=0)
    assert after == {OPEN: "pass"}, "the record answers for what was asked again"
    assert again
    assert again < first
    assert "of the 1 musts selected" in said
    _, _, said = run("nothing", "--baseline", "again", "--rerun", "inconclusive", status=4)
    assert "nothing inconclusive" in said


@pytest.mark.slow
def test_what_a_cap_kept_from_being_asked_is_asked_again_too(run, endpoint):
    before, first, _ = run("first", "--only", OPEN, "--only", SEEN, "--max-requests", "1", status=5)
    assert before == {OPEN: "not_exercised", SEEN: "pass"}
    assert not first
    after, _, _ = run("again", "--baseline", "first", "--rerun", "inconclusive", status=0)
    assert after == {OPEN: "pass"}


@pytest.mark.slow
def test_what_fails_again_is_not_excused_by_the_run_it_failed_in(run, endpoint):
    endpoint[0].id = 7
    before, first, _ = run("first", "--only", OPEN, "--only", SEEN, status=1)
    assert before == {OPEN: "pass", SEEN: "fail"}
    after, again, _ = run("again", "--baseline", "first", "--rerun", "failed", status=1)
    assert after == {SEEN: "fail"}
    assert again < first
    endpoint[0].id = "a"
    after, _, _ = run("mended", "--baseline", "first", "--rerun", "failed", status=0)
    assert after == {SEEN: "pass"}
