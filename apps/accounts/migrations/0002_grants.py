"""Nothing of accounts is deleted by the application, and what players asked for is not even changed.

Only nonces go, once they are too old to matter.
"""

from django.db import migrations

KEPT = "accounts_operator, accounts_apikey, accounts_player, accounts_playersession"
INSERT_ONLY = "accounts_limitchange, accounts_exclusion"


class Migration(migrations.Migration):
    """Take rights from the application's login."""

    dependencies = [("accounts", "0001_operators_and_players")]

    operations = [
        migrations.RunSQL(
            sql=f"REVOKE DELETE, TRUNCATE ON {KEPT} FROM sealdeck_app",
            reverse_sql=f"GRANT DELETE ON {KEPT} TO sealdeck_app",
        ),
        migrations.RunSQL(
            sql=f"REVOKE UPDATE, DELETE, TRUNCATE ON {INSERT_ONLY} FROM sealdeck_app",
            reverse_sql=f"GRANT UPDATE, DELETE ON {INSERT_ONLY} TO sealdeck_app",
        ),
    ]
