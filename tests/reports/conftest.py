"""Made-up runs, written once for all tests of reports; a test that changes one copies it first."""

from pathlib import Path

import pytest

import reports
from reports.synthetic import write_run
from tests.reports.browser import ARGUMENTS, CHROMIUM


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {
        "clean": write_run(folder / "clean", failures=0, exchanges=40),
        "three": write_run(folder / "three", failures=3, exchanges=40),
        "many": write_run(folder / "many", failures=150, exchanges=120, requirements=400),
        "hostile": write_run(folder / "hostile", failures=19, exchanges=40, hostile=True),
    }


@pytest.fixture(scope="session")
def rendered(runs: dict[str, Path]) -> dict[str, Path]:
    """The same runs with every format beside the record."""
    for directory in runs.values():
        reports.render(directory)
    return runs


@pytest.fixture(scope="module")
def chromium():
    """The system's Chromium, for one module: while it runs, nothing else may have an event loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
