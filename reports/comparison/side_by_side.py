"""Requirements by endpoints: what each does, where that departs from the document and from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reports.html.environment import asset, content_policy, environment
from reports.record import Run, load_run
from reports.table_csv import as_csv
from reports.text_safety import for_markdown_prose
from reports.wording import headline

# Word in a cell -> how it is coloured, as a verdict.
WORDS = {
    "kept": "pass",
    "violated": "fail",
    "departs": "warn",
    "silently ignored": "fail",
    "refused": "warn",
    "not decided": "inconclusive",
    "not exercised": "not_exercised",
    "waived": "waived",
    "not promised": "not_applicable",
    "suite error": "error",
}

_BY_VERDICT = {
    "pass": "kept",
    "fail": "violated",
    "warn": "departs",
    "inconclusive": "not decided",
    "not_exercised": "not exercised",
    "waived": "waived",
    "not_applicable": "not promised",
    "error": "suite error",
}
_BY_BEHAVIOUR = {"ignored": "silently ignored", "refused": "refused"}
# Cells that say nothing about what the endpoint does: no two endpoints differ by them.
_SILENT = {"not decided", "not exercised", "not promised", "waived", "suite error"}


class Cell(NamedTuple):
    """What one endpoint does about one requirement: a word, the level it promised, and its first finding."""

    word: str
    level: str
    note: str

    @property
    def verdict(self) -> str:
        """The verdict whose mark and colour the cell takes."""
        return WORDS[self.word]


class MatrixRow(NamedTuple):
    """A requirement and its cells, in the order of the runs."""

    id: str
    title: str
    topic: str
    cells: list[Cell]

    @property
    def departs(self) -> bool:
        """Whether an endpoint does something else than its document promises."""
        return any(cell.word not in _SILENT and cell.word != "kept" for cell in self.cells)

    @property
    def differs(self) -> bool:
        """Whether endpoints that were judged do different things."""
        return len({cell.word for cell in self.cells if cell.word not in _SILENT}) > 1


@dataclass(frozen=True)
class Matrix:
    """Several runs side by side."""

    runs: list[Run]
    rows: list[MatrixRow]

    def csv(self) -> str:
        """One row per requirement, one column per run."""
        header = ["id", "topic", "title", *(run.name for run in self.runs), "differ"]
        return as_csv(
            header,
            ([row.id, row.topic, row.title, *(cell.word for cell in row.cells), row.differs] for row in self.rows),
        )

    def markdown(self) -> str:
        """The rows in which an endpoint departs from its document or from the others; the rest as a count."""
        shown = [row for row in self.rows if row.departs or row.differs]
        names = [for_markdown_prose(run.name, 60) for run in self.runs]
        lines = [
            "## Side by side",
            "",
            "| Requirement | " + " | ".join(names) + " |",
            "|---|" + "---|" * len(names),
            "| **The whole run** | " + " | ".join(f"**{headline(run)}**" for run in self.runs) + " |",
            *(f"| `{row.id}` | " + " | ".join(cell.word for cell in row.cells) + " |" for row in shown),
            "",
            f"{len(self.rows) - len(shown)} more requirements, in which nothing departs or differs, are left out.",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """One self-contained page; no script."""
        style = asset("report.css")
        return (
            environment()
            .get_template("matrix.html.j2")
            .render(
                runs=self.runs,
                headlines=[headline(run) for run in self.runs],
                groups=_groups(self.rows),
                style=style,
                policy=content_policy(script=None, style=style),
            )
        )


def _groups(rows: Sequence[MatrixRow]) -> list[tuple[str, str, list[MatrixRow]]]:
    differ = [row for row in rows if row.differs]
    depart = [row for row in rows if row.departs and not row.differs]
    rest = [row for row in rows if not row.departs and not row.differs]
    return [
        ("differ", "Where the endpoints differ", differ),
        ("depart", "Where all that were judged depart from their document", depart),
        ("rest", "Everything else", rest),
    ]


def matrix(runs: Sequence[Run | str | Path]) -> Matrix:
    """Several runs (or the directories that hold them) side by side, rows in the order of the first that has them.

    Raises ValueError for fewer than two runs.
    """
    if len(runs) < 2:
        raise ValueError("a matrix needs at least two runs")
    loaded = [run if isinstance(run, Run) else load_run(run) for run in runs]
    ids = dict.fromkeys(id_ for run in loaded for id_ in run.by_id)
    rows = []
    for id_ in ids:
        sides = [run.by_id.get(id_) for run in loaded]
        described = next(side for side in sides if side is not None)
        rows.append(MatrixRow(id_, described["title"], described["topic"], [_cell(side) for side in sides]))
    return Matrix(loaded, sorted(rows, key=lambda row: (row.topic, row.id)))


def _cell(row: Mapping[str, Any] | None) -> Cell:
    if row is None:
        return Cell("not promised", "", "")
    word = _BY_VERDICT[row["verdict"]]
    if word != "kept":
        word = _BY_BEHAVIOUR.get(row["behaviour"] or "", word)
    note = row["violations"][0]["message"] if row["violations"] else row["why"] or ""
    return Cell(word, row["level"] or "", note)
