"""What the builders of tools and pictures make: valid where they say so, and the same each time."""

from __future__ import annotations

import base64
import itertools
import json
import re
import struct
import zlib
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.laws.tool_streams import fragments
from conformance.reply import reply_of
from conformance.traffic import images, tools
from tests.conformance.judging import KEPT, verdict
from tests.conformance.made import chunk, streamed


def chunks_of(data: bytes) -> dict[bytes, bytes]:
    """The chunks of a PNG file, each with its checksum verified."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + content)
        found[kind] = content
        at += 12 + size
    return found


def test_a_png_has_its_size_and_its_colour_in_every_pixel() -> None:
    parts = chunks_of(images.png((1, 2, 3), width=4, height=5))
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", parts[b"IHDR"]) == (4, 5, 8, 2, 0, 0, 0)
    assert zlib.decompress(parts[b"IDAT"]) == (b"\x00" + b"\x01\x02\x03" * 4) * 5


def test_pictures_are_different_files_in_data_urls() -> None:
    urls = [part["image_url"]["url"] for part in images.pictures(12)]
    assert len(set(urls)) == 12
    for url in urls:
        head, _, data = url.partition(",")
        assert head == "data:image/png;base64"
        chunks_of(base64.b64decode(data, validate=True))


def test_broken_pictures_are_broken() -> None:
    words, cut, letters = (url.partition(",")[2] for url in images.broken_pictures().values())
    assert not base64.b64decode(words).startswith(b"\x89PNG")
    assert b"IEND" not in base64.b64decode(cut)
    with pytest.raises(ValueError, match=r"[Oo]nly base64|Invalid|Non-base64"):
        base64.b64decode(letters, validate=True)


@pytest.mark.parametrize("task", tools.UNUSUAL, ids=lambda task: task.trait)
def test_unusual_schemas_are_schemas(task: tools.Task) -> None:
    definition = task.tool["function"]
    jsonschema.Draft202012Validator.check_schema(definition.get("parameters", {}))
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", definition["name"])


@pytest.mark.parametrize("name", [*tools.NAMES.values(), *tools.PROTOCOL_NAMES])
def test_names_keep_the_documented_rule(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)


def test_the_longest_name_has_exactly_the_limit() -> None:
    assert max(map(len, tools.NAMES.values())) == 64


def test_many_tools_have_many_names() -> None:
    assert len({tools.name_of(one) for one in tools.many(24)}) == 24


@given(tools.tools())
@settings(max_examples=50)
def test_drawn_tools_are_valid(drawn: list[tools.Tool]) -> None:
    assert 1 <= len(drawn) <= 3
    assert len({tools.name_of(one) for one in drawn}) == len(drawn)
    for one in drawn:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tools.name_of(one))
        parameters = one["function"]["parameters"]
        jsonschema.Draft202012Validator.check_schema(parameters)
        assert parameters["required"] == list(parameters["properties"])


def test_difficult_schemas() -> None:
    assert json.dumps(tools.chain(80)).count('"next": {') == 80
    jsonschema.Draft202012Validator.check_schema(tools.endless())
    jsonschema.Draft202012Validator(tools.recursive()).validate({"root": {"name": "a", "below": [{"name": "b"}]}})


@st.composite
def split_calls(draw: st.DrawFn) -> tuple[list[str], list[dict[str, Any]]]:
    """The arguments of one to three calls, and all their fragments in an order that keeps each call's own."""
    texts = draw(
        st.lists(
            st.dictionaries(st.text(max_size=4), st.text(max_size=6), max_size=2).map(json.dumps),
            min_size=1,
            max_size=3,
        )
    )
    queues: list[list[dict[str, Any]]] = []
    for index, text in enumerate(texts):
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
        pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
        head = {"id": f"call_{index}", "type": "function"}
        queues.append(
            [
                {
                    "index": index,
                    **(head if not n else {}),
                    "function": {**({"name": "f"} if not n else {}), "arguments": p},
                }
                for n, p in enumerate(pieces)
            ]
        )
    order: list[dict[str, Any]] = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        order.append(queue.pop(0))
    return texts, order


@given(split_calls())
@settings(max_examples=100)
def test_however_calls_are_cut_into_fragments_they_are_read_as_the_same(
    drawn: tuple[list[str], list[dict[str, Any]]],
) -> None:
    texts, order = drawn
    asked = {"tools": [{"type": "function", "function": {"name": "f"}}]}
    stream = streamed([*(chunk({"tool_calls": [part]}) for part in order), chunk({}, "tool_calls")], asked)
    reply = reply_of(stream)
    assert reply is not None
    assert {call.index: call.arguments for call in reply.first.calls} == dict(enumerate(texts))
    assert len(fragments(stream)) == len(order)
    for name in (
        "tools.first-fragment-names-the-call",
        "tools.id-and-name-come-once",
        "tools.indices-run-from-zero",
        "tools.arguments-are-an-object",
        "tools.ids-are-not-empty",
    ):
        assert verdict(name, stream) == KEPT
