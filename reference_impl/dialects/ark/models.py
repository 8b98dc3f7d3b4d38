"""ARK's model list: what is served, and of which kind (row model: causal_lm or multimodal)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from reference_impl.server.backend import Backend


@dataclass(frozen=True, slots=True)
class ArkModel:
    """One entry of List models."""

    id: str
    sees: bool
    thinks: bool


class Catalogue:
    """The served model, once with everything it can do and once as a text-only model."""

    def __init__(self, backend: Backend) -> None:
        self._created = int(time.time())
        self._context = backend.context
        full = ArkModel(f"reference/{backend.model.name}", backend.can_see, backend.can_think)
        models = [full, ArkModel(f"{full.id}-text", sees=False, thinks=False)]
        self._models = {model.id: model for model in models}

    def get(self, model_id: str) -> ArkModel | None:
        """The model with this id, if it is served."""
        return self._models.get(model_id)

    def describe(self, model: ArkModel) -> dict[str, Any]:
        """The entry of one model."""
        return {
            "id": model.id,
            "object": "model",
            "created": self._created,
            "owned_by": "reference",
            "type": "multimodal" if model.sees else "causal_lm",
            "context_length": self._context,
            "capabilities": {"vision": model.sees, "reasoning": model.thinks, "tools": True},
        }

    def listing(self) -> dict[str, Any]:
        """The body of GET models."""
        return {"object": "list", "data": [self.describe(model) for model in self._models.values()]}
