"""`conformance run` as a person meets it: what ends how, and with which sentence."""

import json
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from conformance.cli import cli as commands
from conformance.cli.run import _check_resumable
from conformance.cli.trouble import guarded
from conformance.reference import KEY_VARIABLE
from conformance.session import PROBES
from conformance.settings import Settings
from conformance.target import Target
from tests.conformance.endpoints import answer, serving
from tests.conformance.made import completion


def record(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_a_profile_that_does_not_exist_is_wrong_usage(cli):
    done = cli("run", "--profile", "nosuch")
    assert done.returncode == 4
    assert "'nosuch' is none of ark, serenity-edge" in done.stderr


def test_nobody_there_is_not_enough(cli, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    done = cli("run", "--profile", "ark", "--base-url", f"http://127.0.0.1:{port}/v1", "--model", "m", "--out", "out")
    assert done.returncode == 5
    assert f"Nothing answers at http://127.0.0.1:{port}/v1" in done.stdout.splitlines()[0]
    assert record(tmp_path / "out")["verdict"] == "incomplete"


def test_a_server_that_answers_plain_text_is_non_conformant(cli):
    with serving(lambda c, _: c.sendall(answer(b"hello", media_type="text/plain"))) as url:
        done = cli("run", "--profile", "serenity-edge", "--base-url", url, "--model", "m", "--out", "out")
    assert done.returncode == 1
    assert "answered text/plain that is not a JSON object" in done.stdout.splitlines()[0]


def test_on_github_the_worst_findings_stand_beside_the_change(cli):
    with serving(lambda c, _: c.sendall(answer(b'{"id": 7}'))) as url:
        words = ("run", "--profile", "serenity-edge", "--base-url", url, "--model", "m", "--max-requests", "3")
        done = cli(*words, "--only", "response.id.*", "--out", "out", GITHUB_ACTIONS="true")
        quiet = cli(*words, "--only", "response.id.*", "--out", "out", GITHUB_ACTIONS="")
    assert done.returncode == 1
    assert any(line.startswith("::error title=response.id.type") for line in done.stdout.splitlines())
    assert "::error" not in quiet.stdout


def test_a_key_that_is_refused_is_not_enough(cli, serenity_edge, tmp_path):
    done = cli(
        "run", "--profile", "serenity-edge", "--base-url", serenity_edge.base_url,
        "--api-key-env", "WRONG", "--out", "out", WRONG="not-the-key-canary",
    )  # fmt: skip
    assert done.returncode == 5
    assert "refused the key (HTTP 401)" in done.stdout.splitlines()[0]
    for path in (tmp_path / "out").rglob("*"):
        assert b"not-the-key-canary" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--base-url", "http://api.example/v1"), "plain http to another machine"),
        (("--base-url", "https://user:pw@api.example/v1"), "must not carry a user"),
        (("--base-url", "https://api.example/v1/chat/completions"), "ends before /chat/completions"),
        (("--base-url", "ftp://api.example"), "is not an http or https URL"),
        (("--base-url", "https://api.example/v1", "--api-key-env", "NOT_SET_AT_ALL"), "NOT_SET_AT_ALL"),
        (("--shard", "3/2"), "is not I/N"),
        (("--effort", "heroic"), "smoke"),
        (("--max-cost", "3"), "needs the target's prices"),
        (("--rerun", "failed"), "needs --baseline"),
        (("--target", "prod"), "needs a settings file"),
        (("--resume", "."), "holds no run to resume"),
        (("--nonsense",), "No such option"),
    ],
)
def test_wrong_words_end_with_4_and_say_what_is_wrong(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert guarded(commands, ["run", "--profile", "ark", *words]) == 4
    assert sentence in capsys.readouterr().err


def test_only_asks_only_what_is_needed(cli, serenity_edge, tmp_path):
    done = cli(
        "run", "--profile", "serenity-edge", "--base-url", serenity_edge.base_url,
        "--api-key-env", KEY_VARIABLE, "--only", "stream.ends-with-done", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    found = record(tmp_path / "out")
    assert [row["id"] for row in found["requirements"]] == ["stream.ends-with-done"]
    everything = cli("plan", "--profile", "serenity-edge", "--api-key-env", KEY_VARIABLE, "--induce")
    assert found["cost"]["requests"] < int(everything.stdout.split("total")[1].split()[1]) / 4
    assert {"report.html", "junit.xml", "exchanges.jsonl"} <= {p.name for p in (tmp_path / "out").iterdir()}


def test_a_budget_of_n_requests_never_sends_one_more(cli, serenity_edge, tmp_path):
    done = cli(
        "run", "--profile", "serenity-edge", "--base-url", serenity_edge.base_url,
        "--api-key-env", KEY_VARIABLE, "--max-requests", "7", "--workers", "2", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 5
    assert record(tmp_path / "out")["cost"]["requests"] == 7
    assert "all 7 requests are spent" in done.stdout


def test_the_caller_s_own_pytest_settings_do_not_reach_the_run(cli, serenity_edge, tmp_path):
    (tmp_path / "conftest.py").write_text("raise RuntimeError('conftest of the caller')\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n", encoding="utf-8")
    done = cli(
        "run", "--profile", "serenity-edge", "--base-url", serenity_edge.base_url,
        "--api-key-env", KEY_VARIABLE, "--only", "stream.ends-with-done", "--out", "out",
        PYTEST_ADDOPTS="--also-nonsense", PYTEST_PLUGINS="no_such_plugin",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run_is_resumed_with_the_same_catalogue_only(tmp_path):
    before = Settings("ark", Target("https://e/v1", "m"), tmp_path, catalogue="one")
    before.write()
    _check_resumable(before)
    with pytest.raises(click.UsageError, match="catalogue 'one', not 'two'"):
        _check_resumable(replace(before, catalogue="two"))


def test_the_probes_run_under_pytest_proper_too(tmp_path):
    def handler(connection, _):
        connection.sendall(answer(json.dumps(completion()).encode()))

    with serving(handler) as url:
        Settings("serenity-edge", Target(url, "m"), tmp_path, only=("models.*",)).write()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "conformance.plugin", "-p", "no:cacheprovider",
             "--conformance-run", str(tmp_path), "-c", str(PROBES / "pytest.ini"), str(PROBES / "probe_models.py")],
            capture_output=True, text=True, timeout=120, check=False, cwd=Path(__file__).parents[2],
        )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ConformanceViolation" in done.stdout
    assert (tmp_path / "exchanges.jsonl").read_text(encoding="utf-8").count("models") > 0
