"""Asks a chat-completions endpoint what its vendor's document promises, and judges every answer."""

from importlib.metadata import PackageNotFoundError, version

NAME = "chat-completions-conformance"

try:
    __version__ = version(NAME)
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"
