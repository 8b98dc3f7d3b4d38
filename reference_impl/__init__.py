"""An endpoint that keeps every promise of a vendor's document: model, engine, dialects, and planted faults."""
