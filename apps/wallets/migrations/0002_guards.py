"""What the ledger's tables refuse by themselves: triggers and grants.

Rules L1 to L5, L12 and L15, invariants I1, I4, I6, I7, I10 and I17: docs/auditors/ledger.md.  Trigger functions run
with the rights of the owner of the tables and a fixed search path; the application's role can neither change nor go
round them.
"""

from django.db import migrations

INSERT_ONLY = """
CREATE FUNCTION wallets_row_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'L3: % of % is not possible, its rows are insert-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER wallets_tx_final BEFORE UPDATE OR DELETE ON wallets_tx
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_tx_no_truncate BEFORE TRUNCATE ON wallets_tx
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_entry_final BEFORE UPDATE OR DELETE ON wallets_entry
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_entry_no_truncate BEFORE TRUNCATE ON wallets_entry
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_block_final BEFORE UPDATE OR DELETE ON wallets_block
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_block_no_truncate BEFORE TRUNCATE ON wallets_block
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_daily_file_final BEFORE UPDATE OR DELETE ON wallets_daily_file
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_daily_file_no_truncate BEFORE TRUNCATE ON wallets_daily_file
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_key_final BEFORE UPDATE OR DELETE ON wallets_key
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_key_no_truncate BEFORE TRUNCATE ON wallets_key
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_approval_line_final BEFORE UPDATE OR DELETE ON wallets_approval_line
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_approval_line_no_truncate BEFORE TRUNCATE ON wallets_approval_line
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_status_change_final BEFORE UPDATE OR DELETE ON wallets_account_status_change
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_status_change_no_truncate BEFORE TRUNCATE ON wallets_account_status_change
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_account_no_delete BEFORE DELETE ON wallets_account
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_account_no_truncate BEFORE TRUNCATE ON wallets_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_balance_no_delete BEFORE DELETE ON wallets_balance
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_balance_no_truncate BEFORE TRUNCATE ON wallets_balance
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
"""

ENTRY = """
-- Which accounts each kind of transaction may touch, and in which direction.
CREATE FUNCTION wallets_movement_fits(kind text, account_kind text, amount bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT kind IN ('reverse', 'adjust')
    OR (kind || ' ' || account_kind || CASE WHEN amount > 0 THEN ' +' ELSE ' -' END) IN (
        'credit player +', 'credit funding -',
        'debit player -', 'debit funding +',
        'buy_in player -', 'buy_in escrow +',
        'settle escrow -', 'settle player +', 'settle rake +',
        'void escrow -', 'void player +',
        'resettle escrow -', 'resettle player +', 'resettle rake +',
        'capture player -', 'capture funding +', 'capture escrow +', 'capture suspense +',
        'promo promo -', 'promo player +',
        'suspend suspense +', 'suspend funding -', 'suspend player -',
        'resolve suspense -', 'resolve funding +', 'resolve player +', 'resolve escrow +')
$$;

-- Rules L2 and L4, and the state of the account.
CREATE FUNCTION wallets_entry_enters() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    parent record;
    holder record;
BEGIN
    SELECT operator_id, kind, round_id, xid INTO parent FROM wallets_tx WHERE id = NEW.tx_id;
    IF NOT FOUND OR parent.xid <> pg_current_xact_id() THEN
        RAISE EXCEPTION 'L2: an entry joins only a transaction of the same database transaction'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- The balance row is locked first: whoever changes the account's state locks it too.
    UPDATE wallets_balance SET posted = posted + NEW.amount, seq = seq + 1
        WHERE account_id = NEW.account_id
        RETURNING seq, posted INTO NEW.account_seq, NEW.balance_after;
    IF NOT FOUND THEN
        NEW.account_seq := NULL;
        NEW.balance_after := NULL;
    END IF;
    SELECT operator_id, kind, owner_ref, currency_id, status INTO holder FROM wallets_account WHERE id = NEW.account_id;
    IF NOT FOUND OR holder.operator_id <> parent.operator_id OR NEW.operator_id <> parent.operator_id THEN
        RAISE EXCEPTION 'the account belongs to another operator than the transaction'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF holder.currency_id <> NEW.currency THEN
        RAISE EXCEPTION 'the entry is in %, its account in %', NEW.currency, holder.currency_id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.round_id IS DISTINCT FROM parent.round_id
        OR (holder.kind = 'escrow' AND holder.owner_ref IS DISTINCT FROM parent.round_id) THEN
        RAISE EXCEPTION 'the entry is about another round than its transaction'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NOT wallets_movement_fits(parent.kind, holder.kind, NEW.amount) THEN
        RAISE EXCEPTION 'a % does not move % on a % account', parent.kind, NEW.amount, holder.kind
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF holder.status <> 'open' AND (
        parent.kind IN ('buy_in', 'debit', 'capture', 'suspend')
        OR (holder.status = 'closed' AND parent.kind IN ('credit', 'promo'))
    ) THEN
        RAISE EXCEPTION 'I17: the account is %, it takes no %', holder.status, parent.kind
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallets_entry_enters BEFORE INSERT ON wallets_entry
    FOR EACH ROW EXECUTE FUNCTION wallets_entry_enters();
"""

