"""Every format that a run can be rendered in, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from reports import badge, ctrf, har, html, junit, markdown, table_csv
from reports.optional import MissingDependency
from reports.record import Run, load_run

_Write = Callable[[Run, Path], None]

# Format -> the files it writes.
FORMATS: dict[str, tuple[tuple[str, _Write], ...]] = {
    "html": (("report.html", html.write),),
    "junit": (("junit.xml", junit.write),),
    "ctrf": (("ctrf.json", ctrf.write),),
    "markdown": (("summary.md", markdown.write),),
    "badge": (("badge.json", badge.write), ("badge.svg", badge.write)),
    "har": (("exchanges.har", har.write),),
    "csv": (("requirements.csv", table_csv.write),),
    # The page with its style sheet and script as files, for hosts that forbid inline ones (Jenkins).
    "html-split": (("report.html", lambda run, path: html.write(run, path, split=True)),),
}
DEFAULT = ("html", "junit", "ctrf", "markdown", "badge", "har", "csv")


def render(run: Run | str | Path, formats: Iterable[str] = DEFAULT, out: str | Path | None = None) -> list[Path]:
    """Write the formats beside the record (or into `out`); returns the files written.

    Raises ValueError for a format that does not exist, RecordError for a record that cannot be read, and
    MissingDependency, after every other format is written, naming the library that one lacks.
    """
    formats = tuple(formats)
    if unknown := [name for name in formats if name not in FORMATS]:
        raise ValueError(f"no such format: {unknown[0]} (there are {', '.join(FORMATS)})")
    loaded = run if isinstance(run, Run) else load_run(run)
    directory = Path(out) if out is not None else loaded.directory
    written = []
    missing: MissingDependency | None = None
    for name in formats:
        for file, write in FORMATS[name]:
            try:
                write(loaded, directory / file)
            except MissingDependency as error:
                missing = missing or error
            else:
                written.append(directory / file)
    if missing is not None:
        raise missing
    return written
