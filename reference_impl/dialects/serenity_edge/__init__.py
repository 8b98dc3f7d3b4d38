"""Serenity Edge's document: POST /v1/chat/completions."""
