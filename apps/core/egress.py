"""Sending a request to an address that somebody else chose, without being led astray.

The name is resolved once, every address it has is checked, and the connection goes to a checked one; redirects are not
followed, and the whole exchange has one deadline.  Webhooks and operators' wallets are called through here and nothing
else.  Hazard N1; docs/operators/webhooks.md, section Where we deliver.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

CONNECT_S = 3.0
TOTAL_S = 15.0
"""For connecting, sending and reading together, once the name is resolved, where a caller sets no other."""
ANSWER_BYTES_MAX = 65_536
RETRY_AFTER_MAX_S = 86_400
URL_LENGTH_MAX = 400
ADDRESSES_MAX = 4
PORT_MIN = 1024
"""Below it only the port of https, so that no service of the system can be spoken to."""

_NAT64 = IPv6Network("64:ff9b::/96")

Resolver = Callable[[str, int], list[str]]


class TargetRefused(ValueError):
    """The address is not one that is sent to; what a caller tells of it is the caller's."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status, or why there is none."""

    status: int | None
    error: str = ""
    retry_after_s: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """By lowercase name."""
    body: bytes = field(default=b"", compare=False, repr=False)
    """At most ANSWER_BYTES_MAX; what is longer is cut off."""


def extra_networks() -> tuple[IPv4Network | IPv6Network, ...]:
    """Return networks that may be sent to though they are not public, also without TLS: for trying out only."""
    return _networks(tuple(getattr(settings, "SEALDECK_WEBHOOK_NETWORKS", ())))


@lru_cache(maxsize=8)
def _networks(texts: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in texts)


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a name, by the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def target_check(url: str) -> SplitResult:
    """Return the parts of a URL that may be sent to, as far as its text tells.

    Raises:
        TargetRefused: it is not https, names no host, or holds credentials or a fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise TargetRefused(url) from None
    has_host = bool(parts.hostname) and url.isascii() and len(url) <= URL_LENGTH_MAX and url.isprintable()
    if not has_host or " " in url or "\\" in url or parts.username is not None or parts.fragment:
        raise TargetRefused(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and extra_networks()):
        raise TargetRefused(url)
    if port is not None and port != http.client.HTTPS_PORT and port < PORT_MIN:
        raise TargetRefused(parts.geturl())
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
        if any(address in network for network in extra_networks()):
            continue
        if parts.scheme != "https" or not _is_public(address):
            raise TargetRefused(parts.geturl())
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


def literal_check(url: str) -> None:
    """Check a URL as far as it can be without asking for a name: its text, and its address where it has one.

    Raises:
        TargetRefused: it is not one that is sent to.
    """
    parts = target_check(url)
    try:
        ip_address(str(parts.hostname))
    except ValueError:
        return
    addresses_checked(parts, lambda host, _port: [host])


def post(
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes,
    resolver: Resolver = resolve,
    total_s: float = TOTAL_S,
) -> Answer:
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
    deadline = threading.Timer(total_s, _cut, [held])
    deadline.daemon = True
    deadline.start()
    try:
        _connect(parts, addresses, held, total_s)
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


def _connect(parts: SplitResult, addresses: list[str], held: list[socket.socket], total_s: float) -> None:
    """Connect to the first address that answers; over TLS the certificate must be of the name in the URL."""
    problem: OSError = OSError("no address")
    ends = time.monotonic() + total_s
    for address in addresses[:ADDRESSES_MAX]:
        left_s = ends - time.monotonic()
        if left_s <= 0:
            break
        try:
            plain = socket.create_connection((address, _port(parts)), timeout=min(CONNECT_S, left_s))
        except OSError as failed:
            problem = failed
            continue
        plain.settimeout(total_s)
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
    said = answer.read(ANSWER_BYTES_MAX)
    named = {name.lower(): value for name, value in answer.headers.items()}
    return Answer(answer.status, "", _retry_after_s(named.get("retry-after")), named, said)


def _cut(held: list[socket.socket]) -> None:
    for connected in held:
        with contextlib.suppress(OSError):  # It may have ended by itself meanwhile.
            connected.shutdown(socket.SHUT_RDWR)


def _retry_after_s(value: str | None) -> int | None:
    if value is None or not value.strip().isdecimal() or len(value.strip()) > 9:
        return None
    return min(int(value), RETRY_AFTER_MAX_S)
