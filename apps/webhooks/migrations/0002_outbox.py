"""What the outbox does by itself: an event for every transaction of the ledger, numbers without a gap, grants.

Source: docs/operators/webhooks.md, section Events; invariant I14 in docs/auditors/ledger.md.
"""

from django.db import migrations

EVENTS = """
-- Every transaction but a buy-in has an event: a round's outcome tells of its buy-ins.
CREATE FUNCTION webhooks_tx_tells() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO webhooks_event (operator_id, topic, payload, tx_id)
        VALUES (NEW.operator_id, 'transaction.posted', jsonb_build_object('transaction_id', NEW.id, 'kind', NEW.kind,
            'external_id', NEW.external_id, 'round_id', NEW.round_id, 'created_at_ms', NEW.created_at_ms), NEW.id);
    RETURN NULL;
END $$;

CREATE TRIGGER webhooks_tx_tells AFTER INSERT ON wallets_tx
    FOR EACH ROW WHEN (NEW.kind <> 'buy_in') EXECUTE FUNCTION webhooks_tx_tells();

-- Number what has no number yet.  One at a time for each operator; who waits sees what the one before it numbered.
CREATE FUNCTION webhooks_events_number(p_operator uuid, p_limit integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    numbered integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhooks ' || p_operator::text, 0));
    WITH fresh AS (
        SELECT id, row_number() OVER (ORDER BY id) AS place FROM (
            SELECT id FROM webhooks_event WHERE operator_id = p_operator AND seq IS NULL ORDER BY id LIMIT p_limit
        ) AS first_ones
    )
    UPDATE webhooks_event e
        SET seq = coalesce((SELECT max(seq) FROM webhooks_event WHERE operator_id = p_operator), 0) + fresh.place
        FROM fresh WHERE e.id = fresh.id;
    GET DIAGNOSTICS numbered = ROW_COUNT;
    RETURN numbered;
END $$;

-- A number is given once; nothing else of an event changes.
CREATE FUNCTION webhooks_event_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.seq IS NULL AND (to_jsonb(NEW) - 'seq') = (to_jsonb(OLD) - 'seq') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an event is final once it is numbered' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER webhooks_event_changes BEFORE UPDATE OR DELETE ON webhooks_event
    FOR EACH ROW EXECUTE FUNCTION webhooks_event_changes();
CREATE TRIGGER webhooks_event_no_truncate BEFORE TRUNCATE ON webhooks_event
    FOR EACH STATEMENT EXECUTE FUNCTION webhooks_event_changes();
"""

GRANTS = """
REVOKE ALL ON webhooks_event FROM sealdeck_app;
GRANT SELECT, INSERT (operator_id, topic, payload), UPDATE (seq) ON webhooks_event TO sealdeck_app;
REVOKE ALL ON FUNCTION webhooks_events_number(uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION webhooks_events_number(uuid, integer) TO sealdeck_app;
"""


class Migration(migrations.Migration):
    """Install the outbox's own part; there is no way back."""

    dependencies = (("webhooks", "0001_initial"), ("wallets", "0003_functions"))
    operations = tuple(migrations.RunSQL(sql) for sql in (EVENTS, GRANTS))
