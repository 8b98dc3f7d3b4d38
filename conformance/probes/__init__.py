"""Stories that make promises observable: one pytest file per topic."""
