"""Tells people what a run found: the record, its renderings, comparisons of runs, and the certificate.

The record (`results.json`, `exchanges.jsonl`, `cases.jsonl`) is written by whoever runs the suite, through
`write_results`; everything else here only reads it.
"""

from reports.annotations import worst_annotations
from reports.certificate import CertificateError, Verification, certify, keygen, verify
from reports.comparison.changes import Difference, diff
from reports.comparison.side_by_side import Matrix, matrix
from reports.comparison.trend import History, history
from reports.detection import detection_page
from reports.normalise import normalise_run
from reports.optional import MissingDependency
from reports.record import RecordError, Run, load_run, schema, write_results
from reports.renderings import DEFAULT, FORMATS, render

__all__ = [
    "DEFAULT",
    "FORMATS",
    "CertificateError",
    "Difference",
    "History",
    "Matrix",
    "MissingDependency",
    "RecordError",
    "Run",
    "Verification",
    "certify",
    "detection_page",
    "diff",
    "history",
    "keygen",
    "load_run",
    "matrix",
    "normalise_run",
    "render",
    "schema",
    "verify",
    "worst_annotations",
    "write_results",
]
