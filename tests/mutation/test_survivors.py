"""The list of accepted survivors speaks of code that is there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLAN = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))["tests"]
LISTED = yaml.safe_load((HERE / "survivors.yaml").read_text(encoding="utf-8")) or {}


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("module", LISTED)
def test_every_listed_line_is_there_and_has_a_reason(module: str) -> None:
    assert module in PLAN
    code = words((ROOT / module).read_text(encoding="utf-8"))
    for entry in LISTED[module]:
        assert words(entry["line"]) in code, entry["line"]
        assert entry["becomes"]
        assert len(entry["reason"]) > 10


def test_every_law_is_mutated() -> None:
    laws = {f"conformance/laws/{path.name}" for path in (ROOT / "conformance" / "laws").glob("*.py")}
    assert laws - {"conformance/laws/__init__.py"} <= PLAN.keys()


@pytest.mark.parametrize("module", PLAN)
def test_its_tests_are_there(module: str) -> None:
    files = [word for word in PLAN[module] if word.startswith("test_")]
    assert files
    for file in files:
        assert (ROOT / "tests" / "conformance" / f"{file}.py").is_file(), file
