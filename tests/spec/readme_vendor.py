"""The vendor that spec/README.md adds, taken from its text, so that the text stays true."""

from __future__ import annotations

import re
from pathlib import Path

from spec.files import SPEC_DIR

BLOCK = re.compile(r"^`vendors/brook/(\w+\.yaml)`.*?^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def write_brook(spec_dir: Path) -> Path:
    """Writes the README's vendor below a directory and returns its folder."""
    folder = spec_dir / "vendors" / "brook"
    folder.mkdir(parents=True)
    for name, text in BLOCK.findall((SPEC_DIR / "README.md").read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    return folder
