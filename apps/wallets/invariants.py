"""The ledger's invariants as queries that find what breaks them.

I1 to I7, I10 to I12, I14, I15, I17 and I19 of docs/auditors/ledger.md; each query answers one text for each violation,
and is run for one operator or, with a null, for all.  Reads only.
"""

from __future__ import annotations

from dataclasses import dataclass

GUARDS = (
    "wallets_account_identity",
    "wallets_tx_natural_key",
    "wallets_tx_operator_external_id",
    "wallets_tx_one_outcome",
    "wallets_tx_one_buy_in",
    "wallets_tx_reverses_id_key",
    "wallets_tx_approval_id_key",
    "wallets_entry_account_seq",
    "wallets_hold_identity",
    "wallets_stake_one",
    "wallets_block_identity",
    "webhooks_event_seq",
    "webhooks_event_tx_id_key",
)
"""Unique indexes on which 'at most once' stands."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One invariant: its number, its sentence, and the query that finds violations."""

    id: str
    says: str
    query: str
    is_quick: bool = False
    """Cheap enough for every few minutes."""


INVARIANTS = (
    Invariant(
        "I1",
        "The entries of a transaction sum to zero in each currency, and there are some.",
        """
        SELECT format('transaction %%s: %%s %%s', e.tx_id, sum(e.amount), e.currency) FROM wallets_entry e
            WHERE (%(operator)s::uuid IS NULL OR e.operator_id = %(operator)s)
            GROUP BY e.tx_id, e.currency HAVING sum(e.amount) <> 0
        UNION ALL
        SELECT format('transaction %%s has no entry', t.id) FROM wallets_tx t
            WHERE (%(operator)s::uuid IS NULL OR t.operator_id = %(operator)s)
            AND NOT EXISTS (SELECT 1 FROM wallets_entry e WHERE e.tx_id = t.id)
        """,
    ),
    Invariant(
        "I2",
        "All balances of an operator and currency sum to zero.",
        """
        SELECT format('operator %%s: %%s %%s', operator_id, sum(amount), currency) FROM (
            SELECT a.operator_id, a.currency_id AS currency, b.posted AS amount
                FROM wallets_account a JOIN wallets_balance b ON b.account_id = a.id
            UNION ALL
            SELECT a.operator_id, a.currency_id, s.posted FROM wallets_account a CROSS JOIN LATERAL (
                SELECT posted FROM wallets_snapshot WHERE account_id = a.id ORDER BY upto_xid DESC LIMIT 1) s
                WHERE a.kind NOT IN ('player', 'escrow')
            UNION ALL
            SELECT a.operator_id, a.currency_id, e.amount
                FROM wallets_tx t JOIN wallets_entry e ON e.tx_id = t.id JOIN wallets_account a ON a.id = e.account_id
                WHERE a.kind NOT IN ('player', 'escrow') AND t.xid >= coalesce((SELECT max(b.upto_xid)
                    FROM wallets_block b WHERE b.operator_id = t.operator_id), '0'::xid8)
        ) every_balance WHERE (%(operator)s::uuid IS NULL OR operator_id = %(operator)s)
        GROUP BY operator_id, currency HAVING sum(amount) <> 0
        """,
        is_quick=True,
    ),
    Invariant(
        "I3",
        "A balance is the sum of its account's entries.",
        """
        SELECT format('account %%s: balance %%s, entries %%s', b.account_id, b.posted, coalesce(sum(e.amount), 0))
            FROM wallets_balance b LEFT JOIN wallets_entry e ON e.account_id = b.account_id
            WHERE (%(operator)s::uuid IS NULL OR b.operator_id = %(operator)s)
            GROUP BY b.account_id, b.posted HAVING b.posted <> coalesce(sum(e.amount), 0)
        """,
    ),
    Invariant(
        "I4",
        "Posted less held is never below the floor.",
        """
        SELECT format('account %%s: posted %%s, held %%s, floor %%s', account_id, posted, held, floor)
            FROM wallets_balance WHERE (%(operator)s::uuid IS NULL OR operator_id = %(operator)s)
            AND posted - held < floor
        """,
        is_quick=True,
    ),
    Invariant(
        "I5",
        "The held part of a balance is the sum of its account's active holds.",
        """
        SELECT format('account %%s: held %%s, holds %%s', b.account_id, b.held, coalesce(h.amount, 0))
            FROM wallets_balance b LEFT JOIN (
                SELECT account_id, sum(amount) AS amount FROM wallets_hold WHERE state = 'active' GROUP BY account_id
            ) h ON h.account_id = b.account_id
            WHERE (%(operator)s::uuid IS NULL OR b.operator_id = %(operator)s) AND b.held <> coalesce(h.amount, 0)
        """,
        is_quick=True,
    ),
    Invariant(
        "I6",
        "An escrow holds its buy-ins until its round has an outcome, and nothing afterwards.",
        """
        SELECT format('round %%s: escrow %%s, outcome %%s', round_id, posted, has_outcome) FROM (
            SELECT a.owner_ref AS round_id, b.posted,
                EXISTS (SELECT 1 FROM wallets_tx t WHERE t.round_id = a.owner_ref AND t.kind = 'buy_in'
                    AND NOT EXISTS (SELECT 1 FROM wallets_tx r WHERE r.reverses_id = t.id)) AS has_buy_in,
                EXISTS (SELECT 1 FROM wallets_tx t WHERE t.round_id = a.owner_ref
                    AND t.kind IN ('settle', 'void', 'resettle')
                    AND NOT EXISTS (SELECT 1 FROM wallets_tx r WHERE r.reverses_id = t.id)) AS has_outcome
            FROM wallets_account a JOIN wallets_balance b ON b.account_id = a.id
            WHERE a.kind = 'escrow' AND (%(operator)s::uuid IS NULL OR a.operator_id = %(operator)s)
        ) escrows WHERE posted < 0 OR (posted = 0) <> (has_outcome OR NOT has_buy_in)
        """,
    ),
    Invariant(
        "I7",
        "A round has one outcome: payouts and fee are its buy-ins, or each buy-in went back.",
        """
        SELECT format('round %%s: %%s outcomes', round_id, count(*)) FROM wallets_tx
            WHERE (%(operator)s::uuid IS NULL OR operator_id = %(operator)s) AND kind IN ('settle', 'void')
            GROUP BY round_id HAVING count(*) > 1
        UNION ALL
        SELECT format('round %%s: the %%s is not made of its buy-ins', o.round_id, o.kind)
            FROM wallets_tx o LEFT JOIN wallets_tx b ON b.round_id = o.round_id AND b.kind = 'buy_in'
            WHERE (%(operator)s::uuid IS NULL OR o.operator_id = %(operator)s) AND o.kind IN ('settle', 'void')
            AND ((SELECT sum(e.amount) FROM wallets_entry e WHERE e.tx_id = o.id AND e.amount > 0)
                    IS DISTINCT FROM
                 (SELECT sum(e.amount) FROM wallets_entry e WHERE e.tx_id = b.id AND e.amount > 0)
                OR (o.kind = 'void' AND wallets_lines(o.id, 1) IS DISTINCT FROM wallets_lines(b.id, -1)))
        """,
    ),
    Invariant(
        "I10",
        "A reversal is the negative of what it reverses, which is reversed once.",
        """
        SELECT format('reversal %%s of %%s', t.id, t.reverses_id) FROM wallets_tx t
            WHERE (%(operator)s::uuid IS NULL OR t.operator_id = %(operator)s) AND t.kind = 'reverse'
            AND wallets_lines(t.id, 1) IS DISTINCT FROM wallets_lines(t.reverses_id, -1)
        UNION ALL
        SELECT format('transaction %%s is reversed %%s times', reverses_id, count(*)) FROM wallets_tx
            WHERE (%(operator)s::uuid IS NULL OR operator_id = %(operator)s) AND reverses_id IS NOT NULL
            GROUP BY reverses_id HAVING count(*) > 1
        """,
    ),
    Invariant(
        "I11",
        "An account's entries are numbered without a gap, and each balance follows from the one before.",
        """
        SELECT format('account %%s at %%s', account_id, account_seq) FROM (
            SELECT e.account_id, e.account_seq, e.amount, e.balance_after,
                lag(e.account_seq, 1, 0) OVER in_order AS seq_before,
                lag(e.balance_after, 1, 0) OVER in_order AS balance_before
            FROM wallets_entry e
            WHERE (%(operator)s::uuid IS NULL OR e.operator_id = %(operator)s) AND e.account_seq IS NOT NULL
            WINDOW in_order AS (PARTITION BY e.account_id ORDER BY e.account_seq)
        ) numbered WHERE account_seq <> seq_before + 1 OR balance_after <> balance_before + amount
        UNION ALL
        SELECT format('account %%s: %%s entries, number %%s', b.account_id, count(e.id), b.seq)
            FROM wallets_balance b LEFT JOIN wallets_entry e ON e.account_id = b.account_id
            WHERE (%(operator)s::uuid IS NULL OR b.operator_id = %(operator)s)
            GROUP BY b.account_id, b.seq HAVING count(e.id) <> b.seq
        """,
    ),
    Invariant(
        "I12",
        "A snapshot is the sum of its account's entries up to its place.",
        """
        SELECT format('account %%s up to %%s: snapshot %%s, entries %%s', account_id, upto_xid, posted, amount) FROM (
            SELECT s.account_id, s.upto_xid, s.posted, (SELECT coalesce(sum(e.amount), 0) FROM wallets_entry e
                JOIN wallets_tx t ON t.id = e.tx_id WHERE e.account_id = s.account_id AND t.xid < s.upto_xid) AS amount
            FROM wallets_snapshot s WHERE (%(operator)s::uuid IS NULL OR s.operator_id = %(operator)s)
            AND s.id IN (SELECT id FROM wallets_snapshot TABLESAMPLE SYSTEM (100) ORDER BY random() LIMIT 200)
        ) sums WHERE posted <> amount
        """,
    ),
    Invariant(
        "I14",
        "Each transaction but a buy-in has one event, and an operator's events are numbered without a gap.",
        """
        SELECT format('transaction %%s has no event', t.id) FROM wallets_tx t
            WHERE (%(operator)s::uuid IS NULL OR t.operator_id = %(operator)s) AND t.kind <> 'buy_in'
            AND NOT EXISTS (SELECT 1 FROM webhooks_event e WHERE e.tx_id = t.id)
        UNION ALL
        SELECT format('event %%s tells of no transaction', e.public_id) FROM webhooks_event e
            WHERE (%(operator)s::uuid IS NULL OR e.operator_id = %(operator)s) AND e.tx_id IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM wallets_tx t WHERE t.id = e.tx_id)
        UNION ALL
        SELECT format('operator %%s: %%s events up to number %%s', operator_id, count(seq), max(seq))
            FROM webhooks_event WHERE (%(operator)s::uuid IS NULL OR operator_id = %(operator)s)
            GROUP BY operator_id HAVING count(seq) <> coalesce(max(seq), 0)
        """,
    ),
    Invariant(
        "I15",
        "The indexes that make a request count once are there and valid, and every trigger is on.",
        f"""
        SELECT format('unique index %%s is missing', wanted.name) FROM unnest(ARRAY{list(GUARDS)!r}) AS wanted(name)
            WHERE NOT EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                WHERE c.relname = wanted.name AND i.indisunique AND i.indisvalid AND i.indisready)
            AND (%(operator)s::uuid IS NULL OR true)
        UNION ALL
        SELECT format('trigger %%s on %%s is off', t.tgname, c.relname) FROM pg_trigger t
            JOIN pg_class c ON c.oid = t.tgrelid
            WHERE c.relname ~ '^(wallets|webhooks)_' AND t.tgenabled NOT IN ('O', 'A')
        """,  # noqa: S608  Names from this file.
        is_quick=True,
    ),
    Invariant(
        "I17",
        "No frozen or closed account has an entry that its state forbids.",
        """
        SELECT format('account %%s is %%s and took entry %%s (%%s)', c.account_id, c.new_status, e.id, t.kind) FROM (
            SELECT account_id, operator_id, new_status, after_entry_id,
                lead(after_entry_id) OVER (PARTITION BY account_id ORDER BY id) AS until_entry_id
            FROM wallets_account_status_change
        ) c JOIN wallets_entry e ON e.account_id = c.account_id AND e.id > c.after_entry_id
            AND (c.until_entry_id IS NULL OR e.id <= c.until_entry_id)
        JOIN wallets_tx t ON t.id = e.tx_id
        WHERE (%(operator)s::uuid IS NULL OR c.operator_id = %(operator)s) AND c.new_status <> 'open'
            AND (t.kind IN ('buy_in', 'debit', 'capture')
                OR (c.new_status = 'closed' AND t.kind IN ('credit', 'promo')))
        """,
    ),
    Invariant(
        "I19",
        "Suspense is what stakes of seamless wallets wait for, and players have what confirmed stakes brought.",
        """
        SELECT format('operator %%s: suspense %%s %%s, stakes %%s', operator_id, sum(suspense), currency, sum(stakes))
        FROM (
            SELECT a.operator_id, a.currency_id AS currency, coalesce(s.posted, 0) + coalesce((SELECT sum(e.amount)
                FROM wallets_tx t JOIN wallets_entry e ON e.tx_id = t.id AND e.account_id = a.id
                WHERE t.operator_id = a.operator_id AND t.xid >= coalesce(s.upto_xid, '0'::xid8)), 0) AS suspense,
                0 AS stakes
            FROM wallets_account a LEFT JOIN LATERAL (SELECT posted, upto_xid FROM wallets_snapshot
                WHERE account_id = a.id ORDER BY upto_xid DESC LIMIT 1) s ON true WHERE a.kind = 'suspense'
            UNION ALL
            SELECT operator_id, currency_id, 0, coalesce(win_minor, amount_minor) FROM wallets_stake
                WHERE state NOT IN ('refused', 'rolled_back', 'paid', 'planned', 'sent', 'confirmed', 'played')
        ) both_sides WHERE (%(operator)s::uuid IS NULL OR operator_id = %(operator)s)
        GROUP BY operator_id, currency HAVING sum(suspense) <> sum(stakes)
        UNION ALL
        SELECT format('player %%s: confirmed stakes %%s, balance %%s', k.player_id, k.amount, coalesce(b.posted, 0))
        FROM (SELECT operator_id, player_id, currency_id, sum(amount_minor) AS amount FROM wallets_stake
                WHERE state = 'confirmed' GROUP BY operator_id, player_id, currency_id) k
            LEFT JOIN wallets_account a ON a.operator_id = k.operator_id AND a.kind = 'player'
                AND a.owner_ref = k.player_id AND a.currency_id = k.currency_id
            LEFT JOIN wallets_balance b ON b.account_id = a.id
        WHERE (%(operator)s::uuid IS NULL OR k.operator_id = %(operator)s) AND coalesce(b.posted, 0) < k.amount
        """,
        is_quick=True,
    ),
)
