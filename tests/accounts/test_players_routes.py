"""Routes of players and sessions: every success, every refusal, every role."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from apps.accounts import services
from apps.accounts.models import Player, PlayerSession, PlayerStatus
from tests.accounts.conftest import Caller, Tenant


class TestPlayerUpsert:
    def test_creates_a_player_and_then_returns_the_same(self, acme: Tenant) -> None:
        body = {"external_id": "u-1", "is_test": True, "person_key": "h:9"}
        first = acme.call("POST", "/players", body)
        player = Player.objects.get()
        assert first.status_code == 200
        assert first.json() == {
            "id": str(player.pk),
            "external_id": "u-1",
            "status": "active",
            "is_test": True,
            "is_bot": False,
        }
        assert acme.call("POST", "/players", {"external_id": "u-1"}).json() == first.json()
        assert Player.objects.count() == 1

    def test_keeps_the_same_id_of_two_operators_apart(self, acme: Tenant, rival: Tenant) -> None:
        ours = acme.call("POST", "/players", {"external_id": "u-1"}).json()
        theirs = rival.call("POST", "/players", {"external_id": "u-1"}).json()
        assert ours["id"] != theirs["id"]

    def test_adds_a_person_key_once(self, acme: Tenant) -> None:
        acme.player("u-1")
        assert acme.call("POST", "/players", {"external_id": "u-1", "person_key": "h:1"}).status_code == 200
        assert Player.objects.get().person_key == "h:1"

    @pytest.mark.parametrize(("field", "value"), [("is_test", True), ("is_bot", True), ("person_key", "h:2")])
    def test_refuses_to_change_a_fact_and_names_it(self, acme: Tenant, field: str, value: Any) -> None:
        acme.player("u-1", person_key="h:1")
        before = Player.objects.values().get()
        answer = acme.call("POST", "/players", {"external_id": "u-1", field: value})
        assert (answer.status_code, answer.json()["code"]) == (409, "player_conflict")
        assert answer.json()["errors"][0]["pointer"] == f"/{field}"
        assert Player.objects.values().get() == before

    def test_adds_no_person_key_when_another_fact_is_refused(self, acme: Tenant) -> None:
        acme.player("u-1")
        answer = acme.call("POST", "/players", {"external_id": "u-1", "person_key": "h:2", "is_test": True})
        assert answer.json()["code"] == "player_conflict"
        assert Player.objects.get().person_key == ""

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({}, "/external_id"),
            ({"external_id": None}, "/external_id"),
            ({"external_id": 7}, "/external_id"),
            ({"external_id": True}, "/external_id"),
            ({"external_id": ""}, "/external_id"),
            ({"external_id": "a b"}, "/external_id"),
            ({"external_id": "jane@example.org"}, "/external_id"),
            ({"external_id": "u-1\n"}, "/external_id"),
            ({"external_id": "ü"}, "/external_id"),
            ({"external_id": "x" * 129}, "/external_id"),
            ({"external_id": ["u"]}, "/external_id"),
            ({"external_id": "u", "is_test": 1}, "/is_test"),
            ({"external_id": "u", "is_test": "true"}, "/is_test"),
            ({"external_id": "u", "is_bot": None}, "/is_bot"),
            ({"external_id": "u", "person_key": ""}, "/person_key"),
            ({"external_id": "u", "email": "jane@example.org"}, "/email"),
        ],
    )
    def test_refuses_a_wrong_body_with_a_pointer_and_writes_nothing(
        self, acme: Tenant, body: Any, pointer: str
    ) -> None:
        answer = acme.call("POST", "/players", body)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
        assert not Player.objects.exists()

    @pytest.mark.parametrize(
        ("body", "status"), [(b"[]", 400), (b"{", 400), (b'{"external_id":1.5}', 400), (b"\xff", 400), (b"", 400)]
    )
    def test_refuses_what_is_no_json_object(self, acme: Tenant, body: bytes, status: int) -> None:
        answer = acme.call("POST", "/players", body)
        assert answer.status_code == status
        assert answer.json()["code"] in {"malformed_json", "invalid"}
        assert not Player.objects.exists()

    def test_is_for_the_play_scope(self, acme: Tenant, nobody: Caller) -> None:
        me = acme.as_player(acme.player())
        for caller in (acme.with_scopes("read", "money", "admin"), me):
            answer = caller("POST", "/players", {"external_id": "new"})
            assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
        assert nobody("POST", "/players", {"external_id": "new"}).json()["code"] == "unauthenticated"
        assert not Player.objects.filter(external_id="new").exists()


class TestPlayerGet:
    def test_answers_the_operator_and_the_player_himself(self, acme: Tenant) -> None:
        player = acme.player("u-1")
        for caller in (acme.call, acme.with_scopes("read"), acme.as_player(player)):
            answer = caller("GET", f"/players/{player.pk}")
            assert answer.status_code == 200
            assert answer.json()["external_id"] == "u-1"

    def test_finds_nothing_of_anybody_else(self, acme: Tenant, rival: Tenant) -> None:
        player, other = acme.player("u-1"), acme.player("u-2")
        for caller in (rival.call, acme.as_player(other), rival.as_player(rival.player())):
            answer = caller("GET", f"/players/{player.pk}")
            assert (answer.status_code, answer.json()["code"]) == (404, "player_not_found")
        assert acme.call("GET", f"/players/{uuid4()}").json()["code"] == "player_not_found"

    def test_asks_for_the_read_scope_or_a_player(self, acme: Tenant, nobody: Caller) -> None:
        player = acme.player("u-1")
        assert acme.with_scopes("money")("GET", f"/players/{player.pk}").json()["code"] == "scope_missing"
        assert nobody("GET", f"/players/{player.pk}").json()["code"] == "unauthenticated"

    def test_knows_no_address_that_is_no_id(self, acme: Tenant) -> None:
        assert acme.call("GET", "/players/1").status_code == 404


class TestPlayerStatusSet:
    def test_freezes_thaws_and_closes(self, acme: Tenant) -> None:
        player = acme.player()
        for status in ("frozen", "active", "active", "closed", "closed"):
            answer = acme.call("PATCH", f"/players/{player.pk}", {"status": status})
            assert (answer.status_code, answer.json()["status"]) == (200, status)

    def test_leaves_a_closed_player_closed_and_kills_the_tokens(self, acme: Tenant) -> None:
        player = acme.player()
        me = acme.as_player(player)
        acme.call("PATCH", f"/players/{player.pk}", {"status": "closed"})
        assert me("GET", f"/players/{player.pk}").json()["code"] == "token_invalid"
        answer = acme.call("PATCH", f"/players/{player.pk}", {"status": "active"})
        assert (answer.status_code, answer.json()["code"]) == (403, "player_closed")
        assert Player.objects.get().status == "closed"
        answer = acme.call("POST", "/sessions", {"player_id": str(player.pk)})
        assert (answer.status_code, answer.json()["code"]) == (403, "player_closed")

    @pytest.mark.parametrize("body", [{}, {"status": "excluded"}, {"status": 1}, {"status": "active", "x": 1}])
    def test_refuses_a_wrong_body(self, acme: Tenant, body: Any) -> None:
        player = acme.player()
        assert acme.call("PATCH", f"/players/{player.pk}", body).json()["code"] == "invalid"
        assert Player.objects.get().status == "active"

    def test_is_for_the_admin_scope_of_the_same_operator(self, acme: Tenant, rival: Tenant, nobody: Caller) -> None:
        player = acme.player()
        body = {"status": "frozen"}
        path = f"/players/{player.pk}"
        assert acme.with_scopes("read", "play", "money")("PATCH", path, body).json()["code"] == "scope_missing"
        assert acme.as_player(player)("PATCH", path, body).json()["code"] == "scope_missing"
        assert nobody("PATCH", path, body).json()["code"] == "unauthenticated"
        assert rival.call("PATCH", path, body).json()["code"] == "player_not_found"
        assert Player.objects.get(pk=player.pk).status == "active"


class TestSessionCreate:
    def test_returns_a_token_that_works(self, acme: Tenant) -> None:
        player = acme.player()
        answer = acme.call("POST", "/sessions", {"player_id": str(player.pk), "ttl_s": 120})
        assert answer.status_code == 201
        made = answer.json()
        row = PlayerSession.objects.get()
        assert made["expires_at_ms"] - row.created_at_ms == 120_000
        assert made["player_id"] == str(player.pk)
        assert made["token"].startswith("pt_")
        assert Caller(made["token"])("GET", f"/players/{player.pk}").status_code == 200

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"player_id": None}, "/player_id"),
            ({"player_id": 1}, "/player_id"),
            ({"player_id": "x"}, "/player_id"),
            ({"ttl_s": 59}, "/ttl_s"),
            ({"ttl_s": 86_401}, "/ttl_s"),
            ({"ttl_s": "60"}, "/ttl_s"),
            ({"ttl_s": True}, "/ttl_s"),
            ({"scope": "x"}, "/scope"),
        ],
    )
    def test_refuses_a_wrong_body(self, acme: Tenant, change: dict[str, Any], pointer: str) -> None:
        answer = acme.call("POST", "/sessions", {"player_id": str(acme.player().pk), **change})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
        assert not PlayerSession.objects.exists()

    def test_finds_no_player_of_another_operator(self, acme: Tenant, rival: Tenant) -> None:
        for player_id in (rival.player().pk, uuid4()):
            answer = acme.call("POST", "/sessions", {"player_id": str(player_id)})
            assert (answer.status_code, answer.json()["code"]) == (404, "player_not_found")
        assert not PlayerSession.objects.exists()

    def test_is_for_the_play_scope(self, acme: Tenant, nobody: Caller) -> None:
        player = acme.player()
        body = {"player_id": str(player.pk)}
        assert acme.with_scopes("read", "money", "admin")("POST", "/sessions", body).json()["code"] == "scope_missing"
        assert acme.as_player(player)("POST", "/sessions", body).json()["code"] == "scope_missing"
        assert nobody("POST", "/sessions", body).json()["code"] == "unauthenticated"
        assert PlayerSession.objects.count() == 1  # That of the player who tried.

    def test_lets_frozen_players_look(self, acme: Tenant) -> None:
        player = acme.player()
        services.player_status_set(player_id=player.pk, status=PlayerStatus.FROZEN)
        assert acme.as_player(player)("GET", f"/players/{player.pk}").json()["status"] == "frozen"


class TestSessionRevoke:
    def test_ends_all_sessions_of_the_player_at_once(self, acme: Tenant) -> None:
        player, other = acme.player("u-1"), acme.player("u-2")
        made = services.session_create(player_id=player.pk, ttl_s=600)
        callers = (Caller(made.token), acme.as_player(player))
        bystander = acme.as_player(other)
        assert acme.call("DELETE", f"/sessions/{made.session_id}").status_code == 204
        for caller in callers:
            answer = caller("GET", f"/players/{player.pk}")
            assert (answer.status_code, answer.json()["code"]) == (401, "token_invalid")
        assert bystander("GET", f"/players/{other.pk}").status_code == 200
        assert acme.as_player(player)("GET", f"/players/{player.pk}").status_code == 200

    def test_again_does_not_end_what_began_since(self, acme: Tenant) -> None:
        player = acme.player()
        made = services.session_create(player_id=player.pk, ttl_s=600)
        acme.call("DELETE", f"/sessions/{made.session_id}")
        me = acme.as_player(player)
        assert acme.call("DELETE", f"/sessions/{made.session_id}").status_code == 204
        assert me("GET", f"/players/{player.pk}").status_code == 200

    def test_finds_no_session_of_another_operator(self, acme: Tenant, rival: Tenant) -> None:
        player = rival.player()
        made = services.session_create(player_id=player.pk, ttl_s=600)
        for session_id in (made.session_id, uuid4()):
            answer = acme.call("DELETE", f"/sessions/{session_id}")
            assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")
        assert PlayerSession.objects.get().revoked_at_ms is None
        assert Player.objects.get().token_version == 1

    def test_is_for_the_play_scope(self, acme: Tenant, nobody: Caller) -> None:
        player = acme.player()
        made = services.session_create(player_id=player.pk, ttl_s=600)
        path = f"/sessions/{made.session_id}"
        assert acme.with_scopes("read", "money", "admin")("DELETE", path).json()["code"] == "scope_missing"
        assert Caller(made.token)("DELETE", path).json()["code"] == "scope_missing"
        assert nobody("DELETE", path).json()["code"] == "unauthenticated"
        assert PlayerSession.objects.get().revoked_at_ms is None
