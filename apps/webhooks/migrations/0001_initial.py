"""The outbox."""

import django.contrib.postgres.functions
from django.db import migrations, models

import apps.core.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = ()

    operations = (
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "public_id",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True
                    ),
                ),
                ("operator_id", models.UUIDField()),
                ("topic", models.CharField(max_length=64)),
                ("payload", models.JSONField()),
                ("tx_id", models.UUIDField(default=None, null=True, unique=True)),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                ("seq", models.BigIntegerField(default=None, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("seq", None)),
                        fields=["operator_id", "id"],
                        name="webhooks_event_unnumbered",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("operator_id", "seq"), name="webhooks_event_seq"),
                    models.CheckConstraint(
                        condition=models.Q(("topic__regex", "^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+$")),
                        name="webhooks_event_topic",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("seq", None), ("seq__gte", 1), _connector="OR"),
                        name="webhooks_event_seq_positive",
                    ),
                ],
            },
        ),
    )
