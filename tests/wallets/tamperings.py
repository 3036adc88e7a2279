"""Ways to falsify a ledger with an administrator's rights, and the invariants that each of them breaks."""

from __future__ import annotations

PLAYER = "(SELECT id FROM wallets_account WHERE kind = 'player' ORDER BY id LIMIT 1)"


def _tx(kind: str) -> str:
    return f"(SELECT id FROM wallets_tx WHERE kind = '{kind}' LIMIT 1)"


def _entry(change: str, where: str) -> str:
    return f"UPDATE wallets_entry SET {change} WHERE {where}"


TAMPERINGS: dict[str, tuple[str, set[str]]] = {
    "an amount": (
        _entry("amount = amount + 1", f"tx_id = {_tx('credit')} AND amount > 0"),
        {"I1", "I3", "I11", "I13", "I16"},
    ),
    "a transaction without entries": (
        f"DELETE FROM wallets_entry WHERE tx_id = {_tx('credit')}",
        {"I1", "I3", "I11", "I12", "I13", "I16"},
    ),
    "a balance": (
        f"UPDATE wallets_balance SET posted = posted + 1 WHERE account_id = {PLAYER}",
        {"I2", "I3"},
    ),
    "a held part": (
        f"UPDATE wallets_balance SET held = held + 1 WHERE account_id = {PLAYER}",
        {"I5"},
    ),
    "an entry's number": (
        _entry("account_seq = account_seq + 50", f"account_id = {PLAYER} AND account_seq > 1"),
        {"I11", "I13"},
    ),
    "a balance after an entry": (
        _entry("balance_after = balance_after + 1", f"account_id = {PLAYER} AND account_seq = 2"),
        {"I11", "I16"},
    ),
    "a settlement that is gone": (
        "DELETE FROM wallets_tx WHERE kind = 'settle'",
        {"I6", "I12", "I13", "I14", "I16"},
    ),
    "a snapshot": (
        "UPDATE wallets_snapshot SET posted = posted + 1",
        {"I2", "I12"},
    ),
    "a block's hash": ("UPDATE wallets_block SET hash = sha256('x')", {"I13"}),
    "a block's time": ("UPDATE wallets_block SET sealed_at_ms = 1", {"I13"}),
    "a block's sums": ("UPDATE wallets_block SET sums = '{}'", {"I13"}),
    "a block's range": ("UPDATE wallets_block SET from_xid = '5'", {"I13"}),
    "an external id": (
        f"UPDATE wallets_tx SET external_id = 'other' WHERE id = {_tx('credit')}",
        {"I13", "I16"},
    ),
    "a daily file": ("UPDATE wallets_daily_file SET body = body || '{}'::bytea", {"I16"}),
    "a daily file's signature": (
        "UPDATE wallets_daily_file SET signature = decode(repeat('00', 64), 'hex')",
        {"I16"},
    ),
    "a time": (
        f"UPDATE wallets_tx SET created_at_ms = created_at_ms + 1 WHERE id = {_tx('credit')}",
        {"I13", "I16"},
    ),
    "an event that is gone": ("DELETE FROM webhooks_event WHERE tx_id IS NOT NULL AND seq = 1", {"I14"}),
    "an event's number": ("UPDATE webhooks_event SET seq = seq + 100 WHERE seq = 1", {"I14"}),
    "a state that begins earlier": ("UPDATE wallets_account_status_change SET after_entry_id = 0", {"I17"}),
    "another amount refunded": (
        _entry("amount = amount + CASE WHEN amount > 0 THEN 1 ELSE -2 END", f"tx_id = {_tx('void')}"),
        {"I3", "I7", "I11", "I13", "I16"},
    ),
    "a reversal of another amount": (
        _entry("amount = amount * 2", f"tx_id = {_tx('reverse')}"),
        {"I3", "I10", "I11", "I12", "I13", "I16"},
    ),
}
