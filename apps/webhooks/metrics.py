"""Numbers about webhooks for Prometheus."""

from __future__ import annotations

from prometheus_client import Counter

DELIVERIES = Counter("sealdeck_webhook_deliveries", "Deliveries that were tried.", ["outcome"])
