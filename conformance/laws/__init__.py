"""The only code that judges: one short function for each requirement, grouped by topic."""

import importlib
import pkgutil

from conformance.laws.registry import (
    CASE_LAWS,
    EXCHANGE_LAWS,
    RUN_LAWS,
    Law,
    Undecided,
    Violation,
    case_law,
    judged_ids,
    law,
    run_law,
)

__all__ = [
    "CASE_LAWS",
    "EXCHANGE_LAWS",
    "RUN_LAWS",
    "Law",
    "Undecided",
    "Violation",
    "case_law",
    "judged_ids",
    "law",
    "run_law",
]

# Every module of this folder registers its laws by being imported.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
