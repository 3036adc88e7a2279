"""What holds for rounds whatever the application does.

An end is an end, nobody dealt in is forgotten, and no reading role sees a seat's contribution or a snapshot.
"""

from django.db import migrations

ROLES = "sealdeck_app, sealdeck_readonly, sealdeck_support, sealdeck_auditor"
READERS = "sealdeck_readonly, sealdeck_support, sealdeck_auditor"

ROUND_COLUMNS = (
    "id, table_id, operator_id, index, game, rules, numbers, match_id, match_opener, status, seq, head, desk,"
    " last_at_ms, offset_ms, wake_at_ms, advanced, opener, beacon_round, pot_minor, fee_minor, outcome,"
    " opened_ms, closed_ms, dealt_ms, ended_ms"
)
SEAT_COLUMNS = (
    "id, table_id, number, player_id, is_ready, is_away, stands_up, in_match, seat_pk, timeouts_row, rounds_missed,"
    " connected, seen_until_ms, sat_at_ms"
)

GUARDS = f"""
CREATE FUNCTION tables_round_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        RAISE EXCEPTION '% on % is never allowed', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status IN ('finished', 'void') AND (
        NEW.status, NEW.seq, NEW.head, NEW.state, NEW.outcome::text, NEW.ended_ms, NEW.match_id, NEW.index, NEW.table_id
    ) IS DISTINCT FROM (
        OLD.status, OLD.seq, OLD.head, OLD.state, OLD.outcome::text, OLD.ended_ms, OLD.match_id, OLD.index, OLD.table_id
    ) THEN
        RAISE EXCEPTION 'round % has ended' , OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.seq < OLD.seq THEN
        RAISE EXCEPTION 'the transcript of round % never shrinks', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tables_round_guard BEFORE UPDATE OR DELETE ON tables_round
    FOR EACH ROW EXECUTE FUNCTION tables_round_guard();
CREATE TRIGGER tables_round_never_emptied BEFORE TRUNCATE ON tables_round
    FOR EACH STATEMENT EXECUTE FUNCTION tables_round_guard();
CREATE TRIGGER tables_roundseat_kept BEFORE DELETE ON tables_roundseat
    FOR EACH ROW EXECUTE FUNCTION tables_round_guard();
CREATE TRIGGER tables_roundseat_never_emptied BEFORE TRUNCATE ON tables_roundseat
    FOR EACH STATEMENT EXECUTE FUNCTION tables_round_guard();
REVOKE ALL ON tables_round, tables_roundseat, tables_seat FROM PUBLIC, {ROLES};
GRANT SELECT, INSERT, UPDATE ON tables_round, tables_roundseat TO sealdeck_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON tables_seat TO sealdeck_app;
GRANT SELECT ({ROUND_COLUMNS}) ON tables_round TO {READERS};
GRANT SELECT ({SEAT_COLUMNS}) ON tables_seat TO {READERS};
GRANT SELECT ON tables_roundseat TO {READERS};
"""

GUARDS_REVERSE = """
GRANT SELECT, INSERT, UPDATE, DELETE ON tables_round, tables_roundseat, tables_seat TO sealdeck_app;
DROP TRIGGER tables_roundseat_never_emptied ON tables_roundseat;
DROP TRIGGER tables_roundseat_kept ON tables_roundseat;
DROP TRIGGER tables_round_never_emptied ON tables_round;
DROP TRIGGER tables_round_guard ON tables_round;
DROP FUNCTION tables_round_guard();
"""


class Migration(migrations.Migration):
    dependencies = [("tables", "0001_initial")]

    operations = [migrations.RunSQL(GUARDS, GUARDS_REVERSE)]
