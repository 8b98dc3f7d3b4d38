"""Settings files: `conformance.toml`, `[tool.conformance]`, and waivers."""

from conformance.config.file import ConfigError, load_config
from conformance.config.waivers import Waiver, load_waivers

__all__ = ["ConfigError", "Waiver", "load_config", "load_waivers"]
