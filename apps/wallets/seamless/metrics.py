"""Numbers about seamless wallets for Prometheus."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CALLS = Counter("sealdeck_seamless_calls", "Calls of operators' wallets.", ["call", "outcome"])
OPEN = Gauge("sealdeck_seamless_open", "Stakes without a definite end, by state.", ["state"])
SUSPENSE_OLDEST_S = Gauge(
    "sealdeck_seamless_suspense_oldest_seconds", "Age of the oldest amount that lies in suspense."
)
