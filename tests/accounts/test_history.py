"""History that nobody can leave out or rewrite, and what each login of the database may do."""

from __future__ import annotations

import psycopg
import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction

from apps.accounts import selectors, services
from apps.accounts.models import ApiKey, Change, OperatorStatus, Player
from tests.accounts.conftest import Tenant


class TestChanges:
    def test_of_a_player_say_who_did_what_and_why(self, acme: Tenant) -> None:
        player = acme.player("u-1")
        key = ApiKey.objects.get()
        acme.call("PATCH", f"/players/{player.pk}", {"status": "frozen", "reason": "chargeback"})
        acme.call("POST", "/players", {"external_id": "u-1", "person_key": "h:1"})
        marked, frozen = selectors.changes(operator_id=acme.id, subject_id=player.pk)
        assert (frozen.subject, frozen.old, frozen.new) == ("player", {"status": "active"}, {"status": "frozen"})
        assert (frozen.actor, frozen.reason, frozen.login) == (f"key:{key.pk}", "chargeback", "sealdeck_app")
        assert (marked.old, marked.new, marked.reason) == ({"person_key": ""}, {"person_key": "h:1"}, "")

    def test_of_a_key_hold_nothing_secret(self, acme: Tenant) -> None:
        made = acme.call("POST", "/keys", {"label": "two", "scopes": ["read"]}).json()
        acme.call("DELETE", f"/keys/{made['id']}")
        revoked, created = selectors.changes(operator_id=acme.id, subject_id=made["id"])
        assert created.old is None
        assert (created.new["label"], created.new["prefix"]) == ("two", made["prefix"])
        assert "secret_sha256" not in created.new
        assert revoked.new.keys() == {"revoked_at_ms"}
        assert revoked.actor == created.actor != ""

    def test_of_an_operator_are_told_by_whom(self, acme: Tenant) -> None:
        services.operator_status_set(
            operator_id=acme.id, status=OperatorStatus.PAUSED, reason="books", actor="staff:ann"
        )
        paused, _created = selectors.changes(operator_id=acme.id, subject_id=acme.id)
        assert paused.new == {"status": "paused", "status_reason": "books"}
        assert (paused.actor, paused.reason) == ("staff:ann", "books")

    def test_made_by_hand_are_there_too(self, acme: Tenant) -> None:
        player = acme.player()
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('sealdeck.actor', '', true), set_config('sealdeck.reason', '', true)")
            cursor.execute("UPDATE accounts_player SET status = 'frozen' WHERE id = %s", [player.pk])
        (change,) = selectors.changes(operator_id=acme.id, subject_id=player.pk)
        assert (change.actor, change.login, change.new) == ("", "sealdeck_app", {"status": "frozen"})

    def test_are_not_made_where_nothing_changes(self, acme: Tenant) -> None:
        player = acme.player()
        made = services.session_create(player_id=player.pk, ttl_s=600)
        services.session_revoke(operator_id=acme.id, session_id=made.session_id)
        acme.call("PATCH", f"/players/{player.pk}", {"status": "active"})
        acme.call("GET", "/keys")
        assert not Change.objects.filter(subject="player").exists()
        assert Change.objects.filter(subject="key").count() == 1

    def test_of_another_operator_are_not_found(self, acme: Tenant, rival: Tenant) -> None:
        assert selectors.changes(operator_id=acme.id, subject_id=rival.id) == []


REFUSED = (
    "DELETE FROM accounts_player",
    "DELETE FROM accounts_operator",
    "DELETE FROM accounts_apikey",
    "DELETE FROM accounts_playersession",
    "UPDATE accounts_player SET external_id = 'x'",
    "UPDATE accounts_player SET is_test = false",
    "UPDATE accounts_player SET operator_id = gen_random_uuid()",
    "UPDATE accounts_apikey SET scopes = '{admin}'",
    "UPDATE accounts_apikey SET secret_sha256 = ''",
    "UPDATE accounts_apikey SET signature_alg = ''",
    "UPDATE accounts_playersession SET expires_at_ms = 0",
    "UPDATE accounts_limitchange SET value = NULL",
    "DELETE FROM accounts_exclusion",
    "UPDATE accounts_requestnonce SET nonce = 'x'",
    "DELETE FROM accounts_change",
    "UPDATE accounts_change SET actor = ''",
    "INSERT INTO accounts_change (operator_id, subject, subject_id, new, actor, reason, login, changed_at_ms)"
    " VALUES (gen_random_uuid(), 'player', gen_random_uuid(), '{}', '', '', '', 0)",
)


@pytest.mark.django_db(databases=["default", "owner"])
class TestRights:
    @pytest.mark.parametrize("statement", REFUSED)
    def test_of_the_application_end_at_what_may_change(self, statement: str) -> None:
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(statement)

    @pytest.mark.parametrize("role", ["sealdeck_readonly", "sealdeck_support", "sealdeck_auditor"])
    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT secret_sha256 FROM accounts_apikey",
            "SELECT * FROM accounts_requestnonce",
            "UPDATE accounts_player SET status = 'active'",
            "INSERT INTO accounts_exclusion SELECT * FROM accounts_exclusion",
        ],
    )
    def test_of_readers_leave_out_secrets_and_writing(
        self, administrator: psycopg.Connection, role: str, statement: str
    ) -> None:
        with administrator.transaction(force_rollback=True):
            administrator.execute(f"SET LOCAL ROLE {role}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                administrator.execute(statement)

    @pytest.mark.parametrize(
        ("role", "statement"),
        [
            ("sealdeck_readonly", "SELECT prefix, scopes FROM accounts_apikey"),
            ("sealdeck_support", "SELECT * FROM accounts_change"),
            ("sealdeck_auditor", "SELECT id, status FROM accounts_player"),
        ],
    )
    def test_of_readers_show_the_rest(self, administrator: psycopg.Connection, role: str, statement: str) -> None:
        with administrator.transaction(force_rollback=True):
            administrator.execute(f"SET LOCAL ROLE {role}")
            administrator.execute(statement)

    @pytest.mark.parametrize("table", ["accounts_change", "accounts_limitchange", "accounts_exclusion"])
    def test_of_the_owner_do_not_reach_history_either(self, table: str) -> None:
        with pytest.raises(ProgrammingError, match="are final"), transaction.atomic(using="owner"):
            connections["owner"].cursor().execute(f"TRUNCATE {table}")


@pytest.mark.django_db
class TestConstraints:
    def test_refuse_what_no_service_would_write(self, acme: Tenant) -> None:
        player = acme.player()
        for facts in ({"status": "excluded"}, {"external_id": player.external_id}):
            row = {"operator_id": acme.id, "external_id": "other", "created_at_ms": 0} | facts
            with pytest.raises(IntegrityError, match="accounts_player_"), transaction.atomic():
                Player.objects.create(**row)
