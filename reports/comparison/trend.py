"""How one target developed over many runs: verdicts, and broken promises by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reports.html.environment import asset, content_policy, environment
from reports.record import RESULTS, RecordError, Run, load_run
from reports.text_safety import for_markdown_prose
from reports.wording import headline, topic_title

_WIDTH, _HEIGHT = 260.0, 44.0


class Sparkline(NamedTuple):
    """Broken promises of one topic over the runs: a line, its last point, and the same in words."""

    topic: str
    counts: list[int]
    path: str
    last: tuple[float, float]
    words: str


@dataclass(frozen=True)
class Trend:
    """The runs of one target against one profile, the oldest first."""

    base_url: str
    model: str
    profile: str
    runs: list[Run]

    def sparklines(self) -> list[Sparkline]:
        """One line per topic that was ever broken, the most broken now first."""
        counted = [_broken_by_topic(run) for run in self.runs]
        topics = dict.fromkeys(topic for counts in counted for topic in counts)
        lines = [_sparkline(topic, [counts[topic] for counts in counted]) for topic in topics]
        return sorted(lines, key=lambda line: (-line.counts[-1], line.topic))


@dataclass(frozen=True)
class History:
    """Every target found, and sentences about records that could not be read."""

    trends: list[Trend]
    unreadable: list[str]

    def markdown(self) -> str:
        """A table of runs for each target."""
        lines = ["## History", ""]
        for trend in self.trends:
            model, address = for_markdown_prose(trend.model, 80), for_markdown_prose(trend.base_url, 120)
            lines += [
                f"### {model} at {address}, {trend.profile}",
                "",
                "| Date | Verdict | Failed | Warned | Inconclusive | Not exercised | Edition | Suite |",
                "|---|---|---:|---:|---:|---:|---|---|",
            ]
            for run in trend.runs:
                results = run.results
                numbers = [results["counts"][name] for name in ("fail", "warn", "inconclusive", "not_exercised")]
                lines.append(
                    f"| {results['started'][:16]} | {headline(run)} | {' | '.join(map(str, numbers))} | "
                    f"{results['edition']} | {results['suite']['version']} |"
                )
            lines.append("")
        lines += [f"- {for_markdown_prose(problem, 300)}" for problem in self.unreadable]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """One self-contained page; no script."""
        style = asset("report.css")
        return (
            environment()
            .get_template("history.html.j2")
            .render(
                trends=self.trends,
                headline=headline,
                unreadable=self.unreadable,
                style=style,
                policy=content_policy(script=None, style=style),
            )
        )


def history(directory: str | Path) -> History:
    """Every run recorded below a directory, grouped by target and profile, in order of time.

    A record that cannot be read does not hide the others: it is named in `unreadable`.
    """
    found: dict[tuple[str, str, str], list[Run]] = {}
    unreadable = []
    for path in sorted(Path(directory).rglob(RESULTS)):
        try:
            run = load_run(path)
        except RecordError as error:
            unreadable.append(f"{path.parent.name}: {error}")
            continue
        target = run.results["target"]
        found.setdefault((target["base_url"], target["model"] or "", run.results["profile"]), []).append(run)
    trends = [
        Trend(base_url, model, profile, sorted(runs, key=lambda run: str(run.results["started"])))
        for (base_url, model, profile), runs in found.items()
    ]
    return History(trends, unreadable)


def _broken_by_topic(run: Run) -> Counter[str]:
    return Counter(row["topic"] for row in run.requirements if row["verdict"] in ("fail", "warn"))


def _sparkline(topic: str, counts: Sequence[int]) -> Sparkline:
    step = _WIDTH / max(len(counts) - 1, 1)
    top = max(*counts, 1)
    points = [
        (round(index * step, 1), round(_HEIGHT - 4 - count / top * (_HEIGHT - 8), 1))
        for index, count in enumerate(counts)
    ]
    path = "M" + "L".join(f"{x} {y}" for x, y in points)
    words = (
        f"{topic_title(topic)}: {counts[0]} broken in the first run, {counts[-1]} in the last, at most {max(counts)}"
    )
    return Sparkline(topic, list(counts), path, points[-1], words)
