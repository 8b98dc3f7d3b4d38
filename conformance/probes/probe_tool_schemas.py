"""Functions with unusual schemas and names: accepted, called, and their arguments fit."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from conformance.ask import Asker
from conformance.probe import probe
from conformance.traffic.bodies import Bodies
from conformance.traffic.ledger import explore
from conformance.traffic.tools import (
    NAMES,
    UNUSUAL,
    Task,
    Tool,
    chain,
    endless,
    name_of,
    named,
    objects,
    strict,
    tool,
    tools,
)
from spec.model import Profile

CALLED = (
    "tools.schemas-are-accepted", "tools.named-choice-is-obeyed", "tools.arguments-are-json",
    "tools.arguments-are-an-object", "tools.strict-arguments-match-schema", "tools.called-names-are-offered",
)  # fmt: skip
STREAMED = ("tools.first-fragment-names-the-call", "tools.calls-arrive-complete", "tools.id-and-name-come-once")
DRAWN = 16
#: Traits that have gone wrong most often elsewhere; the rest is for an exhaustive run.
COMMON = {"no parameters", "nested objects", "an enumeration and a switch", "a reference to a definition"}


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(
            task,
            id=task.trait.replace(" ", "-"),
            marks=probe(*CALLED, effort="standard" if task.trait in COMMON else "exhaustive", cost=1),
        )
        for task in UNUSUAL
    ],
)
def test_unusual_schemas(ask: Asker, bodies: Bodies, profile: Profile, task: Task) -> None:
    """Force a call of a function with an unusual schema.

    Schemas with references, no properties or names beyond ASCII are common in generated tools. The guarantee of
    `strict` is asked for where the document makes one.
    """
    one = strict(task.tool) if profile.accepts("tools.function.strict") else task.tool
    choice = named(name_of(task.tool))
    exchange = ask(bodies.chat(task.question, max_tokens=128, tools=[one], tool_choice=choice))
    ask.case("accepted", ["tools.schemas-are-accepted"], {"trait": task.trait}, asked=exchange)


@probe(
    "tools.documented-names-are-accepted", "tools.named-choice-is-obeyed", "tools.first-fragment-names-the-call", cost=1
)
def test_names_at_the_limit(ask: Asker, bodies: Bodies) -> None:
    """Offer functions whose names are as short, as long and as odd as the rule allows, and call the longest."""
    offered = [tool(name, objects(city={"type": "string"}), "Get the weather") for name in NAMES.values()]
    choice = named(NAMES["64 characters"])
    body = bodies.chat("What is the weather in Paris?", max_tokens=160, tools=offered, tool_choice=choice, stream=True)
    ask.case("accepted", ["tools.documented-names-are-accepted"], asked=ask(body))


@probe(*CALLED, *STREAMED, effort="exhaustive", cost=DRAWN)
def test_drawn_tools(ask: Asker, bodies: Bodies, profile: Profile) -> None:
    """Force calls of functions that nobody thought of: drawn names, drawn schemas, one to three at a time.

    Where one breaks a promise, smaller ones like it are tried, and the smallest is kept.
    """

    def send(drawn: tuple[list[Tool], int, bool]) -> None:
        offered, position, stream = drawn
        guaranteed = [strict(one) if profile.accepts("tools.function.strict") else one for one in offered]
        choice = named(name_of(offered[position % len(offered)]))
        body = bodies.chat("Call the function.", max_tokens=128, tools=guaranteed, tool_choice=choice, stream=stream)
        ask.case("accepted", ["tools.schemas-are-accepted"], asked=ask(body))

    explore(ask, st.tuples(tools(), st.integers(0, 2), st.booleans()), send, examples=DRAWN)


@probe("json.difficult-schema-is-survived", effort="exhaustive", cost=3)
def test_difficult_parameters(ask: Asker, bodies: Bodies) -> None:
    """Offer functions with schemas that refer to themselves or nest very deep; refusing them is fine, dying is not."""
    for parameters in (endless(), chain(60), {"$ref": "#/$defs/missing"}):
        one = tool("lookup", parameters)
        exchange = ask(bodies.chat("Look it up.", max_tokens=32, tools=[one], tool_choice=named("lookup")))
        ask.case("survived", ["json.difficult-schema-is-survived"], asked=exchange)
