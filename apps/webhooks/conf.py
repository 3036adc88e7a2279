"""Settings of webhooks, with what holds where they are not set.

Source: docs/developers/settings.md.
"""

from __future__ import annotations

from django.conf import settings


def process_secrets() -> tuple[str, ...]:
    """Return the secret from which endpoint secrets are derived, then older ones that still sign beside it."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


def signing_key() -> str:
    """Return the Ed25519 private key that signs deliveries (32 bytes, hex), or '' where it is derived."""
    return str(getattr(settings, "SEALDECK_WEBHOOK_KEY", ""))
