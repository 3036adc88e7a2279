"""Routes of limits and exclusions: every success, every refusal, every role."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import ProgrammingError, transaction

from apps.accounts.models import Exclusion, LimitChange
from apps.core.clock import now_ms
from tests.accounts.conftest import Caller, Tenant

DAY_MS = 86_400_000
STAKE = {"kind": "stake_round", "currency": "EUR", "value": 500}


class TestLimits:
    def test_tighten_at_once_and_loosen_a_day_later(self, acme: Tenant) -> None:
        player = acme.player()
        path = f"/players/{player.pk}/limits"
        assert acme.call("GET", path).json() == {"limits": [], "changes": []}
        first = acme.call("PATCH", path, {"limits": [STAKE, {"kind": "session_minutes", "value": 60}]})
        assert first.status_code == 200
        assert [(one["kind"], one["currency"], one["value"]) for one in first.json()["limits"]] == [
            ("session_minutes", None, 60),
            ("stake_round", "EUR", 500),
        ]
        looser = acme.call("PATCH", path, {"limits": [{**STAKE, "value": None}]}).json()
        stake = looser["limits"][1]
        change = LimitChange.objects.order_by("-pk")[0]
        assert (stake["value"], stake["is_loosening"], stake["next_value"]) == (500, True, None)
        assert stake["next_at_ms"] == change.created_at_ms + DAY_MS
        tighter = acme.call("PATCH", path, {"limits": [{**STAKE, "value": 0}]}).json()
        assert tighter["limits"][1] == {
            "kind": "stake_round",
            "currency": "EUR",
            "value": 0,
            "is_loosening": False,
            "next_value": None,
            "next_at_ms": None,
        }

    def test_keep_their_history(self, acme: Tenant) -> None:
        player = acme.player()
        path = f"/players/{player.pk}/limits"
        acme.call("PATCH", path, {"limits": [STAKE]})
        acme.as_player(player)("PATCH", path, {"limits": [{**STAKE, "value": 100}]})
        acme.call("PATCH", path, {"limits": [{**STAKE, "value": 100}]})
        changes = acme.call("GET", path).json()["changes"]
        assert [change["value"] for change in changes] == [100, 500]
        assert changes[0]["actor"] == f"player:{player.pk}"
        assert changes[1]["actor"].startswith("key:")

    def test_tell_a_new_session_how_often_to_remind_the_player(self, acme: Tenant) -> None:
        player = acme.player()
        body = {"player_id": str(player.pk)}
        assert acme.call("POST", "/sessions", body).json()["reality_check_minutes"] is None
        wish = {"kind": "reality_check_minutes", "value": 30}
        acme.call("PATCH", f"/players/{player.pk}/limits", {"limits": [wish]})
        assert acme.call("POST", "/sessions", body).json()["reality_check_minutes"] == 30

    @pytest.mark.django_db
    def test_are_never_altered_by_the_application(self, acme: Tenant) -> None:
        player = acme.player()
        acme.call("PATCH", f"/players/{player.pk}/limits", {"limits": [STAKE]})
        acme.call("POST", f"/players/{player.pk}/exclusion", {"until_ms": None})
        for rows in (LimitChange.objects, Exclusion.objects):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                rows.update(created_at_ms=0)
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                rows.all().delete()

    @pytest.mark.parametrize(
        ("limits", "pointer"),
        [
            (None, "/limits"),
            ([], "/limits"),
            ({}, "/limits"),
            ([{}], "/limits/0/kind"),
            ([{"kind": "stake", "currency": "EUR", "value": 1}], "/limits/0/kind"),
            ([{**STAKE, "value": -1}], "/limits/0/value"),
            ([{**STAKE, "value": "1"}], "/limits/0/value"),
            ([{**STAKE, "value": True}], "/limits/0/value"),
            ([STAKE, {**STAKE, "currency": "eur"}], "/limits/1/currency"),
            ([{**STAKE, "currency": 7}], "/limits/0/currency"),
            ([{**STAKE, "note": ""}], "/limits/0/note"),
            ([{"kind": "stake_round", "currency": "EUR"}], "/limits/0/value"),
        ],
    )
    def test_refuse_a_wrong_body_and_write_nothing(self, acme: Tenant, limits: Any, pointer: str) -> None:
        answer = acme.call("PATCH", f"/players/{acme.player().pk}/limits", {"limits": limits})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert answer.json()["errors"][0]["pointer"] == pointer
        assert not LimitChange.objects.exists()

    @pytest.mark.parametrize(
        "wish", [{"kind": "session_minutes", "currency": "EUR", "value": 1}, {"kind": "loss_day", "value": 1}]
    )
    def test_refuse_a_currency_where_none_belongs_and_none_where_one_does(self, acme: Tenant, wish: Any) -> None:
        answer = acme.call("PATCH", f"/players/{acme.player().pk}/limits", {"limits": [STAKE, wish]})
        assert (answer.status_code, answer.json()["code"]) == (422, "limit_currency_invalid")
        assert answer.json()["errors"][0]["pointer"] == "/limits/1/currency"
        assert not LimitChange.objects.exists()


class TestExclusion:
    def test_begins_at_once_and_is_seen_on_the_player(self, acme: Tenant) -> None:
        player = acme.player()
        path = f"/players/{player.pk}/exclusion"
        assert acme.call("GET", path).json() == {"is_excluded": False, "until_ms": None}
        until = now_ms() + 2 * DAY_MS
        answer = acme.as_player(player)("POST", path, {"until_ms": until})
        assert (answer.status_code, answer.json()) == (201, {"is_excluded": True, "until_ms": until})
        assert acme.call("GET", f"/players/{player.pk}").json()["status"] == "excluded"
        assert Exclusion.objects.get().actor == f"player:{player.pk}"

    def test_gets_longer_and_never_shorter(self, acme: Tenant) -> None:
        path = f"/players/{acme.player().pk}/exclusion"
        acme.call("POST", path, {"until_ms": None})
        shorter = acme.call("POST", path, {"until_ms": now_ms() + 2 * DAY_MS})
        assert shorter.json() == {"is_excluded": True, "until_ms": None}

    def test_holds_for_the_same_person_and_nobody_else(self, acme: Tenant, rival: Tenant) -> None:
        player = acme.player("u-1", person_key="h:1")
        acme.call("POST", f"/players/{player.pk}/exclusion", {"until_ms": None})
        same, late = acme.player("u-2", person_key="h:1"), acme.player("u-3")
        others = acme.player("u-4", person_key="h:2"), acme.player("u-5")
        for one in (same, *others):
            status = acme.call("GET", f"/players/{one.pk}").json()["status"]
            assert status == ("excluded" if one == same else "active")
        elsewhere = rival.player("u-1", person_key="h:1")
        assert rival.call("GET", f"/players/{elsewhere.pk}").json()["status"] == "active"
        acme.player("u-3", person_key="h:1")
        assert acme.call("GET", f"/players/{late.pk}/exclusion").json()["is_excluded"] is True

    def test_lasts_at_least_a_day(self, acme: Tenant) -> None:
        answer = acme.call("POST", f"/players/{acme.player().pk}/exclusion", {"until_ms": now_ms() + DAY_MS - 60_000})
        assert (answer.status_code, answer.json()["code"]) == (422, "exclusion_too_short")
        assert answer.json()["errors"][0]["pointer"] == "/until_ms"
        assert not Exclusion.objects.exists()

    @pytest.mark.parametrize(
        "body", [{}, {"until_ms": "x"}, {"until_ms": True}, {"until_ms": 0}, {"until_ms": None, "reason": "x"}]
    )
    def test_refuses_a_wrong_body(self, acme: Tenant, body: Any) -> None:
        answer = acme.call("POST", f"/players/{acme.player().pk}/exclusion", body)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert not Exclusion.objects.exists()

    def test_knows_no_way_back(self, acme: Tenant) -> None:
        path = f"/players/{acme.player().pk}/exclusion"
        acme.call("POST", path, {"until_ms": None})
        for method in ("DELETE", "PUT", "PATCH"):
            assert acme.call(method, path, {}).status_code == 405


class TestRoles:
    BODIES = (
        ("GET", "limits", None, "read"),
        ("PATCH", "limits", {"limits": [STAKE]}, "play"),
        ("GET", "exclusion", None, "read"),
        ("POST", "exclusion", {"until_ms": None}, "play"),
    )

    @pytest.mark.parametrize(("method", "what", "body", "scope"), BODIES)
    def test_everybody_but_the_operator_and_the_player_is_refused(
        self, acme: Tenant, rival: Tenant, nobody: Caller, method: str, what: str, body: Any, scope: str
    ) -> None:
        player, other = acme.player("u-1"), acme.player("u-2")
        path = f"/players/{player.pk}/{what}"
        for stranger in (rival.call, acme.as_player(other), rival.as_player(rival.player())):
            answer = stranger(method, path, body)
            assert (answer.status_code, answer.json()["code"]) == (404, "player_not_found")
        assert acme.call(method, f"/players/{uuid4()}/{what}", body).json()["code"] == "player_not_found"
        wrong = [name for name in ("read", "play", "money", "admin") if name != scope]
        assert acme.with_scopes(*wrong)(method, path, body).json()["code"] == "scope_missing"
        assert nobody(method, path, body).json()["code"] == "unauthenticated"
        assert not LimitChange.objects.exists()
        assert not Exclusion.objects.exists()
        for friend in (acme.with_scopes(scope), acme.as_player(player)):
            assert friend(method, path, body).status_code in {200, 201}
