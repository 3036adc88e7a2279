"""Settings of accounts, with what holds where they are not set.

Source: docs/developers/settings.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_RATE = re.compile(r"(read|write|money|player|move)=([0-9]{1,9})/([1-9][0-9]{0,5})", re.ASCII)


def trusted_proxies() -> tuple[str, ...]:
    """Return the networks whose ``X-Forwarded-For`` is believed."""
    return tuple(getattr(settings, "SEALDECK_TRUSTED_PROXIES", ()))


def requires_signatures() -> bool:
    """Tell whether every request that moves money or administers must be signed, whatever its key says."""
    return bool(getattr(settings, "SEALDECK_REQUIRE_SIGNATURES", False))


def answer_key() -> str:
    """Return the private key that signs answers (32 bytes, hex), or '' where it is derived from SECRET_KEY."""
    return str(getattr(settings, "SEALDECK_ANSWER_KEY", ""))


def rate_limits() -> Mapping[str, tuple[int, int]]:
    """Return the rate limits that differ from the usual: policy to (requests, seconds); 0 requests is no limit."""
    return _rates(str(getattr(settings, "SEALDECK_RATE_LIMITS", "")))


@lru_cache(maxsize=8)
def _rates(text: str) -> Mapping[str, tuple[int, int]]:
    """Read ``read=600/60,player=0/60``."""
    limits: dict[str, tuple[int, int]] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        match = _RATE.fullmatch(part)
        if match is None:
            raise ImproperlyConfigured(f"SEALDECK_RATE_LIMITS: {part!r} is not POLICY=REQUESTS/SECONDS.")
        limits[match[1]] = (int(match[2]), int(match[3]))
    return limits
