"""Holds and approved corrections as functions of the database.

Rules L6, L12 and L15: docs/auditors/ledger.md.  A hold's row is locked before its balance, everywhere.
"""

from django.db import migrations

HOLDS = """
-- Reserve a part of a player's balance, once for each purpose and reference.
CREATE FUNCTION wallets_hold_place(p_operator uuid, p_player uuid, p_currency text, p_amount bigint, p_purpose text,
    p_reference uuid, p_ttl_ms bigint)
RETURNS TABLE (outcome text, hold_id uuid, available bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    account bigint := wallets_account_open(p_operator, 'player', p_player, p_currency);
    free bigint;
    known record;
    made uuid;
BEGIN
    SELECT b.posted - b.held INTO STRICT free FROM wallets_balance b WHERE b.account_id = account FOR NO KEY UPDATE;
    SELECT h.id, h.amount INTO known FROM wallets_hold h
        WHERE h.reference = p_reference AND h.account_id = account AND h.purpose = p_purpose;
    IF FOUND THEN
        RETURN QUERY SELECT CASE WHEN known.amount = p_amount THEN 'done' ELSE 'conflict' END, known.id, free;
        RETURN;
    END IF;
    PERFORM 1 FROM wallets_account a WHERE a.id = account AND a.status <> 'open';
    IF FOUND THEN
        RETURN QUERY SELECT 'account_frozen', NULL::uuid, free;
        RETURN;
    END IF;
    IF free < p_amount THEN
        RETURN QUERY SELECT 'insufficient_funds', NULL::uuid, free;
        RETURN;
    END IF;
    INSERT INTO wallets_hold (id, operator_id, account_id, amount, purpose, reference, state, expires_at_ms)
        VALUES (gen_random_uuid(), p_operator, account, p_amount, p_purpose, p_reference, 'active',
                floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + p_ttl_ms)
        RETURNING id INTO made;
    RETURN QUERY SELECT 'done', made, free - p_amount;
END $$;

-- Take what was held: exact at the end of its time, whatever the sweeper has or has not done.
CREATE FUNCTION wallets_hold_capture(p_operator uuid, p_hold uuid, p_sha256 bytea, p_actor text)
RETURNS TABLE (outcome text, tx_id uuid)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    held record;
    status text;
    made uuid := gen_random_uuid();
BEGIN
    SELECT h.account_id, h.amount, h.state, h.expires_at_ms, h.resolved_tx_id, a.currency_id INTO held
        FROM wallets_hold h JOIN wallets_account a ON a.id = h.account_id
        WHERE h.id = p_hold AND h.operator_id = p_operator FOR NO KEY UPDATE OF h;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found', NULL::uuid;
        RETURN;
    END IF;
    IF held.state = 'captured' THEN
        RETURN QUERY SELECT 'done', held.resolved_tx_id;
        RETURN;
    END IF;
    IF held.state <> 'active' OR held.expires_at_ms <= floor(extract(epoch FROM clock_timestamp()) * 1000) THEN
        RETURN QUERY SELECT 'not_active', NULL::uuid;
        RETURN;
    END IF;
    PERFORM 1 FROM wallets_balance b WHERE b.account_id = held.account_id FOR NO KEY UPDATE;
    SELECT a.status INTO status FROM wallets_account a WHERE a.id = held.account_id;
    IF status <> 'open' THEN
        RETURN QUERY SELECT 'account_frozen', NULL::uuid;
        RETURN;
    END IF;
    UPDATE wallets_hold SET state = 'captured', resolved_tx_id = made WHERE id = p_hold;
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, actor, reason)
        VALUES (made, p_operator, 'capture', p_hold::text, p_sha256, p_actor, '');
    INSERT INTO wallets_entry (tx_id, operator_id, account_id, currency, amount)
        VALUES (made, p_operator, held.account_id, held.currency_id, -held.amount),
               (made, p_operator, wallets_account_open(p_operator, 'funding', p_operator, held.currency_id),
                held.currency_id, held.amount);
    RETURN QUERY SELECT 'done', made;
END $$;

-- Expire one hold whose time is over; false when there is none that nobody else works on.
CREATE FUNCTION wallets_hold_expire() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    due uuid;
BEGIN
    SELECT id INTO due FROM wallets_hold
        WHERE state = 'active' AND expires_at_ms <= floor(extract(epoch FROM clock_timestamp()) * 1000)
        ORDER BY expires_at_ms LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE wallets_hold SET state = 'expired' WHERE id = due;
    RETURN true;
END $$;
"""

