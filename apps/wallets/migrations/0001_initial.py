"""The tables of the ledger, without their guards."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models

import apps.core.fields
import apps.core.ids
import apps.wallets.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = (("accounts", "0002_grants"),)

    operations = (
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("player", "Player"),
                            ("escrow", "Escrow"),
                            ("rake", "Rake"),
                            ("funding", "Funding"),
                            ("suspense", "Suspense"),
                            ("adjustment", "Adjustment"),
                            ("promo", "Promo"),
                        ],
                        max_length=16,
                    ),
                ),
                ("owner_ref", models.UUIDField()),
                ("shard", models.SmallIntegerField(default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("frozen", "Frozen"), ("closed", "Closed")],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("status_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "operator",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.operator",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LedgerKey",
            fields=[
                ("kid", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("public_key", models.BinaryField(max_length=32)),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
            ],
            options={
                "db_table": "wallets_key",
            },
        ),
        migrations.CreateModel(
            name="AccountStatusChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                (
                    "old_status",
                    models.CharField(
                        choices=[("open", "Open"), ("frozen", "Frozen"), ("closed", "Closed")], max_length=8
                    ),
                ),
                (
                    "new_status",
                    models.CharField(
                        choices=[("open", "Open"), ("frozen", "Frozen"), ("closed", "Closed")], max_length=8
                    ),
                ),
                ("actor", models.CharField(max_length=128)),
                ("reason", models.CharField(max_length=200)),
                ("after_entry_id", models.BigIntegerField()),
                ("at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="wallets.account"
                    ),
                ),
            ],
            options={
                "db_table": "wallets_account_status_change",
            },
        ),
        migrations.CreateModel(
            name="Alarm",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                ("code", models.CharField(max_length=32)),
                ("detail", models.CharField(max_length=400)),
                ("raised_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                ("cleared_at_ms", models.BigIntegerField(default=None, null=True)),
                ("cleared_by", models.CharField(blank=True, default="", max_length=128)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("cleared_at_ms", None)),
                        fields=("operator_id", "code"),
                        name="wallets_alarm_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cleared_at_ms", None), ("cleared_by", "")),
                            models.Q(("cleared_at_ms__isnull", False), models.Q(("cleared_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="wallets_alarm_cleared",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                (
                    "id",
                    models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("operator_id", models.UUIDField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("credit", "Credit"),
                            ("debit", "Debit"),
                            ("buy_in", "Buy In"),
                            ("settle", "Settle"),
                            ("void", "Void"),
                            ("capture", "Capture"),
                            ("reverse", "Reverse"),
                            ("resettle", "Resettle"),
                            ("adjust", "Adjust"),
                            ("promo", "Promo"),
                            ("suspend", "Suspend"),
                            ("resolve", "Resolve"),
                        ],
                        max_length=16,
                    ),
                ),
                ("target_tx_id", models.UUIDField(default=None, null=True)),
                ("round_id", models.UUIDField(default=None, null=True)),
                ("reason", models.CharField(max_length=200)),
                ("requested_by", models.CharField(max_length=128)),
                ("requested_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                ("xid", apps.wallets.fields.Xid8Field(db_default=apps.wallets.fields.CurrentXid())),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                            ("executed", "Executed"),
                        ],
                        default="requested",
                        max_length=16,
                    ),
                ),
                ("decided_by", models.CharField(default=None, max_length=128, null=True)),
                ("decided_at_ms", models.BigIntegerField(default=None, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["operator_id", "state", "requested_at_ms"], name="wallets_approval_open")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["reverse", "resettle", "adjust"])),
                        name="wallets_approval_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["requested", "approved", "rejected", "executed"])),
                        name="wallets_approval_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_by", None), ("state", "requested")),
                            models.Q(("decided_by__isnull", False), models.Q(("decided_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="wallets_approval_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("decided_by", models.F("requested_by")), _negated=True),
                        name="wallets_approval_other_person",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("reason", ""), _negated=True), models.Q(("requested_by", ""), _negated=True)
                        ),
                        name="wallets_approval_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "reverse"), ("target_tx_id__isnull", False)),
                            models.Q(models.Q(("kind", "reverse"), _negated=True), ("target_tx_id__isnull", True)),
                            _connector="OR",
                        ),
                        name="wallets_approval_target",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Currency",
            fields=[
                ("code", models.CharField(max_length=8, primary_key=True, serialize=False)),
                ("exponent", models.SmallIntegerField()),
                ("is_money", models.BooleanField()),
                ("min_buy_in_minor", models.BigIntegerField(default=1)),
                ("rake_rule", models.CharField(default="floor_bp/1", max_length=32)),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("code__regex", "^[A-Z][A-Z0-9]{2,7}$")), name="wallets_currency_code"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("exponent__gte", 0), ("exponent__lte", 8)), name="wallets_currency_exponent"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("min_buy_in_minor__gte", 1)), name="wallets_currency_min_buy_in"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rake_rule", "floor_bp/1")), name="wallets_currency_rake_rule"
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="account",
            name="currency",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="wallets.currency"
            ),
        ),
        migrations.CreateModel(
            name="LedgerBlock",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("form", models.SmallIntegerField()),
                ("from_xid", apps.wallets.fields.Xid8Field()),
                ("upto_xid", apps.wallets.fields.Xid8Field()),
                ("first_entry", models.BigIntegerField()),
                ("last_entry", models.BigIntegerField()),
                ("n", models.IntegerField()),
                ("sums", models.JSONField()),
                ("prev_hash", models.BinaryField(max_length=32)),
                ("hash", models.BinaryField(max_length=32)),
                ("signature", models.BinaryField(max_length=64)),
                ("sealed_at_ms", models.BigIntegerField()),
                (
                    "kid",
                    models.ForeignKey(
                        db_column="kid",
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.ledgerkey",
                    ),
                ),
            ],
            options={
                "db_table": "wallets_block",
            },
        ),
        migrations.CreateModel(
            name="DailyFile",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                ("currency", models.CharField(max_length=8)),
                ("day", models.DateField()),
                ("form", models.SmallIntegerField()),
                ("body", models.BinaryField()),
                ("prev_hash", models.BinaryField(max_length=32)),
                ("hash", models.BinaryField(max_length=32)),
                ("signature", models.BinaryField(max_length=64)),
                ("made_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "kid",
                    models.ForeignKey(
                        db_column="kid",
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.ledgerkey",
                    ),
                ),
            ],
            options={
                "db_table": "wallets_daily_file",
            },
        ),
        migrations.CreateModel(
            name="LedgerTransaction",
            fields=[
                (
                    "id",
                    models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("operator_id", models.UUIDField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("credit", "Credit"),
                            ("debit", "Debit"),
                            ("buy_in", "Buy In"),
                            ("settle", "Settle"),
                            ("void", "Void"),
                            ("capture", "Capture"),
                            ("reverse", "Reverse"),
                            ("resettle", "Resettle"),
                            ("adjust", "Adjust"),
                            ("promo", "Promo"),
                            ("suspend", "Suspend"),
                            ("resolve", "Resolve"),
                        ],
                        max_length=16,
                    ),
                ),
                ("external_id", models.CharField(max_length=128)),
                ("request_sha256", models.BinaryField(max_length=32)),
                ("round_id", models.UUIDField(default=None, null=True)),
                ("actor", models.CharField(max_length=128)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                ("xid", apps.wallets.fields.Xid8Field(db_default=apps.wallets.fields.CurrentXid())),
                (
                    "approval",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="wallets.approval"
                    ),
                ),
                (
                    "reverses",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.ledgertransaction",
                    ),
                ),
            ],
            options={
                "db_table": "wallets_tx",
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "id",
                    models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("operator_id", models.UUIDField()),
                ("amount", models.BigIntegerField()),
                ("purpose", models.CharField(max_length=32)),
                ("reference", models.UUIDField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("captured", "Captured"),
                            ("released", "Released"),
                            ("expired", "Expired"),
                        ],
                        default="active",
                        max_length=16,
                    ),
                ),
                ("expires_at_ms", models.BigIntegerField()),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.account",
                    ),
                ),
                (
                    "resolved_tx",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.ledgertransaction",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                ("round_id", models.UUIDField(default=None, null=True)),
                ("currency", models.CharField(max_length=8)),
                ("amount", models.BigIntegerField()),
                ("account_seq", models.BigIntegerField(default=None, null=True)),
                ("balance_after", models.BigIntegerField(default=None, null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.account",
                    ),
                ),
                (
                    "tx",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="wallets.ledgertransaction",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "entries",
            },
        ),
        migrations.CreateModel(
            name="AccountBalance",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="balance",
                        serialize=False,
                        to="wallets.account",
                    ),
                ),
                ("operator_id", models.UUIDField()),
                ("posted", models.BigIntegerField(default=0)),
                ("held", models.BigIntegerField(default=0)),
                ("floor", models.BigIntegerField(default=0, null=True)),
                ("seq", models.BigIntegerField(default=0)),
                ("lock_only", models.SmallIntegerField(default=0)),
            ],
            options={
                "db_table": "wallets_balance",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("held__gte", 0)), name="wallets_balance_held"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("floor", None),
                            (
                                "posted__gte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("floor"), "+", models.F("held")
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="wallets_balance_floor",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApprovalLine",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("amount", models.BigIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.account",
                    ),
                ),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="lines", to="wallets.approval"
                    ),
                ),
            ],
            options={
                "db_table": "wallets_approval_line",
                "constraints": [
                    models.UniqueConstraint(fields=("approval", "account"), name="wallets_approval_line_account"),
                    models.CheckConstraint(
                        condition=models.Q(("amount", 0), _negated=True), name="wallets_approval_line_amount"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BalanceSnapshot",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                ("upto_xid", apps.wallets.fields.Xid8Field()),
                ("posted", models.BigIntegerField()),
                ("taken_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.account",
                    ),
                ),
            ],
            options={
                "db_table": "wallets_snapshot",
                "constraints": [
                    models.UniqueConstraint(fields=("account", "upto_xid"), name="wallets_snapshot_identity")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.UniqueConstraint(
                fields=("operator", "kind", "owner_ref", "currency", "shard"), name="wallets_account_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["player", "escrow", "rake", "funding", "suspense", "adjustment", "promo"])
                ),
                name="wallets_account_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["open", "frozen", "closed"])), name="wallets_account_status"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerblock",
            constraint=models.UniqueConstraint(fields=("operator_id", "seq"), name="wallets_block_identity"),
        ),
        migrations.AddConstraint(
            model_name="ledgerblock",
            constraint=models.CheckConstraint(
                condition=models.Q(("from_xid__lt", models.F("upto_xid")), ("n__gt", 0), ("seq__gte", 0)),
                name="wallets_block_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="dailyfile",
            constraint=models.UniqueConstraint(
                fields=("operator_id", "currency", "day"), name="wallets_daily_file_identity"
            ),
        ),
        migrations.AddIndex(
            model_name="ledgertransaction",
            index=models.Index(fields=["operator_id", "xid", "id"], name="wallets_tx_order"),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.UniqueConstraint(
                fields=("operator_id", "kind", "external_id"), name="wallets_tx_natural_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["credit", "debit"])),
                fields=("operator_id", "external_id"),
                name="wallets_tx_operator_external_id",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["settle", "void"])),
                fields=("round_id",),
                name="wallets_tx_one_outcome",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "buy_in")), fields=("round_id",), name="wallets_tx_one_buy_in"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "credit",
                            "debit",
                            "buy_in",
                            "settle",
                            "void",
                            "capture",
                            "reverse",
                            "resettle",
                            "adjust",
                            "promo",
                            "suspend",
                            "resolve",
                        ],
                    )
                ),
                name="wallets_tx_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(("external_id__regex", "^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}$")),
                name="wallets_tx_external_id",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ["buy_in", "settle", "void", "resettle"]), ("round_id__isnull", False)),
                    ("kind__in", ["reverse", "capture", "suspend", "resolve"]),
                    models.Q(("kind__in", ["credit", "debit", "adjust", "promo"]), ("round_id__isnull", True)),
                    _connector="OR",
                ),
                name="wallets_tx_round",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "reverse"), ("reverses__isnull", False)),
                    models.Q(models.Q(("kind", "reverse"), _negated=True), ("reverses__isnull", True)),
                    _connector="OR",
                ),
                name="wallets_tx_reverses",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("approval__isnull", False), ("kind__in", ["reverse", "resettle", "adjust"])),
                    models.Q(
                        models.Q(("kind__in", ["reverse", "resettle", "adjust"]), _negated=True),
                        ("approval__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="wallets_tx_approval",
            ),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("state", "active")), fields=["expires_at_ms"], name="wallets_hold_due"
            ),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("state", "active")), fields=["account"], name="wallets_hold_account"
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="wallets_hold_amount"),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["active", "captured", "released", "expired"])),
                name="wallets_hold_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("resolved_tx__isnull", False), ("state", "captured")),
                    models.Q(models.Q(("state", "captured"), _negated=True), ("resolved_tx__isnull", True)),
                    _connector="OR",
                ),
                name="wallets_hold_resolved",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.UniqueConstraint(
                fields=("reference", "account", "purpose"), name="wallets_hold_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount", 0), _negated=True), name="wallets_entry_amount"
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(fields=("account", "account_seq"), name="wallets_entry_account_seq"),
        ),
    )
