"""Judging without sending: a run's folder, its files alone, and HAR archives of others; and sending one again."""

import base64
import json
import subprocess
import sys

import pytest

import spec
from conformance.judge import Judge
from conformance.reference import KEY_VARIABLE
from conformance.traffic_files import TrafficError, gather, read_har
from conformance.wire.exchange import PACKED_BYTES, Exchange
from conformance.wire.journal import read_exchanges
from reports.record import check
from tests.conformance import made

PADDED = json.dumps(made.ASKED).encode().ljust(8 * 1024 * 1024)


def verdicts(folder):
    rows = json.loads((folder / "results.json").read_text(encoding="utf-8"))["requirements"]
    return {row["id"]: (row["verdict"], row["observations"]) for row in rows}


@pytest.fixture(scope="module")
def recorded(serenity_edge, tmp_path_factory):
    """The folder of a short run against the reference."""
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run(
        [sys.executable, "-m", "conformance", "run", "--profile", "serenity-edge", "--base-url", serenity_edge.base_url,
         "--api-key-env", KEY_VARIABLE, "--only", "usage.*", "--only", "stream.*", "--max-requests", "24",
         "--out", str(folder)],
        check=False, capture_output=True, timeout=300,
    )  # fmt: skip
    return folder


@pytest.mark.slow
def test_an_archive_of_a_run_and_its_files_alone_are_judged_like_the_run(cli, recorded, tmp_path):
    assert cli("report", str(recorded), "--format", "har").returncode == 0
    for name in ("exchanges.har", "exchanges.jsonl", "cases.jsonl"):
        (tmp_path / name).write_bytes((recorded / name).read_bytes())
    same = ("--profile", "serenity-edge")
    again = cli("judge", *same, str(recorded), "--out", "again")
    assert again.returncode in (0, 5), again.stderr
    archive = cli("judge", *same, "exchanges.har", "cases.jsonl", "--out", "archive")
    alone = cli("judge", *same, "exchanges.jsonl", "cases.jsonl", "--out", "alone")
    ran = verdicts(recorded)
    judged = {name: verdicts(tmp_path / name) for name in ("again", "archive", "alone")}
    for name, found in judged.items():  # bare files do not say that the run was about a part only
        assert {requirement: found[requirement] for requirement in ran} == ran, name
    assert archive.returncode == alone.returncode
    assert (tmp_path / "archive" / "report.html").exists()


def test_a_recorded_request_is_sent_again_and_judged(cli, recorded, serenity_edge):
    streamed = next(x for x in read_exchanges(recorded) if x.asks_stream and x.ok)
    done = cli("replay", str(recorded), streamed.id)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "HTTP/1.1 200" in done.stdout
    assert "data: [DONE]" in done.stdout
    missing = cli("replay", str(recorded), "x9999")
    assert missing.returncode == 4
    assert "has no exchange x9999" in missing.stderr


def har(*entries):
    return {"log": {"version": "1.2", "creator": {"name": "Browser", "version": "1"}, "entries": list(entries)}}


