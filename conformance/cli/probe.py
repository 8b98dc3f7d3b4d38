"""`conformance probe`: a handful of requests that say what an endpoint is."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

import spec
from conformance.ask import Asker, Session
from conformance.cli.options import config_option, known_profile, spec_dir_option, target_settings
from conformance.cli.target import resolve
from conformance.plugin import make_session
from conformance.preflight import preflight
from conformance.reply import reply_of
from conformance.settings import Settings
from conformance.traffic.bodies import WEATHER, Bodies, changed
from conformance.verdict import NOT_ENOUGH
from reports.text_safety import for_terminal
from spec.model import Profile


@click.command("probe", context_settings={"auto_envvar_prefix": "CONFORMANCE"})
@spec_dir_option
@config_option
@click.option("--target", "name", envvar="CONFORMANCE_TARGET", help="A [targets.NAME] of the settings file.")
@click.option("--profile", callback=known_profile, default="portable", show_default=True)
@click.option("--base-url", help="Up to and including /v1. Default: the bundled reference.")
@click.option("--model", help="Model id. Default: the first that GET models lists.")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the API key.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to other machines.")
def command(**given: Any) -> int:
    """Say in six requests whether an endpoint is reachable, authorised, streaming, calling tools, deterministic."""
    file = target_settings(given)
    with ExitStack() as stack:
        target = resolve(stack, given, file.target)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = Settings(given["profile"], target, folder)
        profile = spec.load_profile(settings.profile, settings.spec_dir)
        session = make_session(settings, profile)
        stack.callback(session.client.close)
        first = preflight(session, profile)
        if not first.go:
            click.echo(for_terminal(first.sentence))
            return NOT_ENOUGH
        for words, answer in _facts(session, profile):
            click.echo(for_terminal(f"{words:<14} {answer}"))
    return 0


def _facts(session: Session, profile: Profile) -> list[tuple[str, str]]:
    ask = Asker(session, "probe::facts", "probe")
    bodies = Bodies(profile, session.target, ask.nonce)
    body = bodies.chat("Count from 1 to 10.")
    twice = [reply_of(ask(body)) for _ in range(2)]
    streamed = ask(changed(body, stream=True))
    called = reply_of(ask(bodies.forced_call(WEATHER)))
    texts = {reply.first.content for reply in twice if reply}
    models = ask(None, path="/models", method="GET")
    listed = models.json.value.get("data", []) if models.ok and isinstance(models.json.value, dict) else []
    ids = [str(item.get("id")) for item in listed if isinstance(item, dict)]
    return [
        ("endpoint", session.target.base_url),
        ("model", session.target.model),
        ("models", ", ".join(ids[:10]) or f"no list (HTTP {models.status})"),
        ("key", "accepted" if session.target.key() else "none used"),
        ("streams", "yes" if streamed.ok and streamed.chunks else f"no (HTTP {streamed.status})"),
        ("forced calls", "yes" if called and called.first.calls else "no"),
        ("deterministic", "yes" if len(texts) == 1 and all(twice) else "no"),
    ]
