"""Settings of accounts, with what holds where they are not set.

Source: docs/developers/settings.md.
"""

from __future__ import annotations

from django.conf import settings


def is_sandbox() -> bool:
    """Tell whether this installation is for trying out; its keys say so in their text."""
    return bool(getattr(settings, "SEALDECK_SANDBOX", False))


def trusted_proxies() -> tuple[str, ...]:
    """Return the networks whose ``X-Forwarded-For`` is believed."""
    return tuple(getattr(settings, "SEALDECK_TRUSTED_PROXIES", ()))
