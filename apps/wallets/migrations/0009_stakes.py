"""The seamless wallet: where operators' wallets are, the stakes fetched from them, and the money that moves with them.

A stake's state changes along one path only, and the trigger that checks it posts what belongs to the change: neither
can be without the other.  Source: docs/operators/seamless-wallet.md, docs/auditors/ledger.md (I19).
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.fields
import apps.core.ids

ENTRY = """
-- As in migration 0002, but a suspension reaches every account: it gives a player's money back to his operator.
CREATE OR REPLACE FUNCTION wallets_entry_enters() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    parent record;
    holder record;
BEGIN
    SELECT operator_id, kind, round_id, xid INTO parent FROM wallets_tx WHERE id = NEW.tx_id;
    IF NOT FOUND OR parent.xid <> pg_current_xact_id() THEN
        RAISE EXCEPTION 'L2: an entry joins only a transaction of the same database transaction'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- The balance row is locked first: whoever changes the account's state locks it too.
    UPDATE wallets_balance SET posted = posted + NEW.amount, seq = seq + 1
        WHERE account_id = NEW.account_id
        RETURNING seq, posted INTO NEW.account_seq, NEW.balance_after;
    IF NOT FOUND THEN
        NEW.account_seq := NULL;
        NEW.balance_after := NULL;
    END IF;
    SELECT operator_id, kind, owner_ref, currency_id, status INTO holder FROM wallets_account WHERE id = NEW.account_id;
    IF NOT FOUND OR holder.operator_id <> parent.operator_id OR NEW.operator_id <> parent.operator_id THEN
        RAISE EXCEPTION 'the account belongs to another operator than the transaction'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF holder.currency_id <> NEW.currency THEN
        RAISE EXCEPTION 'the entry is in %, its account in %', NEW.currency, holder.currency_id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.round_id IS DISTINCT FROM parent.round_id
        OR (holder.kind = 'escrow' AND holder.owner_ref IS DISTINCT FROM parent.round_id) THEN
        RAISE EXCEPTION 'the entry is about another round than its transaction'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NOT wallets_movement_fits(parent.kind, holder.kind, NEW.amount) THEN
        RAISE EXCEPTION 'a % does not move % on a % account', parent.kind, NEW.amount, holder.kind
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF holder.status <> 'open' AND (
        parent.kind IN ('buy_in', 'debit', 'capture')
        OR (holder.status = 'closed' AND parent.kind IN ('credit', 'promo'))
    ) THEN
        RAISE EXCEPTION 'I17: the account is %, it takes no %', holder.status, parent.kind
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""

