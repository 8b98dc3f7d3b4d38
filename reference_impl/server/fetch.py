"""Fetches an https picture without being led into the server's own network.

Off by default. Every address that a name has must be public, the connection goes to the very address that
was checked, each redirect is checked again, and size and time are bounded.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from urllib.parse import SplitResult, urljoin, urlsplit

from reference_impl.server.images import BadImage

MAX_BYTES = 8 * 1024 * 1024
TIME_LIMIT_S = 10.0
MAX_REDIRECTS = 3
_MAX_HEAD = 64 * 1024


async def fetch_image(url: str) -> bytes:
    """The bytes behind an https URL; raises BadImage with a sentence for the client."""
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            for _ in range(MAX_REDIRECTS + 1):
                status, headers, body = await _get(_checked(url))
                if status in (301, 302, 303, 307, 308) and "location" in headers:
                    url = urljoin(url, headers["location"])
                    continue
                if status != 200:
                    raise BadImage(f"The image URL answered with status {status}.")
                return body
    except TimeoutError:
        raise BadImage("The image could not be fetched in time.") from None
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        if isinstance(error, BadImage):
            raise
        raise BadImage("The image could not be fetched.") from error
    raise BadImage("The image URL redirects too often.")


def _checked(url: str) -> SplitResult:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.username is not None:
        raise BadImage("The image URL must be a plain https URL.")
    return parts


async def public_address(host: str, port: int) -> str:
    """An address of the host; raises BadImage if any of its addresses is not public."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        ip = ipaddress.ip_address(address.partition("%")[0])
        mapped = getattr(ip, "ipv4_mapped", None) or ip
        if not mapped.is_global or mapped.is_multicast:
            raise BadImage("The image URL does not lead to a public address.")
    if not addresses:
        raise BadImage("The image URL does not lead to an address.")
    return addresses[0]


async def _get(parts: SplitResult) -> tuple[int, dict[str, str], bytes]:
    host = parts.hostname or ""
    port = parts.port or 443
    address = await public_address(host, port)
    context = ssl.create_default_context()
    reader, writer = await asyncio.open_connection(address, port, ssl=context, server_hostname=host, limit=_MAX_HEAD)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if not (target.isascii() and target.isprintable()) or " " in target:
            raise BadImage("The image URL must be percent-encoded.")
        # HTTP/1.0: the answer is never chunked, and ends with the connection
        writer.write(f"GET {target} HTTP/1.0\r\nHost: {parts.netloc}\r\nAccept: image/*\r\n\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
        lines = (line.partition(":") for line in head[1:] if ":" in line)
        headers = {name.strip().lower(): value.strip() for name, _, value in lines}
        body = bytearray()
        while chunk := await reader.read(65_536):
            body += chunk
            if len(body) > MAX_BYTES:
                raise BadImage(f"The image has more than {MAX_BYTES} bytes.")
        return status, headers, bytes(body)
    finally:
        writer.close()
