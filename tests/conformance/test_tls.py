"""Certificates: an unknown issuer is refused, a CA bundle of one's own is trusted, a client certificate is shown."""

import socket
import ssl
import threading
from contextlib import contextmanager, suppress

import pytest

from conformance.target import Target
from conformance.tls import verification
from conformance.wire.client import Call, Client, Stamp
from tests.conformance.endpoints import answer, read_request

trustme = pytest.importorskip("trustme", reason="makes the certificates")


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@contextmanager
def serving_tls(authority, wants_client=False):
    """An HTTPS endpoint on a free port; yields its base URL and the names of the clients it saw."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    if wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                plain.settimeout(5)
                with suppress(OSError), context.wrap_socket(plain, server_side=True) as connection:
                    if read_request(connection):
                        seen.append(connection.getpeercert())
                        connection.sendall(answer(b"{}", extra=b"Connection: close\r\n"))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}/v1", seen
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=6)


def ask(target):
    client = Client(target.base_url, verify=verification(target))
    try:
        return client.send(Call(b"{}"), Stamp("x0001", "p", "t"))
    finally:
        client.close()


def test_a_certificate_of_an_unknown_issuer_is_refused(authority):
    with serving_tls(authority) as (url, seen):
        exchange = ask(Target(url, "m"))
    assert (exchange.end, exchange.received, seen) == ("refused", None, [])
    assert "certificate" in exchange.problem.lower()


def test_a_ca_bundle_of_one_s_own_is_trusted_and_nothing_else(authority, tmp_path):
    bundle, other = tmp_path / "ca.pem", tmp_path / "other.pem"
    authority.cert_pem.write_to_path(bundle)
    trustme.CA().cert_pem.write_to_path(other)
    with serving_tls(authority) as (url, _):
        assert ask(Target(url, "m", ca_bundle=str(bundle))).ok
        assert ask(Target(url, "m", ca_bundle=str(other))).end == "refused"
        wrong_name = url.replace("127.0.0.1", "localhost")
        assert ask(Target(wrong_name, "m", ca_bundle=str(bundle))).end == "refused"


def test_a_client_certificate_is_shown_to_who_asks_for_it(authority, tmp_path):
    bundle, mine = tmp_path / "ca.pem", tmp_path / "client.pem"
    authority.cert_pem.write_to_path(bundle)
    authority.issue_cert("client@example.org").private_key_and_cert_chain_pem.write_to_path(mine)
    with serving_tls(authority, wants_client=True) as (url, seen):
        assert ask(Target(url, "m", ca_bundle=str(bundle), client_cert=str(mine))).ok
        assert ("email", "client@example.org") in seen[0]["subjectAltName"]
        assert ask(Target(url, "m", ca_bundle=str(bundle))).received is None
    assert len(seen) == 1
