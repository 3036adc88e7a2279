"""The movements of the ledger as functions of the database: one call, one round trip each.

Rules L5 to L7, L9, L14 and L15: docs/auditors/ledger.md.  A business refusal is an ``outcome`` in the answer and has
written nothing; an exception means that somebody broke a rule, or that the database could not go on.
"""

from django.db import migrations

ACCOUNTS = """
-- Open an account if it is not there, with its balance row if its kind has one (L7).  The only way to make either.
CREATE FUNCTION wallets_account_open(p_operator uuid, p_kind text, p_owner uuid, p_currency text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    SELECT id INTO found_id FROM wallets_account
        WHERE operator_id = p_operator AND kind = p_kind AND owner_ref = p_owner AND currency_id = p_currency
            AND shard = 0;
    IF FOUND THEN
        RETURN found_id;
    END IF;
    IF p_kind = 'player' THEN
        PERFORM 1 FROM accounts_player p JOIN wallets_currency c ON c.code = p_currency
            WHERE p.id = p_owner AND p.operator_id = p_operator AND NOT (p.is_test AND c.is_money);
        IF NOT FOUND THEN
            RAISE EXCEPTION 'operator % has no player % who may hold %', p_operator, p_owner, p_currency
                USING ERRCODE = 'foreign_key_violation';
        END IF;
    ELSIF p_kind <> 'escrow' AND p_owner <> p_operator THEN
        RAISE EXCEPTION 'a % account is owned by its operator', p_kind USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    INSERT INTO wallets_account (operator_id, kind, owner_ref, currency_id, shard, status)
        VALUES (p_operator, p_kind, p_owner, p_currency, 0, 'open')
        ON CONFLICT (operator_id, kind, owner_ref, currency_id, shard) DO NOTHING
        RETURNING id INTO found_id;
    IF NOT FOUND THEN
        SELECT id INTO STRICT found_id FROM wallets_account
            WHERE operator_id = p_operator AND kind = p_kind AND owner_ref = p_owner AND currency_id = p_currency
                AND shard = 0;
        RETURN found_id;
    END IF;
    IF p_kind IN ('player', 'escrow') THEN
        INSERT INTO wallets_balance (account_id, operator_id, posted, held, floor, seq, lock_only)
            VALUES (found_id, p_operator, 0, 0, 0, 0, 0);
    END IF;
    RETURN found_id;
END $$;

-- The accounts of many players, opened where needed, in the order asked for.
CREATE FUNCTION wallets_player_accounts(p_operator uuid, p_players uuid[], p_currency text) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ids bigint[] := '{}';
    player uuid;
BEGIN
    -- One look-up each by the unique key: cheap, and no plan to go wrong.
    FOREACH player IN ARRAY p_players LOOP
        ids := ids || wallets_account_open(p_operator, 'player', player, p_currency);
    END LOOP;
    RETURN ids;
END $$;

-- Freeze, close or reopen an account and keep the history of it.
CREATE FUNCTION wallets_account_status_set(p_account bigint, p_operator uuid, p_status text, p_actor text,
    p_reason text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before text;
BEGIN
    -- Entries lock the balance row first, so none is between its check and its writing now.
    PERFORM 1 FROM wallets_balance WHERE account_id = p_account AND operator_id = p_operator FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'only the account of a player or an escrow has a state to set'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT status INTO before FROM wallets_account WHERE id = p_account;
    IF before = p_status THEN
        RETURN false;
    END IF;
    INSERT INTO wallets_account_status_change
        (account_id, operator_id, old_status, new_status, actor, reason, after_entry_id)
        VALUES (p_account, p_operator, before, p_status, p_actor, p_reason,
                coalesce((SELECT max(id) FROM wallets_entry WHERE account_id = p_account), 0));
    UPDATE wallets_account SET status = p_status,
        status_at_ms = floor(extract(epoch FROM clock_timestamp()) * 1000) WHERE id = p_account;
    RETURN true;
END $$;
"""

