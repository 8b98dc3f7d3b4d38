"""Defects to plant: each breaks exactly one promise, so that the suite can be seen to find it."""
