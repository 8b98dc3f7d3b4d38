"""Thinking: every effort, both ways to ask for it, and where its text ends up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.ask import Asker
from conformance.laws.calls import member_of, objects_in
from conformance.laws.reasoning import reasoning_text, thought
from conformance.laws.sampled import TRIALS, enough
from conformance.plugin import profile_of
from conformance.probe import probe
from conformance.reply import reply_of
from conformance.traffic.bodies import WEATHER, Bodies, Body, changed
from conformance.traffic.tools import named
from conformance.wire.exchange import Exchange
from spec.model import Profile

PUZZLE = "What is 12 plus 30?"
ON = "medium"
ROOM = 384  # tokens for thinking and answer
OFF_IDS = ("reasoning.low-is-off", "reasoning.none-and-minimal-are-off")
THINKING = (
    "reasoning.on-yields-reasoning", "reasoning.text-implies-tokens", "reasoning.no-markup-in-content",
    "reasoning.answer-is-content",
)  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each effort of the document; two of them are asked for in both forms where there are two."""
    if "effort" not in metafunc.fixturenames:
        return
    profile = profile_of(metafunc.config)
    promise = profile.promised("reasoning.every-effort-is-accepted")
    efforts = promise.params["efforts"] if promise else ()
    both = profile.accepts("reasoning_effort") and profile.accepts("reasoning.effort")
    parameters = []
    for effort in efforts:
        forms = both and effort in ("none", ON)
        names = (
            "reasoning.every-effort-is-accepted",
            *OFF_IDS,
            *(("reasoning.object-form-equals-field",) if forms else ()),
        )
        parameters.append(pytest.param(effort, forms, marks=probe(*names, cost=2 if forms else 1, needs="reasoning")))
    metafunc.parametrize(("effort", "forms"), parameters)


def _effort(profile: Profile, effort: str, **more: Any) -> dict[str, Any]:
    """The fields that ask for an effort, in the first form that the document has."""
    if profile.accepts("reasoning_effort") and not more:
        return {"reasoning_effort": effort}
    return {"reasoning": {"effort": effort, **more}}


def _asking(bodies: Bodies, fields: Mapping[str, Any], text: str = PUZZLE, max_tokens: int = ROOM, **more: Any) -> Body:
    model = bodies.target.reasoning_model or bodies.target.model
    return bodies.chat(text, max_tokens=max_tokens, model=model, **fields, **more)


@probe(*THINKING, effort="smoke", cost=1, needs="reasoning")
def test_thinking(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Switch thinking on, with a puzzle, in a stream that reports its usage.

    A model may think about one question and not about another: it is asked up to ten times, and only if it never
    thinks is that held against the endpoint (or, where thinking is not declared, is it taken to lack the ability).
    """
    fields = {**_effort(profile, ON), "stream": True, "stream_options": {"include_usage": True}}
    trials: list[Exchange] = []
    while not enough([bool(reasoning_text(x)) for x in trials], TRIALS):
        number = len(trials)
        text = PUZZLE if number == 0 else f"What is {12 + number} plus {30 + 2 * number}? Think about it first."
        trials.append(ask(_asking(bodies, fields, text)))
        if not trials[-1].ok:
            break
    answered = [x for x in trials if x.ok]
    shown = any(map(thought, answered)) if answered else None
    ask.case("capability", data={"capability": "reasoning", "shown": shown}, repeatable=False, trials=trials)
    if answered:
        ask.case("thinking-trials", repeatable=False, trials=trials)


def test_every_effort(ask: Asker, bodies: Bodies, effort: str, forms: bool) -> None:
    """Ask with one documented effort, in both forms where the document has two.

    The forms must mean the same: the same prompt, and thinking on or off alike. Where they seem to differ in
    that, both are asked twice more before it is believed.
    """
    one = _asking(bodies, {}, max_tokens=48)
    body = changed(one, reasoning_effort=effort) if bodies.profile.accepts("reasoning_effort") else None
    nested = changed(one, reasoning={"effort": effort})
    exchange = ask(body or nested)
    ask.case("accepted", ["reasoning.every-effort-is-accepted"], {"effort": effort}, asked=exchange)
    if not forms or body is None:
        return
    fields, objects = [exchange], [ask(nested)]
    if thought(fields[0]) != thought(objects[0]):
        fields += [ask(body), ask(body)]
        objects += [ask(nested), ask(nested)]
    ask.case("effort-forms", repeatable=False, field=fields, object=objects)


@probe("reasoning.default-is-off", cost=1, needs="reasoning")
def test_no_effort(ask: Asker, bodies: Bodies) -> None:
    """Name no effort, with a puzzle that would be thought about if thinking were on."""
    ask(_asking(bodies, {}, max_tokens=64))


@probe("reasoning.cut-thinking-stays-reasoning", "reasoning.answer-is-content", *THINKING, cost=4, needs="reasoning")
def test_thinking_that_is_cut(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Think, then cut the same reply short while it thinks, whole and streamed: the thoughts are no answer."""
    body = _asking(bodies, _effort(profile, ON))
    full, again = ask(body), ask(body)
    for stream in (False, True):
        limit = min(6, max(1, _thinking_tokens(full) - 1))
        cut = ask(changed(body, max_tokens=limit, stream=stream))
        ask.case("thinking-cut", full=full, again=again, cut=cut)


def _thinking_tokens(x: Exchange) -> int:
    reply = reply_of(x)
    return (reply.reasoning_tokens or 0) if reply else 0


@probe("reasoning.exclude-hides-text", cost=4, needs="reasoning")
def test_hidden_thinking(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Think aloud twice, then hide the thinking, whole and streamed: the answer stays, and the thoughts are gone."""
    body = _asking(bodies, _effort(profile, ON, exclude=False))
    hidden = changed(body, reasoning={"effort": ON, "exclude": True})
    shown, again = ask(body), ask(body)
    for stream in (False, True):
        ask.case("thinking-hidden", shown=shown, again=again, hidden=ask(changed(hidden, stream=stream)))


@probe("reasoning.no-markup-in-content", "tools.named-choice-is-obeyed", effort="exhaustive", cost=2, needs="reasoning")
def test_thinking_before_a_call(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Think before a forced call, whole and streamed: thinking, call and text keep apart."""
    for stream in (False, True):
        fields = {**_effort(profile, ON), "tools": [WEATHER], "tool_choice": named("get_weather"), "stream": stream}
        ask(_asking(bodies, fields, "What is the weather in Paris?"))


@probe("reasoning.without-ability-is-survived", cost=2)
def test_an_effort_for_a_model_that_cannot_think(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Send an effort to a model that is listed as one that cannot think; ignoring and refusing it are both fine."""
    listing = ask(None, method="GET", path="/models")
    models = objects_in(member_of(listing.json.value, "data"))
    plain = [m.get("id") for m in models if member_of(m.get("capabilities"), "reasoning") is False]
    if not plain:
        pytest.skip("no model is listed as one that cannot think")
    exchange = ask(bodies.chat("Hello", max_tokens=16, model=plain[0], **_effort(profile, ON)))
    ask.case("survived", ["reasoning.without-ability-is-survived"], asked=exchange)
