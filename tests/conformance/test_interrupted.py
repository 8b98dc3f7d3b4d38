"""Nothing that was seen is lost, and nothing that was answered is asked again."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from conformance.recording import Recording
from conformance.reference import KEY_VARIABLE
from tests.conformance import made

ONLY = ("--only", "usage.*", "--only", "limits.*")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def asked(folder):
    """What was answered, by probe and place in it: request body and status."""
    return {
        (x["probe"], x["facts"]["ordinal"]): (x["request"]["body"], x["response"]["status"])
        for x in lines(folder / "exchanges.jsonl")
        if x["response"] and x["end"] == "complete"
    }


def cases(folder):
    by_id = {x["id"]: (x["probe"], x["facts"]["ordinal"]) for x in lines(folder / "exchanges.jsonl")}
    return sorted(
        json.dumps([c["kind"], c["requirements"], c["data"], named(c["roles"], by_id)])
        for c in lines(folder / "cases.jsonl")
    )


def named(roles, by_id):
    return {role: [by_id[name] for name in names] for role, names in roles.items()}


def arguments(reference, folder, *more):
    return [
        sys.executable, "-m", "conformance", "run", "--profile", "ark", "--base-url", reference.base_url,
        "--api-key-env", KEY_VARIABLE, *ONLY, *more, *(() if "--resume" in more else ("--out", str(folder))),
    ]  # fmt: skip


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)


def test_numbers_go_on_after_the_highest_that_was_written(tmp_path):
    for name in ("x0001", "x0009", "x1-0004"):  # what was in flight at the kill is missing
        line = {**made.whole().to_json(), "id": name}
        with (tmp_path / "exchanges.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    (tmp_path / "cases.jsonl").write_text('{"id": "c0007"}\n{"id": "c3-0002"}\n', encoding="utf-8")
    before = Recording(tmp_path)
    assert (before.last_exchange, before.last_case) == (9, 7)
    assert Recording(tmp_path / "nothing").last_exchange == 0


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_resumed_is_as_if_undisturbed(ark, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    assert run(arguments(ark, undisturbed)).returncode == 0
    whole = asked(undisturbed)
    assert len(whole) > 10
    folder, chance = tmp_path / "killed", random.Random(4)
    command = arguments(ark, folder)
    for _ in range(10):
        before = len(asked(folder))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = before + chance.randint(1, 3)
        while process.poll() is None and len(lines_so_far(folder)) < wanted:
            time.sleep(0.005)
        process.kill()
        process.wait()
        command = arguments(ark, folder, "--resume", str(folder))
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert asked(folder) == whole
    assert cases(folder) == cases(undisturbed)
    seen = lines(folder / "exchanges.jsonl")
    answered = [(x["probe"], x["facts"]["ordinal"]) for x in seen if x["end"] == "complete"]
    assert len(answered) == len(set(answered))
    ids = [x["id"] for x in lines(folder / "exchanges.jsonl")]
    assert len(ids) == len(set(ids))


def lines_so_far(folder):
    path = folder / "exchanges.jsonl"
    return path.read_bytes().splitlines() if path.exists() else []


def attended():
    """A shell that runs the tests in the background lets its children ignore Ctrl-C; a person's does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_2_and_a_readable_partial_report(ark, tmp_path, how):
    process = subprocess.Popen(
        arguments(ark, tmp_path / "out"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=attended,
    )  # fmt: skip
    while len(lines_so_far(tmp_path / "out")) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, how)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, out + err
    assert "Traceback" not in out + err
    assert "Interrupted" in out.splitlines()[0]
    record = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (record["verdict"], record["exit_status"]) == ("incomplete", 2)
    assert record["counts"]["pass"] > 0
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize("other", [("--seed", "9"), ("--effort", "smoke")])
def test_resuming_with_other_settings_is_refused(ark, tmp_path, other):
    first = [*arguments(ark, tmp_path / "out"), "--max-requests", "3"]
    assert run(first).returncode == 5
    done = run(arguments(ark, tmp_path / "out", "--resume", str(tmp_path / "out"), *other))
    assert done.returncode == 4
    assert other[0].removeprefix("--") in done.stderr


def test_a_full_disk_is_a_clear_error(ark, tmp_path):
    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    done = run(arguments(ark, tmp_path / "out"), preexec_fn=full)
    assert done.returncode == 3
    assert "Traceback" not in done.stdout + done.stderr
    assert "cannot write" in done.stderr or "File too large" in done.stderr
    for line in lines_so_far(tmp_path / "out")[:-1]:
        json.loads(line)


@pytest.mark.slow
def test_the_same_seed_sends_the_same_requests_with_one_and_with_four_workers(ark, tmp_path):
    one, four = tmp_path / "one", tmp_path / "four"
    assert run(arguments(ark, one, "--seed", "5")).returncode == 0
    assert run(arguments(ark, four, "--seed", "5", "--workers", "4")).returncode == 0
    assert sorted(body for body, _ in asked(one).values()) == sorted(body for body, _ in asked(four).values())
    other = tmp_path / "other"
    assert run(arguments(ark, other, "--seed", "6")).returncode == 0
    assert asked(other) != asked(one)
