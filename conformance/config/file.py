"""Reads `conformance.toml` (or `[tool.conformance]`), with messages that name file, line and key."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
CONFIG = "conformance.toml"
PYPROJECT = "pyproject.toml"


class ConfigError(ValueError):
    """A settings file that cannot be used; the message says where and why."""


def find_config(folder: Path) -> Path | None:
    """`conformance.toml` in a folder, or its `pyproject.toml` where that has `[tool.conformance]`."""
    if (folder / CONFIG).is_file():
        return folder / CONFIG
    pyproject = folder / PYPROJECT
    if pyproject.is_file() and "conformance" in _toml(pyproject).get("tool", {}):
        return pyproject
    return None


def load_config(path: Path, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """The settings of a file, checked against the published schema, `${NAME}` replaced from the environment."""
    content = _toml(path)
    prefix: tuple[str, ...] = ()
    if path.name == PYPROJECT:
        content, prefix = content.get("tool", {}).get("conformance", {}), ("tool", "conformance")
    _check(path, content, config_schema(), prefix)
    resolved: dict[str, Any] = _resolve(content, environment, path, prefix)
    return resolved


def config_schema() -> dict[str, Any]:
    """The published JSON Schema of the settings file."""
    text = (files("conformance") / "schemas" / "config.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error


def _check(path: Path, content: Any, schema: Mapping[str, Any], prefix: Sequence[str]) -> None:
    for error in jsonschema_rs.validator_for(dict(schema)).iter_errors(content):
        place = [*prefix, *(str(step) for step in error.instance_path)]
        named = re.search(r"'([^']+)' was unexpected", error.message)
        if named and "unexpected" in error.message:
            place.append(named[1])
        raise ConfigError(f"{path}:{line_of(path, place)}: {'.'.join(place) or 'the file'}: {error.message}")


def line_of(path: Path, place: Sequence[str]) -> int:
    """The line (from 1) on which a key of a TOML file stands, or that of the nearest table above it."""
    best = 1
    table: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    deepest = -1
    for number, line in enumerate(lines, 1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        key = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if header:
            table = [part.strip("\"' ") for part in header[1].split(".")]
            here = table
        elif key:
            here = [*table, *(part.strip("\"' ") for part in key[1].split("."))]
        else:
            continue
        if list(place[: len(here)]) == here and len(here) > deepest:
            best, deepest = number, len(here)
    return best


def _resolve(value: Any, environment: Mapping[str, str], path: Path, place: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {name: _resolve(item, environment, path, [*place, name]) for name, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, environment, path, place) for item in value]
    if not isinstance(value, str):
        return value

    def replacement(match: re.Match[str]) -> str:
        if match[1] not in environment:
            where = f"{path}:{line_of(path, place)}: {'.'.join(place)}"
            raise ConfigError(f"{where}: the environment variable {match[1]} is not set")
        return environment[match[1]]

    return _VARIABLE.sub(replacement, value)
