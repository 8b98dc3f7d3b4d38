"""Every check can fail: one fault of every topic here, all of them by `conformance prove`."""

import fnmatch
import json
from dataclasses import replace

import pytest

import reports
import spec
from conformance.proof import table
from conformance.proof.faults import Fault, list_faults
from conformance.proof.prove import (
    NO_FAULT,
    Outcome,
    Proof,
    Red,
    cheapest_cover,
    consequence,
    consequences,
    without_fault,
)
from conformance.proof.signatures import load, nearest, proving
from conformance.settings import Settings
from conformance.target import Target

VENDORS = ("ark", "serenity-edge")


@pytest.fixture(scope="module")
def faults():
    return list_faults()


@pytest.mark.slow
@pytest.mark.parametrize("vendor", VENDORS)
def test_one_fault_of_every_topic_turns_red_what_it_names_and_nothing_else(cli, vendor, tmp_path):
    done = cli("prove", "--profile", vendor, "--one-per-topic", "--out", "proof", timeout=900)
    assert done.returncode == 0, done.stdout
    proof = json.loads((tmp_path / "proof" / f"detection-{vendor}.json").read_text(encoding="utf-8"))
    assert len(proof["faults"]) >= 10
    assert all(outcome["proven"] and outcome["red"] for outcome in proof["faults"])
    page = (tmp_path / "proof" / f"detection-{vendor}.html").read_text(encoding="utf-8")
    assert f"All {len(proof['faults'])} planted faults detected" in page
    assert f"conformance prove --profile {vendor} --one-per-topic --out proof" in page


@pytest.mark.parametrize("vendor", VENDORS)
def test_no_testable_requirement_is_without_a_fault(faults, vendor, tmp_path):
    settings = Settings(vendor, Target("", ""), tmp_path)
    assert without_fault(settings, faults) == []
    assert len(consequences()[NO_FAULT]) <= 1


@pytest.mark.parametrize("vendor", VENDORS)
def test_faults_name_requirements_that_are_promised(faults, vendor):
    promised = spec.load_profile(vendor).promises
    unknown = {(fault.id, name) for fault in faults for name in fault.breaks.get(vendor, ()) if name not in promised}
    assert not unknown


def test_consequences_are_of_faults_that_exist_and_have_reasons(faults):
    ids = {fault.id for fault in faults}
    for fault, allowed in consequences().items():
        assert fault == NO_FAULT or any(fnmatch.fnmatchcase(known, fault) for known in ids), fault
        assert all(reason.strip() for reason in allowed.values())


def test_consequences_are_requirements_of_a_profile():
    known = {name for profile in spec.profile_names() for name in spec.load_profile(profile).promises}
    globs = {glob for allowed in consequences().values() for glob in allowed}
    assert not {glob for glob in globs if not fnmatch.filter(known, glob)}


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_faults_were_seen_to_turn_red_is_named_or_reviewed(faults, vendor):
    """The list is narrow enough to be read and wide enough for the last proof; a false alarm is no signature."""
    breaks = {fault.id: fault.breaks.get(vendor, ()) for fault in faults}
    unrelated = {
        (fault, name)
        for fault, entry in load().items()
        for name in entry["red"].get(vendor, ())
        if name not in breaks[fault] and consequence(fault, name) is None
    }
    assert not unrelated


def test_the_record_of_a_proof_says_why_what_else_turned_red_did_and_why_a_requirement_has_no_fault():
    profile = spec.load_profile("ark")
    fault = Fault("wrong-chunk.usage.type", "It is wrong.", "fields", {"ark": ("chunk.usage.type",)}, ("a/b#1",))
    names = ("chunk.usage.type", "usage.chunk-when-asked", "auth.wrong-key-is-401")
    red = dict.fromkeys(names, Red("fail", "x", 1, ""))
    unrelated = ("auth.wrong-key-is-401",)
    outcome = Outcome(fault.id, fault.breaks["ark"], red, (), unrelated, (), requests=3, seconds=0.5)
    record = table.record(Proof("ark", [outcome]), profile, [fault, replace(fault, id="other")], "the command")
    [row] = record["faults"]
    assert row["also"] == {"usage.chunk-when-asked": "What is no object is no usage."}
    assert (row["sentence"], row["citations"], row["proven"]) == ("It is wrong.", ["a/b#1"], False)
    assert (record["command"], record["complete"]) == ("the command", False)
    without = {row["id"]: row["without"] for row in record["requirements"]}
    assert set(without) == set(profile.promises)
    assert without["chunk.usage.type"] == ""
    assert "network" in without["images.https-url-is-accepted"]
    assert all(without[name] for name in profile.promises if profile.requirements[name].judge == "untestable")
    assert "The planted fault was detected" in reports.detection_page(record)


def test_the_cheapest_probes_that_see_everything_are_chosen():
    from conformance.plan import PlannedProbe

    probes = [
        PlannedProbe("cheap", "p", "t", frozenset({"a"}), 1),
        PlannedProbe("useless", "p", "t", frozenset({"z"}), 1),
        PlannedProbe("wide", "p", "t", frozenset({"a", "b", "c"}), 5),
    ]
    assert cheapest_cover(["a"], probes) == ("cheap",)
    assert cheapest_cover(["a", "b"], probes) == ("cheap", "wide")


def test_a_requirement_is_proven_for_a_vendor_for_several_and_for_a_document_of_one_s_own():
    ark, edge, both = (proving(spec.load_profile(name)) for name in (*VENDORS, "portable"))
    assert set(ark["stream.ends-with-done"]) <= set(both["stream.ends-with-done"])
    assert "request.ark_stateful.type" in ark
    assert "request.ark_stateful.type" not in edge
    assert set(both) == set(ark) | set(edge)
    own = replace(spec.load_profile("ark"), name="own", vendors=("own",))
    assert set(proving(own)) == set(both)


def rows(red):
    return [{"id": name, "violations": [{"message": message}]} for name, message in red.items()]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_known_fault_is_among_the_first_three_named(vendor):
    """A run that shows what a fault showed is told so, for at least nine in ten of all faults."""
    known = {fault: entry["red"][vendor] for fault, entry in load().items() if entry["red"].get(vendor)}
    assert len(known) > 300
    named = sum(fault in [found.fault for found in nearest(vendor, rows(red))] for fault, red in known.items())
    assert named / len(known) >= 0.9


@pytest.mark.parametrize("vendor", VENDORS)
def test_nothing_is_named_where_nothing_is_near(vendor):
    assert nearest(vendor, []) == []
    assert nearest(vendor, [{"id": "stream.ends-with-done", "violations": []}]) == []
    assert nearest(vendor, rows({"no.such-requirement": "x"})) == []
