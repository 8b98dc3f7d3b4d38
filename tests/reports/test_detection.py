"""The page of a proof: its figures, both directions of the table, and that nothing in it can run or load."""

import base64
import hashlib
import re

import pytest

import reports
from reports.synthetic import HOSTILE
from tests.reports.proofs import attacked_proof, bad_proof, good_proof, large_proof
from tests.reports.test_html import Page


def row(page, id_):
    """The part of the page that one fault or requirement has to itself."""
    at = page.index(f'id="{id_}"')
    start = page.rindex('<details class="requirement ', 0, at)
    end = page.find('<details class="requirement ', at)
    return page[start : end if end > 0 else None]


def counts(page):
    return {word: int(count) for count, word in re.findall(r"<b>(\d+)</b> <span><svg.*?</svg>([^<]+)</span>", page)}


def test_a_good_proof_says_so_and_by_which_command():
    page = reports.detection_page(good_proof())
    assert "All 3 planted faults detected" in page
    assert counts(page) == {
        "Detected": 3, "Too much": 0, "Missed": 0, "Suite error": 0, "Proven": 3, "No fault": 1, "Not proven": 0,
    }  # fmt: skip
    assert "conformance prove --profile synthetic --out proof" in page
    assert "1 fault has public citations. 0 requirements turned red without a reviewed reason." in page
    assert "21 requests" in page


def test_a_bad_proof_shows_first_what_is_wrong():
    page = reports.detection_page(bad_proof())
    assert "1 of 3 planted faults detected" in page
    assert counts(page) == {
        "Detected": 0, "Too much": 1, "Missed": 1, "Suite error": 1, "Proven": 3, "No fault": 1, "Not proven": 1,
    }  # fmt: skip
    first = page[: page.index('id="faults"')]
    for words in ("done-twice", "text-null", "end-twice", "usage.adds-up", "It cannot be seen from outside."):
        assert words in first
    assert "ZeroDivisionError" in row(page, "fault-end-twice")


def test_a_fault_shows_what_it_must_turn_red_what_else_it_did_and_where_it_was_seen():
    page = reports.detection_page(good_proof())
    text = row(page, "fault-text-null")
    assert "The fault text-null is planted." in text
    assert text.count("<b>seen</b>") == 2
    assert "Also turned red, as reviewed" in text
    assert "What has no text has no end." in text
    assert "without a reviewed reason" not in text
    assert "7 requests in 1.5 s" in text
    cited = row(page, "fault-done-twice")
    assert 'href="https://github.com/ray-project/ray/issues/62246"' in cited
    assert "a forum" in cited
    bad = reports.detection_page(bad_proof())
    assert "<b>not seen</b>" in row(bad, "fault-done-twice")
    assert "Turned red without a reviewed reason" in row(bad, "fault-text-null")


def test_a_requirement_shows_the_faults_that_turn_it_red():
    page = reports.detection_page(good_proof())
    text = row(page, "requirement-stream.ends-with-done")
    assert "#fault-done-twice" in text
    assert "#fault-text-null" in text
    beside = row(page, "requirement-finish.once")
    assert "Also turned red by 1 other fault" in beside
    assert "It cannot be seen from outside." in row(page, "requirement-stream.is-not-stored")
    assert "No fault names it." in row(reports.detection_page(bad_proof()), "requirement-usage.adds-up")


def test_a_proof_of_some_faults_says_nothing_about_the_rest():
    record = good_proof() | {"complete": False}
    record["faults"] = record["faults"][2:]
    page = reports.detection_page(record)
    assert "The planted fault was detected" in page
    assert "of the rest of the document this says nothing" in page
    assert 'id="requirement-finish.once"' in page
    assert "response.has-text" not in page


@pytest.mark.parametrize("record", [good_proof(), bad_proof(), attacked_proof("a b")], ids=["good", "bad", "attacked"])
def test_ids_are_unique_links_lead_somewhere_and_nothing_is_loaded(record):
    page = Page(reports.detection_page(record))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    places = {link["href"][1:].replace("%20", " ") for link in page.all("a") if link["href"].startswith("#")}
    assert places <= set(ids)
    for tag, attributes in page.elements:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "video", "audio", "form")
        assert not [name for name in attributes if name.startswith("on")]
        assert not attributes.keys() & {"style", "src", "srcset", "action"}
        assert attributes.get("href", "#").startswith(("#", "https://github.com/"))
    [policy] = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256("".join(page.inside[tag]).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


@pytest.mark.parametrize("attack", [*HOSTILE, "`<b>` and `</code><script>`", "one ` alone <i>"])
def test_an_attack_in_every_string_adds_no_element(attack):
    plain = Page(reports.detection_page(attacked_proof(re.sub("[^`]", "h", attack))))
    attacked = Page(reports.detection_page(attacked_proof(attack)))
    assert [tag for tag, _ in attacked.elements] == [tag for tag, _ in plain.elements]
    harmful = re.compile(r"^(javascript|data|vbscript):", re.IGNORECASE)
    assert not [value for _, found in attacked.elements for value in found.values() if value and harmful.match(value)]


def test_as_many_faults_as_there_are_make_a_page_of_bounded_size():
    assert len(reports.detection_page(large_proof())) < 2_000_000
