"""How the built-in ``tiny-chat`` weights are made: generated dialogues, training, held-out scores."""
