"""The history of corrections, holds and alarms, by trigger; an alarm is cleared once.

Source: docs/support/roles.md.  The rows go where those of players and keys go: old, new, actor, reason, login.
"""

from django.db import migrations

HISTORY = """
CREATE TRIGGER wallets_approval_history AFTER INSERT OR UPDATE ON wallets_approval
    FOR EACH ROW EXECUTE FUNCTION accounts_change_write(
        'correction', 'kind target_tx_id round_id reason requested_by state decided_by');
CREATE TRIGGER wallets_hold_history AFTER UPDATE ON wallets_hold
    FOR EACH ROW EXECUTE FUNCTION accounts_change_write('hold', 'state');

CREATE FUNCTION wallets_alarm_history() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.cleared_at_ms IS NOT NULL
        OR to_jsonb(NEW) - 'cleared_at_ms' - 'cleared_by' - 'reason'
            <> to_jsonb(OLD) - 'cleared_at_ms' - 'cleared_by' - 'reason') THEN
        RAISE EXCEPTION 'an alarm is cleared once, and never rewritten'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    INSERT INTO accounts_change (operator_id, subject, subject_id, old, new, actor, reason, login, changed_at_ms)
    VALUES (NEW.operator_id, 'alarm', NEW.operator_id,
        CASE WHEN TG_OP = 'UPDATE' THEN jsonb_build_object('code', OLD.code, 'cleared_at_ms', OLD.cleared_at_ms) END,
        jsonb_build_object('code', NEW.code, 'cleared_at_ms', NEW.cleared_at_ms),
        CASE WHEN TG_OP = 'UPDATE' THEN NEW.cleared_by ELSE COALESCE(current_setting('sealdeck.actor', true), '') END,
        NEW.reason, session_user, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    RETURN NULL;
END $$;

CREATE TRIGGER wallets_alarm_history AFTER INSERT OR UPDATE ON wallets_alarm
    FOR EACH ROW EXECUTE FUNCTION wallets_alarm_history();
"""


class Migration(migrations.Migration):
    """Install the triggers; there is no way back."""

    dependencies = (("wallets", "0007_staff_permissions"), ("accounts", "0004_guards"))
    operations = (migrations.RunSQL(HISTORY),)
