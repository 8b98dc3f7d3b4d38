"""The model of the reference implementation: transformer, vision encoder, weight loading; plain torch."""
