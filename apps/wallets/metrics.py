"""Numbers about the ledger for Prometheus."""

from __future__ import annotations

from prometheus_client import Gauge

INVARIANT_BROKEN = Gauge(
    "sealdeck_ledger_invariant_broken",
    "1 while the last check found the invariant broken.",
    ["invariant"],
    multiprocess_mode="mostrecent",
)
ESCROW_OLDEST_S = Gauge(
    "sealdeck_ledger_escrow_oldest_seconds",
    "Age of the oldest buy-in that lies in an escrow.",
    multiprocess_mode="mostrecent",
)
