"""Who may read and write what: the application's role by column, and no reading role any ciphertext.

Implements docs/fairness/operations.md, section What the database enforces.
"""

from django.db import migrations

ROLES = "sealdeck_app, sealdeck_readonly, sealdeck_support, sealdeck_auditor"
READERS = "sealdeck_readonly, sealdeck_support, sealdeck_auditor"

TABLES = (
    "fairness_round",
    "fairness_record",
    "fairness_deck_order",
    "fairness_generation",
    "fairness_signing_key",
    "fairness_log",
    "fairness_checkpoint",
    "fairness_cosignature",
    "fairness_tile",
    "fairness_beacon_value",
    "fairness_tally",
)

APP_UPDATES = {
    "fairness_round": (
        "stage, last_hash, close_hash, beacon_round, closed_at_ms, deck_hash, order_hash, opener,"
        " dealt_at_ms, ended_at_ms"
    ),
    "fairness_record": "log_index, merged_at_ms",
    "fairness_log": "size, holder, epoch, seen_at_ms, stopped_reason, stopped_detail, stopped_at_ms",
    "fairness_tally": "rounds, delay_sum_ms, delay_max_ms, late",
}
"""Columns the application may change after a row is there; all the rest is insert only."""

APP_INSERTS = (*(table for table in TABLES if table not in ("fairness_signing_key", "fairness_log")),)
"""Keys and the log's row are made by the owner, in the key ceremony."""

READER_COLUMNS = {
    "fairness_round": (
        "id, table_id, index, game, entropy, stage, seed_commit, open_hash, last_hash, close_hash, beacon_round,"
        " deck_hash, order_hash, opener, opened_at_ms, closed_at_ms, dealt_at_ms, ended_at_ms"
    ),
    "fairness_generation": "id, round_id, gen, stream, n, root",
    "fairness_signing_key": "kid, use, public_key, added_id, revoked_id",
}
"""What reading roles see of the tables that hold ciphertext."""


def _grants() -> str:
    lines = [f"REVOKE ALL ON {table} FROM PUBLIC, {ROLES};" for table in TABLES]
    lines += [f"GRANT SELECT ON {table} TO sealdeck_app;" for table in TABLES]
    lines += [f"GRANT INSERT ON {table} TO sealdeck_app;" for table in APP_INSERTS]
    lines += [f"GRANT UPDATE ({columns}) ON {table} TO sealdeck_app;" for table, columns in APP_UPDATES.items()]
    for table in TABLES:
        columns = READER_COLUMNS.get(table)
        what = f"SELECT ({columns})" if columns else "SELECT"
        lines.append(f"GRANT {what} ON {table} TO {READERS};")
    return "\n".join(lines)


def _opened() -> str:
    return "\n".join(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO sealdeck_app;" for table in TABLES)


class Migration(migrations.Migration):
    dependencies = [("fairness", "0002_guards")]

    operations = [migrations.RunSQL(_grants(), _opened())]
