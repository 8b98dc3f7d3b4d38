"""The record of a run: `results.json`, `exchanges.jsonl` and `cases.jsonl` in one directory.

Every record is checked against the published JSON Schemas (`reports/schemas/`) when it is written and when
it is read, so that a renderer never meets a shape that it does not know.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs

from reports.exchange import Exchange
from reports.text_safety import for_terminal

VERDICTS = ("fail", "warn", "error", "inconclusive", "not_exercised", "waived", "pass", "not_applicable")
RESULTS, EXCHANGES, CASES = "results.json", "exchanges.jsonl", "cases.jsonl"

_ABSENT = {
    "basis": "", "where": "", "because": "", "judge": "", "scored": True, "why": "", "behaviour": None,
    "proven_by": None,
}  # fmt: skip

_SCHEMAS = Path(__file__).parent / "schemas"


class RecordError(ValueError):
    """A record that is missing, is not what its schema says, or contradicts itself."""


def schema(kind: Literal["results", "exchange", "case"]) -> dict[str, Any]:
    """The published JSON Schema (draft 2020-12) of a record file or of one of its lines."""
    loaded: dict[str, Any] = json.loads((_SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))
    return loaded


@cache
def _validator(kind: Literal["results", "exchange", "case"]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema(kind))


def check(kind: Literal["results", "exchange", "case"], value: object, name: str) -> None:
    """Refuse a value that its schema refuses; the RecordError names the place inside `name`."""
    error = next(iter(_validator(kind).iter_errors(value)), None)
    if error is not None:
        place = "/".join(str(step) for step in error.instance_path) or "the whole"
        raise RecordError(for_terminal(f"{name}: {place}: {error.message}", 400))


def _check_agreement(results: Mapping[str, Any], name: str) -> None:
    """What a schema cannot say: unique ids, counts that are the requirements', a verdict they allow."""
    ids = Counter(row["id"] for row in results["requirements"])
    if doubled := [row for row, times in ids.items() if times > 1]:
        raise RecordError(f"{name}: requirement {doubled[0]} appears more than once")
    rows = results["requirements"]
    scored = [row for row in rows if row.get("scored", True)]
    counted = {verdict: count for verdict, count in results["counts"].items() if count}
    if counted not in (dict(Counter(row["verdict"] for row in part)) for part in (rows, scored)):
        raise RecordError(f"{name}: counts do not agree with the verdicts of the requirements")
    broken = [row["id"] for row in scored if row["level"] == "must" and row["verdict"] == "fail"]
    if broken and results["verdict"] == "conformant":
        raise RecordError(f"{name}: says conformant although {broken[0]} failed")
    if results["verdict"] == "conformant" and not any(row["verdict"] == "pass" for row in rows):
        raise RecordError(f"{name}: says conformant although nothing passed")


@dataclass(frozen=True)
class Run:
    """One run's record: `results` is the validated `results.json`; exchanges are read when asked for."""

    directory: Path
    results: Mapping[str, Any]

    @cached_property
    def requirements(self) -> list[dict[str, Any]]:
        """The requirement rows, in the record's order, with absent optional members filled in."""
        return [{**_ABSENT, **row} for row in self.results["requirements"]]

    @cached_property
    def by_id(self) -> dict[str, dict[str, Any]]:
        """The requirement rows by id."""
        return {row["id"]: row for row in self.requirements}

    @property
    def name(self) -> str:
        """What the run is called in a table: model, profile and day."""
        target, day = self.results["target"], self.results["started"][:10]
        return f"{target['model'] or target['base_url']} · {self.results['profile']} · {day}"

    def exchanges(self) -> Iterator[Exchange]:
        """Every exchange in the order recorded, one in memory at a time.

        Raises RecordError for a line that its schema refuses. A last line that a killed run left unfinished
        is passed over; `unfinished` says so.
        """
        for number, offset, value in _lines(self.directory / EXCHANGES):
            check("exchange", value, f"{EXCHANGES} line {number}")
            yield Exchange(value, offset)

    def exchange_at(self, offset: int) -> Exchange:
        """The exchange whose line begins at an offset that `exchanges` gave."""
        with (self.directory / EXCHANGES).open("rb") as file:
            file.seek(offset)
            return Exchange(json.loads(file.readline()), offset)

    def cases(self) -> Iterator[dict[str, Any]]:
        """Every case in the order recorded; none where the run compared nothing."""
        for number, _, value in _lines(self.directory / CASES):
            check("case", value, f"{CASES} line {number}")
            yield value

    @property
    def unfinished(self) -> bool:
        """Whether the last line of the exchanges was cut off while it was written."""
        path = self.directory / EXCHANGES
        if not path.is_file() or path.stat().st_size == 0:
            return False
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"


def _lines(path: Path) -> Iterator[tuple[int, int, Any]]:
    """Number, offset and value of each line of a file that need not be there."""
    if not path.is_file():
        return
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            start, offset = offset, offset + len(line)
            try:
                yield number, start, json.loads(line)
            except ValueError as error:
                if line.endswith(b"\n"):
                    raise RecordError(f"{path.name} line {number}: not JSON: {error}") from None


def load_run(directory: str | Path) -> Run:
    """The run recorded in a directory (or whose `results.json` is named), validated.

    Raises RecordError with one sentence where it is missing, not JSON, or not what the schema says.
    """
    path = Path(directory)
    path = path if path.name == RESULTS else path / RESULTS
    try:
        results = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RecordError(f"{path}: no such file; a run writes it when it ends") from None
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: cannot be read as JSON: {error}") from None
    check("results", results, RESULTS)
    _check_agreement(results, RESULTS)
    return Run(path.parent, results)


def write_results(directory: str | Path, results: Mapping[str, Any]) -> Path:
    """Validate a run's results and write `results.json` in one step (a reader never sees half of it).

    Raises RecordError before anything is written where the schema refuses them or they contradict themselves.
    """
    check("results", results, RESULTS)
    _check_agreement(results, RESULTS)
    path = Path(directory) / RESULTS
    write_atomically(path, json.dumps(results, ensure_ascii=False, indent=1) + "\n")
    return path


def write_atomically(path: Path, text: str) -> None:
    """Write a file under another name and move it into place. Lone surrogates become `\\udXXX`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
