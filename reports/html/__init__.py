"""`report.html`: one file that opens from disk without a network and reads without JavaScript."""

from reports.html.page import render, write

__all__ = ["render", "write"]
