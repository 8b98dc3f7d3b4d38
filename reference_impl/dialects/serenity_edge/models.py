"""Serenity Edge's GET /v1/models, with the number of images that each model reads (`references.max`)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from reference_impl.dialects.serenity_edge.request import MAX_OUTPUT
from reference_impl.server.backend import Backend

MAX_IMAGES = 8


@dataclass(frozen=True, slots=True)
class SerenityEdgeModel:
    """One entry of the list; `images` is 0 for a model that reads none."""

    id: str
    images: int
    thinks: bool


class Catalogue:
    """The served model, once with everything it can do and once as a text-only model."""

    def __init__(self, backend: Backend) -> None:
        self._created = int(time.time())
        self._context = backend.context
        name = backend.model.name
        full = SerenityEdgeModel(name, MAX_IMAGES if backend.can_see else 0, backend.can_think)
        models = [full, SerenityEdgeModel(f"{name}-text", 0, thinks=False)]
        self._models = {model.id: model for model in models}

    def get(self, model_id: str) -> SerenityEdgeModel | None:
        """The model with this id, if it is served."""
        return self._models.get(model_id)

    def describe(self, model: SerenityEdgeModel) -> dict[str, Any]:
        """The entry of one model; one that reads no images has no `references`."""
        references = {"references": {"max": model.images}} if model.images else {}
        return {
            "id": model.id,
            "object": "model",
            "created": self._created,
            "owned_by": "reference",
            "context_length": self._context,
            "max_output_tokens": MAX_OUTPUT,
            "capabilities": {"vision": model.images > 0, "reasoning": model.thinks, "tools": True},
            **references,
        }

    def listing(self) -> dict[str, Any]:
        """The body of GET models."""
        return {"object": "list", "data": [self.describe(model) for model in self._models.values()]}
