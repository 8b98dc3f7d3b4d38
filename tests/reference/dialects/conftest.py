from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from reference_impl.dialects.ark.service import Ark
from reference_impl.dialects.serenity_edge.service import SerenityEdge
from reference_impl.faults.planting import always
from reference_impl.model.checkpoint import LoadedModel, load_model
from reference_impl.server.app import build_app
from reference_impl.server.backend import Backend
from reference_impl.serving import Settings, build
from tests.reference.dialects.endpoint import Endpoint, running
from tests.reference.dialects.scripted import Script, ScriptedEngine

os.environ.setdefault("OMP_NUM_THREADS", "1")

Speaker = Callable[..., Endpoint]


@pytest.fixture(scope="session")
def model() -> LoadedModel:
    return load_model("tiny-random")


@contextmanager
def _real(dialect: str, model_id: str) -> Iterator[Endpoint]:
    app, served = build(Settings(dialect, model_path="tiny-random", allow_induce=True))
    with running(app, served, model_id) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def ark() -> Iterator[Endpoint]:
    """ARK before the real engine with random weights."""
    with _real("ark", "reference/tiny-random") as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def serenity() -> Iterator[Endpoint]:
    """Serenity Edge before the real engine with random weights."""
    with _real("serenity-edge", "tiny-random") as endpoint:
        yield endpoint


@pytest.fixture(params=["ark", "serenity"])
def either(request: pytest.FixtureRequest) -> Endpoint:
    """Each dialect in turn, before the real engine."""
    endpoint: Endpoint = request.getfixturevalue(request.param)
    return endpoint


def _speaker(model: LoadedModel, stack: ExitStack, name: str) -> Speaker:
    def start(
        script: Script = "Hello there.",
        *,
        delay: float = 0.0,
        api_key: str | None = None,
        faults: tuple[str, ...] = (),
        allow_induce: bool = True,
    ) -> Endpoint:
        engine = ScriptedEngine(model.tokenizer, script, delay)
        backend = Backend(model, engine)
        dialect = Ark(backend) if name == "ark" else SerenityEdge(backend)
        app = build_app(dialect, api_key=api_key, allow_induce=allow_induce, planted=always(faults, dialect.name))
        app.state.engine = engine
        app.state.dialect = dialect
        model_id = "reference/tiny-random" if name == "ark" else "tiny-random"
        return stack.enter_context(running(app, dialect, model_id))

    return start


@pytest.fixture
def speak_ark(model: LoadedModel) -> Iterator[Speaker]:
    """Starts ARK before an engine that says what it is told."""
    with ExitStack() as stack:
        yield _speaker(model, stack, "ark")


@pytest.fixture
def speak_serenity(model: LoadedModel) -> Iterator[Speaker]:
    """Starts Serenity Edge before an engine that says what it is told."""
    with ExitStack() as stack:
        yield _speaker(model, stack, "serenity-edge")


@pytest.fixture(params=["ark", "serenity-edge"])
def speak_either(request: pytest.FixtureRequest, model: LoadedModel) -> Iterator[Speaker]:
    """Starts either dialect before an engine that says what it is told."""
    with ExitStack() as stack:
        yield _speaker(model, stack, request.param)
