"""What both dialects stand on: HTTP, strict JSON, pictures, and the way from tokens to pieces of a reply."""
