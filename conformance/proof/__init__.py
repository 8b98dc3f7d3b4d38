"""Proof that every check can fail: the suite against the bundled reference with one fault at a time."""
