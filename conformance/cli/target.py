"""From options and settings files to a target: the named endpoint, or the bundled reference started for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import httpx

from conformance import reference
from conformance.cli.trouble import Trouble
from conformance.target import Prices, Target
from conformance.tls import verification

PORTABLE_DIALECT = "serenity-edge"  # the dialect on which the reference shows a profile of no vendor of its own


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    return host == "localhost" or host == "::1" or host.startswith("127.")


def resolve(stack: ExitStack, given: Mapping[str, Any], settings: Mapping[str, Any]) -> Target:
    """The target of a run: options first, then the settings of its `[targets.NAME]`.

    Starts the bundled reference where no base URL is given.
    """
    merged = merge(given, settings)
    if merged.get("base_url") is None:
        return _bundled(stack, merged)
    target = described(merged)
    return target if target.model else _with_model(target)


def merge(given: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Options over the settings of a `[targets.NAME]`."""
    return {**settings, **{name: value for name, value in given.items() if value not in (None, (), False)}}


def described(merged: Mapping[str, Any]) -> Target:
    """The target that options and settings describe; asks nobody, so that its model may be empty."""
    base_url = merged["base_url"]
    check_url(base_url, bool(merged.get("insecure_http")))
    variable = merged.get("api_key_env")
    if variable and not os.environ.get(variable):
        raise click.UsageError(f"the environment variable {variable}, which should hold the API key, is not set")
    headers = dict(merged.get("headers", {}))
    secret_headers = tuple(name for name in merged.get("secret_headers", ()) if name in headers)
    return Target(
        base_url=base_url.rstrip("/"),
        model=merged.get("model", ""),
        vision_model=merged.get("vision_model"),
        reasoning_model=merged.get("reasoning_model"),
        api_key_env=variable,
        headers=headers,
        secret_headers=secret_headers,
        induce=bool(merged.get("induce")),
        capabilities=merged.get("capabilities", {}),
        ca_bundle=_file(merged.get("ca_bundle"), "ca_bundle"),
        client_cert=_file(merged.get("client_cert"), "client_cert"),
        proxy=merged.get("proxy"),
        allow_load=bool(merged.get("allow_load")),
        name=merged.get("name", ""),
        prices=Prices(**merged["prices"]) if "prices" in merged else None,
        requests_per_minute=merged.get("requests_per_minute"),
    )


def _bundled(stack: ExitStack, given: Mapping[str, Any]) -> Target:
    dialect = given["profile"] if given["profile"] in reference.DIALECTS else PORTABLE_DIALECT
    faults = [word for fault in given.get("reference_faults", ()) for word in ("--fault", fault)]
    try:
        running = stack.enter_context(reference.running(dialect, "--allow-induce", *faults))
    except reference.ReferenceError as error:
        raise Trouble(f"the bundled reference did not start: {error}") from error
    target = resolve_running(running.base_url)
    return replace(target, model=given["model"]) if given.get("model") else target


def resolve_running(base_url: str) -> Target:
    """The bundled reference that is already running at a base URL."""
    return _with_model(
        Target(base_url, "", api_key_env=reference.KEY_VARIABLE, induce=True, allow_load=True, name="reference")
    )


def check_url(base_url: str, insecure_http: bool) -> None:
    """Refuse a base URL that would leak the key or cannot be meant."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise click.UsageError(f"the base URL {base_url!r} is not an http or https URL")
    if parts.username or parts.password:
        raise click.UsageError("a base URL must not carry a user or a password; see --api-key-env")
    if parts.query or parts.fragment:
        raise click.UsageError("a base URL must not carry a query or a fragment")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise click.UsageError("the base URL ends before /chat/completions, as the OpenAI SDKs take it")
    if parts.scheme == "http" and not is_loopback(parts.hostname) and not insecure_http:
        raise click.UsageError("plain http to another machine would show the key to the network; see --insecure-http")


def _file(path: str | None, name: str) -> str | None:
    if path is not None and not Path(path).is_file():
        raise click.UsageError(f"{name}: there is no file {path}")
    return path


def _with_model(target: Target) -> Target:
    """The target with the first model id that `GET models` lists.

    Where there is no such list, the preflight will say what the endpoint makes of the model name `default`.
    """
    headers = dict(target.headers)
    if key := target.key():
        headers["authorization"] = f"Bearer {key}"
    try:
        with httpx.Client(
            verify=verification(target), proxy=target.proxy, trust_env=False, timeout=10, follow_redirects=False
        ) as client:
            model = str(client.get(f"{target.base_url}/models", headers=headers).json()["data"][0]["id"])
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError):
        model = "default"
    return replace(target, model=model)
