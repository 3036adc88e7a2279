"""Settings of webhooks, with what holds where they are not set.

Source: docs/developers/settings.md.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network

from django.conf import settings


def process_secrets() -> tuple[str, ...]:
    """Return the secret from which endpoint secrets are derived, then older ones that still sign beside it."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


def signing_key() -> str:
    """Return the Ed25519 private key that signs deliveries (32 bytes, hex), or '' where it is derived."""
    return str(getattr(settings, "SEALDECK_WEBHOOK_KEY", ""))


def extra_networks() -> tuple[IPv4Network | IPv6Network, ...]:
    """Return networks that may be delivered to though they are not public, also without TLS: for trying out only."""
    return _networks(tuple(getattr(settings, "SEALDECK_WEBHOOK_NETWORKS", ())))


@lru_cache(maxsize=8)
def _networks(texts: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in texts)
