"""Rounds, and the seats dealt into them, carry the database transaction that made them: the order of every list.

No index more than before hangs on a round, since every move writes its row: two new ones take the place of two.
"""

import django.db.models.deletion
from django.db import migrations, models

import apps.wallets.fields

GRANTS = "GRANT SELECT (xid) ON tables_round TO sealdeck_readonly, sealdeck_support, sealdeck_auditor"


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_guards"),
        ("tables", "0002_guards"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="roundseat",
            name="tables_rounds_of_player",
        ),
        migrations.AddField(
            model_name="round",
            name="xid",
            field=apps.wallets.fields.Xid8Field(db_default=apps.wallets.fields.CurrentXid()),
        ),
        migrations.AddField(
            model_name="roundseat",
            name="xid",
            field=apps.wallets.fields.Xid8Field(db_default=apps.wallets.fields.CurrentXid()),
        ),
        migrations.AlterField(
            model_name="round",
            name="operator",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.operator"
            ),
        ),
        migrations.AlterField(
            model_name="round",
            name="table",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="rounds", to="tables.table"
            ),
        ),
        migrations.AddIndex(
            model_name="round",
            index=models.Index(fields=["operator", "xid", "id"], name="tables_rounds_in_order"),
        ),
        migrations.AddIndex(
            model_name="round",
            index=models.Index(fields=["table", "xid", "id"], name="tables_rounds_of_table"),
        ),
        migrations.AddIndex(
            model_name="roundseat",
            index=models.Index(fields=["player", "xid", "round"], name="tables_rounds_of_player"),
        ),
        migrations.RunSQL(GRANTS, migrations.RunSQL.noop),
    ]
