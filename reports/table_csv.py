"""The requirements as CSV (RFC 4180), with no cell that a spreadsheet would take for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from reports.record import Run, write_atomically
from reports.text_safety import for_csv, shortened
from reports.wording import finding_sentence

COLUMNS = (
    "id", "topic", "level", "basis", "scored", "verdict", "title", "where", "kept", "violated", "undecided",
    "finding", "expected", "observed", "reproduced", "exchanges", "why",
)  # fmt: skip
# Excel shows at most 32,767 characters of a cell.
_LONGEST = 8_000


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV document; every cell made safe and kept to a length that spreadsheets show."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([for_csv(shortened(str(cell), _LONGEST)) for cell in row])
    return file.getvalue()


def render(run: Run) -> str:
    """One row per requirement, with its first violation."""
    rows = []
    for row in run.requirements:
        first = row["violations"][0] if row["violations"] else {}
        seen = row["observations"]
        rows.append((
            row["id"], row["topic"], row["level"] or "", row["basis"] or "", str(row["scored"]).lower(),
            row["verdict"], row["title"], row["where"] or "",
            seen["kept"], seen["violated"], seen["undecided"],
            finding_sentence(row) if first else "", first.get("expected") or "", first.get("observed") or "",
            # A space keeps spreadsheets from reading 3/3 as a date.
            (first.get("reproduced") or "").replace("/", " of "), " ".join(first.get("exchanges", ())),
            row["why"] or "",
        ))  # fmt: skip
    return as_csv(COLUMNS, rows)


def write(run: Run, path: Path) -> None:
    """Write the CSV to `path`."""
    write_atomically(path, render(run))
