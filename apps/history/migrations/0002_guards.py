"""A transcript is insert-only: no row of it changes or goes, whatever the application does."""

from django.db import migrations

ROLES = "sealdeck_app, sealdeck_readonly, sealdeck_support, sealdeck_auditor"

GUARDS = f"""
ALTER TABLE history_entry ADD CONSTRAINT history_entry_sizes CHECK (octet_length(head) = 32);
CREATE FUNCTION history_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % is never allowed', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER history_entry_insert_only BEFORE UPDATE OR DELETE ON history_entry
    FOR EACH ROW EXECUTE FUNCTION history_refuse();
CREATE TRIGGER history_entry_never_emptied BEFORE TRUNCATE ON history_entry
    FOR EACH STATEMENT EXECUTE FUNCTION history_refuse();
REVOKE ALL ON history_entry FROM PUBLIC, {ROLES};
GRANT SELECT, INSERT ON history_entry TO sealdeck_app;
GRANT SELECT ON history_entry TO sealdeck_readonly, sealdeck_support, sealdeck_auditor;
"""

GUARDS_REVERSE = """
GRANT SELECT, INSERT, UPDATE, DELETE ON history_entry TO sealdeck_app;
DROP TRIGGER history_entry_never_emptied ON history_entry;
DROP TRIGGER history_entry_insert_only ON history_entry;
DROP FUNCTION history_refuse();
ALTER TABLE history_entry DROP CONSTRAINT history_entry_sizes;
"""


class Migration(migrations.Migration):
    dependencies = [("history", "0001_initial")]

    operations = [migrations.RunSQL(GUARDS, GUARDS_REVERSE)]