CORRECTIONS = """
-- Do what an approval allows, in the transaction that approves it.
CREATE FUNCTION wallets_correction_execute(p_operator uuid, p_approval uuid, p_sha256 bytea, p_actor text)
RETURNS TABLE (outcome text, tx_id uuid, players uuid[])
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    wanted record;
    short uuid[];
    made uuid;
BEGIN
    SELECT p.kind, p.target_tx_id, p.round_id, p.reason INTO STRICT wanted FROM wallets_approval p
        WHERE p.id = p_approval AND p.operator_id = p_operator AND p.state = 'approved';
    PERFORM 1 FROM wallets_balance b
        WHERE b.account_id IN (SELECT l.account_id FROM wallets_approval_line l WHERE l.approval_id = p_approval)
        ORDER BY b.account_id FOR NO KEY UPDATE;
    SELECT array_agg(a.owner_ref) INTO short FROM wallets_approval_line l
        JOIN wallets_balance b ON b.account_id = l.account_id JOIN wallets_account a ON a.id = l.account_id
        WHERE l.approval_id = p_approval AND b.posted - b.held + l.amount < b.floor;
    IF short IS NOT NULL THEN
        RETURN QUERY SELECT 'insufficient_funds', NULL::uuid, short;
        RETURN;
    END IF;
    UPDATE wallets_approval SET state = 'executed' WHERE id = p_approval;
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, round_id, reverses_id, actor, reason,
            approval_id)
        VALUES (gen_random_uuid(), p_operator, wanted.kind, p_approval::text, p_sha256, wanted.round_id,
                wanted.target_tx_id, p_actor, wanted.reason, p_approval)
        ON CONFLICT (reverses_id) DO NOTHING RETURNING id INTO made;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'already_reversed', NULL::uuid, NULL::uuid[];
        RETURN;
    END IF;
    INSERT INTO wallets_entry (tx_id, operator_id, round_id, account_id, currency, amount)
        SELECT made, p_operator, wanted.round_id, l.account_id,
            (SELECT a.currency_id FROM wallets_account a WHERE a.id = l.account_id), l.amount
            FROM wallets_approval_line l WHERE l.approval_id = p_approval ORDER BY l.account_id;
    RETURN QUERY SELECT 'done', made, NULL::uuid[];
END $$;
"""

FUNCTIONS = """wallets_hold_place(uuid, uuid, text, bigint, text, uuid, bigint),
    wallets_hold_capture(uuid, uuid, bytea, text), wallets_hold_expire(),
    wallets_correction_execute(uuid, uuid, bytea, text)"""

GRANTS = f"""
REVOKE ALL ON FUNCTION {FUNCTIONS} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {FUNCTIONS} TO sealdeck_app;
GRANT SELECT ON wallets_currency, wallets_account, wallets_account_status_change, wallets_balance, wallets_approval,
    wallets_approval_line, wallets_tx, wallets_entry, wallets_hold, wallets_snapshot, wallets_key, wallets_block,
    wallets_daily_file, wallets_alarm TO sealdeck_auditor;
"""


class Migration(migrations.Migration):
    """Install the functions; there is no way back."""

    dependencies = (("wallets", "0003_functions"),)
    operations = tuple(migrations.RunSQL(sql) for sql in (HOLDS, CORRECTIONS, GRANTS))
