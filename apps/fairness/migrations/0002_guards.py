"""What holds whatever the application does: insert-only tables, forward-only rounds, one merge, and closed columns.

Implements docs/fairness/operations.md, section What the database enforces.  The owner of the tables runs this; the
application's role cannot switch any of it off.
"""

from django.db import migrations

SIZES = """
ALTER TABLE fairness_round
    ADD CONSTRAINT fairness_round_hash_sizes CHECK (
        octet_length(seed_commit) = 32 AND octet_length(open_hash) = 32 AND octet_length(last_hash) = 32
        AND octet_length(seed_sealed) BETWEEN 62 AND 317
        AND octet_length(close_hash) = 32 AND octet_length(deck_hash) = 32 AND octet_length(order_hash) = 32
    );
ALTER TABLE fairness_record
    ADD CONSTRAINT fairness_record_sizes CHECK (
        octet_length(entry) BETWEEN 1 AND 65535 AND octet_length(record_hash) = 32 AND octet_length(leaf_hash) = 32
        AND kid ~ '^[0-9a-f]{16}$'
    );
ALTER TABLE fairness_deck_order ADD CONSTRAINT fairness_deck_order_sizes CHECK (octet_length(order_hash) = 32);
ALTER TABLE fairness_generation ADD CONSTRAINT fairness_generation_sizes CHECK (octet_length(root) = 32);
ALTER TABLE fairness_signing_key ADD CONSTRAINT fairness_signing_key_sizes CHECK (octet_length(public_key) = 32);
ALTER TABLE fairness_checkpoint ADD CONSTRAINT fairness_checkpoint_sizes CHECK (octet_length(root) = 32);
ALTER TABLE fairness_tile ADD CONSTRAINT fairness_tile_sizes CHECK (
    octet_length(hashes) = 8192 AND octet_length(root) = 32
);
ALTER TABLE fairness_tile ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE fairness_beacon_value ADD CONSTRAINT fairness_beacon_value_sizes CHECK (
    octet_length(chain) = 32 AND octet_length(signature) = 48
);
"""
SIZES_REVERSE = """
ALTER TABLE fairness_round DROP CONSTRAINT fairness_round_hash_sizes;
ALTER TABLE fairness_record DROP CONSTRAINT fairness_record_sizes;
ALTER TABLE fairness_deck_order DROP CONSTRAINT fairness_deck_order_sizes;
ALTER TABLE fairness_generation DROP CONSTRAINT fairness_generation_sizes;
ALTER TABLE fairness_signing_key DROP CONSTRAINT fairness_signing_key_sizes;
ALTER TABLE fairness_checkpoint DROP CONSTRAINT fairness_checkpoint_sizes;
ALTER TABLE fairness_tile DROP CONSTRAINT fairness_tile_sizes;
ALTER TABLE fairness_beacon_value DROP CONSTRAINT fairness_beacon_value_sizes;
"""

INSERT_ONLY = (
    "fairness_deck_order",
    "fairness_checkpoint",
    "fairness_cosignature",
    "fairness_tile",
    "fairness_beacon_value",
)
"""Tables in which no row ever changes or goes."""

NEVER_EMPTIED = (
    *INSERT_ONLY,
    "fairness_generation",
    "fairness_round",
    "fairness_record",
    "fairness_signing_key",
    "fairness_log",
)

