import datetime

import pytest

from conformance.config import ConfigError, load_config, load_waivers
from conformance.config.file import find_config
from conformance.config.waivers import Waiver, stale, waived_ids

GOOD = """
[targets.prod]
profile = "ark"
base_url = "https://${HOST}/v1"
api_key_env = "KEY"
prices = { prompt = 0.5, completion = 1.5 }

[policy]
level = "must"
"""
DAY = datetime.date(2026, 11, 1)


def write(folder, text, name="conformance.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_variables_come_from_the_environment(tmp_path):
    config = load_config(write(tmp_path, GOOD), {"HOST": "api.example"})
    assert config["targets"]["prod"]["base_url"] == "https://api.example/v1"
    assert config["policy"] == {"level": "must"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD, 4, "targets.prod.base_url: the environment variable HOST is not set"),
        (GOOD.replace('profile = "ark"\n', ""), 2, "targets.prod"),
        (GOOD.replace('"KEY"', "7"), 5, "targets.prod.api_key_env"),
        (GOOD.replace("api_key_env", "api_key"), 5, "targets.prod.api_key"),
        (GOOD.replace('"must"', '"most"'), 9, "policy.level"),
        (GOOD.replace("0.5", "-1"), 6, "targets.prod.prices"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_key(tmp_path, text, line, words):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as wrong:
        load_config(path, {} if "HOST is not" in words else {"HOST": "h"})
    assert str(wrong.value).startswith(f"{path}:{line}: ")
    assert words in str(wrong.value)


def test_not_toml_is_said(tmp_path):
    with pytest.raises(ConfigError, match="not TOML"):
        load_config(write(tmp_path, "[targets"))


def test_pyproject_is_used_where_it_has_our_table(tmp_path):
    path = write(tmp_path, '[project]\nname = "x"\n', "pyproject.toml")
    assert find_config(tmp_path) is None
    path.write_text('[project]\nname = "x"\n\n[tool.conformance.run]\nseed = -1\n', encoding="utf-8")
    assert find_config(tmp_path) == path
    with pytest.raises(ConfigError, match=r":5: tool\.conformance\.run\.seed"):
        load_config(path)


WAIVER = """
[[waivers]]
requirement = "stream.*"
target = "prod"
reason = "known"
link = "https://example/1"
expires = 2026-12-01
"""


def test_waivers_are_for_targets_and_have_an_end(tmp_path):
    path = write(tmp_path, WAIVER, "waivers.toml")
    (waiver,) = load_waivers(path, ["prod"], DAY)
    assert waiver.expires == datetime.date(2026, 12, 1)
    assert load_waivers(path, ["staging"], DAY) == []
    with pytest.raises(ConfigError, match="more than 90 days"):
        load_waivers(path, ["prod"], datetime.date(2026, 9, 1))
    for gone in ("expires = 2026-12-01\n", 'reason = "known"\n', 'link = "https://example/1"\n'):
        with pytest.raises(ConfigError, match="required"):
            load_waivers(write(tmp_path, WAIVER.replace(gone, "")), ["prod"], DAY)
    with pytest.raises(ConfigError, match="not a date"):
        load_waivers(write(tmp_path, WAIVER.replace("2026-12-01", '"soon"')), ["prod"], DAY)


def waiver(requirement="a.*", expires=DAY, mode="known-failing"):
    return Waiver(requirement, "why", "link", expires, "*", mode)


def row(name, verdict):
    return {"id": name, "verdict": verdict}


def test_an_expired_waiver_waives_nothing():
    later = DAY + datetime.timedelta(days=1)
    assert set(waived_ids([waiver()], ["a.b", "c.d"], DAY)) == {"a.b"}
    assert waived_ids([waiver()], ["a.b"], later) == {}


@pytest.mark.parametrize(
    ("entry", "rows", "day", "words"),
    [
        (waiver(), [row("a.b", "waived")], DAY, None),
        (waiver(), [row("a.b", "waived"), row("a.c", "pass")], DAY, None),
        (waiver(), [row("a.b", "pass")], DAY, "no longer needed"),
        (waiver(mode="known-flaky"), [row("a.b", "pass")], DAY, None),
        (waiver(), [row("a.b", "waived")], DAY + datetime.timedelta(days=1), "expired"),
        (waiver("x.*"), [row("a.b", "pass")], DAY, "matches no promised requirement"),
        (waiver(), [row("a.b", "inconclusive")], DAY, None),
    ],
)
def test_waivers_that_must_go_are_named(entry, rows, day, words):
    problems = stale([entry], rows, ["a.b", "a.c"], day)
    assert (words in problems[0]) if words else problems == []
