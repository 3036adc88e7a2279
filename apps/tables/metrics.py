"""Prometheus metrics of the tables."""

from prometheus_client import Counter, Gauge, Histogram

ENTRIES = Counter("sealdeck_entries_total", "Transcript entries written")
MOVES = Histogram(
    "sealdeck_move_seconds",
    "From a move's arrival to its answer",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
ROUNDS = Counter("sealdeck_rounds_ended_total", "Rounds that ended, by game and how", ["game", "how"])
SWEEP_LATENESS = Histogram(
    "sealdeck_deadline_lateness_seconds",
    "How late a row was when the sweeper took it, by kind",
    ["kind"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30),
)
HINTS_LOST = Counter("sealdeck_hints_lost_total", "Hints to followers that Redis did not take")
STREAMS = Gauge("sealdeck_streams_open", "Event streams open now", multiprocess_mode="livesum")
