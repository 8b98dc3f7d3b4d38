"""Freezes an edition as the data stands now: `python -m spec.freeze 2026-11` writes `editions/2026-11.yaml`."""

from __future__ import annotations

import sys

from spec import load_profile, profile_names
from spec.editions import freeze
from spec.files import SPEC_DIR


def main(edition: str) -> None:
    """Writes the edition for all profiles that name it; an edition of that name is replaced."""
    path = SPEC_DIR / "editions" / f"{edition}.yaml"
    path.unlink(missing_ok=True)
    profiles = [load_profile(name) for name in profile_names()]
    path.parent.mkdir(exist_ok=True)
    path.write_text(freeze([profile for profile in profiles if profile.edition == edition]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
