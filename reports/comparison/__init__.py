"""Several runs at once: what changed between two, what endpoints do side by side, how one developed."""
