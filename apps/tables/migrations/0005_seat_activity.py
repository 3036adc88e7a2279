"""When a seat's player last did something, so that idle seats can be given away."""

from django.db import migrations, models

import apps.core.fields

READERS = "sealdeck_readonly, sealdeck_support, sealdeck_auditor"


class Migration(migrations.Migration):
    dependencies = [("tables", "0004_auto_ready")]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="active_ms",
            field=models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis()),
        ),
        migrations.AddIndex(
            model_name="seat",
            index=models.Index(
                condition=models.Q(("in_match", False), ("is_ready", False)), fields=["active_ms"], name="tables_idle"
            ),
        ),
        migrations.RunSQL(
            f"GRANT SELECT (active_ms) ON tables_seat TO {READERS}",
            f"REVOKE SELECT (active_ms) ON tables_seat FROM {READERS}",  # noqa: S608
        ),
    ]
