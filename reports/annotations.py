"""GitHub workflow commands for the worst findings.

GitHub shows ten errors and ten warnings a step and drops the rest, so only the ten worst are written.
"""

from __future__ import annotations

from reports.record import Run
from reports.text_safety import for_workflow_message, for_workflow_property, shortened
from reports.wording import finding_sentence, findings

MOST = 10


def worst_annotations(run: Run) -> list[str]:
    """One `::error` (a failure or a suite error) or `::warning` line for each of the ten worst findings."""
    lines = []
    for row in findings(run)[:MOST]:
        kind = "error" if row["verdict"] in ("fail", "error") and row["scored"] else "warning"
        title = for_workflow_property(shortened(f"{row['id']} ({row['level'] or 'no level'})", 120))
        message = for_workflow_message(shortened(f"{row['title']}\n{finding_sentence(row)}", 600))
        lines.append(f"::{kind} title={title}::{message}")
    return lines
