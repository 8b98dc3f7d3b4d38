"""Requests: builders for what the document allows, and single defects that it forbids."""
