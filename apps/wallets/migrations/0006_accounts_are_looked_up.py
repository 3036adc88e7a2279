"""Buy-ins and payouts look accounts up and open none.

Who has no account has no funds, so a buy-in needs no row for him; and two rounds that opened accounts of the same new
players in different orders would wait for each other.  Rules L6 and L7: docs/auditors/ledger.md.
"""

from django.db import migrations

LOOK_UP = """
CREATE OR REPLACE FUNCTION wallets_player_accounts(p_operator uuid, p_players uuid[], p_currency text) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ids bigint[] := '{}';
    player uuid;
BEGIN
    -- One look-up each by the unique key: cheap, and no plan to go wrong.  Null for who has no account.
    FOREACH player IN ARRAY p_players LOOP
        ids := array_append(ids, (SELECT id FROM wallets_account
            WHERE operator_id = p_operator AND kind = 'player' AND owner_ref = player AND currency_id = p_currency
                AND shard = 0));
    END LOOP;
    RETURN ids;
END $$;
"""


class Migration(migrations.Migration):
    """Replace the function; there is no way back."""

    dependencies = (("wallets", "0005_defaults_and_day_index"),)
    operations = (migrations.RunSQL(LOOK_UP),)
