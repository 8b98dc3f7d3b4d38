"""What a run costs is known before it: requests to the request, tokens and money as upper bounds."""

import io
import json
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console

import spec
from conformance import bounds
from conformance.ask import Asker, bound_of
from conformance.cli import cli
from conformance.cli.progress import Progress, remaining
from conformance.cli.trouble import guarded
from conformance.plan import Plan, PlannedProbe
from conformance.plugin import VIOLATED, make_session
from conformance.reference import KEY_VARIABLE
from conformance.reply import reply_of
from conformance.settings import Settings
from conformance.target import Prices, Target
from conformance.wire.budget import Amount, Budget, Caps
from conformance.wire.exchange import Exchange
from tests.conformance import made
from tests.conformance.endpoints import answer, serving


@pytest.mark.parametrize(
    ("body", "completion", "images"),
    [
        (b'{"max_tokens":16}', 16, 0),
        (b'{"max_tokens":16,"n":3}', 48, 0),
        (b'{"max_tokens":16,"n":3000}', 256, 0),
        (b'{"max_tokens":16,"max_completion_tokens":8}', 8, 0),
        (b"{}", 2048, 0),
        (b'{"max_tokens":"many"}', 2048, 0),
        (b'{"max_tokens":true}', 2048, 0),
        (b'{"max_tokens":16,"a":[{"image_url":{"url":"https://x"}}]}', 16, 1),
        (b"not json", 0, 0),
        (b"", 0, 0),
    ],
)
def test_a_request_uses_at_most_a_token_a_byte_and_its_own_limit(body, completion, images):
    assert bound_of(body) == (len(body) + 2048 * images, completion)


PRICED = """
[targets.paid]
profile = "serenity-edge"
base_url = "https://api.example/v1"
model = "a-model-with-a-name-that-is-far-longer-than-any"
prices = {prompt = 2.0, completion = 10.0, currency = "EUR"}
"""


@pytest.fixture
def plan(tmp_path, monkeypatch, capsys):
    """Call `conformance plan` on a plan of two probes, without collecting any."""
    made_plan = Plan([
        PlannedProbe("probe_usage.py::a", "usage::a", "usage", frozenset({"r"}), 3),
        PlannedProbe("probe_stop.py::b", "stop::b", "stop", frozenset({"s"}), 4),
    ])  # fmt: skip
    monkeypatch.setattr("conformance.cli.plan.make_plan", lambda settings: made_plan)
    monkeypatch.chdir(tmp_path)

    def call(*words):
        assert guarded(cli, ["plan", *words]) == 0
        return capsys.readouterr().out

    return call


def test_money_is_planned_where_there_are_prices(plan, tmp_path):
    (tmp_path / "conformance.toml").write_text(PRICED, encoding="utf-8")
    planned = json.loads(plan("--target", "paid", "--json"))
    total = planned["total"]
    assert total["cost"] == pytest.approx((2 * total["prompt_tokens"] + 10 * total["completion_tokens"]) / 1e6)
    for name in ("requests", "prompt_tokens", "completion_tokens"):
        assert total[name] == sum(topic[name] for topic in planned["topics"]) > 0
    assert {topic["topic"]: topic["requests"] for topic in planned["topics"]} == {"preflight": 1, "usage": 3, "stop": 4}
    table = plan("--target", "paid")
    assert f"{total['cost']:.4f}" in table
    assert "EUR" in table


def test_without_prices_there_is_no_money(plan):
    assert json.loads(plan("--profile", "ark", "--json"))["total"]["cost"] is None
    assert "money" not in plan("--profile", "ark")


def test_the_command_line_beats_the_environment_and_that_the_file(plan, tmp_path, monkeypatch):
    (tmp_path / "conformance.toml").write_text(PRICED + '[run]\neffort = "smoke"\n', encoding="utf-8")
    assert "effort smoke" in plan("--target", "paid")
    monkeypatch.setenv("CONFORMANCE_EFFORT", "exhaustive")
    monkeypatch.setenv("CONFORMANCE_TARGET", "paid")
    assert "effort exhaustive" in plan()
    assert "effort standard" in plan("--effort", "standard")