STAKES = """
-- One balanced movement of a stake; the operator's own id of the call is the transaction's external id.
CREATE FUNCTION wallets_stake_post(p_stake wallets_stake, p_kind text, p_from text, p_to text, p_amount bigint,
    p_call text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    made uuid := gen_random_uuid();
    ref text := p_call || '-' || replace(p_stake.id::text, '-', '');
    side record;
BEGIN
    IF p_amount = 0 THEN
        RETURN;
    END IF;
    INSERT INTO wallets_tx (id, operator_id, kind, external_id, request_sha256, round_id, actor, reason)
        VALUES (made, p_stake.operator_id, p_kind, ref,
            sha256(convert_to(p_kind || '|' || ref || '|' || p_amount, 'UTF8')),
            CASE p_kind WHEN 'credit' THEN NULL ELSE p_stake.round_id END, 'seamless', '');
    FOR side IN SELECT * FROM (VALUES (p_from, -p_amount), (p_to, p_amount)) AS s(kind, amount) LOOP
        INSERT INTO wallets_entry (tx_id, operator_id, round_id, account_id, currency, amount)
            VALUES (made, p_stake.operator_id, CASE p_kind WHEN 'credit' THEN NULL ELSE p_stake.round_id END,
                wallets_account_open(p_stake.operator_id, side.kind,
                    CASE side.kind WHEN 'player' THEN p_stake.player_id ELSE p_stake.operator_id END,
                    p_stake.currency_id),
                p_stake.currency_id, side.amount);
    END LOOP;
END $$;

CREATE FUNCTION wallets_stake_changes() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    present bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'planned' OR NEW.win_minor IS NOT NULL OR NEW.attempts <> 0 OR NEW.confirmed_at_ms IS NOT NULL
            OR NOT EXISTS (SELECT 1 FROM accounts_player p WHERE p.id = NEW.player_id
                AND p.operator_id = NEW.operator_id AND p.external_id = NEW.player_ref) THEN
            RAISE EXCEPTION 'a stake begins as a plan, for a player of its operator'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.state <> OLD.state THEN
        NEW.state_at_ms := present;
        IF NEW.state = 'confirmed' THEN
            NEW.confirmed_at_ms := present;
        END IF;
    END IF;
    IF (to_jsonb(NEW) - '{state,win_minor,attempts,next_try_at_ms,last_error,state_at_ms,confirmed_at_ms}'::text[])
        <> (to_jsonb(OLD) - '{state,win_minor,attempts,next_try_at_ms,last_error,state_at_ms,confirmed_at_ms}'::text[])
        OR (NEW.win_minor IS DISTINCT FROM OLD.win_minor AND NOT (OLD.state = 'played' AND NEW.state = 'win_planned'))
        OR (NEW.state <> OLD.state AND (OLD.state || ' ' || NEW.state) NOT IN (
            'planned sent', 'planned refused', 'sent confirmed', 'sent refused', 'sent unknown',
            'confirmed played', 'confirmed rollback_planned', 'played win_planned', 'played rollback_planned',
            'unknown rollback_sent', 'rollback_planned rollback_sent', 'rollback_unknown rollback_sent',
            'rollback_refused rollback_sent', 'rollback_sent rolled_back', 'rollback_sent rollback_unknown',
            'rollback_sent rollback_refused',
            'win_planned win_sent', 'win_unknown win_sent', 'win_refused win_sent', 'win_sent paid',
            'win_sent win_unknown', 'win_sent win_refused')) THEN
        RAISE EXCEPTION 'a stake that is % cannot become %, and nothing else of it changes', OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    CASE OLD.state || ' ' || NEW.state
        WHEN 'sent confirmed' THEN
            PERFORM wallets_stake_post(NEW, 'credit', 'funding', 'player', NEW.amount_minor, 'b');
        WHEN 'sent unknown' THEN
            PERFORM wallets_stake_post(NEW, 'suspend', 'funding', 'suspense', NEW.amount_minor, 'r');
        WHEN 'confirmed rollback_planned', 'played rollback_planned' THEN
            PERFORM wallets_stake_post(NEW, 'suspend', 'player', 'suspense', NEW.amount_minor, 'r');
        WHEN 'played win_planned' THEN
            PERFORM wallets_stake_post(NEW, 'suspend', 'player', 'suspense', NEW.win_minor, 'w');
        WHEN 'rollback_sent rolled_back' THEN
            PERFORM wallets_stake_post(NEW, 'resolve', 'suspense', 'funding', NEW.amount_minor, 'r');
        WHEN 'win_sent paid' THEN
            PERFORM wallets_stake_post(NEW, 'resolve', 'suspense', 'funding', NEW.win_minor, 'w');
        ELSE NULL;
    END CASE;
    RETURN NEW;
END $$;

CREATE TRIGGER wallets_stake_changes BEFORE INSERT OR UPDATE ON wallets_stake
    FOR EACH ROW EXECUTE FUNCTION wallets_stake_changes();
CREATE TRIGGER wallets_stake_no_delete BEFORE DELETE ON wallets_stake
    FOR EACH ROW EXECUTE FUNCTION wallets_row_is_final();
CREATE TRIGGER wallets_stake_no_truncate BEFORE TRUNCATE ON wallets_stake
    FOR EACH STATEMENT EXECUTE FUNCTION wallets_row_is_final();
"""

GRANTS = """
REVOKE ALL ON FUNCTION wallets_stake_post(wallets_stake, text, text, text, bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION wallets_stake_post(wallets_stake, text, text, text, bigint, text) TO sealdeck_app;
REVOKE ALL ON wallets_stake, wallets_operator_wallet FROM sealdeck_app;
GRANT SELECT, INSERT, UPDATE (state, win_minor, attempts, next_try_at_ms, last_error) ON wallets_stake TO sealdeck_app;
GRANT SELECT, INSERT, UPDATE (kind, url, answer_keys, failures, open_until_ms, not_before_ms) ON wallets_operator_wallet
    TO sealdeck_app;
GRANT SELECT ON wallets_stake, wallets_operator_wallet TO sealdeck_auditor;
"""


