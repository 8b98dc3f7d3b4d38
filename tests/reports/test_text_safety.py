"""Text that an endpoint chose does nothing in any destination."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import text_safety
from reports.synthetic import HOSTILE

TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec=None), max_size=60))
WORKFLOW = re.compile(r"^\s*(::|##\[|##vso\[)")


@given(TEXT)
def test_a_terminal_line_is_one_line_without_controls_or_commands(text):
    line = text_safety.for_terminal(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\ufeff]", line)
    assert len(line.splitlines()) <= 1
    assert not WORKFLOW.search(line)
    line.encode("utf-8")


def test_harmless_text_is_left_alone():
    text = "ｆｕｌｌ 日本語 🙂 العربية: naïve café, 3 < 4"
    assert text_safety.for_terminal(text) == text
    assert text_safety.visible("a\nb\tc") == "a\nb\tc"


def test_stacked_marks_are_written_out_and_accents_are_not():
    assert text_safety.visible("Z" + "\u0351" * 3) == "Z" + "\\u0351" * 3
    assert text_safety.visible("e\u0302\u0301 cafe\u0301") == "e\u0302\u0301 cafe\u0301"


@pytest.mark.parametrize("text", ["::error::x", "  ::stop-commands::t", "##[error]x", "##vso[task.complete]"])
def test_a_line_cannot_command_a_ci_runner(text):
    assert text_safety.for_terminal(text).startswith("\\")


def test_a_limit_is_kept():
    assert text_safety.for_terminal("x" * 100, 10) == "xxxxxxxxx…"


@given(TEXT)
def test_xml_text_reads_back_in_a_real_parser(text):
    element = ET.Element("a", b=text_safety.for_xml(text))
    element.text = text_safety.for_xml(text)
    back = ET.fromstring(ET.tostring(element, encoding="utf-8"))
    assert (back.text or "").replace("\r\n", "\n").replace("\r", "\n") == element.text.replace("\r\n", "\n").replace(
        "\r", "\n"
    )


@given(TEXT)
def test_a_csv_cell_is_never_a_formula_and_never_breaks_the_row(text):
    cell = text_safety.for_csv(text)
    assert not re.match(r"[ '\"]*[=+\-@\t\r]", cell.removeprefix("'")) or cell.startswith("'")
    file = io.StringIO()
    csv.writer(file).writerow([cell, "next"])
    assert list(csv.reader(io.StringIO(file.getvalue()))) == [[cell, "next"]]


@given(TEXT)
def test_a_workflow_message_stays_in_its_command(text):
    message = text_safety.for_workflow_message(text)
    assert not re.search("[\r\n]", message)
    assert len(message.splitlines()) <= 1
    assert not re.search("[,:\r\n]", text_safety.for_workflow_property(text))


@given(TEXT)
def test_markdown_carries_no_ascii_punctuation_of_its_own(text):
    for made in (text_safety.for_markdown(text), text_safety.for_markdown_prose(text)):
        inner = made.replace("<code>", "").replace("</code>", "")  # theirs would be references
        assert not re.search(r"[^\w &#;]", re.sub("[^\x00-\x7f]", "", inner))
        assert "\n" not in made
