"""`conformance keygen`, `certify` and `verify`: a run's result, signed, and checked again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

import reports
import spec
from conformance.results import judge_folder, requirement_rows
from conformance.settings import Settings
from conformance.verdict import NON_CONFORMANT, WRONG_USAGE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("keygen")
@click.argument("private", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("public", type=click.Path(dir_okay=False, path_type=Path))
def keygen(private: Path, public: Path) -> int:
    """Make an Ed25519 key pair for certify (PRIVATE) and verify (PUBLIC)."""
    try:
        reports.keygen(private, public)
    except reports.CertificateError as error:
        click.echo(str(error), err=True)
        return WRONG_USAGE
    click.echo(f"{private} (keep it secret), {public}")
    return 0


@click.command("certify")
@click.option("--key", required=True, type=FILE, help="Private key file (see keygen).")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Default: certificate.json in the run.")
@click.argument("run", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path))
def certify(key: Path, out: Path | None, run: Path) -> int:
    """Sign a complete run as an in-toto test result; refused for incomplete, partial and waived runs."""
    try:
        click.echo(reports.certify(run, key, out))
    except (reports.CertificateError, reports.RecordError) as error:
        click.echo(str(error), err=True)
        return WRONG_USAGE
    return 0


@click.command("verify")
@click.option("--key", required=True, type=FILE, help="Public key file of the signer.")
@click.option("--run", "run", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The run's folder.")
@click.option("--no-rejudge", is_flag=True, help="Check signature and digests only.")
@click.argument("file", metavar="FILE", type=FILE)
def verify(key: Path, run: Path | None, no_rejudge: bool, file: Path) -> int:
    """Check a certificate: signature, digests, and the verdicts by judging the exchanges again."""
    try:
        found = reports.verify(file, key, run, None if no_rejudge else _rejudge)
    except (reports.CertificateError, reports.RecordError) as error:
        click.echo(str(error), err=True)
        return WRONG_USAGE
    for problem in found.problems:
        click.echo(problem)
    if found.ok:
        click.echo("the certificate holds" + ("" if found.rejudged else " (exchanges not judged again)"))
    return 0 if found.ok else NON_CONFORMANT


def _rejudge(run: reports.Run) -> Mapping[str, str]:
    """Requirement id → verdict, from the recorded exchanges alone."""
    settings = Settings.read(run.directory)
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    judged = judge_folder(run.directory, profile, settings.target.capabilities)
    rows = requirement_rows(judged, profile, settings, {}, [row["id"] for row in run.requirements])
    return {row["id"]: row["verdict"] for row in rows}
