"""An index for daily files, and defaults of alarms that the application's role may not choose.

Times only grow, so a summary of each range of pages is enough of an index.
"""

import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):
    """Add both."""

    dependencies = (("wallets", "0004_holds_and_corrections"),)
    operations = (
        migrations.AddIndex(
            model_name="ledgertransaction",
            index=django.contrib.postgres.indexes.BrinIndex(fields=["created_at_ms"], name="wallets_tx_day"),
        ),
        migrations.AlterField(
            model_name="alarm",
            name="cleared_by",
            field=models.CharField(blank=True, db_default="", max_length=128),
        ),
        migrations.AlterField(
            model_name="alarm",
            name="reason",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
    )
