"""The committed samples are what the suite makes: the same requirements with the same verdicts."""

import json
from pathlib import Path

import pytest

from conformance.samples import FAULTS, KEPT, make

SAMPLES = Path(__file__).parents[2] / "reports" / "samples"


def verdicts(folder):
    record = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return record["verdict"], {row["id"]: row["verdict"] for row in record["requirements"]}


@pytest.mark.slow
@pytest.mark.parametrize("vendor", FAULTS)
def test_a_sample_made_anew_says_the_same(vendor, tmp_path):
    for name, faults in (("conformant", ()), ("three-faults", FAULTS[vendor])):
        made = make(vendor, faults, tmp_path / name)
        assert verdicts(made) == verdicts(SAMPLES / vendor / name)
        assert {path.name for path in made.iterdir()} == set(KEPT)


@pytest.mark.parametrize("vendor", FAULTS)
def test_samples_hold_nothing_volatile(vendor):
    for path in (SAMPLES / vendor).rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert "/tmp/" not in text
        assert "127.0.0.1:8000" in text or path.name in ("badge.svg", "summary.md")
    assert verdicts(SAMPLES / vendor / "conformant")[0] == "conformant"
    assert verdicts(SAMPLES / vendor / "three-faults")[0] == "non-conformant"
