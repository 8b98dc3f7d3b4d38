"""Where the system's Chromium and axe-core are, and what every browser test asks of a page."""

import os
import shutil

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = os.environ.get("AXE_PATH", "")

# Without these Chromium asks its maker's servers for updates, and has no sandbox where tests run as root.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def fits(page):
    """Nothing is wider than the window, and no line of text is cut off at the sides."""
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def serious(page):
    """What axe-core finds that keeps people out; the page must have been opened with its policy bypassed."""
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        {"rule": item["id"], "where": [node["target"] for node in item["nodes"][:3]]}
        for item in found["violations"]
        if item["impact"] in ("serious", "critical")
    ]
