"""The catalogue refuses what does not fit, and knows what nobody judges."""

from __future__ import annotations

from pathlib import Path

import pytest

import spec
from spec.catalogue import CAPABILITIES, INDUCIBLE, load_readings, load_requirements, unjudged
from spec.files import SPEC_DIR
from spec.problems import SpecError

ROW = "- id: stream.some-words\n  title: A sentence.\n  judge: law\n"
REQUIREMENTS = load_requirements(SPEC_DIR)


def load(tmp_path: Path, text: str, topic: str = "stream"):
    folder = tmp_path / "requirements"
    folder.mkdir(exist_ok=True)
    (folder / f"{topic}.yaml").write_text(text, encoding="utf-8")
    return load_requirements(tmp_path)


def test_a_row_is_read(tmp_path: Path):
    text = ROW + "  needs: [tools]\n  induce: midstream_error\n"
    (requirement,) = load(tmp_path, text).values()
    assert (requirement.topic, requirement.needs, requirement.induce) == ("stream", ("tools",), "midstream_error")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + ROW, "occurs twice"),
        (ROW.replace("stream.some-words", "tools.some-words"), "the id must be `stream.`"),
        (ROW.replace("some-words", "Some_words"), "the id must be `stream.`"),
        (ROW.replace("law", "schema"), "`judge` must be one of"),
        (ROW.replace("law", "untestable"), "`reason` says why"),
        (ROW + "  reason: It is hidden.\n", "only there"),
        (ROW + "  needs: [magic]\n", "unknown capability `magic`"),
        (ROW + "  induce: earthquake\n", "`induce` must be one of"),
        (ROW.replace("sentence.", "sentence"), "ends with a full stop"),
        (ROW + "  levle: must\n", "unknown key `levle`"),
        (ROW.replace("  judge: law\n", ""), "the key `judge` is missing"),
        ("stream: 1\n", "must be a list of rows"),
        ("- title: A sentence.\n", "must be a mapping with a text under `id:`"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text)
    assert any(message in problem.message for problem in caught.value.problems)
    assert str(tmp_path / "requirements" / "stream.yaml") in str(caught.value)


def test_the_same_id_in_two_files_is_refused(tmp_path: Path):
    load(tmp_path, ROW)
    with pytest.raises(SpecError, match=r"the id must be `wire\.`"):
        load(tmp_path, ROW, topic="wire")


def test_what_nobody_judges_is_found():
    testable = {one.id for one in REQUIREMENTS.values() if one.judge in ("law", "probe")}
    assert unjudged(REQUIREMENTS, testable) == []
    assert unjudged(REQUIREMENTS, testable - {"stream.one-id"}) == ["stream.one-id"]
    hidden = {one.id for one in REQUIREMENTS.values() if one.judge == "untestable"}
    assert not hidden & set(unjudged(REQUIREMENTS, set()))


def test_every_untestable_requirement_has_its_reason():
    assert all(bool(one.reason) is (one.judge == "untestable") for one in REQUIREMENTS.values())


def test_every_condition_that_cannot_be_provoked_has_a_requirement():
    assert {one.induce for one in REQUIREMENTS.values() if one.induce} == INDUCIBLE
    assert {need for one in REQUIREMENTS.values() for need in one.needs} == CAPABILITIES


def test_every_reading_cited_exists_and_no_level_is_above_its_basis():
    readings = load_readings(SPEC_DIR)
    for name in spec.profile_names():
        for promise in spec.load_profile(name).promises.values():
            assert not promise.reading or promise.reading in readings
            assert promise.level != "must" or promise.basis in ("stated", "implied")
            assert promise.because or promise.basis in ("stated", "example")


def test_the_catalogue_is_of_the_expected_size():
    assert len(REQUIREMENTS) >= 150
    assert len({name for vendor in ("ark", "serenity-edge") for name in spec.load_profile(vendor).constraints}) >= 200


def test_a_profile_knows_its_digest_and_changes_it_with_the_data(tmp_path: Path):
    digests = {spec.load_profile(name).catalogue_sha256 for name in spec.profile_names()}
    assert len(digests) == 1
    assert len(digests.pop()) == 64