class Migration(migrations.Migration):
    """Make the tables, then install what guards them; there is no way back."""

    dependencies = [
        ("accounts", "0004_guards"),
        ("wallets", "0008_history"),
    ]

    operations = [
        migrations.CreateModel(
            name="OperatorWallet",
            fields=[
                (
                    "operator",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="accounts.operator",
                    ),
                ),
                ("kind", models.CharField(choices=[("transfer", "Transfer"), ("seamless", "Seamless")], max_length=8)),
                ("url", models.CharField(blank=True, default="", max_length=400)),
                (
                    "answer_keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), blank=True, default=list, size=None
                    ),
                ),
                ("failures", models.IntegerField(default=0)),
                ("open_until_ms", models.BigIntegerField(default=0)),
                ("not_before_ms", models.BigIntegerField(default=0)),
            ],
            options={
                "db_table": "wallets_operator_wallet",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind", "transfer"),
                            models.Q(
                                ("answer_keys__len__gt", 0), ("kind", "seamless"), models.Q(("url", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="wallets_operator_wallet_kind",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Stake",
            fields=[
                (
                    "id",
                    models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("player_ref", models.CharField(max_length=128)),
                ("amount_minor", models.BigIntegerField()),
                ("table_id", models.UUIDField()),
                ("round_id", models.UUIDField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "Planned"),
                            ("sent", "Sent"),
                            ("confirmed", "Confirmed"),
                            ("refused", "Refused"),
                            ("unknown", "Unknown"),
                            ("played", "Played"),
                            ("rollback_planned", "Rollback Planned"),
                            ("rollback_sent", "Rollback Sent"),
                            ("rollback_unknown", "Rollback Unknown"),
                            ("rollback_refused", "Rollback Refused"),
                            ("rolled_back", "Rolled Back"),
                            ("win_planned", "Win Planned"),
                            ("win_sent", "Win Sent"),
                            ("win_unknown", "Win Unknown"),
                            ("win_refused", "Win Refused"),
                            ("paid", "Paid"),
                        ],
                        default="planned",
                        max_length=16,
                    ),
                ),
                ("win_minor", models.BigIntegerField(default=None, null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("next_try_at_ms", models.BigIntegerField(default=None, null=True)),
                ("last_error", models.CharField(blank=True, default="", max_length=64)),
                ("created_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                ("confirmed_at_ms", models.BigIntegerField(default=None, null=True)),
                ("state_at_ms", models.BigIntegerField(db_default=apps.core.fields.DatabaseMillis())),
                (
                    "currency",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallets.currency",
                    ),
                ),
                (
                    "operator",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.operator",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.player"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_try_at_ms__isnull", False)),
                        fields=["operator", "next_try_at_ms"],
                        name="wallets_stake_due",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["refused", "rolled_back", "paid"]), _negated=True),
                        fields=["operator", "state"],
                        name="wallets_stake_open",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["refused", "rolled_back", "paid"]), _negated=True),
                        fields=("round_id", "player"),
                        name="wallets_stake_one",
                    ),
                    models.CheckConstraint(condition=models.Q(("amount_minor__gt", 0)), name="wallets_stake_amount"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "planned",
                                    "sent",
                                    "confirmed",
                                    "refused",
                                    "unknown",
                                    "played",
                                    "rollback_planned",
                                    "rollback_sent",
                                    "rollback_unknown",
                                    "rollback_refused",
                                    "rolled_back",
                                    "win_planned",
                                    "win_sent",
                                    "win_unknown",
                                    "win_refused",
                                    "paid",
                                ],
                            )
                        ),
                        name="wallets_stake_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ["win_planned", "win_sent", "win_unknown", "win_refused", "paid"]),
                                ("win_minor__gte", 0),
                            ),
                            models.Q(
                                models.Q(
                                    ("state__in", ["win_planned", "win_sent", "win_unknown", "win_refused", "paid"]),
                                    _negated=True,
                                ),
                                ("win_minor", None),
                            ),
                            _connector="OR",
                        ),
                        name="wallets_stake_win",
                    ),
                ],
            },
        ),
        *(migrations.RunSQL(sql) for sql in (ENTRY, STAKES, GRANTS)),
    ]
