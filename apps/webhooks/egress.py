"""Sending a request to an address that somebody else chose, without being led astray.

The name is resolved once, every address it has is checked, and the connection goes to a checked one; redirects are not
followed, and the whole exchange has one deadline.  Hazard N1; docs/operators/webhooks.md, section Where we deliver.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

from apps.webhooks import conf
from apps.webhooks.errors import TargetRefused

CONNECT_S = 3.0
TOTAL_S = 15.0
"""For connecting, sending and reading together, once the name is resolved."""
ANSWER_BYTES_MAX = 65_536
RETRY_AFTER_MAX_S = 86_400
URL_LENGTH_MAX = 400
ADDRESSES_MAX = 4
PORT_MIN = 1024
"""Below it only the port of https, so that no service of the system can be spoken to."""

_NAT64 = IPv6Network("64:ff9b::/96")

Resolver = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status, or why there is none."""

    status: int | None
    error: str = ""
    retry_after_s: int | None = None


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a name, by the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def target_check(url: str) -> SplitResult:
    """Return the parts of a URL that may be delivered to, as far as its text tells.

    Raises:
        TargetRefused: it is not https, names no host, or holds credentials or a fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise TargetRefused(pointer="/url") from None
    has_host = bool(parts.hostname) and url.isascii() and len(url) <= URL_LENGTH_MAX and url.isprintable()
    if not has_host or " " in url or "\\" in url or parts.username is not None or parts.fragment:
        raise TargetRefused(pointer="/url")
    if parts.scheme != "https" and not (parts.scheme == "http" and conf.extra_networks()):
        raise TargetRefused(pointer="/url")
    if port is not None and port != http.client.HTTPS_PORT and port < PORT_MIN:
        raise TargetRefused(pointer="/url")
    return parts


def addresses_checked(parts: SplitResult, resolver: Resolver) -> list[str]:
    """Resolve the host once and return its addresses, in order.

    Raises:
        TargetRefused: one of them is not public.
        OSError: the name has none.
    """
    assert parts.hostname is not None, "the target was checked"
    found = resolver(parts.hostname, _port(parts))
    if not found:
        raise OSError("the name has no address")
    for text in found:
        address = ip_address(text.partition("%")[0])
        if any(address in network for network in conf.extra_networks()):
            continue
        if parts.scheme != "https" or not _is_public(address):
            raise TargetRefused(pointer="/url")
    return found


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return _is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved and not address.is_unspecified


def _port(parts: SplitResult) -> int:
    return parts.port or (http.client.HTTPS_PORT if parts.scheme == "https" else http.client.HTTP_PORT)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def post(url: str, *, headers: Mapping[str, str], body: bytes, resolver: Resolver = resolve) -> Answer:
    """Send one POST and return what came back; never raises for what the other side does."""
    try:
        parts = target_check(url)
        addresses = addresses_checked(parts, resolver)
    except TargetRefused:
        return Answer(None, "target_refused")
    except (OSError, UnicodeError):
        return Answer(None, "name_not_resolved")
    held: list[socket.socket] = []
    # A peer that drips byte after byte never runs into a socket's timeout: the whole exchange has its own.
    deadline = threading.Timer(TOTAL_S, _cut, [held])
    deadline.daemon = True
    deadline.start()
    try:
        _connect(parts, addresses, held)
        return _exchange(held[0], parts, headers, body)
    except ssl.SSLError:
        return Answer(None, "tls_failed")
    except OSError:
        return Answer(None, "no_answer" if held else "connection_failed")
    except (http.client.HTTPException, ValueError):
        return Answer(None, "no_answer")
    finally:
        deadline.cancel()
        for connected in held:
            connected.close()


def _connect(parts: SplitResult, addresses: list[str], held: list[socket.socket]) -> None:
    """Connect to the first address that answers; over TLS the certificate must be of the name in the URL."""
    problem: OSError = OSError("no address")
    for address in addresses[:ADDRESSES_MAX]:
        try:
            plain = socket.create_connection((address, _port(parts)), timeout=CONNECT_S)
        except OSError as failed:
            problem = failed
            continue
        plain.settimeout(TOTAL_S)
        if parts.scheme != "https":
            held.append(plain)
            return
        wrapped = _tls().wrap_socket(plain, server_hostname=parts.hostname, do_handshake_on_connect=False)
        held.append(wrapped)
        wrapped.do_handshake()
        return
    raise problem


def _exchange(connected: socket.socket, parts: SplitResult, headers: Mapping[str, str], body: bytes) -> Answer:
    connection = http.client.HTTPConnection(parts.hostname or "", _port(parts))
    connection.sock = connected
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("POST", path, body=body, headers={"Host": parts.netloc, **headers})
    answer = connection.getresponse()
    answer.read(ANSWER_BYTES_MAX)
    return Answer(answer.status, "", _retry_after_s(answer.headers.get("Retry-After")))


def _cut(held: list[socket.socket]) -> None:
    for connected in held:
        with contextlib.suppress(OSError):  # It may have ended by itself meanwhile.
            connected.shutdown(socket.SHUT_RDWR)


def _retry_after_s(value: str | None) -> int | None:
    if value is None or not value.strip().isdecimal() or len(value.strip()) > 9:
        return None
    return min(int(value), RETRY_AFTER_MAX_S)