def test_bounds_are_learned_from_recorded_runs_and_hold_for_them(tmp_path, monkeypatch):
    def handler(connection, _):
        connection.sendall(answer(json.dumps(made.completion()).encode()))

    profile = spec.load_profile("serenity-edge")
    with serving(handler) as url:
        settings = Settings("serenity-edge", Target(url, "abc"), tmp_path)
        settings.write()
        session = make_session(settings, profile)
        for probe, limits in (("a::one[x]", (10, 30)), ("a::one[y]", (5,)), ("b::two", (7,))):
            ask = Asker(session, probe, "t")
            for limit in limits:
                ask({"max_tokens": limit})
        session.client.close()
    table = json.loads(bounds.learn([tmp_path]))
    assert table["model_length"] == 3
    assert table["probes"]["a::one"] == [len('{"max_tokens":10}'), 20]
    assert table["probes"]["b::two"][1] == 7
    (tmp_path / "bounds.json").write_text(json.dumps(table), encoding="utf-8")
    monkeypatch.setattr(bounds, "files", lambda _: tmp_path)
    bounds._table.cache_clear()
    try:
        assert bounds.per_request("a::one[z]", Target("", "abc")) == bounds.Tokens(17, 20)
        assert bounds.per_request("a::one[z]", Target("", "abcde")).prompt == 19
        assert bounds.per_request("a::new", Target("", "abc")) == bounds.Tokens(17, 20), "the largest of its topic"
        assert bounds.per_request("c::new", Target("", "abc")) == bounds.Tokens(17, 20), "the largest of all"
    finally:
        bounds._table.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["ark", "serenity-edge"])
def test_a_run_sends_to_the_request_what_was_planned_and_uses_no_more(request, tmp_path, dialect):
    reference, conformance = request.getfixturevalue(dialect.replace("-", "_")), request.getfixturevalue("cli")
    same = ("--profile", dialect, "--base-url", reference.base_url, "--api-key-env", KEY_VARIABLE, "--induce")
    plan = json.loads(conformance("plan", *same, "--allow-load", "--json").stdout)
    done = conformance("run", *same, "--allow-load", "--out", "out", timeout=560)
    assert done.returncode in (0, 1, 5), done.stdout
    assert f"{plan['total']['requests']} requests" in done.stderr.splitlines()[0]
    lines = [json.loads(line) for line in (tmp_path / "out" / "exchanges.jsonl").read_text().splitlines()]
    first = [line for line in lines if line["repeat_of"] is None and not line["facts"]["attempt"]]
    sent = Counter(line["probe"] for line in first)
    planned = {row["probe"]: row["requests"] for row in plan["probes"] if row["requests"]}
    assert sent == {**planned, "preflight::plain": 1}
    used = [reply for reply in (reply_of(Exchange.from_json(line)) for line in first) if reply]
    assert 0 < sum(reply.prompt_tokens or 0 for reply in used) <= plan["total"]["prompt_tokens"]
    assert 0 < sum(reply.completion_tokens or 0 for reply in used) <= plan["total"]["completion_tokens"]


class Report:
    when = "teardown"

    def __init__(self, *violated):
        self.user_properties = [(VIOLATED, name) for name in violated]


def progress(folder, terminal):
    prices = Prices(1.0, 1.0, "EUR")
    settings = Settings("ark", Target("http://e/v1", "m", prices=prices), folder, caps=Caps(requests=50))
    budget = Budget(folder / "budget.json", settings.caps)
    for _ in range(7):
        budget.settle(budget.take(Amount()), Amount(100, 0.25))
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, soft_wrap=True)
    watching = Progress(settings, console)
    probe = PlannedProbe("probe_usage.py::a", "usage::a", "usage", frozenset({"r"}), 20)
    watching.plan(Plan([probe]))
    return watching, console


def test_a_person_sees_what_is_spent_and_found_and_left(tmp_path):
    watching, console = progress(tmp_path, terminal=True)
    watching.pytest_runtest_logreport(Report("stream.[bold]x"))
    console.print(watching.table())
    watching.__exit__()
    shown = console.file.getvalue()
    for words in ("1 of 1", "7 of 21 (at most 50)", "700", "1.7500 EUR", "a minute", "waiting", "about"):
        assert words in shown, words
    assert "stream.[bold]x" in shown


def test_a_cap_on_requests_also_bounds_what_remains(tmp_path):
    watching, console = progress(tmp_path, terminal=False)
    watching.settings = replace(watching.settings, caps=Caps(requests=7))
    console.print(watching.table())
    assert "about 0 s" in console.file.getvalue()


def test_plain_lines_where_nobody_looks(tmp_path, monkeypatch):
    monkeypatch.setattr("conformance.cli.progress.EVERY_S", 0.0)
    watching, console = progress(tmp_path, terminal=False)
    watching.pytest_runtest_logreport(Report())
    watching.__exit__()
    first, second = console.file.getvalue().splitlines()
    assert first.startswith("certifying http://e/v1 against ark: 1 probes, 21 requests, 1 requirements; at most ")
    assert second == "  1 of 1 probes, 7 requests, 700 tokens, 0 findings"


@pytest.mark.parametrize(
    ("requests", "passed", "words"),
    [(2, 10, "not known yet"), (50, 50, "about 50 s"), (50, 500, "about 8 min"), (120, 60, "about 0 s")],
)
def test_what_remains_goes_by_the_rate_so_far(requests, passed, words):
    assert remaining(requests, 100, passed) == words
