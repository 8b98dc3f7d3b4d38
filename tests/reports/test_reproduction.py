"""What the report offers to paste sends the recorded bytes: both are run against a server that listens."""

import json
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from reports.exchange import Exchange
from reports.reproduction import LONGEST_BODY, as_curl, as_python

BODIES = [
    b'{"model": "m", "messages": [{"role": "user", "content": "it\'s $HOME `id` \\"quoted\\" \\u00e9"}]}',
    '{"model":"m","messages":[{"role":"user","content":"日本語 🙂"}],"temperature":0.5,"stream":true}'.encode(),
    b'{"a": 1, "a": 2}',
    b'{"not": json',
    b"\xff\x00 not text",
    '{"content": "reordered \u202e text"}'.encode(),
    b'{"n": 1e400, "big": 123456789012345678901234567890}',
    b"line\r\nbreaks",
    b"",
]


@pytest.fixture(scope="module")
def server():
    seen = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append((self.rfile.read(int(self.headers.get("content-length", 0))), dict(self.headers)))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Listener) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/v1/chat/completions", seen
        listening.shutdown()


def exchange(url, body):
    import base64

    return Exchange({
        "id": "x1",
        "request": {
            "method": "POST", "url": url, "encoding": "base64", "body": base64.b64encode(body).decode(),
            "headers": [["Content-Type", "application/json"], ["Authorization", "Bearer [redacted]"],
                        ["X-Odd", "it's \"$HOME\""], ["Content-Length", "9"]],
        },
        "response": None,
    })  # fmt: skip


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("body", BODIES)
def test_curl_sends_the_same_bytes_and_takes_the_key_from_the_environment(server, body):
    url, seen = server
    command = as_curl(exchange(url, body))
    subprocess.run(["bash", "-c", command], env={"API_KEY": "k-1", "PATH": "/usr/bin:/bin"}, check=True, timeout=30)
    got, headers = seen[-1]
    assert got == body
    assert headers["Authorization"] == "Bearer k-1"
    assert headers["X-Odd"] == 'it\'s "$HOME"'
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("body", BODIES)
def test_python_sends_the_same_json_or_the_same_bytes(server, body):
    url, seen = server
    program = as_python(exchange(url, body))
    assert program.isascii()
    subprocess.run([sys.executable, "-c", program], env={"API_KEY": "k-2"}, check=True, timeout=60)
    got, headers = seen[-1]
    assert headers["Authorization"] == "Bearer k-2"
    if "json=body" in program:
        assert json.loads(got) == json.loads(body)
    else:
        assert got == body


def test_an_ordinary_json_body_is_shown_as_a_python_value(server):
    url, _ = server
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Say, then: stop."}]}).encode()
    assert "json=body" in as_python(exchange(url, body))


def test_a_body_too_long_to_paste_is_left_to_replay(server):
    url, _ = server
    assert as_curl(exchange(url, b"x" * (LONGEST_BODY + 1))) is None
    assert as_python(exchange(url, b"x" * (LONGEST_BODY + 1))) is None
