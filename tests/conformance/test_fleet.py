"""Many endpoints and many shards in one call: each in its own process and folder, with its own limits."""

import json
import sys

import pytest

from conformance import fleet
from conformance.cli.fleet import planned
from conformance.fleet import Ended, Member, Processes, worst
from conformance.reference import KEY_VARIABLE


@pytest.mark.parametrize(
    ("statuses", "status"),
    [([0, 0], 0), ([0, 5], 5), ([5, 1, 0], 1), ([1, 4], 4), ([1, 3], 3), ([3, 2], 2), ([0], 0)],
)
def test_a_fleet_is_as_good_as_its_worst(statuses, status):
    assert worst(statuses) == status


def test_every_target_and_shard_has_a_folder_of_its_own(tmp_path):
    one, two = planned(["a", "b"], tmp_path, ("--effort", "smoke"))
    assert (one.name, one.out, one.words) == ("a", tmp_path / "a", ("--target", "a", "--effort", "smoke"))
    assert two.out == tmp_path / "b"
    parts = planned(["a"], tmp_path, (), 2)
    assert [(p.out.name, p.words[-1]) for p in parts] == [("shard-1", "1/2"), ("shard-2", "2/2")]


def members(tmp_path, monkeypatch, *programs):
    """Members that are these Python programs instead of runs."""
    monkeypatch.setattr(fleet, "command", lambda member: [sys.executable, "-c", member.words[0]])
    return [Member(str(i), tmp_path / str(i), (program,)) for i, program in enumerate(programs)]


def test_members_run_beside_each_other_and_what_they_say_is_kept_apart(tmp_path, monkeypatch):
    told = []
    programs = [f"import sys; print('out', {i}); print('err', {i}, file=sys.stderr); sys.exit({i})" for i in range(3)]
    programs.append("import os; os.kill(os.getpid(), 9)")
    ended = Processes(2, told.append).run(members(tmp_path, monkeypatch, *programs))
    assert [one.status for one in ended] == [0, 1, 2, 3], "a killed member is a failure of the suite"
    assert [one.said for one in ended[:3]] == ["out 0\n", "out 1\n", "out 2\n"]
    assert sorted(told) == ["[0] err 0", "[1] err 1", "[2] err 2"]


def test_what_ray_brings_back_lies_in_the_member_s_folder(tmp_path, monkeypatch):
    program = "import pathlib as p, sys; o = p.Path(sys.argv[1]); o.mkdir(); (o / 'results.json').write_text('{}')"
    monkeypatch.setattr(fleet, "command", lambda m: [sys.executable, "-c", program, str(m.out)])
    status, said, packed = fleet._elsewhere((), "")
    ended = fleet._brought_back(Member("a", tmp_path / "a", ()), status, said, packed)
    assert ended == Ended(Member("a", tmp_path / "a", ()), 0, "")
    assert (tmp_path / "a" / "results.json").read_text() == "{}"


CONFIG = """
[targets.ark]
profile = "ark"
base_url = "{ark}"
api_key_env = "{key}"
run = {{max_requests = 9}}

[targets.edge]
profile = "serenity-edge"
base_url = "{edge}"
api_key_env = "{key}"
run = {{max_requests = 2}}
"""


@pytest.fixture
def two_targets(tmp_path, ark, serenity_edge):
    text = CONFIG.format(ark=ark.base_url, edge=serenity_edge.base_url, key=KEY_VARIABLE)
    (tmp_path / "conformance.toml").write_text(text, encoding="utf-8")


def records(folder):
    return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/results.json")}


@pytest.mark.slow
def test_two_targets_in_one_call_each_with_its_own_limits(cli, tmp_path, two_targets):
    done = cli(
        "run", "--target", "ark", "--target", "edge", "--only", "stream.ends-with-done", "--seed", "3", "--out", "out"
    )
    found = records(tmp_path / "out")
    assert {name: record["profile"] for name, record in found.items()} == {"ark": "ark", "edge": "serenity-edge"}
    assert found["edge"]["cost"]["requests"] == 2
    assert found["edge"]["exit_status"] == 5
    assert found["ark"]["cost"]["requests"] == 9
    assert [record["seed"] for record in found.values()] == [3, 3]
    assert done.returncode == worst([record["exit_status"] for record in found.values()])
    assert "[ark] certifying" in done.stderr
    assert "edge (5): INCOMPLETE" in done.stdout


SHARDED = """
[targets.edge]
profile = "serenity-edge"
base_url = "{edge}"
api_key_env = "{key}"
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", [(), ("--ray", "--ray-workers", "2")], ids=["processes", "ray"])
def test_the_union_of_shards_is_the_whole(cli, tmp_path, serenity_edge, engine):
    if engine:
        pytest.importorskip("ray", reason="the extra ray is not installed")
    text = SHARDED.format(edge=serenity_edge.base_url, key=KEY_VARIABLE)
    (tmp_path / "conformance.toml").write_text(text, encoding="utf-8")
    only = ("--only", "usage.*", "--only", "models.*")
    parted = cli("fleet", *engine, "--shards", "2", "--out", "parts", *only)
    whole = cli("run", "--target", "edge", *only, "--out", "whole")
    assert parted.returncode == whole.returncode == 0, parted.stdout + parted.stderr
    verdicts = [
        {row["id"]: row["verdict"] for row in json.loads((folder / "results.json").read_text())["requirements"]}
        for folder in (tmp_path / "parts" / "edge", tmp_path / "whole")
    ]
    assert verdicts[0] == verdicts[1]
    assert {p.name for p in (tmp_path / "parts" / "edge").glob("shard-*")} == {"shard-1", "shard-2"}
    asked = [
        sorted(json.loads(line)["request"]["body"] for line in path.read_text(encoding="utf-8").splitlines()
               if '"topic":"preflight"' not in line)
        for path in (tmp_path / "parts" / "edge" / "exchanges.jsonl", tmp_path / "whole" / "exchanges.jsonl")
    ]  # fmt: skip
    assert asked[0] == asked[1]
    if not engine:
        (tmp_path / "parts" / "edge" / "shard-2" / "results.json").unlink()
        refused = cli("merge", "--out", "again", "parts/edge/shard-1", "parts/edge/shard-2")
        assert refused.returncode == 4
        assert "did not end" in refused.stderr


def test_a_fleet_without_targets_is_wrong_usage(cli, tmp_path):
    assert cli("fleet").returncode == 4
    (tmp_path / "conformance.toml").write_text("[run]\nseed = 1\n", encoding="utf-8")
    done = cli("fleet")
    assert done.returncode == 4
    assert "has no targets" in done.stderr
    with_url = cli("run", "--target", "a", "--target", "b", "--base-url", "http://127.0.0.1:1/v1")
    assert with_url.returncode == 4
    assert "several targets" in with_url.stderr
