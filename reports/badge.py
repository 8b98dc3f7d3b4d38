"""The verdict as a badge: JSON for the shields.io endpoint (schema version 1), and an SVG of our own."""

from __future__ import annotations

import json
from pathlib import Path

from reports.html.environment import environment
from reports.record import Run, write_atomically
from reports.text_safety import visible

# Character widths of Verdana 11 px, near enough for a badge: the SVG fixes the length of the text anyway.
_WIDTH = 6.6

_COLOURS = {"conformant": "2f7d4f", "non-conformant": "a8241f", "incomplete": "5f6b7a"}


def label_and_message(run: Run) -> tuple[str, str]:
    """What the badge says. A run of a selection, or with waivers, never reads as plain conformance."""
    results = run.results
    label = f"{results['profile']} {results['edition']}"
    failed = results["counts"]["fail"]
    if results["verdict"] == "non-conformant":
        message = f"{failed} broken" if failed else "not conformant"
    elif results["verdict"] == "conformant":
        partly = results.get("only") or results["counts"]["waived"] or results.get("waivers")
        message = "partly conformant" if partly else "conformant"
    else:
        message = "incomplete"
    return visible(label), message


def as_json(run: Run) -> str:
    """The document that a shields.io endpoint badge reads."""
    label, message = label_and_message(run)
    badge = {"schemaVersion": 1, "label": label, "message": message, "color": _colour(run, message)}
    if run.results["verdict"] != "conformant":
        badge["isError"] = True
    return json.dumps(badge) + "\n"


def as_svg(run: Run) -> str:
    """A badge that needs no service."""
    label, message = label_and_message(run)
    template = environment().get_template("badge.svg.j2")
    return template.render(
        label=label,
        message=message,
        left=round(len(label) * _WIDTH) + 14,
        right=round(len(message) * _WIDTH) + 14,
        colour=_colour(run, message),
    )


def _colour(run: Run, message: str) -> str:
    return "5f6b7a" if message == "partly conformant" else _COLOURS[run.results["verdict"]]


def write(run: Run, path: Path) -> None:
    """Write the badge: JSON or SVG, as `path` ends."""
    write_atomically(path, as_svg(run) if path.suffix == ".svg" else as_json(run))
