"""Two runs that differ only in what is volatile become the same bytes, and the record stays whole."""

import json
import re

import reports
from reports.normalise import normaliser


def run_at(runs, directory, port, token, instant):
    """A copy of a run as if it had been made at another time, on another port, with other identifiers."""
    directory.mkdir()
    text = (runs["three"] / "exchanges.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    for number, line in enumerate(lines):
        line["at"] = instant
        line["request"]["url"] = f"http://127.0.0.1:{port}/v1/chat/completions"
        line["timing"] = {"first_byte_s": 0.001 * port, "total_s": 0.002 * port}
        response = line["response"]
        response["headers"] += [["Date", "Sun, 29 Nov 2026 21:00:00 GMT"], ["x-request-id", token]]
        body = response["body"]
        for old in set(re.findall(r"chatcmpl-[0-9a-f]{24}", body)):
            body = body.replace(old, f"chatcmpl-{token}{number:04d}{old[-4:]}")
        response["body"] = body
        response["arrivals"] = [[0.001 * port, len(body)]]
        for event in response.get("events", ()):
            event[0] *= port
    (directory / "exchanges.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (directory / "cases.jsonl").write_text((runs["three"] / "cases.jsonl").read_text())
    results = json.loads((runs["three"] / "results.json").read_text())
    results |= {
        "started": instant,
        "ended": instant,
        "command": f"conformance run --base-url http://127.0.0.1:{port}/v1",
    }
    results["target"]["base_url"] = f"http://127.0.0.1:{port}/v1"
    results["cost"] |= {"wall_s": port * 1.5, "waiting_s": 1.0}
    reports.write_results(directory, results)
    return directory


def test_equal_runs_give_equal_samples(runs, tmp_path):
    one = run_at(runs, tmp_path / "one", 41234, "ab12" * 4, "2026-11-29T21:00:00.5Z")
    other = run_at(runs, tmp_path / "other", 5001, "99ff" * 4, "2027-01-02T03:04:05Z")
    first, second = reports.normalise_run(one, tmp_path / "a"), reports.normalise_run(other, tmp_path / "b")
    for name in ("results.json", "exchanges.jsonl", "cases.jsonl"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    reports.render(first, out=tmp_path / "rendered" / "sample")
    reports.render(second, out=tmp_path / "again" / "sample")
    for path in (tmp_path / "rendered" / "sample").iterdir():
        other = (tmp_path / "again" / "sample" / path.name).read_text()
        assert path.read_text().replace("replay a ", "replay b ") == other


def test_events_still_point_at_whole_events(runs, tmp_path):
    folder = reports.normalise_run(runs["three"], tmp_path / "sample")
    streams = [exchange for exchange in reports.load_run(folder).exchanges() if exchange.spans]
    assert streams
    for exchange in streams:
        raws = [event.raw for event in exchange.events()]
        assert "".join(raws).encode() == exchange.received
        assert all(raw.startswith("data: ") and raw.endswith("\n\n") for raw in raws)


def test_the_same_identifier_keeps_the_same_stand_in():
    text = normaliser()
    one = text("chatcmpl-0123456789abcdef01234567 and call_abcdefghijABCDEFGHIJ12")
    assert text("again chatcmpl-0123456789abcdef01234567") == "again chatcmpl-00000001"
    assert one == "chatcmpl-00000001 and call_00000002"
    assert text("chat-completions-conformance stays") == "chat-completions-conformance stays"


def test_normalising_twice_changes_nothing_more(runs, tmp_path):
    once = reports.normalise_run(runs["three"], tmp_path / "once")
    twice = reports.normalise_run(once, tmp_path / "twice")
    for name in ("results.json", "exchanges.jsonl"):
        assert (once / name).read_bytes() == (twice / name).read_bytes()
