"""What there is to know about one requirement, as data; how to show it is for others."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spec.catalogue import Reading, load_readings
from spec.files import SPEC_DIR
from spec.loader import catalogue_dir, load_profile, profile_names
from spec.model import Constraint, Promise, Requirement


@dataclass(frozen=True, slots=True)
class Explanation:
    """A requirement, and by profile who promises it, what it demands of a field, and the readings it rests on."""

    requirement: Requirement
    promises: Mapping[str, Promise]
    constraints: Mapping[str, Constraint]
    not_promised_by: tuple[str, ...]
    readings: tuple[Reading, ...]


def explain(requirement: str, spec_dir: Path | None = None) -> Explanation:
    """Everything about a requirement id; raises `KeyError` for an unknown one (see `near_matches`)."""
    profiles = [load_profile(name, spec_dir) for name in profile_names(spec_dir)]
    making = [profile for profile in profiles if requirement in profile.promises]
    if not making:
        raise KeyError(requirement)
    promises = {profile.name: profile.promises[requirement] for profile in making}
    known = load_readings(catalogue_dir((spec_dir or SPEC_DIR).resolve(), "readings.yaml"))
    return Explanation(
        requirement=making[0].requirements[requirement],
        promises=promises,
        constraints={
            profile.name: profile.constraints[requirement] for profile in making if requirement in profile.constraints
        },
        not_promised_by=tuple(profile.name for profile in profiles if profile not in making),
        readings=tuple(known[name] for name in dict.fromkeys(one.reading for one in promises.values()) if name),
    )


def known_ids(spec_dir: Path | None = None) -> list[str]:
    """All requirement ids of all profiles, sorted."""
    return sorted({name for profile in profile_names(spec_dir) for name in load_profile(profile, spec_dir).promises})


def near_matches(requirement: str, spec_dir: Path | None = None, count: int = 5) -> list[str]:
    """The known ids that a mistyped one is likely to mean, best first."""
    known = known_ids(spec_dir)
    close = difflib.get_close_matches(requirement, known, n=count, cutoff=0.6)
    inside = [name for name in known if requirement and requirement in name]
    return list(dict.fromkeys([*close, *inside]))[:count]
