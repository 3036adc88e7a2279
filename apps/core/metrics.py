"""What is counted about every request.  Apps keep their own counters in their own ``metrics.py``."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

REQUESTS = Counter("sealdeck_http_requests_total", "Requests answered.", ("method", "route", "status"))
SECONDS = Histogram(
    "sealdeck_http_request_seconds",
    "Time to answer.",
    ("route",),
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30),
)