REFUSE = """
CREATE FUNCTION fairness_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % is never allowed', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
REFUSE_REVERSE = "DROP FUNCTION fairness_refuse();"

ROUND_GUARD = """
CREATE FUNCTION fairness_round_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.table_id, OLD.index, OLD.game, OLD.entropy, OLD.seed_commit, OLD.open_hash, OLD.opened_at_ms)
        IS DISTINCT FROM
       (NEW.id, NEW.table_id, NEW.index, NEW.game, NEW.entropy, NEW.seed_commit, NEW.open_hash, NEW.opened_at_ms)
    THEN
        RAISE EXCEPTION 'the identity of a round never changes' USING ERRCODE = 'restrict_violation';
    END IF;
    IF (OLD.close_hash IS NOT NULL AND OLD.close_hash IS DISTINCT FROM NEW.close_hash)
        OR (OLD.close_hash IS NOT NULL AND OLD.beacon_round IS DISTINCT FROM NEW.beacon_round)
        OR (OLD.close_hash IS NOT NULL AND OLD.closed_at_ms IS DISTINCT FROM NEW.closed_at_ms)
        OR (OLD.deck_hash IS NOT NULL AND
            (OLD.deck_hash, OLD.order_hash, OLD.opener, OLD.dealt_at_ms)
            IS DISTINCT FROM
            (NEW.deck_hash, NEW.order_hash, NEW.opener, NEW.dealt_at_ms))
    THEN
        RAISE EXCEPTION 'what a record fixed never changes' USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.stage = 'ended' AND (OLD.stage, OLD.last_hash, OLD.ended_at_ms)
        IS DISTINCT FROM (NEW.stage, NEW.last_hash, NEW.ended_at_ms)
    THEN
        RAISE EXCEPTION 'an ended round never changes' USING ERRCODE = 'restrict_violation';
    END IF;
    IF array_position(ARRAY['open', 'close', 'deck', 'ended'], NEW.stage::text)
        < array_position(ARRAY['open', 'close', 'deck', 'ended'], OLD.stage::text)
    THEN
        RAISE EXCEPTION 'a round never goes back' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fairness_round_guard BEFORE UPDATE ON fairness_round
    FOR EACH ROW EXECUTE FUNCTION fairness_round_guard();
CREATE FUNCTION fairness_generation_guard() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.round_id, OLD.gen, OLD.stream, OLD.n, OLD.root)
        IS DISTINCT FROM (NEW.id, NEW.round_id, NEW.gen, NEW.stream, NEW.n, NEW.root)
    THEN
        RAISE EXCEPTION 'a generation is only sealed anew' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fairness_generation_guard BEFORE UPDATE ON fairness_generation
    FOR EACH ROW EXECUTE FUNCTION fairness_generation_guard();
CREATE TRIGGER fairness_generation_keep BEFORE DELETE ON fairness_generation
    FOR EACH ROW EXECUTE FUNCTION fairness_refuse();
CREATE TRIGGER fairness_round_keep BEFORE DELETE ON fairness_round
    FOR EACH ROW EXECUTE FUNCTION fairness_refuse();
"""
ROUND_GUARD_REVERSE = """
DROP TRIGGER fairness_round_keep ON fairness_round;
DROP TRIGGER fairness_generation_keep ON fairness_generation;
DROP TRIGGER fairness_generation_guard ON fairness_generation;
DROP FUNCTION fairness_generation_guard();
DROP TRIGGER fairness_round_guard ON fairness_round;
DROP FUNCTION fairness_round_guard();
"""

RECORD_GUARD = """
CREATE FUNCTION fairness_record_insert() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before record;
BEGIN
    IF NEW.log_index IS NOT NULL OR NEW.merged_at_ms IS NOT NULL THEN
        RAISE EXCEPTION 'a record gets its index from the log''s writer' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.round_id IS NULL THEN
        RETURN NEW;
    END IF;
    SELECT r.type, r.place INTO before FROM public.fairness_record r
        WHERE r.round_id = NEW.round_id ORDER BY r.place DESC LIMIT 1;
    IF NOT FOUND THEN
        IF NEW.type <> 'open' OR NEW.place <> 0 THEN
            RAISE EXCEPTION 'a round begins with its open record' USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.place <> before.place + 1 OR NOT (
        (before.type = 'open' AND NEW.type IN ('close', 'deck', 'void'))
        OR (before.type = 'close' AND NEW.type IN ('deck', 'void'))
        OR (before.type = 'deck' AND NEW.type IN ('reveal', 'void')))
    THEN
        RAISE EXCEPTION 'a % record cannot follow a % record', NEW.type, before.type
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION fairness_record_merge() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.round_id, OLD.type, OLD.place, OLD.kid, OLD.entry, OLD.record_hash, OLD.leaf_hash, OLD.signed_at_ms)
        IS DISTINCT FROM
       (NEW.id, NEW.round_id, NEW.type, NEW.place, NEW.kid, NEW.entry, NEW.record_hash, NEW.leaf_hash, NEW.signed_at_ms)
        OR OLD.log_index IS NOT NULL OR NEW.log_index IS NULL
    THEN
        RAISE EXCEPTION 'a record never changes; it is merged once' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fairness_record_insert BEFORE INSERT ON fairness_record
    FOR EACH ROW EXECUTE FUNCTION fairness_record_insert();