TRANSFER = """
-- Credit or debit a player by the operator's word.  The operator's id for it decides once and for ever (L14).
CREATE FUNCTION wallets_transfer(p_operator uuid, p_kind text, p_player uuid, p_currency text, p_amount bigint,
    p_external_id text, p_sha256 bytea, p_actor text)
RETURNS TABLE (outcome text, tx_id uuid, available bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    player_account bigint;
    funding_account bigint;
    player record;
    present record;
    made uuid;
    direction bigint := CASE p_kind WHEN 'credit' THEN 1 WHEN 'debit' THEN -1 END;
BEGIN
    SELECT t.id INTO made FROM wallets_tx t
        WHERE t.operator_id = p_operator AND t.external_id = p_external_id AND t.kind IN ('credit', 'debit');
    IF FOUND THEN
        RETURN QUERY SELECT 'known', made, NULL::bigint;
        RETURN;
    END IF;
    SELECT p.status, p.is_test, c.is_money INTO player FROM accounts_player p
        LEFT JOIN wallets_currency c ON c.code = p_currency WHERE p.id = p_player AND p.operator_id = p_operator;
    IF NOT FOUND OR player.is_money IS NULL OR (player.is_test AND player.is_money)
        OR (player.status = 'frozen' AND p_kind = 'debit') OR (player.status = 'closed' AND p_kind = 'credit') THEN
        RETURN QUERY SELECT CASE
            WHEN player.status IS NULL THEN 'player_not_found'
            WHEN player.is_money IS NULL THEN 'currency_unknown'
            WHEN player.is_test AND player.is_money THEN 'test_player'
            ELSE 'player_' || player.status END, NULL::uuid, NULL::bigint;
        RETURN;
    END IF;
    player_account := wallets_account_open(p_operator, 'player', p_player, p_currency);
    funding_account := wallets_account_open(p_operator, 'funding', p_operator, p_currency);
    SELECT b.posted, b.posted - b.held AS available INTO STRICT present FROM wallets_balance b
        WHERE b.account_id = player_account FOR NO KEY UPDATE;
    -- Whoever used the same id for this player has finished by now.
    SELECT t.id INTO made FROM wallets_tx t
        WHERE t.operator_id = p_operator AND t.external_id = p_external_id AND t.kind IN ('credit', 'debit');
    IF FOUND THEN
        RETURN QUERY SELECT 'known', made, present.available;
        RETURN;
    END IF;
    PERFORM 1 FROM wallets_account a WHERE a.id = player_account
        AND (a.status = 'closed' OR (a.status = 'frozen' AND p_kind = 'debit'));
    IF FOUND THEN
        RETURN QUERY SELECT 'account_frozen', NULL::uuid, present.available;
        RETURN;
    END IF;
    IF direction < 0 AND present.available < p_amount THEN
        RETURN QUERY SELECT 'insufficient_funds', NULL::uuid, present.available;
        RETURN;
    END IF;
    IF direction > 0 AND present.posted + p_amount > 9007199254740991 THEN
        RETURN QUERY SELECT 'balance_too_large', NULL::uuid, present.available;
        RETURN;
    END IF;
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, actor, reason)
        VALUES (gen_random_uuid(), p_operator, p_kind, p_external_id, p_sha256, p_actor, '')
        ON CONFLICT DO NOTHING RETURNING id INTO made;
    IF NOT FOUND THEN
        -- The same id at the same time for another player: theirs is committed, ours is the second.
        SELECT t.id INTO STRICT made FROM wallets_tx t
            WHERE t.operator_id = p_operator AND t.external_id = p_external_id AND t.kind IN ('credit', 'debit');
        RETURN QUERY SELECT 'known', made, present.available;
        RETURN;
    END IF;
    INSERT INTO wallets_entry (tx_id, operator_id, account_id, currency, amount)
        VALUES (made, p_operator, player_account, p_currency, direction * p_amount),
               (made, p_operator, funding_account, p_currency, -direction * p_amount);
    RETURN QUERY SELECT 'done', made, present.available + direction * p_amount;
END $$;
"""

