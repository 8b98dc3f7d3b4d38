"""`conformance replay`: send one recorded request again, and judge the answer."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

import spec
from conformance.ask import Asker
from conformance.cli.target import check_url
from conformance.cli.trouble import Trouble
from conformance.judge import Judge
from conformance.plugin import make_session
from conformance.settings import SETTINGS, Settings
from conformance.wire.exchange import Exchange
from conformance.wire.journal import read_exchanges
from conformance.wire.redaction import REDACTED
from reports.text_safety import for_terminal

SHOWN = 4000


@click.command("replay")
@click.option("--base-url", help="Another endpoint than the one recorded.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to other machines.")
@click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("exchange_id", metavar="EXCHANGE")
def command(base_url: str | None, insecure_http: bool, folder: Path, exchange_id: str) -> int:
    """Send one recorded request again (with the key from the environment) and judge what comes back."""
    if not (folder / SETTINGS).exists():
        raise click.UsageError(f"{folder} is not a run's folder: it has no {SETTINGS}")
    recorded = {x.id: x for x in read_exchanges(folder)}
    if exchange_id not in recorded:
        raise click.UsageError(f"{folder} has no exchange {exchange_id} (it has {len(recorded)})")
    settings = Settings.read(folder)
    url = base_url or settings.target.base_url
    check_url(url, insecure_http)
    with ExitStack() as stack:
        answer = _again(stack, settings, url, recorded[exchange_id])
    return _show(answer, settings)


def _again(stack: ExitStack, settings: Settings, url: str, old: Exchange) -> Exchange:
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    here = replace(settings, target=replace(settings.target, base_url=url), out=scratch)
    session = make_session(here, spec.load_profile(settings.profile, settings.spec_dir))
    stack.callback(session.client.close)
    if REDACTED.encode() in old.sent.body:
        raise Trouble(f"{old.id} held a secret that was never recorded; it cannot be sent again")
    kept = {
        name: value
        for name, value in old.sent.headers
        if name.lower() not in ("accept-encoding", "authorization", "content-type") and REDACTED not in value
    }
    ask = Asker(session, f"replay::{old.id}", "replay")
    path = old.sent.url.removeprefix(settings.target.base_url.rstrip("/"))
    return ask(old.sent.body, key=old.facts.get("key", "right"), headers=kept, path=path, method=old.sent.method)


def _shown(text: str) -> str:
    """A body as a person wants to see it: of a long one the beginning and the end."""
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    return f"{text[:half]}\n… {len(text) - SHOWN} characters left out …\n{text[-half:]}"


def _show(answer: Exchange, settings: Settings) -> int:
    profile = spec.load_profile(settings.profile, settings.spec_dir)
    if answer.received is None:
        click.echo(for_terminal(f"no answer: {answer.problem}"))
        return 5
    click.echo(for_terminal(f"{answer.received.http_version} {answer.status} in {answer.total_s:.2f} s ({answer.end})"))
    for line in _shown(answer.received.body.decode("utf-8", "replace")).split("\n"):
        click.echo(for_terminal(line))
    worst = 0
    for finding in Judge(profile).exchange(answer):
        if finding.violation is not None:
            level = profile.promises[finding.requirement].level
            click.echo(for_terminal(f"{level} violated: {finding.requirement}: {finding.violation.message}"))
            worst = max(worst, int(level == "must"))
    return worst
