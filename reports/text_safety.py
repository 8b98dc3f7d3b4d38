"""Make text that an endpoint chose harmless in the place where it is about to be written.

Everything a report repeats (answers, headers, error messages, model names) is hostile until it has gone
through the function for its destination. HTML has its own: the templates escape everything.
"""

from __future__ import annotations

import re

# C0 and C1 controls (without tab, line feed and carriage return, which each destination treats its own way),
# lone surrogates, and what reorders or hides the text around it: bidirectional controls, line and paragraph
# separators, zero-width characters, the byte order mark, tag characters.
_DECEIVING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
    "\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Marks that stack on one letter; three or more are a picture over the neighbouring lines, not a language.
_STACKED = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3,}")
# What XML 1.0 section 2.2 does not allow in a document, not even as a reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def _each_escaped(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(mark):04x}" for mark in match.group())


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    """Text in which controls, reordering, invisible and stacked characters are written out (`\\x1b`)."""
    text = _DECEIVING.sub(_escaped, text)
    return text if text.isascii() else _STACKED.sub(_each_escaped, text)


def for_terminal(text: str, limit: int | None = None) -> str:
    """One line for a terminal or a CI log: no escape sequence works, no line starts a workflow command.

    Line breaks become `\\n`, so a caller's line stays one line. rich markup is not touched: hand the result
    to `rich.text.Text`, or through `rich.markup.escape`. `limit` cuts to that many characters.
    """
    line = visible(text).replace("\r", "\\r").replace("\n", "\\n").replace("\t", " ")
    # GitHub and Azure read a line as a command when it starts with these, whatever printed it.
    if line.lstrip().startswith(("::", "##[", "##vso[")):
        line = "\\" + line.lstrip()
    return shortened(line, limit) if limit is not None else line


def for_xml(text: str) -> str:
    """Text for an XML writer that escapes `<`, `&` and `]]>` itself: only characters that XML can carry."""
    return _NOT_XML.sub(_escaped, visible(text))


def for_markdown(text: str, limit: int | None = None) -> str:
    """An inline code element in which nothing is markup: no link, image, mention, table cell or HTML.

    Every ASCII character that is not a letter, digit or space becomes a character reference, which
    CommonMark (section 6.2) never reads as structure.
    """
    return f"<code>{_as_references(for_terminal(text, limit))}</code>"


def _as_references(line: str) -> str:
    return "".join(c if c.isalnum() or c == " " or ord(c) > 0x7F else f"&#{ord(c)};" for c in line)


def for_markdown_prose(text: str, limit: int | None = None) -> str:
    """A plain sentence for Markdown; of its characters only backticks mean anything: they set off code.

    As `for_markdown`, and a word joiner keeps names, numbers and addresses from becoming mentions and links,
    which GitHub makes of plain text after Markdown is done.
    """
    parts = for_terminal(text, limit).split("`")
    if len(parts) % 2 == 0:
        return _unlinked("`".join(parts))
    return "".join(
        _unlinked(part) if index % 2 == 0 else f"<code>{_as_references(part)}</code>"
        for index, part in enumerate(parts)
    )


def _unlinked(line: str) -> str:
    # Hash, full stop, colon, at sign.
    return re.sub(r"(&#(?:35|46|58|64);)(?=[^ ])", "\\1&#8288;", _as_references(line))


def for_csv(text: str) -> str:
    """A cell that no spreadsheet takes for a formula; control characters are written out."""
    cell = visible(text).replace("\r", "\\r").replace("\n", "\\n").replace("\t", " ")
    return "'" + cell if cell.lstrip(" '\"").startswith(_FORMULA) else cell


def for_workflow_message(text: str) -> str:
    """The message of a GitHub workflow command (`::error::MESSAGE`)."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def for_workflow_property(text: str) -> str:
    """A property of a GitHub workflow command (`title=VALUE`)."""
    return for_workflow_message(text).replace(":", "%3A").replace(",", "%2C")


def shortened(text: str, limit: int) -> str:
    """Text of at most `limit` characters; what is left out is marked with an ellipsis."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"
