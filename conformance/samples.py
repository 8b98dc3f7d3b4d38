"""Makes `reports/samples/`: for each vendor a conformant run and one with three faults, volatile values normalised.

`python -m conformance.samples [--out reports/samples]`
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

import reports
from conformance import reference
from conformance.cli.target import resolve_running
from conformance.run import run
from conformance.settings import Settings

FAULTS: dict[str, Sequence[str]] = {
    "ark": ("done-duplicated", "usage-total-mismatch", "unknown-field-ignored"),
    "serenity-edge": ("role-never-sent", "usage-total-mismatch", "unknown-model-wrong-status"),
}
KEPT = ("results.json", "report.html", "summary.md", "badge.svg")


def make(vendor: str, faults: Sequence[str], target: Path) -> Path:
    """One sample: a smoke run of the bundled reference with these faults, rendered into `target`."""
    planted = [word for fault in faults for word in ("--fault", fault)]
    with tempfile.TemporaryDirectory() as scratch, reference.running(vendor, "--allow-induce", *planted) as running:
        raw, normal = Path(scratch) / "raw", Path(scratch) / "normal"
        command = f"conformance run --profile {vendor} --effort smoke"
        run(Settings(vendor, resolve_running(running.base_url), raw, effort="smoke", command=command))
        reports.normalise_run(raw, normal)
        reports.render(normal)
        target.mkdir(parents=True, exist_ok=True)
        for name in KEPT:
            (target / name).write_bytes((normal / name).read_bytes())
    return target


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reports/samples"))
def main(out: Path) -> None:
    """Make all samples anew."""
    for vendor, faults in FAULTS.items():
        click.echo(make(vendor, (), out / vendor / "conformant"))
        click.echo(make(vendor, faults, out / vendor / "three-faults"))


if __name__ == "__main__":
    main()
