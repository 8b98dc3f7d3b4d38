"""The vendors' documents as running code, one folder each; nothing in one folder knows the other."""
