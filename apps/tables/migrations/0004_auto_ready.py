"""A player's wish to be made ready for some rounds in advance, and how many a table allows; 0 everywhere at first."""

from django.db import migrations, models

GRANTS = "GRANT SELECT (auto_ready_left) ON tables_seat TO sealdeck_readonly, sealdeck_support, sealdeck_auditor"


class Migration(migrations.Migration):
    dependencies = [("tables", "0003_rounds_in_order")]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="auto_ready_left",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="table",
            name="auto_ready_rounds",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.RunSQL(GRANTS, migrations.RunSQL.noop),
    ]
