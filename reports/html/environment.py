"""The template environment, and the policy under which the finished page runs."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.html.finding import citation_address
from reports.text_safety import visible
from reports.wording import VERDICT_WORDS, level_and_basis, seconds, topic_title

_HERE = Path(__file__).parent


@cache
def environment() -> Environment:
    """Templates with escaping always on; an undefined name is an error, not an empty string."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "shown": visible,
        "prose": prose,
        "citation_address": citation_address,
        "seconds": seconds,
        "promise": level_and_basis,
        "topic_title": topic_title,
        "plural": lambda count, one, many: f"{count:,} {one if count == 1 else many}",
    }
    made.globals |= {"verdict_words": VERDICT_WORDS}
    return made


def prose(text: str) -> Markup:
    """A sentence in which what stands between backticks is code; everything in it is escaped."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        return escape("`".join(parts))
    inside = [
        escape(part) if index % 2 == 0 else Markup("<code>{}</code>").format(part) for index, part in enumerate(parts)
    ]
    return Markup("").join(inside)


@cache
def asset(name: str) -> Markup:
    """The page's own style sheet or script, which is ours and goes into the page as it is."""
    return Markup((_HERE / "assets" / name).read_text("utf-8"))  # noqa: S704 - a file of this package


def content_policy(*, script: str | None, style: str) -> str:
    """The page's Content-Security-Policy: nothing loads, and only this very script and style apply."""
    sources = [f"script-src '{_digest(script)}'"] if script is not None else []
    return "; ".join(
        [
            "default-src 'none'",
            *sources,
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
