"""Metrics of accounts."""

from __future__ import annotations

from prometheus_client import Counter

RATE_LIMITED = Counter("sealdeck_rate_limited_total", "Requests refused because a bucket was empty.", ["policy"])
RATE_UNAVAILABLE = Counter(
    "sealdeck_rate_limit_unavailable_total", "Times that Redis was away and requests passed uncounted."
)
