"""Loads profiles: `ark`, `serenity-edge`, …, and `portable`, what all of them promise."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path

from spec.catalogue import load_readings, load_requirements
from spec.editions import lost_problems, scored_ids
from spec.files import SPEC_DIR
from spec.model import Profile
from spec.portable import intersect
from spec.problems import SpecError
from spec.vendor import Vendor, load_vendor

PORTABLE = "portable"


def profile_names(spec_dir: Path | None = None) -> list[str]:
    """The profiles a run may be judged against: one for each vendor folder, then `portable`."""
    folders = sorted((spec_dir or SPEC_DIR).glob("vendors/*/openapi.yaml"))
    names = [path.parent.name.replace("_", "-") for path in folders]
    return [*names, PORTABLE] if len(names) > 1 else names


def load_profile(name: str, spec_dir: Path | None = None) -> Profile:
    """A profile by name; raises `KeyError` for an unknown one and `SpecError` where its data does not fit.

    `spec_dir` holds `vendors/`, and may hold `requirements/`, `readings.yaml` and `editions/`; what it lacks of
    these comes from the package.
    """
    return _load(name, (spec_dir or SPEC_DIR).resolve())


@cache
def _load(name: str, spec_dir: Path) -> Profile:
    return read_profile(name, spec_dir)


def read_profile(name: str, spec_dir: Path | None = None) -> Profile:
    """`load_profile` without its memory, for those who edit the data while they check it."""
    root = (spec_dir or SPEC_DIR).resolve()
    if name not in profile_names(root):
        raise KeyError(name)
    if name != PORTABLE:
        return _profile(load_one(root / "vendors" / name.replace("-", "_")), root)
    vendors = [other for other in profile_names(root) if other != PORTABLE]
    portable = intersect([load_profile(other, root) for other in vendors])
    problems = lost_problems(root, portable.edition, portable.name, portable.promises)
    if problems:
        raise SpecError(problems)
    return _score(portable, root)


def load_one(folder: Path) -> Vendor:
    """One vendor's folder with the catalogue that belongs to it; raises `SpecError`."""
    spec_dir = folder.parent.parent
    requirements = load_requirements(catalogue_dir(spec_dir, "requirements"))
    return load_vendor(folder, requirements, load_readings(catalogue_dir(spec_dir, "readings.yaml")))


def catalogue_dir(spec_dir: Path, part: str) -> Path:
    """The directory that holds `part`: the given one, or the package's where it has none."""
    return spec_dir if (spec_dir / part).exists() else SPEC_DIR


def _profile(vendor: Vendor, spec_dir: Path) -> Profile:
    profile = Profile(
        name=vendor.name,
        title=vendor.title,
        vendors=(vendor.name,),
        edition=vendor.edition,
        scored=frozenset(),
        openapi=vendor.openapi,
        requirements=vendor.requirements,
        promises=vendor.promises,
        constraints=vendor.constraints,
        request_fields=vendor.request_fields,
        catalogue_sha256=_digest(spec_dir),
    )
    return _score(profile, spec_dir)


def _score(profile: Profile, spec_dir: Path) -> Profile:
    return replace(profile, scored=scored_ids(spec_dir, profile))


def _digest(spec_dir: Path) -> str:
    """SHA-256 over every YAML file the profiles are made of, by name and content."""
    digest = hashlib.sha256()
    for root in dict.fromkeys((SPEC_DIR, spec_dir)):
        for path in sorted(root.rglob("*.yaml")):
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
