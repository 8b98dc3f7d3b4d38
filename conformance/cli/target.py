"""From options to a target: the named endpoint, or the bundled reference started for the occasion."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import click
import httpx

from conformance import reference
from conformance.cli.trouble import Trouble
from conformance.target import Target

LOOPBACK = ("127.", "::1", "localhost")
PORTABLE_DIALECT = "serenity-edge"  # the reference dialect that a run without a vendor of its own is shown on


def resolve(stack: ExitStack, given: Mapping[str, Any]) -> Target:
    """The target that the options describe. Starts the bundled reference where no base URL is given."""
    base_url = given["base_url"]
    if base_url is None:
        return _bundled(stack, given)
    _check_url(base_url, given["insecure_http"])
    name = given["api_key_env"]
    if name and not os.environ.get(name):
        raise click.UsageError(f"the environment variable {name} (--api-key-env) is not set")
    models = given["models"] or (_first_model(base_url, os.environ.get(name) if name else None),)
    return Target(
        base_url=base_url.rstrip("/"),
        model=models[0],
        vision_model=given["vision_model"],
        reasoning_model=given["reasoning_model"],
        api_key_env=name,
        induce=given["induce"],
        allow_load=given["allow_load"],
    )


def _bundled(stack: ExitStack, given: Mapping[str, Any]) -> Target:
    dialect = given["profile"] if given["profile"] in ("ark", "serenity-edge") else PORTABLE_DIALECT
    try:
        running = stack.enter_context(reference.running(dialect, "--allow-induce"))
    except reference.ReferenceError as error:
        raise Trouble(f"the bundled reference did not start: {error} (is the 'reference' extra installed?)") from error
    models = given["models"] or (_first_model(running.base_url, os.environ[reference.KEY_VARIABLE]),)
    return Target(
        base_url=running.base_url,
        model=models[0],
        vision_model=given["vision_model"],
        reasoning_model=given["reasoning_model"],
        api_key_env=reference.KEY_VARIABLE,
        induce=True,
        allow_load=True,
    )


def _check_url(base_url: str, insecure_http: bool) -> None:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise click.UsageError(f"--base-url {base_url!r} is not an http or https URL")
    if parts.username or parts.password:
        raise click.UsageError("--base-url must not carry a user or a password; use --api-key-env")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise click.UsageError("--base-url ends before /chat/completions, as the OpenAI SDKs take it")
    if parts.scheme == "http" and not parts.hostname.startswith(LOOPBACK) and not insecure_http:
        raise click.UsageError("plain http to another machine would show the key to the network; see --insecure-http")


def _first_model(base_url: str, key: str | None) -> str:
    """The first id that `GET models` lists, or a name that a single-model server may not care about."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        listing = httpx.get(f"{base_url.rstrip('/')}/models", headers=headers, timeout=10, trust_env=False).json()
        return str(listing["data"][0]["id"])
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError):
        return "default"
