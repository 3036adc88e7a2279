"""Numbered events become deliveries; a sealed block of the ledger has an event; grants.

Source: docs/operators/webhooks.md.
"""

from django.db import migrations

FAN_OUT = """
CREATE OR REPLACE FUNCTION webhooks_events_number(p_operator uuid, p_limit integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    numbered bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhooks ' || p_operator::text, 0));
    WITH fresh AS (
        SELECT id, row_number() OVER (ORDER BY id) AS place FROM (
            SELECT id FROM webhooks_event WHERE operator_id = p_operator AND seq IS NULL ORDER BY id LIMIT p_limit
        ) AS first_ones
    ), done AS (
        UPDATE webhooks_event e
            SET seq = coalesce((SELECT max(seq) FROM webhooks_event WHERE operator_id = p_operator), 0) + fresh.place
            FROM fresh WHERE e.id = fresh.id RETURNING e.id
    )
    SELECT array_agg(id) INTO numbered FROM done;
    -- An event of a test has its one delivery already.
    INSERT INTO webhooks_delivery (operator_id, endpoint_id, event_id, state, attempts, next_try_at_ms, last_error)
        SELECT p_operator, p.id, e.id, 'due', 0, floor(extract(epoch FROM clock_timestamp()) * 1000), ''
        FROM webhooks_event e JOIN webhooks_endpoint p ON p.operator_id = e.operator_id AND p.state = 'active'
            AND (p.topics = '{}' OR e.topic = ANY (p.topics))
        WHERE e.id = ANY (numbered) AND e.topic <> 'webhook.test' ORDER BY e.id;
    RETURN coalesce(array_length(numbered, 1), 0);
END $$;

-- The head of the chain goes to the operator, who then has a copy that nobody here can rewrite.
CREATE FUNCTION webhooks_block_tells() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO webhooks_event (operator_id, topic, payload)
        VALUES (NEW.operator_id, 'ledger.sealed', jsonb_build_object('seq', NEW.seq, 'entries', NEW.n, 'sums', NEW.sums,
            'hash', encode(NEW.hash, 'hex'), 'prev_hash', encode(NEW.prev_hash, 'hex'), 'kid', NEW.kid,
            'signature', encode(NEW.signature, 'hex'), 'sealed_at_ms', NEW.sealed_at_ms));
    RETURN NULL;
END $$;

CREATE TRIGGER webhooks_block_tells AFTER INSERT ON wallets_block
    FOR EACH ROW EXECUTE FUNCTION webhooks_block_tells();

INSERT INTO webhooks_slot (number, until_ms) VALUES (0, 0);
"""

GRANTS = """
REVOKE DELETE, TRUNCATE ON webhooks_endpoint, webhooks_delivery, webhooks_slot FROM sealdeck_app;
REVOKE INSERT ON webhooks_slot FROM sealdeck_app;
GRANT SELECT ON webhooks_event, webhooks_delivery TO sealdeck_auditor;
"""


class Migration(migrations.Migration):
    """Install it; there is no way back."""

    dependencies = (("webhooks", "0003_deliveries"), ("wallets", "0005_defaults_and_day_index"))
    operations = tuple(migrations.RunSQL(sql) for sql in (FAN_OUT, GRANTS))
