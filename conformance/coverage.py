"""Whether every testable requirement of a profile is judged by some law, and made observable by some probe."""

from __future__ import annotations

import tempfile
from pathlib import Path

from conformance.laws import CASE_LAWS, judged_ids
from conformance.plan import Plan, make_plan
from conformance.reference import KEY_VARIABLE
from conformance.settings import Settings
from conformance.target import Target
from spec.model import Profile


def everything(profile: Profile, spec_dir: Path | None = None) -> Plan:
    """The plan of the largest run: exhaustive, with a key, inducing, against a target that allows everything."""
    import os

    os.environ.setdefault(KEY_VARIABLE, "planning only")
    with tempfile.TemporaryDirectory() as folder:
        target = Target("http://127.0.0.1", "model", api_key_env=KEY_VARIABLE, induce=True, allow_load=True)
        settings = Settings(profile.name, target, Path(folder), effort="exhaustive", spec_dir=spec_dir)
        settings.write()
        return make_plan(settings)


def unjudged(profile: Profile, spec_dir: Path | None = None) -> list[str]:
    """Testable requirements that no law judges or no probe makes observable."""
    observable = everything(profile, spec_dir).requirements
    by_name = any(not law.requirement for laws in CASE_LAWS.values() for law in laws)
    judged = judged_ids()
    return [
        name
        for name in profile.promises
        if profile.requirements[name].judge != "untestable"
        and (name not in observable or not (name in judged or name in profile.constraints or by_name))
    ]
