"""Endpoints, deliveries to them, and the places of the processes that deliver."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.fields
import apps.core.ids


class Migration(migrations.Migration):
    dependencies = (
        ("accounts", "0004_guards"),
        ("webhooks", "0002_outbox"),
    )

    operations = (
        migrations.CreateModel(
            name="Slot",
            fields=[
                ("number", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("until_ms", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                (
                    "id",
                    models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("url", models.CharField(max_length=400)),
                (
                    "topics",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), blank=True, default=list, size=None
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "Active"), ("disabled", "Disabled")], default="active", max_length=16
                    ),
                ),
                ("state_reason", models.CharField(blank=True, default="", max_length=64)),
                ("secret_version", models.PositiveIntegerField(default=1)),
                ("previous_until_ms", models.BigIntegerField(default=None, null=True)),
                ("not_before_ms", models.BigIntegerField(default=0)),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "operator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.operator"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                (
                    "state",
                    models.CharField(
                        choices=[("due", "Due"), ("delivered", "Delivered"), ("failed", "Failed")],
                        default="due",
                        max_length=16,
                    ),
                ),
                ("attempts", models.SmallIntegerField(default=0)),
                ("next_try_at_ms", models.BigIntegerField()),
                ("last_status", models.SmallIntegerField(default=None, null=True)),
                ("last_error", models.CharField(blank=True, default="", max_length=32)),
                ("last_try_at_ms", models.BigIntegerField(default=None, null=True)),
                (
                    "event",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="webhooks.event"
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="webhooks.endpoint",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["active", "disabled"])), name="webhooks_endpoint_state"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("state", "due")),
                fields=["endpoint", "next_try_at_ms"],
                name="webhooks_delivery_due",
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(fields=("endpoint", "event"), name="webhooks_delivery_identity"),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["due", "delivered", "failed"])), name="webhooks_delivery_state"
            ),
        ),
    )
