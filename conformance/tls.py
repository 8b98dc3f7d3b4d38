"""How the endpoint's certificate is checked."""

from __future__ import annotations

import ssl

from conformance.target import Target


def verification(target: Target) -> ssl.SSLContext | bool:
    """The TLS context of a target: the default trust, or its own CA bundle and client certificate."""
    if target.ca_bundle is None and target.client_cert is None:
        return True
    context = ssl.create_default_context(cafile=target.ca_bundle)
    if target.client_cert is not None:
        context.load_cert_chain(target.client_cert)
    return context
