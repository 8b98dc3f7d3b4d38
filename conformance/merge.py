"""Joins the shards of one run; a missing, doubled or foreign part is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.settings import SETTINGS, Settings
from conformance.verdict import INTERRUPTED, SUITE_FAILED
from conformance.wire.journal import CASES, EXCHANGES, Journal, read_lines

SAME = ("profile", "seed", "effort", "only", "strict", "limits", "spec_dir")


class MergeError(ValueError):
    """Shards that do not make one whole run; the message says which and why."""


def merge(shards: Sequence[Path], out: Path) -> tuple[Settings, str, float]:
    """Write the exchanges and cases of all shards into `out`.

    Returns the settings of the whole run, when its first shard started, and how long the longest took. Raises
    MergeError where the shards are not the parts of one run.
    """
    read = [(folder, _settings(folder)) for folder in shards]
    first_folder, first = read[0]
    count = first.shard[1]
    seen: dict[int, Path] = {}
    for folder, settings in read:
        for name in SAME:
            if getattr(settings, name) != getattr(first, name):
                raise MergeError(f"{folder} was run with another {name} than {first_folder}")
        if (
            settings.target.model != first.target.model
            or settings.target.name != first.target.name
            or (first.target.name != "reference" and settings.target.base_url != first.target.base_url)
        ):
            raise MergeError(f"{folder} was run against another target than {first_folder}")
        _same_catalogue(folder, first_folder)
        if settings.shard[1] != count:
            raise MergeError(f"{folder} is a shard of {settings.shard[1]}, {first_folder} one of {count}")
        if settings.shard[0] in seen:
            raise MergeError(f"{folder} and {seen[settings.shard[0]]} are both shard {settings.shard[0]}/{count}")
        seen[settings.shard[0]] = folder
    missing = [f"{number}/{count}" for number in range(1, count + 1) if number not in seen]
    if missing:
        raise MergeError(f"missing: shard {', '.join(missing)}")
    out.mkdir(parents=True, exist_ok=True)
    whole = replace(first, out=out, shard=(1, 1), resume=False)
    whole.write()
    _join(read, out)
    records = [_record(folder) for folder in shards]
    return whole, min(r["started"] for r in records), max(r["cost"]["wall_s"] for r in records)


def _settings(folder: Path) -> Settings:
    if not (folder / SETTINGS).exists():
        raise MergeError(f"{folder} is not a run's folder: it has no {SETTINGS}")
    return Settings.read(folder)


def _same_catalogue(folder: Path, other: Path) -> None:
    if _record(folder)["suite"]["catalogue_sha256"] != _record(other)["suite"]["catalogue_sha256"]:
        raise MergeError(f"{folder} was judged by another catalogue than {other}")


def _record(folder: Path) -> dict[str, Any]:
    path = folder / "results.json"
    if not path.exists():
        raise MergeError(f"{folder} has no results.json: that shard did not end")
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if record["exit_status"] in (INTERRUPTED, SUITE_FAILED):
        raise MergeError(f"{folder} cannot be joined: {record['reason']}")
    return record


def _join(shards: Sequence[tuple[Path, Settings]], out: Path) -> None:
    for name in (EXCHANGES, CASES, "problems.jsonl"):
        (out / name).unlink(missing_ok=True)
        journal = Journal(out / name)
        for folder, settings in shards:
            for line in read_lines(folder / name):
                journal.append(_renamed(line, f"s{settings.shard[0]}-"))
        journal.close()
    budgets = [json.loads((folder / "budget.json").read_text(encoding="utf-8")) for folder, _ in shards]
    total = {key: sum(budget[key] for budget in budgets) for key in ("requests", "tokens", "cost", "waiting_s")}
    stopped = next((budget["stopped"] for budget in budgets if budget["stopped"]), "")
    (out / "budget.json").write_text(json.dumps({**total, "stopped": stopped}), encoding="utf-8")


def _renamed(line: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The same line with ids that stay unique among all shards."""
    result = dict(line)
    for name in ("id", "repeat_of"):
        if result.get(name):
            result[name] = prefix + result[name]
    if "roles" in result:
        result["roles"] = {role: [prefix + i for i in ids] for role, ids in result["roles"].items()}
    return result
