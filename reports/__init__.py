"""Tells people what a run found: the record, its renderings, comparisons of runs, and the certificate.

The record (`results.json`, `exchanges.jsonl`, `cases.jsonl`) is written by whoever runs the suite, through
`write_results`; everything else here only reads it.
"""

from reports.annotations import worst_annotations
from reports.optional import MissingDependency
from reports.record import RecordError, Run, load_run, schema, write_results
from reports.renderings import DEFAULT, FORMATS, render

__all__ = [
    "DEFAULT",
    "FORMATS",
    "MissingDependency",
    "RecordError",
    "Run",
    "load_run",
    "render",
    "schema",
    "worst_annotations",
    "write_results",
]