ROUNDS = """
-- Take every buy-in of a round, or none, into the round's escrow.
CREATE FUNCTION wallets_buy_ins_take(p_operator uuid, p_round uuid, p_currency text, p_players uuid[],
    p_amounts bigint[], p_sha256 bytea, p_actor text)
RETURNS TABLE (outcome text, tx_id uuid, players uuid[])
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    escrow bigint;
    payers bigint[];
    short uuid[];
    frozen uuid[];
    known record;
    made uuid;
BEGIN
    SELECT t.id, t.request_sha256 INTO known FROM wallets_tx t WHERE t.round_id = p_round AND t.kind = 'buy_in';
    IF FOUND THEN
        RETURN QUERY SELECT CASE WHEN known.request_sha256 = p_sha256 THEN 'done' ELSE 'conflict' END, known.id,
            NULL::uuid[];
        RETURN;
    END IF;
    PERFORM 1 FROM wallets_alarm WHERE operator_id = p_operator AND cleared_at_ms IS NULL;
    IF FOUND THEN
        RETURN QUERY SELECT 'gaming_disabled', NULL::uuid, NULL::uuid[];
        RETURN;
    END IF;
    payers := wallets_player_accounts(p_operator, p_players, p_currency);
    WITH locked AS MATERIALIZED (
        SELECT b.account_id, b.posted - b.held AS available FROM wallets_balance b
            WHERE b.account_id = ANY (payers) ORDER BY b.account_id FOR NO KEY UPDATE
    )
    SELECT array_agg(p.player ORDER BY p.place) FILTER (WHERE l.available IS NULL OR l.available < p.amount)
        INTO short
        FROM unnest(payers, p_players, p_amounts) WITH ORDINALITY AS p(account, player, amount, place)
        LEFT JOIN locked l ON l.account_id = p.account;
    SELECT array_agg(a.owner_ref) INTO frozen FROM wallets_account a WHERE a.id = ANY (payers) AND a.status <> 'open';
    IF frozen IS NOT NULL THEN
        RETURN QUERY SELECT 'account_frozen', NULL::uuid, frozen;
        RETURN;
    END IF;
    IF short IS NOT NULL THEN
        RETURN QUERY SELECT 'insufficient_funds', NULL::uuid, short;
        RETURN;
    END IF;
    escrow := wallets_account_open(p_operator, 'escrow', p_round, p_currency);
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, round_id, actor, reason)
        VALUES (gen_random_uuid(), p_operator, 'buy_in', p_round::text, p_sha256, p_round, p_actor, '')
        RETURNING id INTO made;
    INSERT INTO wallets_entry (tx_id, operator_id, round_id, account_id, currency, amount)
        SELECT made, p_operator, p_round, line.account, p_currency, line.amount FROM (
            SELECT p.account, -p.amount AS amount FROM unnest(payers, p_amounts) AS p(account, amount)
            UNION ALL SELECT escrow, (SELECT sum(s.amount)::bigint FROM unnest(p_amounts) AS s(amount))
        ) AS line ORDER BY line.account;
    RETURN QUERY SELECT 'done', made, NULL::uuid[];
END $$;

-- Empty a round's escrow into the payouts and the fee: the one outcome of a round that was played.
CREATE FUNCTION wallets_round_settle(p_operator uuid, p_round uuid, p_currency text, p_players uuid[],
    p_amounts bigint[], p_fee bigint, p_sha256 bytea, p_actor text)
RETURNS TABLE (outcome text, tx_id uuid, pot bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    escrow bigint;
    winners bigint[];
    held_pot bigint;
    known record;
    made uuid;
    total bigint := p_fee + coalesce((SELECT sum(s.amount)::bigint FROM unnest(p_amounts) AS s(amount)), 0);
BEGIN
    SELECT a.id INTO escrow FROM wallets_account a
        WHERE a.operator_id = p_operator AND a.kind = 'escrow' AND a.owner_ref = p_round AND a.currency_id = p_currency;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'no_buy_in', NULL::uuid, NULL::bigint;
        RETURN;
    END IF;
    winners := wallets_player_accounts(p_operator, p_players, p_currency);
    WITH locked AS MATERIALIZED (
        SELECT b.account_id, b.posted FROM wallets_balance b
            WHERE b.account_id = ANY (winners || escrow) ORDER BY b.account_id FOR NO KEY UPDATE
    )
    SELECT l.posted INTO held_pot FROM locked l WHERE l.account_id = escrow;
    SELECT t.id, t.kind, t.request_sha256 INTO known FROM wallets_tx t
        WHERE t.round_id = p_round AND t.kind IN ('settle', 'void');
    IF FOUND THEN
        RETURN QUERY SELECT CASE WHEN known.kind = 'settle' AND known.request_sha256 = p_sha256 THEN 'done'
            ELSE 'settled' END, known.id, held_pot;
        RETURN;
    END IF;
    IF held_pot <> total THEN
        RETURN QUERY SELECT 'mismatch', NULL::uuid, held_pot;
        RETURN;
    END IF;
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, round_id, actor, reason)
        VALUES (gen_random_uuid(), p_operator, 'settle', p_round::text, p_sha256, p_round, p_actor, '')
        RETURNING id INTO made;
    INSERT INTO wallets_entry (tx_id, operator_id, round_id, account_id, currency, amount)
        SELECT made, p_operator, p_round, line.account, p_currency, line.amount FROM (
            SELECT w.account, w.amount FROM unnest(winners, p_amounts) AS w(account, amount)
            UNION ALL SELECT escrow, -held_pot
            UNION ALL SELECT wallets_account_open(p_operator, 'rake', p_operator, p_currency), p_fee WHERE p_fee > 0
        ) AS line WHERE line.amount <> 0 ORDER BY line.account;
    RETURN QUERY SELECT 'done', made, held_pot;
END $$;

-- Give every buy-in of a round back: the one outcome of a round that is void.
CREATE FUNCTION wallets_round_refund(p_operator uuid, p_round uuid, p_currency text, p_reason text, p_sha256 bytea,
    p_actor text)
RETURNS TABLE (outcome text, tx_id uuid)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    bought uuid;
    accounts bigint[];
    amounts bigint[];
    known record;
    made uuid;
BEGIN
    SELECT t.id INTO bought FROM wallets_tx t
        WHERE t.operator_id = p_operator AND t.round_id = p_round AND t.kind = 'buy_in';
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'nothing', NULL::uuid;
        RETURN;
    END IF;
    SELECT array_agg(e.account_id ORDER BY e.account_id), array_agg(-e.amount ORDER BY e.account_id)
        INTO accounts, amounts FROM wallets_entry e WHERE e.tx_id = bought AND e.currency = p_currency;
    PERFORM 1 FROM wallets_balance b WHERE b.account_id = ANY (accounts) ORDER BY b.account_id FOR NO KEY UPDATE;
    SELECT t.id, t.kind INTO known FROM wallets_tx t WHERE t.round_id = p_round AND t.kind IN ('settle', 'void');
    IF FOUND THEN
        RETURN QUERY SELECT CASE known.kind WHEN 'void' THEN 'done' ELSE 'settled' END, known.id;
        RETURN;
    END IF;
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, round_id, actor, reason)
        VALUES (gen_random_uuid(), p_operator, 'void', p_round::text, p_sha256, p_round, p_actor, p_reason)
        RETURNING id INTO made;
    INSERT INTO wallets_entry (tx_id, operator_id, round_id, account_id, currency, amount)
        SELECT made, p_operator, p_round, line.account, p_currency, line.amount
            FROM unnest(accounts, amounts) AS line(account, amount) ORDER BY line.account;
    RETURN QUERY SELECT 'done', made;
END $$;
"""

