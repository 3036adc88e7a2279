"""Nothing of accounts is ever deleted by the application: ids stay taken, history stays whole."""

from django.db import migrations

TABLES = "accounts_operator, accounts_apikey, accounts_player, accounts_playersession"


class Migration(migrations.Migration):
    """Take the right to delete from the application's login."""

    dependencies = [("accounts", "0001_operators_and_players")]

    operations = [
        migrations.RunSQL(
            sql=f"REVOKE DELETE, TRUNCATE ON {TABLES} FROM sealdeck_app",
            reverse_sql=f"GRANT DELETE ON {TABLES} TO sealdeck_app",
        )
    ]