CREATE TRIGGER fairness_record_merge BEFORE UPDATE ON fairness_record
    FOR EACH ROW EXECUTE FUNCTION fairness_record_merge();
CREATE TRIGGER fairness_record_keep BEFORE DELETE ON fairness_record
    FOR EACH ROW EXECUTE FUNCTION fairness_refuse();
"""
RECORD_GUARD_REVERSE = """
DROP TRIGGER fairness_record_keep ON fairness_record;
DROP TRIGGER fairness_record_merge ON fairness_record;
DROP TRIGGER fairness_record_insert ON fairness_record;
DROP FUNCTION fairness_record_merge();
DROP FUNCTION fairness_record_insert();
"""

LOG_GUARD = """
CREATE FUNCTION fairness_checkpoint_grows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.size <= (SELECT coalesce(max(c.size), 0) FROM public.fairness_checkpoint c) THEN
        RAISE EXCEPTION 'the log only grows' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fairness_checkpoint_grows BEFORE INSERT ON fairness_checkpoint
    FOR EACH ROW EXECUTE FUNCTION fairness_checkpoint_grows();
CREATE FUNCTION fairness_log_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.origin IS DISTINCT FROM OLD.origin OR NEW.size < OLD.size OR NEW.epoch < OLD.epoch THEN
        RAISE EXCEPTION 'the log keeps its name and only grows' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fairness_log_guard BEFORE UPDATE ON fairness_log
    FOR EACH ROW EXECUTE FUNCTION fairness_log_guard();
CREATE TRIGGER fairness_log_keep BEFORE DELETE ON fairness_log
    FOR EACH ROW EXECUTE FUNCTION fairness_refuse();
CREATE FUNCTION fairness_signing_key_guard() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.kid, OLD.use, OLD.public_key, OLD.added_id)
        IS DISTINCT FROM (NEW.kid, NEW.use, NEW.public_key, NEW.added_id)
        OR (OLD.revoked_id IS NOT NULL AND NEW.revoked_id IS DISTINCT FROM OLD.revoked_id)
    THEN
        RAISE EXCEPTION 'a key keeps its name, and a revoked one stays revoked' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fairness_signing_key_guard BEFORE UPDATE ON fairness_signing_key
    FOR EACH ROW EXECUTE FUNCTION fairness_signing_key_guard();
CREATE TRIGGER fairness_signing_key_keep BEFORE DELETE ON fairness_signing_key
    FOR EACH ROW EXECUTE FUNCTION fairness_refuse();
"""
LOG_GUARD_REVERSE = """
DROP TRIGGER fairness_signing_key_keep ON fairness_signing_key;
DROP TRIGGER fairness_signing_key_guard ON fairness_signing_key;
DROP FUNCTION fairness_signing_key_guard();
DROP TRIGGER fairness_log_keep ON fairness_log;
DROP TRIGGER fairness_log_guard ON fairness_log;
DROP FUNCTION fairness_log_guard();
DROP TRIGGER fairness_checkpoint_grows ON fairness_checkpoint;
DROP FUNCTION fairness_checkpoint_grows();
"""


def _insert_only(table: str) -> migrations.RunSQL:
    """Refuse every change of a row that was inserted."""
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION fairness_refuse();",
        f"DROP TRIGGER {table}_keep ON {table};",
    )


def _never_emptied(table: str) -> migrations.RunSQL:
    """Refuse to empty a table."""
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_full BEFORE TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION fairness_refuse();",
        f"DROP TRIGGER {table}_full ON {table};",
    )


class Migration(migrations.Migration):
    dependencies = [("fairness", "0001_initial")]

    operations = [
        migrations.RunSQL(SIZES, SIZES_REVERSE),
        migrations.RunSQL(REFUSE, REFUSE_REVERSE),
        *[_insert_only(table) for table in INSERT_ONLY],
        *[_never_emptied(table) for table in NEVER_EMPTIED],
        migrations.RunSQL(ROUND_GUARD, ROUND_GUARD_REVERSE),
        migrations.RunSQL(RECORD_GUARD, RECORD_GUARD_REVERSE),
        migrations.RunSQL(LOG_GUARD, LOG_GUARD_REVERSE),
    ]
