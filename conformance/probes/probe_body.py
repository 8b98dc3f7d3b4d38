"""Bodies: broken JSON, JSON that is no object, odd but readable JSON, and bodies and prompts of great size."""

from __future__ import annotations

import json

import pytest

from conformance.ask import Asker
from conformance.probe import probe
from conformance.probes.pairs import REFUSALS, refuse
from conformance.traffic.bodies import Bodies, Body, changed
from conformance.traffic.carriers import SHORT
from conformance.traffic.defects import Variant
from conformance.wire.exchange import Exchange
from spec.model import Profile

MALFORMED, NO_OBJECT = "wire.malformed-json-is-refused", "wire.non-object-body-is-refused"
ODD = "errors.odd-input-is-survived"
TOO_LARGE, LARGE = "limits.large-body-is-413", "limits.body-below-the-limit-is-accepted"
OVER_LIMIT, OVER_PROMPT = "limits.max-tokens-over-context-is-refused", "limits.over-context-prompt-is-not-cut"
#: Names under which lists of models give the length of a context.
CONTEXT_NAMES = ("context_length", "max_model_len", "context_window", "max_context_length", "context")
LONG_PROMPT, LONGEST_PROMPT = 40_000, 400_000  # words
DEPTH = 3_000


def _plain(bodies: Bodies) -> Body:
    return bodies.chat("Say OK.", max_tokens=SHORT)


def _sent(ask: Asker, control: Exchange, words: str, data: bytes, requirement: str) -> None:
    defect = ask(data)
    ask.case("refused", [requirement], {"broken": words}, control=control, defect=defect)


@probe(MALFORMED, NO_OBJECT, *REFUSALS, effort="standard", cost=4)
def test_broken_bodies(ask: Asker, bodies: Bodies) -> None:
    """Cut a body short, send none at all, and put an accepted body into an array."""
    body = _plain(bodies)
    whole = json.dumps(body).encode()
    control = ask(body)
    _sent(ask, control, "the JSON is cut short", whole[:-1], MALFORMED)
    _sent(ask, control, "the body is empty", b"", MALFORMED)
    _sent(ask, control, "the body is an array around the request", b"[" + whole + b"]", NO_OBJECT)


BROKEN = {
    "single-quotes": b"{'model': 'm', 'messages': []}",
    "trailing-comma": b'{"model": "m", "messages": [{"role": "user", "content": "Say OK."}],}',
    "comment": b'{"model": "m", /* no */ "messages": [{"role": "user", "content": "Say OK."}]}',
    "two-values": b'{"model": "m", "messages": [{"role": "user", "content": "Say OK."}]} {}',
    "form": b"model=m&messages=hello",
    "bytes": b"\xff\xfe\x00\x01",
    "latin-1": '{"model": "m", "messages": [{"role": "user", "content": "Größe"}]}'.encode("latin-1"),
    "string": b'"hello"',
    "number": b"5",
    "null": b"null",
    "true": b"true",
}


@pytest.mark.parametrize("name", BROKEN)
@probe(MALFORMED, NO_OBJECT, *REFUSALS, effort="exhaustive", cost=2)
def test_each_broken_body(ask: Asker, bodies: Bodies, name: str) -> None:
    """Send bodies that are almost JSON, or JSON but no object."""
    requirement = NO_OBJECT if name in ("string", "number", "null", "true") else MALFORMED
    body = _plain(bodies)
    data = BROKEN[name].replace(b'"m"', json.dumps(body["model"]).encode())
    _sent(ask, ask(body), f"the body is broken ({name})", data, requirement)


def _odd(body: Body) -> dict[str, bytes]:
    text = json.dumps(body)
    inner = text[1:-1]
    nested = '{"a":' * DEPTH + "1" + "}" * DEPTH
    return {
        "repeated-keys": f'{{{inner},"temperature":0.5}}'.encode(),
        "nan": text.replace('"temperature": 0', '"temperature": NaN').encode(),
        "infinity": text.replace('"temperature": 0', '"temperature": Infinity').encode(),
        "byte-order-mark": b"\xef\xbb\xbf" + text.encode(),
        "huge-integer": f'{{{inner},"seed":{"9" * 400}}}'.encode(),
        "huge-exponent": text.replace('"temperature": 0', '"temperature": 1e999').encode(),
        "deep-array": f'{{{inner},"stop":{"[" * DEPTH}{"]" * DEPTH}}}'.encode(),
        "deep-object": f'{{{inner},"metadata":{nested}}}'.encode(),
        "nul-character": text.replace("Say OK.", "Say\\u0000 OK.").encode(),
        "empty-key": f'{{{inner},"":1}}'.encode(),
        "long-string": json.dumps({**body, "user": "u" * 100_000}).encode(),
        "utf-16": text.encode("utf-16"),
    }


