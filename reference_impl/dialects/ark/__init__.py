"""ARK's document: POST /api/v1/chat/completions."""
