"""A third vendor can be added from the README alone, and every mistake is answered with file, row and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

import spec
from spec.check import check_all, check_vendor
from spec.problems import SpecError
from tests.spec.readme_vendor import write_brook


@pytest.fixture
def brook(tmp_path: Path) -> Path:
    return write_brook(tmp_path)


def edit(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_package_has_no_problem():
    assert check_all() == []


def test_the_vendor_of_the_readme_loads(brook: Path):
    spec_dir = brook.parent.parent
    assert check_vendor(brook) == []
    assert spec.profile_names(spec_dir) == ["brook"]
    profile = spec.load_profile("brook", spec_dir)
    assert profile.title == "Brook"
    assert profile.promises["request.temperature.maximum"].where == "Request, request.temperature"
    assert profile.promises["chunk.choices.type"].level == "should"
    assert profile.promises["stream.ends-with-done"].params == {"terminator": "[DONE]"}
    assert profile.scored == frozenset(profile.promises)
    assert profile.accepts("messages.content")
    assert not profile.accepts("tools")


def test_the_document_of_the_readme_is_valid_openapi(brook: Path):
    from openapi_spec_validator import validate

    validate(spec.load_profile("brook", brook.parent.parent).openapi)


MISTAKES = {
    "duplicate promise": ("promises.yaml", "stream.done-comes-once", "stream.ends-with-done", "occurs twice"),
    "unknown requirement": (
        "promises.yaml",
        "response.id-is-unique",
        "response.id-is-uniq",
        "no requirement has this id",
    ),
    "unknown place": ("promises.yaml", "places: [chunk.done]", "places: [chunk.end]", "not in document.yaml"),
    "no places": ("promises.yaml", "places: [response.id]", "places: []", "`places` is empty"),
    "unknown level": (
        "promises.yaml",
        "level: must\n    basis: implied",
        "level: shall\n    basis: implied",
        "`level` must be",
    ),
    "unknown basis": ("promises.yaml", "basis: implied", "basis: guessed", "`basis` must be one of"),
    "unknown key": ("promises.yaml", "because: What", "why: What", "unknown key `why`"),
    "missing key": ("promises.yaml", "    basis: implied\n", "", "the key `basis` is missing"),
    "implied must without a reason": (
        "promises.yaml",
        "    because: What ends a stream can come once only.\n",
        "",
        "an implied `must` needs `because:`",
    ),
    "must by example": ("promises.yaml", "basis: implied", "basis: example", "cannot rest on the basis `example`"),
    "must by reading": (
        "promises.yaml",
        "basis: implied",
        "reading: AMB-62\n    basis: reading",
        "cannot rest on the basis `reading`",
    ),
    "reading without its reason": (
        "promises.yaml",
        "level: must\n    basis: stated\n    places: [response.id]",
        "level: should\n    basis: reading\n    places: [response.id]",
        "the basis `reading` needs",
    ),
    "unknown reading": (
        "promises.yaml",
        "because: What ends",
        "reading: AMB-99\n    because: What",
        "not in readings.yaml",
    ),
    "no title": ("promises.yaml", "title: Brook\n", "", "the key `title` is missing"),
    "not YAML": ("promises.yaml", "title: Brook", "title: [Brook", "not valid YAML"),
    "uncited place": (
        "document.yaml",
        "  promises_nothing: It is no statement about the endpoint.\n",
        "",
        "no promise cites this place",
    ),
    "cited place that promises nothing": (
        "document.yaml",
        "  says: The body is a JSON object.\n",
        "  says: The body is a JSON object.\n  promises_nothing: Really.\n",
        "a promise cites this place",
    ),
    "place twice": ("document.yaml", "id: response.id", "id: response", "occurs twice"),
    "place without a section": (
        "document.yaml",
        "  section: Reply\n  says: The body",
        "  says: The body",
        "`section` is missing",
    ),
    "no list": ("document.yaml", "- id: request\n", "id: request\n", "not valid YAML"),
    "stated limit that the schema lacks": (
        "document.yaml",
        "{minimum: 0, maximum: 2}",
        "{minimum: 0, maximum: 3}",
        "states maximum 3, but the schema has 2",
    ),
    "limit that the page does not state": (
        "document.yaml",
        "{minimum: 0, maximum: 2}",
        "{minimum: 0}",
        "the schema has maximum 2",
    ),
    "lost value": (
        "openapi.yaml",
        "[system, user, assistant]",
        "[system, user]",
        "states enum ['system', 'user', 'assistant']",
    ),
    "old OpenAPI": ("openapi.yaml", "openapi: 3.2.0", "openapi: 3.1.0", "must be 3.2.0"),
    "no operation": ("openapi.yaml", "    post:", "    get:", "must have the POST operation"),
    "no chunk": ("openapi.yaml", "    ChatCompletionChunk:", "    Chunk:", "the root of every chunk"),
    "keyword without a requirement": (
        "openapi.yaml",
        "maximum: 2}",
        "maximum: 2, multipleOf: 0.1}",
        "derived from `multipleOf`",
    ),
    "unknown annotation": ("openapi.yaml", "x-place: chunk", "x-palce: chunk", "unknown annotation `x-palce`"),
    "unknown key of an annotation": ("openapi.yaml", "{basis: example}", "{bases: example}", "unknown key `bases`"),
    "unknown capability": (
        "openapi.yaml",
        "stream: {type: boolean}",
        "stream: {type: boolean, x-needs: magic}",
        "unknown capability",
    ),
    "required but not described": (
        "openapi.yaml",
        "required: [role, content]",
        "required: [role, text]",
        "required names `text`",
    ),
    "dangling reference": (
        "openapi.yaml",
        "schemas/Message'",
        "schemas/Massage'",
        "cannot be read as an OpenAPI document",
    ),
    "field without a place": ("openapi.yaml", "max_tokens:", "max_output:", "the place `request.max_output` is not in"),
    "level of a keyword that is not there": (
        "openapi.yaml",
        "max_tokens: {type: integer}",
        "max_tokens: {type: integer, x-levels: {maximum: {basis: example}}}",
        "speaks of `maximum`",
    ),
    "wrong x-unless": ("openapi.yaml", "x-place: chunk", "x-unless: custom", "must look like tools[type=custom]"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_file_and_the_remedy(brook: Path, mistake: str):
    name, old, new, message = MISTAKES[mistake]
    edit(brook, name, old, new)
    problems = check_vendor(brook)
    said = [str(problem) for problem in problems if message in problem.message]
    assert said, [str(problem) for problem in problems]
    assert said[0].startswith(str(brook))
    with pytest.raises(SpecError):
        spec.load_profile("brook", brook.parent.parent)


@pytest.mark.parametrize("name", ["openapi.yaml", "document.yaml", "promises.yaml"])
def test_a_missing_file_is_named(brook: Path, name: str):
    (brook / name).unlink()
    (problem,) = check_vendor(brook)
    assert problem.file.endswith(name)
    assert "create it" in problem.message


def test_a_missing_folder_is_named(tmp_path: Path):
    (problem,) = check_vendor(tmp_path / "nobody")
    assert "no such folder" in problem.message


def test_check_all_looks_at_a_directory_of_ones_own(brook: Path):
    assert check_all(brook.parent.parent) == []
    edit(brook, "promises.yaml", "level: must", "level: shall")
    assert all("`level`" in problem.message for problem in check_all(brook.parent.parent) if "promises" in problem.file)
    assert check_all(brook.parent.parent)


def test_an_unknown_profile_is_a_key_error():
    with pytest.raises(KeyError, match="nosuch"):
        spec.load_profile("nosuch")
