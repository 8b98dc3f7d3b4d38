"""A certificate holds for exactly the files that were signed, and names what is not as it was."""

import json
import shutil
import stat

import pytest

import reports
from reports.certificate import PREDICATE_TYPE, STATEMENT_TYPE, refusal, statement


@pytest.fixture
def keys(tmp_path):
    reports.keygen(tmp_path / "key.pem", tmp_path / "key.pub")
    return tmp_path / "key.pem", tmp_path / "key.pub"


@pytest.fixture
def run(runs, tmp_path):
    return shutil.copytree(runs["three"], tmp_path / "run")


def same_verdicts(run):
    return {row["id"]: row["verdict"] for row in run.requirements}


def test_an_untouched_run_verifies_also_when_it_is_judged_again(run, keys):
    certificate = reports.certify(run, keys[0])
    plain = reports.verify(certificate, keys[1])
    assert (plain.ok, plain.problems, plain.rejudged) == (True, [], False)
    again = reports.verify(certificate, keys[1], rejudge=same_verdicts)
    assert (again.ok, again.rejudged) == (True, True)


def test_the_statement_is_an_in_toto_test_result(run):
    made = statement(reports.load_run(run))
    assert (made["_type"], made["predicateType"]) == (STATEMENT_TYPE, PREDICATE_TYPE)
    assert [subject["name"] for subject in made["subject"]] == ["results.json", "exchanges.jsonl", "cases.jsonl"]
    assert all(len(subject["digest"]["sha256"]) == 64 for subject in made["subject"])
    predicate = made["predicate"]
    assert predicate["result"] == "FAILED"
    assert predicate["failedTests"] == ["wire.synthetic-000", "auth.synthetic-001", "models.synthetic-002"]
    assert [item["name"] for item in predicate["configuration"]] == ["catalogue", "edition", "policy", "target"]
    assert predicate["configuration"][0]["digest"]["sha256"] == "5b" * 32


def test_a_clean_run_with_warnings_is_warned(runs):
    assert statement(reports.load_run(runs["clean"]))["predicate"]["result"] == "WARNED"


@pytest.mark.parametrize("place", range(0, 1_000, 37))
def test_any_one_byte_of_an_exchange_is_noticed_and_its_line_named(run, keys, place):
    certificate = reports.certify(run, keys[0])
    path = run / "exchanges.jsonl"
    data = bytearray(path.read_bytes())
    at = place * len(data) // 1_000
    if data[at : at + 1] == b"\n":
        at += 1
    data[at] ^= 1
    path.write_bytes(data)
    line = data[:at].count(b"\n") + 1
    [problem] = reports.verify(certificate, keys[1]).problems
    assert problem.startswith(f"exchanges.jsonl was altered: line {line}")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda r: r["requirements"][4].update(why="edited"), "requirement request.synthetic-004"),
        (lambda r: r["target"].update(model="other"), "member target"),
        (lambda r: r.update(approved=True), "member approved was added"),
        (lambda r: r.pop("notes"), "member notes was removed"),
        (lambda r: None, "only its formatting"),
    ],
)
def test_an_edited_record_is_noticed_and_the_part_named(run, keys, change, named):
    certificate = reports.certify(run, keys[0])
    path = run / "results.json"
    results = json.loads(path.read_text())
    change(results)
    path.write_text(json.dumps(results))
    [problem] = reports.verify(certificate, keys[1]).problems
    assert problem.startswith("results.json was altered: ")
    assert named in problem


def test_removed_lines_and_removed_files_are_named(run, keys):
    certificate = reports.certify(run, keys[0])
    lines = (run / "exchanges.jsonl").read_text().splitlines(keepends=True)
    (run / "exchanges.jsonl").write_text("".join(lines[:-1]))
    (run / "cases.jsonl").unlink()
    assert reports.verify(certificate, keys[1]).problems == [
        "exchanges.jsonl was altered: it has 39 lines instead of 40",
        "cases.jsonl is missing",
    ]


def test_another_key_or_an_edited_envelope_is_refused(run, keys, tmp_path):
    certificate = reports.certify(run, keys[0])
    reports.keygen(tmp_path / "other.pem", tmp_path / "other.pub")
    [problem] = reports.verify(certificate, tmp_path / "other.pub").problems
    assert "signature" in problem
    envelope = json.loads(certificate.read_text())
    envelope["payload"] = envelope["payload"][:-8] + "AAAAAAA="
    certificate.write_text(json.dumps(envelope))
    [problem] = reports.verify(certificate, keys[1]).problems
    assert "signature" in problem


def test_what_an_intruder_wrote_into_the_files_does_nothing_on_the_terminal(run, keys):
    certificate = reports.certify(run, keys[0])
    with (run / "exchanges.jsonl").open("a") as file:
        file.write(json.dumps({"id": "\x1b[2J\r\n::error::owned"}) + "\n")
    problems = reports.verify(certificate, keys[1]).problems
    assert problems[-1] == "exchanges.jsonl was altered: line 41 (\\x1b[2J\\r\\n::error::owned)"


def test_judging_again_names_the_requirement_that_comes_out_otherwise(run, keys):
    certificate = reports.certify(run, keys[0])
    result = reports.verify(
        certificate, keys[1], rejudge=lambda run: same_verdicts(run) | {"wire.synthetic-000": "pass"}
    )
    assert result.problems == ["wire.synthetic-000: the record says fail, judging the exchanges again says pass"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verdict": "incomplete", "exit_status": 5}, "incomplete"),
        ({"only": ["stream.*"]}, r"only a selection \(stream"),
        ({"waivers": [{"requirement": "a.b"}]}, "waivers"),
        ({"exit_status": 2}, "status 2"),
    ],
)
def test_incomplete_partial_and_waived_runs_are_refused(run, keys, change, says):
    results = json.loads((run / "results.json").read_text()) | change
    reports.write_results(run, results)
    with pytest.raises(reports.CertificateError, match=f"cannot be certified: .*{says}"):
        reports.certify(run, keys[0])
    assert not (run / "certificate.json").exists()


def test_a_run_whose_exchanges_were_cut_off_is_refused(run):
    with (run / "exchanges.jsonl").open("a") as file:
        file.write("{")
    assert "cut off" in refusal(reports.load_run(run))


def test_evidence_must_be_there_once(run):
    lines = (run / "exchanges.jsonl").read_text().splitlines(keepends=True)
    (run / "exchanges.jsonl").write_text("".join([*lines, lines[3]]))
    assert "two exchanges have the id x0004" in refusal(reports.load_run(run))
    named = reports.load_run(run).by_id["wire.synthetic-000"]["violations"][0]["exchanges"][0]
    (run / "exchanges.jsonl").write_text("".join(line for line in lines if f'"id": "{named}"' not in line))
    assert f"lacks {named}" in refusal(reports.load_run(run))


def test_keys_are_private_never_overwritten_and_named_when_wrong(keys, tmp_path, run):
    assert stat.S_IMODE(keys[0].stat().st_mode) == 0o600
    with pytest.raises(reports.CertificateError, match="exists already"):
        reports.keygen(*keys)
    with pytest.raises(reports.CertificateError, match="not a private key"):
        reports.certify(run, keys[1])
    certificate = reports.certify(run, keys[0])
    with pytest.raises(reports.CertificateError, match="not a public key"):
        reports.verify(certificate, run / "results.json")
    with pytest.raises(reports.CertificateError, match="not a DSSE envelope"):
        reports.verify(run / "results.json", keys[1])
