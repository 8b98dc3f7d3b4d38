"""An endpoint that keeps every promise of a vendor's document, and on request breaks exactly one."""
