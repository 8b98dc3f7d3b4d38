"""Images: what the list of models says about them, and addresses that an endpoint has to fetch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.cases import Case
from conformance.laws.calls import member_of, objects_in
from conformance.laws.refusals import is_refusal
from conformance.laws.registry import Undecided, Violation, case_law
from conformance.laws.relations import refused, settled, shortened
from spec.model import Promise


def listed_value(listing: Any, model: str, path: str) -> Any:
    """The value at a dotted path of a model's entry in a list of models; None where there is none."""
    entries = objects_in(member_of(listing, "data"))
    value: Any = next((entry for entry in entries if entry.get("id") == model), None)
    for name in path.split("."):
        value = member_of(value, name)
    return value


@case_law("images.listing-gives-the-limit", kind="image-limit")
def listing_gives_the_limit(case: Case, promise: Promise) -> Iterator[Violation]:
    """The entry of a model that reads images says how many, as a whole number in the documented range."""
    listing = case.one("listing")
    settled((listing,))
    model, path = str(case.data["model"]), str(promise.params["member"])
    if listing.status != 200 or listed_value(listing.json.value, model, "id") != model:
        raise Undecided(f"the list of models has no entry for {model}")
    limit = listed_value(listing.json.value, model, path)
    low, high = promise.params["min"], promise.params["max"]
    if isinstance(limit, bool) or not isinstance(limit, int) or not low <= limit <= high:
        yield Violation(f"{path} of {model} is no documented limit", f"{low} to {high}", shortened(limit))


@case_law("images.https-url-is-accepted", kind="remote-image")
def https_url_is_accepted(case: Case, promise: Promise) -> Iterator[Violation]:
    """A request with the address of a public picture is answered; a refusal leaves open whether it was reached."""
    asked = case.one("asked")
    settled((asked,))
    if is_refusal(asked):
        raise Undecided("the picture's address was refused; whether the endpoint can reach it is not known")
    violation = refused(asked)
    if violation:
        yield violation
