"""A Markdown summary for a CI step or a pull request, well under GitHub's limit of 1 MiB a step.

Whatever an endpoint said stands in inline code made of character references, so that it cannot become a
link, an image, a mention or a heading.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reports.record import Run, write_atomically
from reports.text_safety import for_markdown, for_markdown_prose
from reports.wording import (
    VERDICT_WORDS,
    by_topic,
    finding_sentence,
    findings,
    headline,
    level_and_basis,
    reproduction,
    topic_title,
    unjudged,
)

_WORST = 10
_NAMED = 30


def render(run: Run) -> str:
    """The summary."""
    results = run.results
    target = results["target"]
    lines = [
        f"## {headline(run)}",
        "",
        for_markdown_prose(results["reason"], 400),
        "",
        "| | |",
        "|---|---|",
        f"| Profile | {results['profile']}, edition {results['edition']} |",
        f"| Model | {for_markdown(target['model'] or 'not named', 120)} |",
        f"| Endpoint | {for_markdown(target['base_url'], 200)} |",
        f"| Run | {results['started']}, effort {results['effort']}, seed {results['seed']} |",
        f"| Suite | {results['suite']['name']} {results['suite']['version']} |",
        "",
        *_counts(results["counts"]),
        "",
        *_findings(run),
        *_untested(run),
        *_topics(run),
    ]
    if results.get("command"):
        lines += ["", "Run it again:", "", for_markdown(results["command"])]
    return "\n".join(lines) + "\n"


def _counts(counts: dict[str, int]) -> list[str]:
    order = ("pass", "fail", "warn", "inconclusive", "not_exercised", "waived", "error", "not_applicable")
    return [
        "| " + " | ".join(VERDICT_WORDS[verdict][0] for verdict in order) + " |",
        "|" + "---:|" * len(order),
        "| " + " | ".join(str(counts[verdict]) for verdict in order) + " |",
    ]


def _findings(run: Run) -> list[str]:
    found = findings(run)
    if not found:
        return ["No promise was broken.", ""]
    lines = ["### The worst findings", ""]
    for row in found[:_WORST]:
        lines.append(
            f"- **{VERDICT_WORDS[row['verdict']][0]}** `{row['id']}` ({level_and_basis(row)}): "
            f"{for_markdown_prose(row['title'], 200)}<br>"
            f"{for_markdown(finding_sentence(row), 300)}{_reproduced(row)}"
        )
    if len(found) > _WORST:
        lines.append(f"- and {len(found) - _WORST} more")
    return [*lines, ""]


def _reproduced(row: dict[str, Any]) -> str:
    said = reproduction(row["violations"][0]) if row["violations"] else ""
    return f" {said}" if said else ""


def _untested(run: Run) -> list[str]:
    rows = unjudged(run)
    notes = run.results.get("notes") or []
    if not rows and not notes:
        return []
    lines = [
        "### Not tested, and why",
        "",
        *(f"- {for_markdown_prose(note, 300)}" for note in notes[:_NAMED]),
    ]
    for row in rows[:_NAMED]:
        lines.append(f"- {VERDICT_WORDS[row['verdict']][0]}: `{row['id']}` {for_markdown_prose(row['why'] or '', 200)}")
    if len(rows) > _NAMED:
        lines.append(f"- and {len(rows) - _NAMED} more")
    return [*lines, ""]


def _topics(run: Run) -> list[str]:
    lines = [
        "<details><summary>By topic</summary>",
        "",
        "| Topic | " + " | ".join(word for word, _ in VERDICT_WORDS.values()) + " |",
        "|---|" + "---:|" * len(VERDICT_WORDS),
    ]
    for topic, rows in by_topic(run.requirements).items():
        verdicts = [row["verdict"] for row in rows]
        lines.append(
            f"| {topic_title(topic)} | " + " | ".join(str(verdicts.count(v) or "") for v in VERDICT_WORDS) + " |"
        )
    return [*lines, "", "</details>"]


def write(run: Run, path: Path) -> None:
    """Write the summary to `path`."""
    write_atomically(path, render(run))
