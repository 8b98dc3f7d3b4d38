"""The record is validated when written and when read, and a broken one is refused in one sentence."""

import json
import shutil

import jsonschema
import pytest

import reports
from reports.record import check


def altered(runs, tmp_path, change):
    shutil.copytree(runs["three"], tmp_path / "run")
    path = tmp_path / "run" / "results.json"
    results = json.loads(path.read_text())
    change(results)
    path.write_text(json.dumps(results))
    return tmp_path / "run"


def test_a_written_record_reads_back_equal(runs, tmp_path):
    results = json.loads((runs["three"] / "results.json").read_text())
    reports.write_results(tmp_path, results)
    assert reports.load_run(tmp_path).results == results
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_the_file_or_its_directory_may_be_named(runs):
    assert reports.load_run(runs["three"] / "results.json").directory == runs["three"]


@pytest.mark.parametrize("kind", ["results", "exchange", "case"])
def test_published_schemas_are_schemas_and_describe_the_files(runs, kind):
    schema = reports.schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    files = {"results": "results.json", "exchange": "exchanges.jsonl", "case": "cases.jsonl"}
    text = (runs["three"] / files[kind]).read_text()
    lines = [text] if kind == "results" else text.splitlines()
    validator = jsonschema.Draft202012Validator(schema)
    assert lines
    assert all(validator.is_valid(json.loads(line)) for line in lines)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r.update(schema=2), "schema"),
        (lambda r: r.pop("seed"), "seed"),
        (lambda r: r["requirements"][0].update(verdict="passed"), "requirements/0/verdict"),
        (lambda r: r["requirements"][0]["violations"][0].pop("exchanges"), "requirements/0/violations/0"),
        (lambda r: r["requirements"].append(r["requirements"][0]), "wire.synthetic-000 appears more than once"),
        (lambda r: r["counts"].update(fail=2), "counts do not agree"),
        (lambda r: r.update(verdict="conformant"), "says conformant although wire.synthetic-000 failed"),
        (lambda r: r.update(started="yesterday"), "started"),
    ],
)
def test_a_record_that_is_wrong_or_contradicts_itself_is_refused(runs, tmp_path, change, says):
    with pytest.raises(reports.RecordError, match=says):
        reports.load_run(altered(runs, tmp_path, change))


def test_nothing_is_written_where_the_results_are_refused(runs, tmp_path):
    results = json.loads((runs["three"] / "results.json").read_text())
    with pytest.raises(reports.RecordError):
        reports.write_results(tmp_path, {**results, "exit_status": "0"})
    assert list(tmp_path.iterdir()) == []


def test_conformant_on_nothing_is_refused(runs, tmp_path):
    def empty(results):
        results.update(requirements=[], counts=dict.fromkeys(results["counts"], 0), verdict="conformant")

    with pytest.raises(reports.RecordError, match="nothing passed"):
        reports.load_run(altered(runs, tmp_path, empty))


def test_a_missing_or_garbled_file_is_named(tmp_path):
    with pytest.raises(reports.RecordError, match="no such file"):
        reports.load_run(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(reports.RecordError, match="cannot be read as JSON"):
        reports.load_run(tmp_path)


def test_unscored_failures_do_not_contradict_a_conformant_run(runs, tmp_path):
    def unscore(results):
        for row in results["requirements"]:
            row["scored"] = row["verdict"] != "fail"
        results.update(verdict="conformant", exit_status=0)

    assert reports.load_run(altered(runs, tmp_path, unscore)).results["verdict"] == "conformant"


def test_a_line_that_a_killed_run_left_unfinished_is_passed_over(runs, tmp_path):
    run = altered(runs, tmp_path, lambda results: None)
    with (run / "exchanges.jsonl").open("a") as file:
        file.write('{"id": "x9')
    loaded = reports.load_run(run)
    assert loaded.unfinished
    assert len(list(loaded.exchanges())) == 40


def test_a_broken_line_in_the_middle_is_refused_by_number(runs, tmp_path):
    run = altered(runs, tmp_path, lambda results: None)
    lines = (run / "exchanges.jsonl").read_text().splitlines()
    lines[4] = lines[4][:50]
    (run / "exchanges.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(reports.RecordError, match=r"exchanges\.jsonl line 5"):
        list(reports.load_run(run).exchanges())


def test_an_exchange_that_its_schema_refuses_is_named_with_its_place():
    with pytest.raises(reports.RecordError, match="here: end"):
        check("exchange", _exchange() | {"end": "finished"}, "here")


def test_bodies_that_are_not_text_and_lone_surrogates_survive(tmp_path, runs):
    results = json.loads((runs["clean"] / "results.json").read_text())
    results["reason"] = "lone \ud800 surrogate"
    reports.write_results(tmp_path, results)
    line = _exchange()
    line["response"] |= {"body": "/w==", "encoding": "base64"}
    (tmp_path / "exchanges.jsonl").write_text(json.dumps(line) + "\n")
    run = reports.load_run(tmp_path)
    assert run.results["reason"] == "lone \ud800 surrogate"
    assert [exchange.received for exchange in run.exchanges()] == [b"\xff"]


def _exchange():
    return {
        "id": "x1",
        "at": "2026-11-29T21:00:00Z",
        "request": {"method": "POST", "url": "http://h.invalid/", "headers": [], "body": "", "encoding": "utf-8"},
        "response": {"status": 200, "headers": [], "body": "", "encoding": "utf-8"},
        "end": "complete",
        "timing": {},
    }