COMMIT_CHECKS = """
-- Rule L1, as often as an entry came.
CREATE FUNCTION wallets_entry_balances() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM 1 FROM wallets_entry WHERE tx_id = NEW.tx_id GROUP BY currency HAVING sum(amount) <> 0;
    IF FOUND THEN
        RAISE EXCEPTION 'L1: transaction % does not sum to zero in each currency', NEW.tx_id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER wallets_entry_balances AFTER INSERT ON wallets_entry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wallets_entry_balances();

-- The entries of a transaction as one text, so that two sets of entries compare as values.
CREATE FUNCTION wallets_lines(p_tx uuid, p_sign bigint) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT string_agg(account_id || ' ' || p_sign * amount, ',' ORDER BY account_id, p_sign * amount)
        FROM wallets_entry WHERE tx_id = p_tx
$$;

-- Rule L1 for the transaction, and what its kind promises about its entries.
CREATE FUNCTION wallets_tx_holds() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    bought uuid;
    payers bigint[];
    target record;
    allowed record;
BEGIN
    PERFORM 1 FROM wallets_entry WHERE tx_id = NEW.id LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'L1: transaction % has no entry', NEW.id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.kind IN ('settle', 'void', 'resettle') THEN
        PERFORM 1 FROM wallets_account a
            WHERE a.operator_id = NEW.operator_id AND a.kind = 'escrow' AND a.owner_ref = NEW.round_id
                AND (SELECT b.posted FROM wallets_balance b WHERE b.account_id = a.id) <> 0;
        IF FOUND THEN
            RAISE EXCEPTION 'I6: the escrow of round % is not empty after its %', NEW.round_id, NEW.kind
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        SELECT t.id INTO bought FROM wallets_tx t WHERE t.round_id = NEW.round_id AND t.kind = 'buy_in';
        IF NEW.kind = 'void' AND wallets_lines(NEW.id, 1) IS DISTINCT FROM wallets_lines(bought, -1) THEN
            RAISE EXCEPTION 'I7: the void of round % does not give every buy-in back', NEW.round_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        SELECT array_agg(e.account_id) INTO payers FROM wallets_entry e WHERE e.tx_id = bought AND e.amount < 0;
        PERFORM 1 FROM wallets_entry e WHERE e.tx_id = NEW.id AND NOT e.account_id = ANY (payers)
            AND (SELECT a.kind FROM wallets_account a WHERE a.id = e.account_id) = 'player';
        IF FOUND THEN
            RAISE EXCEPTION 'I7: the % of round % pays somebody who did not pay in', NEW.kind, NEW.round_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
    END IF;
    IF NEW.reverses_id IS NOT NULL THEN
        SELECT t.operator_id, t.round_id, t.kind INTO target FROM wallets_tx t WHERE t.id = NEW.reverses_id;
        IF target.operator_id <> NEW.operator_id OR target.round_id IS DISTINCT FROM NEW.round_id
            OR target.kind = 'reverse' THEN
            RAISE EXCEPTION 'I10: what % reverses is not a transaction of this operator and round', NEW.id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        IF wallets_lines(NEW.id, 1) IS DISTINCT FROM wallets_lines(NEW.reverses_id, -1) THEN
            RAISE EXCEPTION 'I10: the entries of % are not the negatives of what it reverses', NEW.id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
    END IF;
    IF NEW.approval_id IS NOT NULL THEN
        SELECT p.operator_id, p.kind, p.target_tx_id, p.round_id, p.state, (
                SELECT string_agg(l.account_id || ' ' || l.amount, ',' ORDER BY l.account_id, l.amount)
                FROM wallets_approval_line l WHERE l.approval_id = p.id
            ) AS lines INTO allowed FROM wallets_approval p WHERE p.id = NEW.approval_id;
        IF allowed.operator_id <> NEW.operator_id OR allowed.kind <> NEW.kind OR allowed.state <> 'executed'
            OR allowed.target_tx_id IS DISTINCT FROM NEW.reverses_id
            OR allowed.round_id IS DISTINCT FROM NEW.round_id
            OR allowed.lines IS DISTINCT FROM wallets_lines(NEW.id, 1) THEN
            RAISE EXCEPTION 'L15: transaction % is not what approval % allows', NEW.id, NEW.approval_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER wallets_tx_holds AFTER INSERT ON wallets_tx
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wallets_tx_holds();
"""

