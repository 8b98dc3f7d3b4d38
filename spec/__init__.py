"""What the vendors' documents promise: data, and the loader that checks it."""

from spec.loader import load_profile, profile_names

__all__ = ["load_profile", "profile_names"]