def entry(body, content, *, url="https://api.example/v1/chat/completions", method="POST", status=200, **response):
    return {
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "time": 120.0,
        "timings": {"send": 0, "wait": 100, "receive": 20},
        "request": {
            "method": method,
            "url": url,
            "headers": [{"name": ":authority", "value": "x"}, {"name": "Authorization", "value": "Bearer sk-canary"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(body)},
        },
        "response": {
            "status": status,
            "statusText": "",
            "httpVersion": "h2",
            "headers": [{"name": "content-type", "value": "application/json"}, *response.pop("headers", [])],
            "content": content,
        },
    }


def test_a_browser_s_archive_is_read_without_its_secrets_and_other_traffic(tmp_path):
    text = json.dumps(made.completion())
    path = tmp_path / "browser.har"
    archive = har(
        entry(made.ASKED, {"text": "<html>"}, url="https://api.example/", method="GET"),
        entry(made.ASKED, {"text": text}, headers=[{"name": "set-cookie", "value": "session-canary"}]),
        entry(made.ASKED, {"text": base64.b64encode(text.encode()).decode(), "encoding": "base64"}),
        entry(made.ASKED, {}, status=0),
    )
    path.write_text("\ufeff" + json.dumps(archive), encoding="utf-8")
    plain, encoded, unanswered = read_har(path)
    assert plain.received.body == encoded.received.body == text.encode()
    assert (plain.id, plain.total_s, plain.first_byte_s, plain.asked) == ("x0002", 0.12, 0.1, made.ASKED)
    assert unanswered.received is None
    assert unanswered.end == "refused"
    assert "canary" not in json.dumps([x.to_json() for x in (plain, encoded, unanswered)])
    assert gather([path], tmp_path / "out") == 3
    assert [x.id for x in read_exchanges(tmp_path / "out")] == ["x0002", "x0003", "x0004"]
    judge = Judge(spec.load_profile("serenity-edge"))
    kept = {f.requirement for f in judge.exchange(plain) if f.outcome == "kept"}
    assert "wire.strict-json" in kept


def test_our_own_archive_loses_nothing(tmp_path):
    harfile = pytest.importorskip("harfile", reason="the extra report is not installed")
    from reports.exchange import Exchange as Shown
    from reports.har import _entry

    cut = made.exchange(b"\xff\xfe not text", 200, b"\x00\xff", "application/octet-stream", end="timeout",
                        facts={"ordinal": 1, "attempt": 0}, arrivals=((0.05, 1), (0.07, 1)))  # fmt: skip
    silent = made.streamed([made.chunk({"content": "x"})])
    large = made.exchange(PADDED, 413, b"{}")
    unanswered = {**made.whole().to_json(), "response": None, "end": "refused"}
    lines = [cut.to_json(), silent.to_json(), large.to_json(), unanswered]
    path = tmp_path / "own.har"
    with path.open("w", encoding="utf-8") as file, harfile.HarFile.open(file) as archive:
        for line in lines:
            archive.add_entry(**_entry(harfile, Shown(line)))
    for line, read in zip(lines, read_har(path), strict=True):
        assert read.to_json() == Exchange.from_json(line).to_json()
        assert read.sent.body == Shown(line).sent
    assert path.stat().st_size < len(PADDED) / 100


def test_a_large_request_is_written_down_small_and_whole():
    exchange = made.exchange(PADDED, 413, b"{}")
    line = exchange.to_json()
    check("exchange", line, "the line")
    assert len(json.dumps(line)) < len(PADDED) / 100
    assert Exchange.from_json(line).sent == exchange.sent
    assert (line["request"]["encoding"], line["request"]["length"]) == ("zlib+base64", len(PADDED))
    for size, encoding in ((PACKED_BYTES - 1, "utf-8"), (PACKED_BYTES, "zlib+base64")):
        assert made.exchange(b"x" * size, 413, b"{}").to_json()["request"]["encoding"] == encoding


@pytest.mark.parametrize("body", ["bm8gemxpYg==", "%", "eJw="])
def test_a_body_that_is_not_what_it_says_is_refused(tmp_path, body):
    line = made.whole().to_json()
    line["request"] |= {"body": body, "encoding": "zlib+base64"}
    path = tmp_path / "exchanges.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(TrafficError, match="not a recorded exchange"):
        gather([path], tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.har", "{}", "not a HAR archive"),
        ("a.har", "not json", "not a HAR archive"),
        ("a.har", json.dumps({"log": {"entries": [7]}}), "not a HAR archive"),
        ("a.jsonl", "nonsense\n", "not JSON"),
        ("a.jsonl", '{"request": 7}\n', "not a recorded exchange"),
        ("a.jsonl", '{"something": 7}\n', "neither an exchange nor a case"),
        ("a.jsonl", '{"id": "c1", "roles": {"a": ["x9"]}}\n', "speaks of x9"),
        ("a.txt", "", "neither a run's folder"),
    ],
)
def test_what_holds_no_traffic_is_refused_in_a_sentence(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TrafficError, match=words):
        gather([path], tmp_path / "out")


def test_the_same_exchange_twice_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(made.whole().to_json()) + "\n", encoding="utf-8")
    with pytest.raises(TrafficError, match="twice"):
        gather([path, path], tmp_path / "out")
