"""Faults that somebody plants in a copy of the server are found without touching the suite (see CONTRIBUTING.md)."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from conformance.reference import KEY_VARIABLE, serving

ROOT = Path(__file__).parents[2]

# file, what stands there, what the stranger writes, requirements of which one must turn red
CHANGES = [
    (
        "server/chat.py",
        'return b"data: " + orjson.dumps(value) + b"\\n\\n"',
        'return (b"data: " + orjson.dumps(value) + b"\\n\\n") * 2',
        {"stream.*"},
    ),
    (
        "dialects/ark/reply.py",
        '"total_tokens": prompt + completion',
        '"total_tokens": prompt + completion + 1',
        {"usage.*"},
    ),
    (
        "engine/text.py",
        "matches = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]\n"
        "        return min(matches)[1] if matches else None",
        "matches = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]\n"
        "        return min(matches)[0] if matches else None",
        {"stop.*"},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "right", "wrong", "globs"), CHANGES, ids=[change[0] for change in CHANGES])
def test_a_change_to_one_function_is_found(cli, monkeypatch, tmp_path, path, right, wrong, globs):
    shutil.copytree(ROOT / "reference_impl", tmp_path / "copy" / "reference_impl")
    file = tmp_path / "copy" / "reference_impl" / path
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{path} no longer has the line that this test changes"
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    monkeypatch.setenv(KEY_VARIABLE, "a-key-for-tests")
    command = [sys.executable, "-m", "reference_impl", "--dialect", "ark", "--api-key-env", KEY_VARIABLE]
    with serving(command, cwd=tmp_path / "copy") as copy:
        only = [word for glob in globs for word in ("--only", glob)]
        done = cli(
            "run", "--profile", "ark", "--base-url", copy.base_url, "--api-key-env", KEY_VARIABLE, *only, "--out", "out"
        )  # fmt: skip
    assert done.returncode == 1, done.stdout
    record = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert any(row["verdict"] == "fail" and row["violations"] for row in record["requirements"])
