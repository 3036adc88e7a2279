"""The table that tools.baseline writes to."""

from __future__ import annotations

import psycopg


def make(owner_url: str) -> None:
    """Make it, with what the application's login needs."""
    with psycopg.connect(owner_url) as owner:
        owner.execute("CREATE TABLE bench_bare (id bigserial PRIMARY KEY, body jsonb)")
        owner.execute("GRANT INSERT, SELECT ON bench_bare TO PUBLIC")
        owner.execute("GRANT USAGE ON SEQUENCE bench_bare_id_seq TO PUBLIC")
