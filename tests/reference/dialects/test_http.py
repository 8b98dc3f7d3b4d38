"""Keys, sizes, paths, methods, induced conditions and what is no HTTP: always the vendor's error object."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.reference.dialects.conftest import Speaker
from tests.reference.dialects.endpoint import Endpoint

TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
    405: "invalid_request_error", 413: "invalid_request_error", 429: "rate_limit_error",
    500: "server_error", 503: "server_error",
}  # fmt: skip


def check_error(response: httpx.Response, status: int, *, serenity: bool) -> None:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert error["message"]
    assert {"type", "code", "param"} <= set(error)
    if serenity:
        assert error["type"] == TYPES[status]


def is_serenity(endpoint: Endpoint) -> bool:
    return "/api/" not in endpoint.url


def test_without_a_key_configured_none_is_needed(speak_either: Speaker) -> None:
    endpoint = speak_either()

    assert endpoint.post().status_code == 200
    assert endpoint.post({"Authorization": "Bearer whatever"}).status_code == 200


def test_a_configured_key_is_needed(speak_either: Speaker) -> None:
    endpoint = speak_either(api_key="right")

    assert endpoint.post({"Authorization": "Bearer right"}).status_code == 200
    assert endpoint.client.get("/models", headers={"Authorization": "Bearer right"}).status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic right"}, {"X-Api-Key": "right"}):
        refused = endpoint.post(headers)
        check_error(refused, 401, serenity=is_serenity(endpoint))
        assert "right" not in refused.text
        check_error(endpoint.client.get("/models", headers=headers), 401, serenity=is_serenity(endpoint))
    twice = [("Authorization", "Bearer right"), ("Authorization", "Bearer right")]
    refused = endpoint.client.post("/chat/completions", json=endpoint.body(), headers=twice)
    check_error(refused, 401, serenity=is_serenity(endpoint))


def test_paths_and_methods(either: Endpoint) -> None:
    serenity = is_serenity(either)

    for path in ("/nope", "/chat/completions/", "/chat", "/../v1"):
        check_error(either.client.get(path), 404, serenity=serenity)
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        refused = either.client.request(method, "/chat/completions")
        check_error(refused, 405, serenity=serenity)
        assert refused.headers["allow"] == "POST"
    check_error(either.client.post("/models"), 405, serenity=serenity)


def test_models(either: Endpoint) -> None:
    listing = either.client.get("/models").json()

    assert listing["object"] == "list"
    ids = [entry["id"] for entry in listing["data"]]
    assert ids[0] == either.model
    assert either.client.get(f"/models/{either.model}").json() == listing["data"][0]
    check_error(either.client.get("/models/no/such"), 404, serenity=is_serenity(either))
    if is_serenity(either):
        assert listing["data"][0]["references"]["max"] == 8
        assert "references" not in listing["data"][1]
    else:
        assert [entry["type"] for entry in listing["data"]] == ["multimodal", "causal_lm"]


def test_a_body_over_4_mb_is_413(serenity: Endpoint) -> None:
    body = serenity.client.build_request("POST", "/chat/completions", json=serenity.body(max_tokens=2)).content
    below, above = body + b" " * (3_800_000 - len(body)), body + b" " * (4_500_000 - len(body))

    assert serenity.raw(below).status_code == 200
    check_error(serenity.raw(above), 413, serenity=True)
    chunks = (above[start : start + 100_000] for start in range(0, len(above), 100_000))
    headers = {"content-type": "application/json"}
    refused = serenity.client.post("/chat/completions", content=chunks, headers=headers)
    check_error(refused, 413, serenity=True)


def test_the_client_reads_the_413_after_sending_everything(ark: Endpoint) -> None:
    check_error(ark.raw(b" " * 9_000_000), 413, serenity=False)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b'"x"', "application/json"),
        (b"null", "application/json"),
        (b"\xff\xfe{}", "application/json"),
        (b"\xef\xbb\xbf{}", "application/json"),
        (b'{"model": NaN}', "application/json"),
        (b'{"seed": 1e999}', "application/json"),
        (b'{"seed": ' + b"9" * 5_000 + b"}", "application/json"),
        (b'{"seed": 99999999999999999999}', "application/json"),
        (b'{"model": "a", "model": "b"}', "application/json"),
        (b'{"model": "\\ud800"}', "application/json"),
        (b'{"\\ud800": 1}', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"a":' * 70 + b"1" + b"}" * 70, "application/json"),
        (b"model=x", "application/x-www-form-urlencoded"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_json_object_is_400(either: Endpoint, body: bytes, content_type: str) -> None:
    check_error(either.raw(body, content_type), 400, serenity=is_serenity(either))


def test_induced_conditions(speak_either: Speaker) -> None:
    endpoint = speak_either()
    serenity = is_serenity(endpoint)
    expected = {
        "rate_limit": (429, "rate_limit_exceeded"),
        "overload": (503, "service_unavailable"),
        "upstream_error": (500, "upstream_error"),
        "timeout": (500, "timeout"),
        "midstream_error": (500, "upstream_error"),
    }
    for condition, (status, code) in expected.items():
        response = endpoint.post({"X-Conformance-Induce": condition})
        check_error(response, status, serenity=serenity)
        assert response.json()["error"]["code"] == code
        assert ("retry-after" in response.headers) == (status == 429)
    assert endpoint.post({"X-Conformance-Induce": "nonsense"}).status_code == 400


def test_nothing_is_induced_unless_allowed(speak_either: Speaker) -> None:
    endpoint = speak_either(allow_induce=False)

    assert endpoint.post({"X-Conformance-Induce": "rate_limit"}).status_code == 200


def test_bytes_that_are_no_http(either: Endpoint) -> None:
    address = urlsplit(either.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        answer = connection.makefile("rb").read()

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert b'"error"' in body


def test_a_failure_inside_says_nothing_of_it(speak_either: Speaker) -> None:
    def explode(request: object) -> str:
        raise RuntimeError("secret /internal/path")

    endpoint = speak_either(explode)

    for stream in (False, True):
        response = endpoint.post(stream=stream)
        check_error(response, 500, serenity=is_serenity(endpoint))
        assert "secret" not in response.text
        assert "Traceback" not in response.text


def test_every_answer_has_a_request_id(either: Endpoint) -> None:
    ids = [either.post(**members).headers["x-request-id"] for members in ({}, {"n": 0}, {"stream": True})]

    assert len(set(ids)) == 3


def test_health_and_metrics(either: Endpoint) -> None:
    root = f"http://{urlsplit(either.url).netloc}"

    assert either.client.get(f"{root}/healthz").json() == {"status": "ok"}
    assert "chat_requests_total" in either.client.get(f"{root}/metrics").text


def test_serenity_answers_500_timeout_after_its_time_limit(speak_serenity: Speaker) -> None:
    endpoint = speak_serenity("word " * 300, delay=0.02)
    endpoint.app.state.dialect.time_limit = 0.2

    response = endpoint.post(max_tokens=300)

    check_error(response, 500, serenity=True)
    assert response.json()["error"]["code"] == "timeout"


def test_ark_ends_a_slow_reply_with_inference_timeout(speak_ark: Speaker) -> None:
    endpoint = speak_ark("word " * 300, delay=0.02)
    endpoint.app.state.dialect.inference_limit = 0.2

    choice = endpoint.whole(max_tokens=300)["choices"][0]
    *chunks, done = endpoint.stream(max_tokens=300)

    assert choice["finish_reason"] == "inference_timeout"
    assert choice["message"]["content"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "inference_timeout"
    assert done == "[DONE]"
