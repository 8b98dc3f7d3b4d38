import base64
import json
import urllib.parse

import pytest

from conformance.wire.redaction import Redactor

SECRET = 'sk-canary/9f+"é7Z='


@pytest.mark.parametrize(
    "echo",
    [
        SECRET,
        f"Bearer {SECRET}",
        urllib.parse.quote(SECRET, safe=""),
        json.dumps({"key": SECRET}),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"Bearer {SECRET}".encode()).decode(),
        base64.b64encode(f"x{SECRET}".encode()).decode(),
        SECRET.encode().hex(),
    ],
)
def test_no_form_of_the_secret_stays(echo):
    left = Redactor([SECRET]).body(f"before {echo} after".encode()).decode()
    assert echo not in left
    assert "[redacted]" in left
    assert left.startswith("before ")


def test_secret_headers_are_blanked_whatever_their_value():
    headers = Redactor([]).headers([("Authorization", "Bearer abc"), ("Set-Cookie", "a=b"), ("X", "abc")])
    assert headers == (("Authorization", "Bearer [redacted]"), ("Set-Cookie", "[redacted]"), ("X", "abc"))


def test_ordinary_text_is_left_alone():
    assert Redactor([SECRET, ""]).body(b"nothing here") == b"nothing here"
