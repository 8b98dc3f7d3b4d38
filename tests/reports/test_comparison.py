"""diff, matrix and history say what differs, and only that."""

import csv
import json

import pytest

import reports
from reports.synthetic import write_run


def edited(source, target, **verdicts):
    """A copy of a run's results with other verdicts for some requirements (dots and dashes as underscores)."""
    results = json.loads((source / "results.json").read_text())
    for row in results["requirements"]:
        verdict = verdicts.get(row["id"].replace(".", "_").replace("-", "_"))
        if verdict:
            results["counts"][row["verdict"]] -= 1
            results["counts"][verdict] += 1
            row["verdict"] = verdict
    if results["counts"]["fail"]:
        results["verdict"] = "non-conformant"
    reports.write_results(target, results)
    return target


def ids(changes):
    return [change.id for change in changes]


def test_a_run_does_not_differ_from_itself(runs):
    difference = reports.diff(runs["three"], runs["three"])
    assert difference.empty
    assert not difference.regressed
    assert "No requirement changed" in difference.markdown()


def test_broken_fixed_undecided_new_and_gone_are_told_apart(runs, tmp_path):
    after = edited(
        runs["three"], tmp_path,
        wire_synthetic_000="pass", auth_synthetic_001="not_exercised", wire_synthetic_020="fail",
    )  # fmt: skip
    results = json.loads((after / "results.json").read_text())
    results["requirements"] = [row for row in results["requirements"] if row["id"] != "wire.synthetic-040"]
    results["requirements"].append(results["requirements"][6] | {"id": "stream.new", "verdict": "pass"})
    results["seed"] = 7
    reports.write_results(after, results)
    difference = reports.diff(runs["three"], after)
    assert ids(difference.broken) == ["wire.synthetic-020"]
    assert ids(difference.fixed) == ["wire.synthetic-000"]
    assert ids(difference.undecided) == ["auth.synthetic-001"]
    assert ids(difference.appeared) == ["stream.new"]
    assert ids(difference.gone) == ["wire.synthetic-040"]
    assert difference.otherwise == []
    assert difference.regressed
    assert difference.inputs == [("seed", "0", "7")]
    assert difference.as_dict()["broken"] == {"wire.synthetic-020": ["pass", "fail"]}
    text = difference.markdown()
    assert "1 newly broken, 1 fixed, 1 no longer decided" in text
    assert "`wire.synthetic-020`: Passed → Failed (" in text


def test_a_warning_that_became_a_failure_is_a_regression_and_a_new_message_is_a_change(runs, tmp_path):
    after = edited(runs["three"], tmp_path, stream_synthetic_007="fail")
    results = json.loads((after / "results.json").read_text())
    results["requirements"][0]["violations"][0]["message"] = "something else is wrong now"
    reports.write_results(after, results)
    difference = reports.diff(runs["three"], after)
    assert ids(difference.broken) == ["stream.synthetic-007"]
    assert ids(difference.otherwise) == ["wire.synthetic-000"]


def test_a_broken_promise_that_is_not_scored_is_no_regression(runs, tmp_path):
    after = edited(runs["clean"], tmp_path, wire_synthetic_000="fail")
    results = json.loads((after / "results.json").read_text())
    results["requirements"][0]["scored"] = False
    reports.write_results(after, results)
    assert not reports.diff(runs["clean"], after).regressed


def test_matrix_puts_first_where_endpoints_differ(runs):
    table = reports.matrix([runs["clean"], runs["three"]])
    differing = [row for row in table.rows if row.differs]
    assert {row.id for row in differing} == {"auth.synthetic-001", "models.synthetic-002", "wire.synthetic-000"}
    assert [cell.word for cell in differing[0].cells] == ["kept", "violated"]
    text = table.markdown()
    assert "| `auth.synthetic-001` | kept | violated |" in text
    assert "`wire.synthetic-020`" not in text
    rows = list(csv.DictReader(table.csv().splitlines()))
    assert len(rows) == len(table.rows) == 240
    assert {row["id"] for row in rows if row["differ"] == "True"} == {row.id for row in differing}
    page = table.html()
    assert page.index("auth.synthetic-001") < page.index("wire.synthetic-020")
    assert "<script" not in page


@pytest.mark.parametrize(("behaviour", "word"), [("ignored", "silently ignored"), ("refused", "refused")])
def test_matrix_says_ignored_and_refused_where_the_record_knows(runs, tmp_path, behaviour, word):
    results = json.loads((runs["three"] / "results.json").read_text())
    results["requirements"][0]["behaviour"] = behaviour
    reports.write_results(tmp_path, results)
    row = next(row for row in reports.matrix([runs["clean"], tmp_path]).rows if row.id == "wire.synthetic-000")
    assert [cell.word for cell in row.cells] == ["kept", word]


def test_matrix_of_one_run_is_refused(runs):
    with pytest.raises(ValueError, match="at least two"):
        reports.matrix([runs["clean"]])


def test_hostile_names_stay_text_in_every_comparison(runs, tmp_path):
    table = reports.matrix([runs["clean"], runs["hostile"]])
    assert "<script" not in table.html()
    assert "<script" not in table.markdown()
    assert "<script" not in reports.diff(runs["clean"], runs["hostile"]).markdown()
    assert "<script" not in reports.history(runs["hostile"]).html()


def test_history_orders_the_runs_of_a_target_and_survives_a_broken_record(tmp_path):
    for day, failures in ((12, 5), (10, 12), (11, 9)):
        write_run(
            tmp_path / f"run-{day}", failures=failures, exchanges=1,
            started=f"2026-11-{day}T10:00:00Z", ended=f"2026-11-{day}T10:05:00Z",
        )  # fmt: skip
    write_run(tmp_path / "other", failures=0, exchanges=1, profile="portable")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.json").write_text("{}")
    found = reports.history(tmp_path)
    assert len(found.unreadable) == 1
    [trend] = [trend for trend in found.trends if trend.profile == "synthetic"]
    assert [run.results["counts"]["fail"] for run in trend.runs] == [12, 9, 5]
    lines = {line.topic: line.counts for line in trend.sparklines()}
    assert lines["limits"] == [1, 0, 0]
    assert lines["wire"][-1] >= 1
    assert "Limits: 1 broken in the first run, 0 in the last" in found.html()
    assert found.markdown().count("| Not conformant |") == 3
