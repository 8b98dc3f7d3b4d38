"""The key and declared secrets reach no file and no screen, in whatever form an endpoint throws them back."""

import base64
import contextlib
import html
import itertools
import json
import time
import urllib.parse

import httpx

from conformance.target import Target
from conformance.wire.client import Call, Client, Stamp
from conformance.wire.limits import Limits
from tests.conformance.endpoints import serving
from tests.conformance.made import chunk, completion

KEY = "sk-canary/9f+&7Z=="
TENANT = "tenant-canary-42"
CONFIG = """
[targets.leaky]
profile = "serenity-edge"
base_url = "{url}"
model = "m"
api_key_env = "LEAKY_KEY"
secret_headers = ["X-Tenant"]
[targets.leaky.headers]
X-Tenant = "${{LEAKY_TENANT}}"
X-Plain = "shown"
"""


def forms(secret):
    raw = secret.encode()
    yield secret
    for quoted in (urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret)):
        yield from (quoted, quoted.replace("%2F", "%2f").replace("%2B", "%2b").replace("%3D", "%3d"))
    yield from (json.dumps(secret)[1:-1], json.dumps(secret)[1:-1].replace("/", "\\/"))
    yield "".join(f"\\u{ord(char):04x}" for char in secret)
    yield from (raw.hex(), raw.hex().upper(), html.escape(secret))
    for text in (raw, b"Bearer " + raw, b"user:" + raw, b"x" + raw):
        yield from (base64.b64encode(text).decode(), base64.urlsafe_b64encode(text).decode())


answered = itertools.count()


def echo(connection, request):
    """Every form of both secrets, in the reason, header names and values, the body, events and errors."""
    said = " ".join([*forms(KEY), *forms(TENANT)])
    text = json.dumps(said) if b"temperature" in request else '"' + said + '"'
    if b'"stream":true' in request:
        data = json.dumps(chunk({"role": "assistant", "content": said})).encode()
        body, kind = b"data: " + data + b"\n\n: " + said.encode() + b"\n\ndata: [DONE]\n\n", b"text/event-stream"
        status = b"200 " + KEY.encode()
    elif next(answered) % 3 == 2:
        body, kind, status = b'{"error":{"message":' + text.encode() + b"}}", b"application/json", b"401 No"
    else:
        body, kind, status = json.dumps(completion(said)).encode(), b"application/json", b"200 OK"
    connection.sendall(
        b"HTTP/1.1 " + status + b"\r\nContent-Type: " + kind + b"\r\nX-Echo: " + said.encode()
        + b"\r\nX-" + TENANT.encode() + b": 1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )  # fmt: skip


def test_no_output_holds_a_secret_in_any_form(cli, tmp_path):
    with serving(echo) as url:
        (tmp_path / "conformance.toml").write_text(CONFIG.format(url=url), encoding="utf-8")
        done = cli(
            "run", "--target", "leaky", "--only", "stream.*", "--only", "response.*", "--max-requests", "12",
            "--out", "out", LEAKY_KEY=KEY, LEAKY_TENANT=TENANT,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    written = {path: path.read_text(encoding="utf-8", errors="replace") for path in (tmp_path / "out").rglob("*")}
    assert {"results.json", "exchanges.jsonl", "run.json", "report.html", "junit.xml"} <= {p.name for p in written}
    lines = written[tmp_path / "out" / "exchanges.jsonl"].splitlines()
    assert any("text/event-stream" in line for line in lines)
    assert any('"status":401' in line for line in lines)
    assert all("[redacted]" in line and "shown" in line for line in lines)
    for place, text in {**written, "stdout": done.stdout, "stderr": done.stderr}.items():
        for secret in [*forms(KEY), *forms(TENANT)]:
            assert secret not in text, (place, secret)
        assert "canary" not in text, place


def test_secret_headers_reach_workers_by_the_environment_only(monkeypatch):
    target = Target("http://x", "m", headers={"X-Tenant": TENANT, "X-Plain": "shown"}, secret_headers=("X-Tenant",))
    written = target.to_json()
    assert TENANT not in json.dumps(written)
    assert Target.from_json(written).headers == {"X-Plain": "shown"}
    environment = {}
    target.pass_secrets(environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Target.from_json(written).headers == {"X-Plain": "shown", "X-Tenant": TENANT}
    assert Target.from_json(written).secrets() == [TENANT]


def test_a_proxy_s_password_is_a_secret(monkeypatch):
    target = Target("http://x", "m", proxy="http://me:proxy%2Fcanary@proxy.example:3128")
    assert target.to_json()["proxy"] == "http://proxy.example:3128"
    assert set(target.secrets()) == {"proxy%2Fcanary", "proxy/canary"}
    environment = {}
    target.pass_secrets(environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Target.from_json(target.to_json()).proxy == target.proxy
    assert Target.from_json(Target("http://x", "m").to_json()).proxy is None


def test_a_proxy_is_told_its_password_and_bounded_like_the_endpoint():
    seen = []

    def drip(connection, request):
        seen.append(request)
        with contextlib.suppress(OSError):
            for _ in range(100):
                connection.sendall(b"HTTP/1.1 200 OK\r\n" if len(seen) == 1 else b"X-A: 1\r\n")
                time.sleep(0.05)
                seen.append(b"")

    with serving(drip) as url:
        proxy = url.removesuffix("/v1").replace("http://", "http://me:pw-canary@")
        client = Client("http://endpoint.invalid/v1", Limits(exchange_s=0.5), proxy=proxy)
        exchange = client.send(Call(b"{}"), Stamp("x1", "p", "t"))
        client.close()
    assert base64.b64encode(b"me:pw-canary") in seen[0]
    assert exchange.end == "timeout"
    assert exchange.total_s < 2


def test_proxies_and_netrc_of_the_environment_are_not_used(monkeypatch, tmp_path):
    seen = []

    def handler(connection, request):
        seen.append(request)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password netrc-canary\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving(handler) as url:
        client = Client(url)
        assert client.send(Call(b"{}"), Stamp("x1", "p", "t")).ok
        client.close()
        assert b"authorization" not in seen[0].lower()
        asked = Client(url.replace("127.0.0.1", "endpoint.invalid"), proxy=url.removesuffix("/v1"))
        assert asked.send(Call(b"{}"), Stamp("x2", "p", "t")).ok
        asked.close()
    assert seen[1].startswith(b"POST http://endpoint.invalid")
    with httpx.Client() as trusting:  # what the environment would have done
        assert trusting._mounts