@probe(ODD, effort="standard", cost=6)
def test_odd_bodies(ask: Asker, bodies: Bodies) -> None:
    """Send what JSON readers stumble over: repeated keys, NaN, a huge number, deep nesting, a NUL, a byte order mark.

    No document speaks of these; refused or answered, they must not bring the server down.
    """
    odd = _odd(_plain(bodies))
    chosen = ("repeated-keys", "nan", "byte-order-mark", "huge-integer", "deep-array", "nul-character")
    ask.case("survived", [ODD], asked=[ask(odd[name]) for name in chosen])


@pytest.mark.parametrize("name", ["infinity", "huge-exponent", "deep-object", "empty-key", "long-string", "utf-16"])
@probe(ODD, effort="exhaustive", cost=2)
def test_each_odd_body(ask: Asker, bodies: Bodies, name: str) -> None:
    """Send further odd bodies, and an accepted one right after: the server is still there."""
    body = _plain(bodies)
    ask.case("survived", [ODD], {"odd": name}, asked=[ask(_odd(body)[name]), ask(body)])


@probe(ODD, effort="standard", cost=1)
def test_other_content_type(ask: Asker, bodies: Bodies) -> None:
    """Send a good body that is labelled as text."""
    ask.case("survived", [ODD], asked=ask(_plain(bodies), headers={"content-type": "text/plain"}))


@probe(TOO_LARGE, LARGE, effort="standard", cost=3)
def test_large_bodies(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Pad an accepted request with white space, to just below the documented size and to well above it.

    White space costs no tokens and changes nothing else. A connection that breaks while the body is being sent
    decides nothing.
    """
    body = _plain(bodies)
    text = json.dumps(body).encode()
    plain = ask(body)
    below = ask(text.ljust(int(profile.promises[LARGE].params["bytes"])))
    above = ask(text.ljust(int(profile.promises[TOO_LARGE].params["bytes"])))
    ask.case("accepted", [LARGE], asked=below)
    ask.case("same-prompt", [LARGE], plain=plain, changed=below)
    told = {"broken": "the body is larger than documented", "own_status": True}
    ask.case("refused", [TOO_LARGE], told, control=plain, defect=above)


@probe(OVER_LIMIT, effort="standard", cost=2)
def test_limit_above_any_context(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Ask for more tokens than any context has, beside the same request with a small limit."""
    body = _plain(bodies)
    limit = int(profile.promises[OVER_LIMIT].params["limit"])
    variant = Variant(f"max_tokens is {limit}, above any context", changed(body, max_tokens=limit))
    refuse(ask, ask(body), variant, [OVER_LIMIT], "max_tokens")


@probe(OVER_PROMPT, effort="standard", cost=2)
def test_prompt_above_the_context(ask: Asker, bodies: Bodies) -> None:
    """Send a prompt longer than the context that the list of models gives, or than most contexts."""
    _long_prompt(ask, bodies, LONG_PROMPT)


@probe(OVER_PROMPT, effort="exhaustive", cost=2, needs="load")
def test_prompt_above_large_contexts(ask: Asker, bodies: Bodies) -> None:
    """Send a prompt longer than large contexts."""
    _long_prompt(ask, bodies, LONGEST_PROMPT)


def _long_prompt(ask: Asker, bodies: Bodies, otherwise: int) -> None:
    context = _context(ask(None, method="GET", path="/models"), bodies.target.model)
    if context >= otherwise:  # too dear for this effort
        return
    words = context + context // 4 if context else otherwise
    body = bodies.chat("one " * words + "\nSay OK.", max_tokens=SHORT)
    ask.case("over-context", [OVER_PROMPT], {"words": words}, asked=ask(body))


def _context(listing: Exchange, model: str) -> int:
    """The context length that a list of models gives for a model, or 0."""
    body = listing.json.value
    rows = body.get("data") if isinstance(body, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and row.get("id") == model:
            for name in CONTEXT_NAMES:
                if isinstance(row.get(name), int):
                    return int(row[name])
    return 0