HOLDS = """
-- A hold changes the held part of its account's balance, and nothing else may (L4, L12, I5).
CREATE FUNCTION wallets_hold_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    present bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    holder record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE wallets_balance SET held = held + NEW.amount WHERE account_id = NEW.account_id;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'only an account with a balance row can hold'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        SELECT operator_id, status INTO holder FROM wallets_account WHERE id = NEW.account_id;
        IF NEW.state <> 'active' OR NEW.expires_at_ms <= present OR holder.operator_id <> NEW.operator_id
            OR holder.status <> 'open' THEN
            RAISE EXCEPTION 'a hold begins active, with time left, on an open account of its operator'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF (to_jsonb(NEW) - 'state' - 'resolved_tx_id') <> (to_jsonb(OLD) - 'state' - 'resolved_tx_id') THEN
        RAISE EXCEPTION 'only the state of a hold changes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.state = OLD.state AND NEW.resolved_tx_id IS NOT DISTINCT FROM OLD.resolved_tx_id THEN
        RETURN NEW;
    END IF;
    IF OLD.state <> 'active' OR (NEW.state = 'captured' AND present >= OLD.expires_at_ms)
        OR (NEW.state = 'expired' AND present < OLD.expires_at_ms) THEN
        RAISE EXCEPTION 'L12: a hold that is % and expires at % cannot become % at %',
            OLD.state, OLD.expires_at_ms, NEW.state, present USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    UPDATE wallets_balance SET held = held - OLD.amount WHERE account_id = OLD.account_id;
    RETURN NEW;
END $$;

CREATE TRIGGER wallets_hold_changes BEFORE INSERT OR UPDATE ON wallets_hold
    FOR EACH ROW EXECUTE FUNCTION wallets_hold_changes();

-- A captured hold was captured by a transaction that takes exactly its amount from its account.
CREATE FUNCTION wallets_hold_captured() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM 1 FROM wallets_tx t JOIN wallets_entry e ON e.tx_id = t.id
        WHERE t.id = NEW.resolved_tx_id AND t.kind = 'capture' AND t.xid = pg_current_xact_id()
            AND e.account_id = NEW.account_id AND e.amount = -NEW.amount;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'L12: hold % was not captured by a transaction of its amount', NEW.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER wallets_hold_captured AFTER UPDATE ON wallets_hold
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'captured' AND OLD.state <> 'captured')
    EXECUTE FUNCTION wallets_hold_captured();

CREATE TRIGGER wallets_hold_no_delete BEFORE DELETE ON wallets_hold
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_hold_no_truncate BEFORE TRUNCATE ON wallets_hold
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
"""

