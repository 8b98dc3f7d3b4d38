"""Images: accepted as documented, counted over the conversation, and refused where they cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from conformance.ask import Asker
from conformance.laws.calls import member_of, objects_in
from conformance.laws.images import listed_value
from conformance.probe import probe
from conformance.traffic.bodies import Bodies, Body, changed
from conformance.traffic.images import REMOTE, broken_pictures, image_part, picture, pictures, text_part
from conformance.traffic.ledger import explore
from conformance.wire.exchange import Exchange
from spec.model import Profile

QUESTION = "What colour is this image? Answer with one word."
DRAWN = 6
MOST = 8  # where the list of models says nothing


def _model(bodies: Bodies) -> str:
    return bodies.target.vision_model or bodies.target.model


def _asking(bodies: Bodies, *parts: dict[str, Any], **fields: Any) -> Body:
    body = bodies.chat(QUESTION, max_tokens=16, **{"model": _model(bodies), **fields})
    return _showing(body, *parts)


def _showing(body: Body, *parts: dict[str, Any]) -> Body:
    """The same question (with the same nonce) about these pictures."""
    first = body["messages"][0]
    text = first["content"] if isinstance(first["content"], str) else first["content"][0]["text"]
    return changed(body, messages=[{"role": "user", "content": [text_part(text), *parts]}])


def _thirds(parts: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    third = -(-len(parts) // 3)
    return [parts[start : start + third] for start in range(0, len(parts), third)]


def _spread(bodies: Bodies, groups: Sequence[Sequence[dict[str, Any]]], **fields: Any) -> Body:
    """A conversation that shows each group of pictures in a message of its own."""
    messages: list[dict[str, Any]] = []
    for parts in groups:
        messages.append({"role": "user", "content": [text_part("Look."), *parts]})
        messages.append({"role": "assistant", "content": "I see."})
    messages.append({"role": "user", "content": QUESTION})
    return bodies.conversation(*messages, max_tokens=16, model=_model(bodies), **fields)


@probe("images.data-url-is-accepted", "images.reach-the-model", cost=2, needs="vision")
def test_a_picture(ask: Asker, bodies: Bodies) -> None:
    """Ask about a small picture in a base64 data URL, and the same without it: it must count in the prompt."""
    body = _asking(bodies)
    without, shown = ask(body), ask(_showing(body, picture("red")))
    listed = True if shown.ok else _listed_as_seeing(ask, bodies)
    data = {"capability": "vision", **({"shown": True} if listed else {})}
    ask.case("capability", data=data, repeatable=False, asked=shown)
    ask.case("accepted", ["images.data-url-is-accepted"], asked=shown)
    if shown.ok:
        ask.case("longer-prompt", ["images.reach-the-model"], shorter=without, longer=shown)


def _listed_as_seeing(ask: Asker, bodies: Bodies) -> bool:
    """Whether the list of models says that the model reads images, by any of the usual marks."""
    models = objects_in(member_of(ask(None, method="GET", path="/models").json.value, "data"))
    entry = next((one for one in models if one.get("id") == _model(bodies)), {})
    marks = (member_of(entry.get("capabilities"), "vision"), member_of(entry.get("references"), "max"))
    return entry.get("type") == "multimodal" or any(marks)


@probe("images.https-url-is-accepted", cost=1, needs="https-images")
def test_a_remote_picture(ask: Asker, bodies: Bodies) -> None:
    """Ask about a public picture by its https address. An endpoint without a way out cannot show that it is kept."""
    asked = ask(_asking(bodies, image_part(REMOTE)))
    ask.case("capability", data={"capability": "https-images"}, repeatable=False, asked=asked)
    ask.case("remote-image", repeatable=False, asked=asked)


def _refused(ask: Asker, control: Exchange, defect: Exchange, broken: str, *requirements: str) -> None:
    ask.case("refused", requirements, {"broken": broken}, control=control, defect=defect)


@probe("images.broken-image-is-refused", "images.file-url-is-refused", cost=4, needs="vision")
def test_what_is_no_picture(ask: Asker, bodies: Bodies) -> None:
    """Show data that is no picture, and a path on the server: an answer to either would be made up, or a leak."""
    body = _asking(bodies)
    control = ask(_showing(body, picture("blue")))
    for broken, url in list(broken_pictures().items())[:2]:
        _refused(ask, control, ask(_showing(body, image_part(url))), broken, "images.broken-image-is-refused")
    local = ask(_showing(body, image_part("file:///etc/hostname")))
    _refused(ask, control, local, "the image is a file: URL", "images.file-url-is-refused")


@probe("images.broken-image-is-refused", effort="exhaustive", cost=3, needs="vision")
def test_what_is_no_picture_streamed(ask: Asker, bodies: Bodies) -> None:
    """Show data that is no base64, and no picture in a stream: the refusal comes before the stream begins."""
    body = _asking(bodies)
    control = ask(_showing(body, picture("blue")))
    (broken, url), *_ = reversed(broken_pictures().items())
    for stream in (False, True):
        defect = ask(changed(_showing(body, image_part(url)), stream=stream))
        _refused(ask, control, defect, broken, "images.broken-image-is-refused")


@probe("images.remote-url-is-400", cost=2, needs="vision")
def test_remote_pictures_are_refused(ask: Asker, bodies: Bodies) -> None:
    """Show a picture by its address where only data URLs are taken."""
    body = _asking(bodies)
    control, defect = ask(_showing(body, picture("green"))), ask(_showing(body, image_part(REMOTE)))
    _refused(ask, control, defect, "the image is a remote URL", "images.remote-url-is-400")


@probe(
    "images.listing-gives-the-limit", "images.up-to-the-limit-are-accepted", "images.too-many-are-400",
    "images.too-many-code", "images.counted-over-the-conversation",
    cost=6, needs="vision",
)  # fmt: skip
def test_how_many_pictures(ask: Asker, bodies: Bodies) -> None:
    """Show as many pictures as the model is listed to read, and one more, in one message and over several.

    The limit counts over the whole conversation: a client that adds a picture each turn meets it late.
    """
    listing = ask(None, method="GET", path="/models")
    limit = listed_value(listing.json.value, _model(bodies), "references.max")
    ask.case("image-limit", data={"model": _model(bodies)}, listing=listing)
    known = isinstance(limit, int) and 1 <= limit <= MOST
    most = limit if known else MOST
    several = pictures(most + 1)
    body = _asking(bodies)
    # without a listed limit only a single picture is certain to be read
    control = ask(_showing(body, *several[: most if known else 1]))
    spread = ask(_spread(bodies, _thirds(several[: most if known else 1])))
    ask.case("accepted", ["images.up-to-the-limit-are-accepted"], asked=[control, spread])
    words = f"{most + 1} images are shown"
    too_many = ask(_showing(body, *several))
    _refused(ask, control, too_many, words, "images.too-many-are-400")
    if not 400 <= too_many.status < 500:
        return  # what is not counted at all has neither a code nor a way to be counted
    _refused(ask, control, too_many, words, "images.too-many-code")
    for stream in (False, True):
        defect = ask(_spread(bodies, _thirds(several), stream=stream))
        _refused(ask, spread, defect, f"{words} over several messages", "images.counted-over-the-conversation")


@probe(
    "images.up-to-the-limit-are-accepted", "images.counted-over-the-conversation",
    effort="exhaustive", cost=DRAWN + 2, needs="vision",
)  # fmt: skip
def test_drawn_distributions(ask: Asker, bodies: Bodies) -> None:
    """Spread drawn numbers of pictures over drawn numbers of messages: only their sum decides."""
    limit = listed_value(ask(None, method="GET", path="/models").json.value, _model(bodies), "references.max")
    most = limit if isinstance(limit, int) and 1 <= limit <= MOST else 1
    control = ask(_spread(bodies, [pictures(1)]))

    def send(counts: list[int]) -> None:
        several = pictures(sum(counts))
        groups = [several[sum(counts[:number]) : sum(counts[: number + 1])] for number in range(len(counts))]
        exchange = ask(_spread(bodies, groups))
        if len(several) <= most:
            ask.case("accepted", ["images.up-to-the-limit-are-accepted"], asked=exchange)
        elif len(several) > MOST or most > 1:
            words = f"{len(several)} images are shown"
            _refused(ask, control, exchange, words, "images.counted-over-the-conversation")

    explore(ask, st.lists(st.integers(0, 5), min_size=1, max_size=4), send, examples=DRAWN)


@probe("images.text-model-refuses", cost=3)
def test_a_picture_for_a_text_model(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Show a picture to a model that is listed as text only: ignoring it would yield confident nonsense."""
    listing = ask(None, method="GET", path="/models")
    model = _text_model(objects_in(member_of(listing.json.value, "data")))
    if model is None:
        pytest.skip("no model is listed as one that reads text only")
    body = _asking(bodies, model=model)
    plain = ask(body)
    shown = ask(_showing(body, picture("red")))
    _refused(ask, plain, shown, "the model reads no images", "images.text-model-refuses")


def _text_model(models: Sequence[dict[str, Any]]) -> str | None:
    """A chat model that the list marks as one without vision, by any of the usual marks."""
    for entry in models:
        marked = member_of(entry.get("capabilities"), "vision") is False or entry.get("type") == "causal_lm"
        if marked and isinstance(entry.get("id"), str):
            return str(entry["id"])
    return None
