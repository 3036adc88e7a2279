"""Answers kept for retries, and signs of life.  Stored answers are their callers' own: readers do not see them."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("role", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("beat_at_ms", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Idempotency",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "operator_id",
                        "subject_id",
                        "key",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("operator_id", models.UUIDField()),
                ("subject_id", models.UUIDField()),
                ("key", models.CharField(max_length=255)),
                ("method", models.CharField(max_length=8)),
                ("route", models.CharField(max_length=255)),
                ("body_sha256", models.BinaryField(max_length=32)),
                ("state", models.CharField(max_length=8)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("content_type", models.CharField(default="", max_length=64)),
                ("body", models.BinaryField(null=True)),
                ("created_at_ms", models.BigIntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["created_at_ms"], name="idempotency_age")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "running"), ("status", None)),
                            models.Q(("state", "done"), ("status__isnull", False)),
                            _connector="OR",
                        ),
                        name="idempotency_state",
                    )
                ],
            },
        ),
        migrations.RunSQL(
            "REVOKE ALL ON core_idempotency FROM sealdeck_readonly",
            "GRANT SELECT ON core_idempotency TO sealdeck_readonly",
        ),
    ]
