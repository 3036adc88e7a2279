"""From where a key may be used.

The caller's address is that of the connection.  Only if the connection comes from a proxy listed in
``settings.SEALDECK_TRUSTED_PROXIES`` (networks in CIDR form) is the last address of ``X-Forwarded-For`` that is not
such a proxy taken instead.

Source: docs/operators/keys-and-sessions.md, section API keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from apps.accounts import conf
from apps.accounts.errors import AddressNotAllowed

HOPS_MAX = 16
"""Entries of ``X-Forwarded-For`` that are looked at, from the end."""

Address = IPv4Address | IPv6Address


def address_check(meta: Mapping[str, Any], networks: Sequence[str]) -> None:
    """Return if the request comes from one of the networks, or if there are none.

    Raises:
        AddressNotAllowed: it comes from elsewhere, or from an address that cannot be told.
    """
    if not networks:
        return
    address = caller_address(meta)
    if address is None or not _within(address, tuple(networks)):
        raise AddressNotAllowed


def caller_address(meta: Mapping[str, Any]) -> Address | None:
    """Return the address of whoever sent the request, or None if it cannot be told (a local socket)."""
    address = _parsed(str(meta.get("REMOTE_ADDR", "")))
    proxies = conf.trusted_proxies()
    if not proxies or address is None or not _within(address, proxies):
        return address
    hops = str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")[-HOPS_MAX:]
    for hop in reversed(hops):
        address = _parsed(hop.strip())
        if address is None or not _within(address, proxies):
            return address
    return address


def _within(address: Address, networks: tuple[str, ...]) -> bool:
    return any(address in network for network in _networks(networks))


@lru_cache(maxsize=256)
def _networks(networks: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(network) for network in networks)


def _parsed(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
