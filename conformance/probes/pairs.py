"""What several probes do alike: a defect beside its control, and many allowed things in one request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.ask import Asker
from conformance.traffic.bodies import Body
from conformance.traffic.defects import Variant, encoded
from conformance.wire.exchange import Exchange

#: What the laws of errors see in every refusal.
REFUSALS = (
    "errors.client-mistakes-are-not-5xx",
    "errors.invalid-parameter-is-400",
    "errors.param-names-the-parameter",
    "errors.body-is-json",
    "errors.body-is-an-error-object",
    "errors.message-is-text",
    "errors.type-fits-the-status",
    "errors.no-internals",
    "errors.documented-statuses-only",
    "error.*",
)
VALUES = "request.documented-values-are-accepted"


def refuse(
    ask: Asker,
    control: Exchange,
    variant: Variant,
    requirements: Iterable[str],
    field: str = "",
    **data: Any,
) -> Exchange:
    """Send a request with one defect and write it down beside its accepted twin."""
    defect = ask(encoded(variant.body))
    told = {"broken": variant.words, **({"field": field} if field else {}), **data}
    ask.case("refused", requirements, told, control=control, defect=defect)
    return defect


def accept(
    ask: Asker, whole: Mapping[str, Any], requirements: Sequence[str], apart: Mapping[str, tuple[Sequence[str], Body]]
) -> Exchange:
    """Send one request that uses many allowed things at once; only if it is refused, each thing by itself.

    `apart` holds, by what is used, the requirements it speaks for and the request that uses nothing else.
    """
    asked = ask(whole)
    if asked.status == 200:
        ask.case("accepted", requirements, asked=asked)
        return asked
    for words, (ids, body) in apart.items():
        ask.case("accepted", ids, {"used": words}, asked=ask(body))
    return asked
