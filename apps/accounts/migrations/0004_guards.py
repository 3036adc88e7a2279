"""History by trigger, rows that are final, and the rights of each role.

Nothing of accounts is deleted by the application, and only what may change may be updated.  What players asked for is
not even updated.  Every other change of an operator, a key or a player leaves a row of history, whoever makes it.
"""

from django.db import migrations

HISTORY = """
CREATE FUNCTION accounts_change_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    subject constant text := TG_ARGV[0];
    kept constant text[] := string_to_array(TG_ARGV[1], ' ');
    told jsonb := to_jsonb(NEW);
    was jsonb := CASE WHEN TG_OP = 'UPDATE' THEN to_jsonb(OLD) END;
    before jsonb;
    after jsonb;
BEGIN
    SELECT jsonb_object_agg(name, told -> name), jsonb_object_agg(name, was -> name) INTO after, before
    FROM unnest(kept) name WHERE was IS NULL OR told -> name IS DISTINCT FROM was -> name;
    IF after IS NOT NULL THEN
        INSERT INTO accounts_change (operator_id, subject, subject_id, old, new, actor, reason, login, changed_at_ms)
        VALUES (
            COALESCE(told ->> 'operator_id', told ->> 'id')::uuid, subject, (told ->> 'id')::uuid,
            CASE WHEN was IS NOT NULL THEN before END, after,
            COALESCE(current_setting('sealdeck.actor', true), ''),
            COALESCE(current_setting('sealdeck.reason', true), ''),
            session_user, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
        );
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER accounts_operator_history AFTER INSERT OR UPDATE ON accounts_operator
    FOR EACH ROW EXECUTE FUNCTION accounts_change_write('operator', 'name status status_reason');
CREATE TRIGGER accounts_apikey_history AFTER INSERT OR UPDATE ON accounts_apikey
    FOR EACH ROW EXECUTE FUNCTION accounts_change_write(
        'key', 'label slot prefix scopes addresses signature_alg signature_public_key revoked_at_ms');
CREATE TRIGGER accounts_player_history AFTER UPDATE ON accounts_player
    FOR EACH ROW EXECUTE FUNCTION accounts_change_write('player', 'external_id status is_test is_bot person_key');

CREATE FUNCTION accounts_row_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are final', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
"""

FINAL = ("accounts_change", "accounts_limitchange", "accounts_exclusion")

GUARDS = "".join(
    f"""
CREATE TRIGGER {table}_final BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION accounts_row_is_final();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_row_is_final();
"""
    for table in FINAL
)

TABLES = """accounts_operator, accounts_apikey, accounts_player, accounts_playersession, accounts_limitchange,
    accounts_exclusion, accounts_requestnonce, accounts_change"""
KEY_COLUMNS = """id, operator_id, label, slot, prefix, scopes, addresses, signature_alg, created_at_ms, last_used_at_ms,
    revoked_at_ms"""

GRANTS = f"""
REVOKE ALL ON {TABLES} FROM PUBLIC, sealdeck_app, sealdeck_readonly, sealdeck_support, sealdeck_auditor;
GRANT SELECT ON {TABLES} TO sealdeck_app;
GRANT INSERT, UPDATE (status, status_reason) ON accounts_operator TO sealdeck_app;
GRANT INSERT, UPDATE (last_used_at_ms, revoked_at_ms) ON accounts_apikey TO sealdeck_app;
GRANT INSERT, UPDATE (status, person_key, token_version) ON accounts_player TO sealdeck_app;
GRANT INSERT, UPDATE (revoked_at_ms) ON accounts_playersession TO sealdeck_app;
GRANT INSERT ON accounts_limitchange, accounts_exclusion TO sealdeck_app;
GRANT INSERT, DELETE ON accounts_requestnonce TO sealdeck_app;

GRANT SELECT ON accounts_operator, accounts_player, accounts_playersession, accounts_limitchange, accounts_exclusion,
    accounts_change TO sealdeck_readonly, sealdeck_support;
GRANT SELECT ({KEY_COLUMNS}) ON accounts_apikey TO sealdeck_readonly, sealdeck_support;
GRANT SELECT ON accounts_operator, accounts_change TO sealdeck_auditor;
GRANT SELECT (id, operator_id, status, is_test, is_bot, created_at_ms) ON accounts_player TO sealdeck_auditor;
"""

UNDO = (
    "".join(f"DROP TRIGGER {table}_final ON {table}; DROP TRIGGER {table}_no_truncate ON {table};\n" for table in FINAL)
    + """
DROP TRIGGER accounts_player_history ON accounts_player;
DROP TRIGGER accounts_apikey_history ON accounts_apikey;
DROP TRIGGER accounts_operator_history ON accounts_operator;
DROP FUNCTION accounts_row_is_final();
DROP FUNCTION accounts_change_write();
"""
)


class Migration(migrations.Migration):
    """Triggers and grants."""

    dependencies = [("accounts", "0003_history")]

    operations = [
        migrations.RunSQL(HISTORY + GUARDS, UNDO),
        migrations.RunSQL(GRANTS, f"GRANT SELECT, INSERT, UPDATE, DELETE ON {TABLES} TO sealdeck_app"),
    ]