APPROVALS = """
-- What was asked for never changes; a decision is made once, an execution follows an approval only.
CREATE FUNCTION wallets_approval_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'requested' THEN
            RAISE EXCEPTION 'A1: an approval begins as a request' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF (to_jsonb(NEW) - 'state' - 'decided_by' - 'decided_at_ms')
            <> (to_jsonb(OLD) - 'state' - 'decided_by' - 'decided_at_ms')
        OR (OLD.state <> 'requested' AND NEW.decided_by IS DISTINCT FROM OLD.decided_by)
        OR NOT ((OLD.state = 'requested' AND NEW.state IN ('requested', 'approved', 'rejected'))
                OR (OLD.state = 'approved' AND NEW.state IN ('approved', 'executed'))
                OR OLD.state = NEW.state) THEN
        RAISE EXCEPTION 'A1: an approval that is % cannot become %, or its request was changed', OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallets_approval_changes BEFORE INSERT OR UPDATE ON wallets_approval
    FOR EACH ROW EXECUTE FUNCTION wallets_approval_changes();

CREATE FUNCTION wallets_approval_executed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM 1 FROM wallets_tx WHERE approval_id = NEW.id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'A1: approval % is executed without its transaction', NEW.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER wallets_approval_executed AFTER UPDATE ON wallets_approval
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'executed')
    EXECUTE FUNCTION wallets_approval_executed();

CREATE FUNCTION wallets_approval_line_enters() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM 1 FROM wallets_approval p JOIN wallets_account a ON a.id = NEW.account_id
        WHERE p.id = NEW.approval_id AND p.xid = pg_current_xact_id() AND p.state = 'requested'
            AND a.operator_id = p.operator_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'A1: the lines of an approval come with its request'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallets_approval_line_enters BEFORE INSERT ON wallets_approval_line
    FOR EACH ROW EXECUTE FUNCTION wallets_approval_line_enters();

CREATE TRIGGER wallets_approval_no_delete BEFORE DELETE ON wallets_approval
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_approval_no_truncate BEFORE TRUNCATE ON wallets_approval
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
"""

GRANTS = """
ALTER TABLE wallets_balance SET (fillfactor = 70);

REVOKE ALL ON wallets_currency, wallets_account, wallets_account_status_change, wallets_balance, wallets_approval,
    wallets_approval_line, wallets_tx, wallets_entry, wallets_hold, wallets_snapshot, wallets_key, wallets_block,
    wallets_daily_file, wallets_alarm FROM sealdeck_app;
GRANT SELECT ON wallets_currency, wallets_account, wallets_account_status_change, wallets_balance, wallets_approval,
    wallets_approval_line, wallets_tx, wallets_entry, wallets_hold, wallets_snapshot, wallets_key, wallets_block,
    wallets_daily_file, wallets_alarm TO sealdeck_app;
GRANT INSERT (code, exponent, is_money, min_buy_in_minor, rake_rule), UPDATE (min_buy_in_minor) ON wallets_currency
    TO sealdeck_app;
-- Some right to update is what PostgreSQL asks for a row lock; this column is the one that means nothing.
GRANT UPDATE (lock_only) ON wallets_balance TO sealdeck_app;
-- No id, time, transaction number, sequence or balance: those are the database's to give.
GRANT INSERT (id, operator_id, kind, external_id, request_sha256, round_id, reverses_id, actor, reason, approval_id)
    ON wallets_tx TO sealdeck_app;
GRANT INSERT (tx_id, operator_id, round_id, account_id, currency, amount) ON wallets_entry TO sealdeck_app;
GRANT INSERT (id, operator_id, account_id, amount, purpose, reference, state, expires_at_ms),
    UPDATE (state, resolved_tx_id) ON wallets_hold TO sealdeck_app;
GRANT INSERT (id, operator_id, kind, target_tx_id, round_id, reason, requested_by, state),
    UPDATE (state, decided_by, decided_at_ms) ON wallets_approval TO sealdeck_app;
GRANT INSERT (approval_id, account_id, amount) ON wallets_approval_line TO sealdeck_app;
GRANT INSERT (account_id, operator_id, upto_xid, posted) ON wallets_snapshot TO sealdeck_app;
GRANT INSERT (kid, public_key) ON wallets_key TO sealdeck_app;
GRANT INSERT (operator_id, seq, form, from_xid, upto_xid, first_entry, last_entry, n, sums, prev_hash, hash, kid,
    signature, sealed_at_ms) ON wallets_block TO sealdeck_app;
GRANT INSERT (operator_id, currency, day, form, body, prev_hash, hash, kid, signature) ON wallets_daily_file
    TO sealdeck_app;
GRANT INSERT (operator_id, code, detail), UPDATE (cleared_at_ms, cleared_by, reason) ON wallets_alarm TO sealdeck_app;
"""


class Migration(migrations.Migration):
    """Install the guards; there is no way back."""

    dependencies = (("wallets", "0001_initial"),)
    operations = tuple(migrations.RunSQL(sql) for sql in (INSERT_ONLY, ENTRY, COMMIT_CHECKS, HOLDS, APPROVALS, GRANTS))
