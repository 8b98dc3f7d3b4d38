"""The parts of one run make a whole; parts that are missing, doubled or foreign do not."""

import json
from dataclasses import replace

import pytest

from conformance.merge import MergeError, merge
from conformance.settings import Settings
from conformance.target import Target
from conformance.wire.journal import read_exchanges, read_lines
from tests.conformance import made

TARGET = Target("https://api.example/v1", "m", name="prod")


def part(folder, index, count=2, *, catalogue="c1", status=5, **changed):
    """The folder of a shard that has ended, with two exchanges and a case."""
    folder.mkdir()
    settings = replace(Settings("ark", TARGET, folder, shard=(index, count)), **changed)
    settings.write()
    record = {
        "suite": {"catalogue_sha256": catalogue}, "exit_status": status, "reason": "why",
        "started": f"2026-01-0{index}T00:00:00Z", "cost": {"wall_s": float(index)},
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(record), encoding="utf-8")
    first = made.whole()
    lines = [replace_id(first, "x0001").to_json(), {**made.whole().to_json(), "id": "x0002", "repeat_of": "x0001"}]
    (folder / "exchanges.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    case = {"id": "c0001", "kind": "k", "requirements": [], "roles": {"a": ["x0001", "x0002"]}, "data": {}}
    (folder / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    budget = {"requests": 2, "tokens": 10, "cost": 0.5, "waiting_s": 1.0, "stopped": ""}
    (folder / "budget.json").write_text(json.dumps(budget), encoding="utf-8")
    return folder


def replace_id(exchange, name):
    exchange.__dict__["id"] = name
    return exchange


def test_two_halves_make_a_whole(tmp_path):
    settings, started, wall_s = merge([part(tmp_path / "b", 2), part(tmp_path / "a", 1)], tmp_path / "whole")
    assert (settings.shard, started, wall_s) == ((1, 1), "2026-01-01T00:00:00Z", 2.0)
    exchanges = read_exchanges(tmp_path / "whole")
    assert sorted((x.id, x.repeat_of) for x in exchanges) == [
        ("s1-x0001", None), ("s1-x0002", "s1-x0001"), ("s2-x0001", None), ("s2-x0002", "s2-x0001"),
    ]  # fmt: skip
    cases = list(read_lines(tmp_path / "whole" / "cases.jsonl"))
    assert {case["id"]: case["roles"]["a"] for case in cases} == {
        "s1-c0001": ["s1-x0001", "s1-x0002"],
        "s2-c0001": ["s2-x0001", "s2-x0002"],
    }
    budget = json.loads((tmp_path / "whole" / "budget.json").read_text(encoding="utf-8"))
    assert (budget["requests"], budget["tokens"], budget["cost"], budget["waiting_s"]) == (4, 20, 1.0, 2.0)
    assert Settings.read(tmp_path / "whole").target == TARGET


def test_merging_again_into_the_same_folder_doubles_nothing(tmp_path):
    parts = [part(tmp_path / "a", 1), part(tmp_path / "b", 2)]
    for _ in range(2):
        merge(parts, tmp_path / "whole")
    assert len(read_exchanges(tmp_path / "whole")) == 4


@pytest.mark.parametrize(
    ("index", "count", "changed", "words"),
    [
        (1, 2, {}, "are both shard 1/2"),
        (2, 3, {}, "is a shard of 3"),
        (2, 2, {"profile": "serenity-edge"}, "another profile"),
        (2, 2, {"seed": 1}, "another seed"),
        (2, 2, {"effort": "smoke"}, "another effort"),
        (2, 2, {"only": ("a",)}, "another only"),
        (2, 2, {"strict": True}, "another strict"),
        (2, 2, {"target": replace(TARGET, model="other")}, "another target"),
        (2, 2, {"target": replace(TARGET, base_url="https://other.example/v1")}, "another target"),
        (2, 2, {"catalogue": "c2"}, "another catalogue"),
        (2, 2, {"status": 2}, "cannot be joined: why"),
        (2, 2, {"status": 3}, "cannot be joined: why"),
    ],
)
def test_doubled_and_foreign_parts_are_refused(tmp_path, index, count, changed, words):
    first = part(tmp_path / "a", 1)
    second = part(tmp_path / "b", index, count, **changed)
    with pytest.raises(MergeError, match=words):
        merge([first, second], tmp_path / "whole")
    assert not (tmp_path / "whole" / "exchanges.jsonl").exists()


def test_a_missing_part_is_named(tmp_path):
    with pytest.raises(MergeError, match="missing: shard 2/3"):
        merge([part(tmp_path / "a", 1, 3), part(tmp_path / "c", 3, 3)], tmp_path / "whole")


def test_a_part_that_did_not_end_and_a_folder_of_something_else_are_refused(tmp_path):
    first = part(tmp_path / "a", 1)
    unfinished = part(tmp_path / "b", 2)
    (unfinished / "results.json").unlink()
    with pytest.raises(MergeError, match="did not end"):
        merge([first, unfinished], tmp_path / "whole")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MergeError, match="not a run's folder"):
        merge([first, tmp_path / "empty"], tmp_path / "whole")