GRANTS = """
REVOKE ALL ON FUNCTION wallets_account_open(uuid, text, uuid, text), wallets_player_accounts(uuid, uuid[], text),
    wallets_account_status_set(bigint, uuid, text, text, text),
    wallets_transfer(uuid, text, uuid, text, bigint, text, bytea, text),
    wallets_buy_ins_take(uuid, uuid, text, uuid[], bigint[], bytea, text),
    wallets_round_settle(uuid, uuid, text, uuid[], bigint[], bigint, bytea, text),
    wallets_round_refund(uuid, uuid, text, text, bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION wallets_account_open(uuid, text, uuid, text), wallets_player_accounts(uuid, uuid[], text),
    wallets_account_status_set(bigint, uuid, text, text, text),
    wallets_transfer(uuid, text, uuid, text, bigint, text, bytea, text),
    wallets_buy_ins_take(uuid, uuid, text, uuid[], bigint[], bytea, text),
    wallets_round_settle(uuid, uuid, text, uuid[], bigint[], bigint, bytea, text),
    wallets_round_refund(uuid, uuid, text, text, bytea, text) TO sealdeck_app;
"""


class Migration(migrations.Migration):
    """Install the functions; there is no way back."""

    dependencies = (("wallets", "0002_guards"),)
    operations = tuple(migrations.RunSQL(sql) for sql in (ACCOUNTS, TRANSFER, ROUNDS, GRANTS))
