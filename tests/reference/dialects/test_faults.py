"""Every fault is listed in full, and shows itself in the answers to some request."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable

import httpx
import pytest

from reference_impl.dialects.ark.service import Ark
from reference_impl.dialects.serenity_edge.service import SerenityEdge
from reference_impl.faults.fields import broken_promise, spoil
from reference_impl.faults.planting import HEADER, as_asked
from reference_impl.faults.registry import Fault, UnknownFault, catalogue, select
from reference_impl.model.checkpoint import LoadedModel
from reference_impl.server.app import build_app
from reference_impl.server.backend import Backend
from reference_impl.server.fields import Invalid
from tests.reference.dialects.battery import Answers, battery
from tests.reference.dialects.endpoint import Endpoint, running
from tests.reference.dialects.scripted import ScriptedEngine

WRITTEN = [fault for fault in catalogue() if fault.topic != "fields"]

SHOWN_ELSEWHERE = {
    "cross-request-contamination": "needs two requests at once",
    "id-shared-under-load": "needs two requests at once",
    "model-swap-cuts-streams": "needs two requests at once",
    "fake-streaming-buffered": "shows in the times of arrival",
    "hang-up-poisons-the-next": "needs a client that hangs up",
    "listing-without-image-limit": "shows in the list of models",
    "limit-one-too-many": "the stand-in's tokens are fewer",
    "seed-ignored": "the stand-in does not sample",
    "tool-ids-equal": "ids are left out of the comparison",
    "usage-prompt-counts-uncached-only": "the stand-in has no cache",
    "id-repeats": "ids are left out of the comparison",
    "created-in-local-time": "times are left out of the comparison",
    "chunk-created-drifts": "times are left out of the comparison",
    "credits-balance-drifts": "balances are left out of the comparison",
    "credits-charged-for-refusals": "balances are left out of the comparison",
    "stream-cut-without-end": "a transport in the process has no connection to break",
}


class Breakable:
    """A dialect in this process that obeys the header which names a fault."""

    def __init__(self, name: str, model: LoadedModel) -> None:
        backend = Backend(model, ScriptedEngine(model.tokenizer, Answers(model)))
        dialect = Ark(backend) if name == "ark" else SerenityEdge(backend)
        self.name = name
        self._app = build_app(dialect, api_key="right", allow_induce=True, planted=as_asked(name))
        self._requests = list(battery("reference/tiny-random" if name == "ark" else "tiny-random"))
        self._runs = itertools.count()
        self._base = f"http://testserver{dialect.base_path}"

    async def answers(self, fault_id: str) -> AsyncIterator[str]:
        """The answers to the battery under a fault, without what differs each time."""
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url=self._base) as client:
            run = next(self._runs)
            for headers, request in self._requests:
                # the sessions of every run are its own
                body = request.replace(b'"ark_stateful": "', b'"ark_stateful": "run %d ' % run)
                sent = {"content-type": "application/json", **headers, HEADER: fault_id}
                response = await client.post("/chat/completions", content=body, headers=sent)
                text = re.sub(r'"id":"(chatcmpl-|call_)\w*"', r'"id":"\1"', response.text)
                text = re.sub(r'"created":\d{10}\b', '"created":0', text)
                text = re.sub(r'"credit_balance":\d+', '"credit_balance":0', text)
                kind, wait = response.headers["content-type"], response.headers.get("retry-after")
                yield f"{response.status_code} {kind} {wait} {text}"

    def all_answers(self, fault_id: str) -> list[str]:
        """Every answer."""

        async def collect() -> list[str]:
            return [answer async for answer in self.answers(fault_id)]

        return asyncio.run(collect())

    def shows(self, fault_id: str, clean: list[str]) -> bool:
        """Whether some answer differs from the clean one; stops at the first."""

        async def compare() -> bool:
            before = iter(clean)
            async for answer in self.answers(fault_id):
                if answer != next(before):
                    return True
            return False

        return asyncio.run(compare())


@pytest.fixture(scope="module", params=["ark", "serenity-edge"])
def breakable(request: pytest.FixtureRequest, model: LoadedModel) -> Breakable:
    return Breakable(request.param, model)


@pytest.fixture(scope="module")
def clean(breakable: Breakable) -> list[str]:
    """The answers without a fault; two rounds are alike."""
    first, second = breakable.all_answers("none"), breakable.all_answers("none")
    assert first == second
    return first


def hidden(breakable: Breakable, clean: list[str], faults: Iterable[Fault]) -> list[str]:
    """Those of the faults that no answer shows."""
    return [
        fault.id
        for fault in faults
        if breakable.name in fault.breaks and fault.id not in SHOWN_ELSEWHERE and not breakable.shows(fault.id, clean)
    ]


def test_a_fault_of_each_topic_shows_itself(breakable: Breakable, clean: list[str]) -> None:
    first_of_topic = {fault.topic: fault for fault in reversed(WRITTEN) if breakable.name in fault.breaks}

    assert hidden(breakable, clean, first_of_topic.values()) == []


def test_the_listing_names_every_fault() -> None:
    command = [sys.executable, "-m", "reference_impl", "--list-faults", "--json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)

    assert [fault["id"] for fault in listed] == [fault.id for fault in catalogue()]
    for fault in listed:
        assert re.fullmatch(r"[a-z0-9_.-]+", fault["id"])
        assert fault["sentence"].endswith(".")
        assert set(fault["breaks"]) <= {"ark", "serenity-edge"}
        assert all(fault["breaks"].values())
        assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", citation) for citation in fault["citations"])


def test_a_fault_of_the_other_dialect_or_of_none_is_refused() -> None:
    with pytest.raises(UnknownFault, match="no fault"):
        select(["nonsense"], "ark")
    with pytest.raises(UnknownFault, match="makes no sense for ark"):
        select(["role-on-every-chunk"], "ark")


@pytest.mark.parametrize(
    ("path", "keyword", "spoiled"),
    [
        ("usage.total", "type", {"usage": {"total": "wrong"}, "choices": [{"text": "a"}, {"text": "b"}]}),
        ("usage.total", "minimum", {"usage": {"total": -1}, "choices": [{"text": "a"}, {"text": "b"}]}),
        ("usage.total", "required", {"usage": {}, "choices": [{"text": "a"}, {"text": "b"}]}),
        ("choices.text", "type", {"usage": {"total": 3}, "choices": [{"text": ["wrong"]}, {"text": ["wrong"]}]}),
        ("choices.text", "not-null", {"usage": {"total": 3}, "choices": [{"text": None}, {"text": None}]}),
        ("choices.item", "type", {"usage": {"total": 3}, "choices": [7, {"text": "b"}]}),
        ("choices", "min-items", {"usage": {"total": 3}, "choices": []}),
        ("absent.member", "type", {"usage": {"total": 3}, "choices": [{"text": "a"}, {"text": "b"}]}),
    ],
)
def test_a_field_is_spoiled_at_its_place_alone(path: str, keyword: str, spoiled: dict) -> None:
    value = {"usage": {"total": 3}, "choices": [{"text": "a"}, {"text": "b"}]}

    assert spoil(value, path.split("."), keyword) == spoiled


@pytest.mark.parametrize(
    ("dialect", "param", "constraint", "promise"),
    [
        ("ark", "temperature", "maximum", "request.temperature.maximum"),
        ("ark", "n", "minimum", "request.n.const"),
        ("ark", "zzz", "closed", "request.closed"),
        ("ark", "stop[1]", "type", "request.stop.item.type"),
        ("ark", "messages[0].role", "enum", "request.messages.role.enum"),
        ("ark", "messages[0].content[0].text", "required", "request.messages.content.text.text.required"),
        ("serenity-edge", "messages[0].content", "required", "request.messages.user.content.required"),
        ("serenity-edge", "messages[0].content[0].type", "enum", "request.messages.user.content.type.enum"),
        ("serenity-edge", "tools[0].function.name", "pattern", "request.tools.function.function.name.pattern"),
        ("serenity-edge", "tools[0]", "type", "request.tools.item.type"),
    ],
)
def test_a_refusal_is_traced_to_the_promise(dialect: str, param: str, constraint: str, promise: str) -> None:
    data = {
        "messages": [{"role": "user", "content": [{"type": "text"}]}],
        "tools": [{"type": "function", "function": {}}],
        "stop": ["a", 5],
    }

    assert broken_promise(data, Invalid("", param, constraint=constraint), dialect) == promise


def test_contamination_needs_company(model: LoadedModel) -> None:
    backend = Backend(model, ScriptedEngine(model.tokenizer, "Hello there.", delay=0.02))
    dialect = Ark(backend)
    app = build_app(dialect, planted=as_asked("ark"))

    async def both(endpoint: Endpoint) -> list[str]:
        async with httpx.AsyncClient(base_url=endpoint.url, trust_env=False) as client:
            bodies = [
                endpoint.body(messages=[{"role": "user", "content": f"Say {word}"}]) for word in ("zebra", "lion")
            ]
            headers = {HEADER: "cross-request-contamination"}
            tasks = [client.post("/chat/completions", json=body, headers=headers) for body in bodies]
            return [(await task).text for task in map(asyncio.ensure_future, tasks)]

    with running(app, dialect, "reference/tiny-random") as endpoint:
        alone = endpoint.post({HEADER: "cross-request-contamination"})
        together = asyncio.run(both(endpoint))

    assert "Say" not in alone.text
    assert sum("Say zebra" in text or "Say lion" in text for text in together) <= 2
