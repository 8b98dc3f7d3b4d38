"""Checks a vendor's folder, or everything a specification directory holds, for the people who write it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from spec.catalogue import load_requirements, unjudged
from spec.diff import compare
from spec.files import SPEC_DIR
from spec.loader import PORTABLE, load_one, profile_names, read_profile
from spec.problems import Problem, SpecError

__all__ = ["check_all", "check_vendor", "unjudged"]


def check_vendor(folder: Path) -> list[Problem]:
    """What is wrong with a vendor's folder: file, row and what to do about each; nothing where it can be used."""
    if not folder.is_dir():
        return [Problem(str(folder), "", "no such folder; create it with openapi.yaml, document.yaml, promises.yaml")]
    found: list[Problem] = []
    missing = [name for name in ("openapi.yaml", "document.yaml", "promises.yaml") if not (folder / name).exists()]
    if missing:
        return [Problem(str(folder / name), "", "the file is missing; create it (see README.md)") for name in missing]
    try:
        load_one(folder)
    except SpecError as error:
        found += error.problems
    return found


def check_all(spec_dir: Path | None = None) -> list[Problem]:
    """What is wrong anywhere: vendors, catalogue and editions; in the package also gaps between them."""
    found: list[Problem] = []
    profiles = []
    for name in profile_names(spec_dir):
        try:
            profiles.append(read_profile(name, spec_dir))
        except SpecError as error:
            found += [problem for problem in error.problems if problem not in found]
    if found or spec_dir is not None:
        return found
    vendors = [profile for profile in profiles if profile.name != PORTABLE]
    for left, right in pairwise(vendors):
        found += [
            Problem("portable.yaml", one.about, "no row covers this difference; say what a portable client does")
            for one in compare(left, right)
            if not one.advice
        ]
    promised = {name for profile in vendors for name in profile.promises}
    found += [
        Problem(f"requirements/{name.split('.')[0]}.yaml", name, "no vendor promises this; remove the row")
        for name in load_requirements(SPEC_DIR)
        if name not in promised
    ]
    return found
