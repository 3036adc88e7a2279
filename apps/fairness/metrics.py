"""What operators watch in fairness.  No label holds a round, a table or a player."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

LOG_SIZE = Gauge("sealdeck_log_size", "Entries in the newest signed checkpoint", multiprocess_mode="max")
LOG_PENDING = Gauge(
    "sealdeck_log_pending", "Signed records not merged yet, at the last tick", multiprocess_mode="mostrecent"
)
LOG_STOPPED = Gauge("sealdeck_log_stopped", "1 while the log's writer is stopped", multiprocess_mode="mostrecent")
MERGE_DELAY = Histogram(
    "sealdeck_log_merge_delay_seconds",
    "From signing a record to its published checkpoint",
    buckets=(0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 30.0),
)
ENDINGS = Counter("sealdeck_rounds_merged_total", "Ended rounds merged, by ending and reason", ["ending", "reason"])
COSIGNED = Gauge(
    "sealdeck_log_cosigned_size",
    "Entries in the newest checkpoint that a witness cosigned",
    ["witness"],
    multiprocess_mode="max",
)
