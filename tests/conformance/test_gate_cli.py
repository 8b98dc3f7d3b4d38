"""The gate as a pipeline calls it, with a reference that is broken in one way."""

import datetime
import json

import pytest

from conformance.reference import KEY_VARIABLE

TODAY = datetime.datetime.now(datetime.UTC).date()
BROKEN = "stream.done-comes-once"
CONFIG = """
[targets.{name}]
profile = "serenity-edge"
base_url = "{url}"
api_key_env = "{key}"
{headers}
[policy]
{policy}
"""
WAIVER = """
[[waivers]]
requirement = "{requirement}"
target = "{target}"
reason = "being repaired"
link = "https://tracker.example/1"
expires = {expires}
mode = "{mode}"
"""


@pytest.fixture
def gate(cli, tmp_path, serenity_edge):
    """Run the gate on the reference: `broken`, or as it is. Few requests show the fault; a whole run takes more."""

    def call(*words, broken=True, policy="", waivers=(), out="out", only=BROKEN, fault="done-duplicated", most="3"):
        headers = f'[targets.edge.headers]\nX-Reference-Fault = "{fault}"' if broken else ""
        text = CONFIG.format(name="edge", url=serenity_edge.base_url, key=KEY_VARIABLE, headers=headers, policy=policy)
        (tmp_path / "conformance.toml").write_text(text, encoding="utf-8")
        if waivers:
            (tmp_path / "waivers.toml").write_text("".join(map(waiver, waivers)), encoding="utf-8")
            words = ("--waivers", "waivers.toml", *words)
        done = cli("run", "--target", "edge", "--only", only, "--max-requests", most, *words, "--out", out)
        path = tmp_path / out / "results.json"
        return done, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    return call


def waiver(changed):
    usual = {"requirement": BROKEN, "target": "edge", "expires": TODAY, "mode": "known-failing"}
    return WAIVER.format(**{**usual, **changed})


@pytest.mark.slow
def test_a_failure_fails_and_only_that_which_is_new_fails_beside_a_baseline(gate, tmp_path):
    done, record = gate(out="first")
    assert done.returncode == 1, done.stdout
    assert record["verdict"] == "non-conformant"
    assert record["requirements"][0]["violations"][0]["exchanges"]
    cut, _ = gate("--baseline", "first", out="cut")
    assert cut.returncode == 5, "the failure is known, but not all was asked"
    known, _ = gate("--baseline", "first", out="second", most="99")
    assert known.returncode == 0, known.stdout
    assert "every failure was already in the baseline" in known.stdout
    good, _ = gate(broken=False, out="good")
    assert good.returncode in (0, 5)
    fresh, _ = gate("--baseline", "good", out="third")
    assert fresh.returncode == 1
    assert f"new since the baseline: {BROKEN}" in fresh.stdout
    again, record = gate("--baseline", "first", "--rerun", "failed", broken=False, out="again")
    assert [row["id"] for row in record["requirements"]] == [BROKEN]
    assert again.returncode in (0, 5)
    nothing, _ = gate("--baseline", "good", "--rerun", "failed", out="none")
    assert nothing.returncode == 4
    assert "nothing failed" in nothing.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "broken", "status", "verdict", "words"),
    [
        ({}, True, 5, "waived", "w 1 waived"),
        ({"target": "other"}, True, 1, "fail", ""),
        ({"expires": TODAY - datetime.timedelta(days=1)}, True, 1, "fail", "expired on"),
        ({}, False, 1, "pass", "no longer needed"),
        ({"mode": "known-flaky"}, False, None, "pass", ""),
        ({"requirement": "nosuch.*"}, True, 1, "fail", "matches no promised requirement"),
    ],
)
def test_waivers_hide_nothing_and_do_not_outlive_their_reason(gate, changed, broken, status, verdict, words):
    done, record = gate(broken=broken, waivers=[changed])
    assert record["requirements"][0]["verdict"] == verdict, done.stdout
    assert words in done.stdout
    assert done.returncode == status if status is not None else done.returncode in (0, 5)
    if verdict == "waived":
        assert record["verdict"] == "incomplete", "a run with waivers is never conformant"
        assert record["waivers"][0]["reason"] == "being repaired"
        assert record["requirements"][0]["observations"]["violated"] > 0, "waived requirements still run"


@pytest.mark.slow
def test_a_policy_asks_for_topics(gate):
    done, _ = gate(broken=False, policy='required_topics = ["tools"]')
    assert done.returncode == 5
    assert "nothing of the required topic tools passed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("level", "status", "verdict"), [("must", 0, "warn"), ("should", 1, "fail")])
def test_the_level_of_the_policy_says_whether_a_should_counts(gate, cli, level, status, verdict):
    broken = {"fault": "no-space-after-data-colon", "only": "stream.space-after-colon", "most": "99"}
    done, record = gate(policy=f'level = "{level}"', **broken)
    assert record["requirements"][0]["verdict"] == verdict
    assert done.returncode in ((1,) if status else (0, 5)), done.stdout
    again = cli("judge", "out", "--out", "again")
    assert again.returncode == done.returncode, "judging again asks for the same level"


def test_a_waiver_for_too_long_is_refused_before_anything_is_sent(gate):
    done, record = gate(waivers=[{"expires": TODAY + datetime.timedelta(days=91)}])
    assert done.returncode == 4
    assert "more than 90 days" in done.stderr
    assert record is None
