"""Reads the YAML files of a specification and checks the keys of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from spec.problems import Problem, SpecError

#: The data that ships with the package.
SPEC_DIR = Path(__file__).parent

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """The content of one file, not to be changed; raises `SpecError` where it is missing or is not YAML."""
    try:
        return _parse(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise SpecError([Problem(str(path), "", "the file is missing; create it (see README.md)")]) from None
    except yaml.YAMLError as error:
        raise SpecError([Problem(str(path), "", f"not valid YAML: {' '.join(str(error).split())}")]) from None


@lru_cache(maxsize=256)
def _parse(path: Path, changed: int) -> Any:
    """Remembered until the file changes, for each profile reads the same catalogue."""
    # the loader is one of the two safe ones
    return yaml.load(path.read_bytes(), Loader=Loader)  # noqa: S506


def rows(path: Path, content: Any, key: str) -> list[Mapping[str, Any]]:
    """`content` as a list of mappings that each name themselves under `key`; raises `SpecError` otherwise."""
    if not isinstance(content, list):
        raise SpecError([Problem(str(path), "", f"must be a list of rows, each with `{key}:`")])
    problems = [
        Problem(str(path), f"row {number}", f"must be a mapping with a text under `{key}:`")
        for number, row in enumerate(content, 1)
        if not isinstance(row, dict) or not isinstance(row.get(key), str)
    ]
    if problems:
        raise SpecError(problems)
    return content


def key_problems(
    path: Path, name: str, row: Mapping[str, Any], required: Iterable[str], optional: Iterable[str]
) -> list[Problem]:
    """A problem for every key that is missing or unknown."""
    required, known = tuple(required), (*required, *optional)
    missing = [key for key in required if key not in row]
    unknown = [key for key in row if key not in known]
    return [Problem(str(path), name, f"the key `{key}` is missing; add it") for key in missing] + [
        Problem(str(path), name, f"unknown key `{key}`; a row may have: {', '.join(known)}") for key in unknown
    ]


def repeated(path: Path, names: Iterable[str]) -> list[Problem]:
    """A problem for every name that occurs more than once."""
    seen: set[str] = set()
    twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    return [Problem(str(path), name, "this id occurs twice; ids are unique, give one another") for name in twice]
