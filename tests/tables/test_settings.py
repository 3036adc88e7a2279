"""Every setting of a table, made by REST, takes effect; and the lobby finds tables by them."""

from __future__ import annotations

import json
import secrets
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from apps.accounts import services as accounts
from apps.accounts.models import PlayerStatus
from apps.accounts.services.limits import player_exclude
from apps.core import clock
from apps.fairness import sequencer
from apps.games import registry
from apps.tables.models import Round, Seat, Table
from apps.tables.services import advance
from apps.wallets.services import wallet_debit
from tests.tables.conftest import POINTS, House, Place

MONKO = {"game": "monko", "currency": "PTS", "buy_in_minor": 1_000}

pytestmark = pytest.mark.django_db(transaction=True)


def ask(token: str, method: str, path: str, body: Any = None) -> Any:
    """Send a request and return the answer."""
    headers = {"authorization": f"Bearer {token}"}
    data = "" if body is None else json.dumps(body)
    return APIClient().generic(method, f"/v1{path}", data, "application/json", headers=headers)


def made(house: House, **settings: Any) -> Place:
    """Make a table by REST and return it."""
    body = MONKO | {"start_after_ms": 60_000, "pause_ms": 0} | settings
    answer = ask(house.key, "POST", "/tables", body)
    assert answer.status_code == 201, answer.json()
    told = answer.json()
    for name, value in settings.items():
        if name != "options":
            assert told[name] == value, name
    return Place(house, UUID(told["id"]))


def code_of(house: House, **settings: Any) -> str:
    """Return with which code a table of these settings is refused."""
    body = MONKO | settings
    answer = ask(house.key, "POST", "/tables", body)
    assert answer.status_code in (400, 422), answer.json()
    return str(answer.json()["code"])


def sits(house: House, place: Place, player_id: UUID, **body: Any) -> Any:
    """Sit a player down by REST and return the answer."""
    return ask(house.token(player_id), "POST", f"/tables/{place.id}/seats", body)


class TestSettings:
    def test_of_stake_and_fee_are_what_a_round_costs(self, house: House) -> None:
        place = made(house, buy_in_minor=700, fee_bp=1_000)
        place.deal(0, 1)
        assert house.points(place.players[0]) == POINTS - 700
        ended = place.play_out()
        assert (ended.pot_minor, ended.fee_minor) == (1_400, 140)

    def test_of_options_reach_the_rules(self, house: House) -> None:
        slug = next(slug for slug in registry.slugs() if registry.game(slug).spec.options)
        option = registry.game(slug).spec.options[0]
        other = next(value for value in option.allowed if value != option.default)
        place = made(house, game=slug, options={option.name: other})
        round_ = place.deal(0, 1, 2)
        told = ask(house.key, "GET", f"/rounds/{round_.pk.hex}/history").json()
        assert told["entries"][0]["events"][0]["options"][option.name] == other
        assert code_of(house, game=slug, options={option.name: "never"}) == "table_setting_invalid"

    def test_of_seats_and_the_start_rule_decide_when_a_round_starts(self, house: House) -> None:
        place = made(house, seats_min=3, seats_max=4, start_after_ms=7_000)
        for number in range(4):
            place.sit(number)
        assert sits(house, place, house.player()).json()["code"] == "table_full"
        place.ready(0)
        place.ready(1)
        assert place.table.start_at_ms is None
        place.ready(2)
        assert place.table.start_at_ms == place.now + 7_000
        house.now_ms += 6_999
        advance.table_tick(table_id=place.id, now_ms=house.now_ms)
        assert place.round.status == Round.Status.OPEN
        house.now_ms += 1
        advance.table_tick(table_id=place.id, now_ms=house.now_ms)
        assert list(place.round.numbers) == [0, 1, 2]

    def test_of_the_pause_keeps_rounds_apart(self, house: House) -> None:
        place = made(house, pause_ms=9_000)
        place.deal(0, 1)
        ended = place.play_out()
        assert place.table.not_before_ms == (ended.ended_ms or 0) + 9_000
        place.ready(0)
        place.ready(1)
        assert (place.round.status, place.table.start_at_ms) == (Round.Status.OPEN, place.table.not_before_ms)

    def test_of_entropy_decide_what_a_seat_gives(self, house: House) -> None:
        for mode, given in (("none", {"entropy": "ab" * 32}), ("open", {})):
            place = made(house, entropy=mode)
            place.sit(0)
            sequencer.tick(now_ms=clock.now_ms())
            body = {"round_id": place.round.pk.hex} | given
            told = ask(house.token(place.players[0]), "POST", f"/tables/{place.id}/ready", body)
            assert told.json()["code"] == "contribution_form", mode

    def test_of_a_code_hides_the_table_and_asks_for_it(self, house: House) -> None:
        place, player = made(house, code="friends-7"), house.player()
        token = house.token(player)
        assert ask(token, "GET", "/tables").json()["tables"] == []
        assert ask(token, "GET", "/tables?code=wrong").json()["tables"] == []
        [found] = ask(token, "GET", "/tables?code=friends-7").json()["tables"]
        assert (found["id"], "code" in found) == (str(place.id), False)
        assert sits(house, place, player, code="wrong").json()["code"] == "wrong_table_code"
        assert sits(house, place, player, code="friends-7").status_code == 201
        assert code_of(house, code="friends-7") == "table_setting_invalid"

    def test_of_random_seating_gives_seats_out(self, house: House) -> None:
        place = made(house, random_seating=True, seats_max=4)
        got = [sits(house, place, house.player(), seat=0).json()["your_seat"] for _ in range(4)]
        assert sorted(got) == list(range(4))
        places = [made(house, random_seating=True, seats_max=4) for _ in range(12)]
        assert len({sits(house, one, house.player(), seat=0).json()["your_seat"] for one in places}) > 1

    def test_of_bots_let_them_sit_or_not(self, house: House) -> None:
        bot = house.player(is_bot=True)
        assert sits(house, made(house, bots_allowed=False), bot).json()["code"] == "bots_not_allowed"
        assert sits(house, made(house, bots_allowed=True), bot).status_code == 201

    def test_of_spectators_let_others_look_or_not(self, house: House) -> None:
        stranger = house.token(house.player())
        for settings, status in (
            ({"spectators_allowed": True}, 200),
            ({"spectators_allowed": False}, 403),
            ({"spectator_delay_ms": 5_000}, 403),
        ):
            place = made(house, **settings)
            round_ = place.deal(0, 1)
            assert ask(stranger, "GET", f"/rounds/{round_.pk.hex}").status_code == status, settings

    def test_that_do_not_exist_are_refused(self, house: House) -> None:
        assert code_of(house, stake=1) == "invalid"
        assert code_of(house, beacon_margin=2) == "table_setting_invalid", "this server fetches no beacon"
        assert code_of(house, auto_ready_rounds=3) == "table_setting_invalid", "its seats give entropy"


class TestStatus:
    def test_an_idle_table_closes_at_once_and_gives_its_seats_back(self, house: House) -> None:
        place = made(house)
        place.sit(0)
        assert ask(house.key, "PATCH", f"/tables/{place.id}", {"status": "closed"}).json()["status"] == "closed"
        assert not Seat.objects.filter(table_id=place.id).exists()
        again = ask(house.key, "PATCH", f"/tables/{place.id}", {"status": "open"})
        assert (again.status_code, again.json()["code"]) == (409, "table_closed")

    def test_a_table_in_play_is_not_closed_but_drained(self, house: House) -> None:
        place = made(house)
        place.deal(0, 1)
        told = ask(house.key, "PATCH", f"/tables/{place.id}", {"status": "closed"})
        assert (told.status_code, told.json()["code"]) == (409, "table_busy")
        assert place.table.status == Table.Status.OPEN
        assert ask(house.key, "PATCH", f"/tables/{place.id}", {"status": "draining"}).json()["status"] == "draining"
        place.play_out()
        assert place.table.status == Table.Status.CLOSED


class TestLobby:
    def test_finds_tables_by_every_filter(self, house: House) -> None:
        small = made(house, seats_max=2, buy_in_minor=100)
        other = made(house, game="mojo", entropy="none", buy_in_minor=5_000, bots_allowed=True)
        small.sit(0)
        small.sit(1)
        ask(house.key, "PATCH", f"/tables/{other.id}", {"status": "paused"})
        token = house.token(house.player())
        names = {str(small.id): "small", str(other.id): "other"}
        for query, found in (
            ("", ["other", "small"]),
            ("game=monko", ["small"]),
            ("currency=PTS", ["other", "small"]),
            ("currency=EUR", []),
            ("entropy=none", ["other"]),
            ("status=open", ["small"]),
            ("status=paused", ["other"]),
            ("bots_allowed=true", ["other"]),
            ("bots_allowed=false", ["small"]),
            ("has_free_seat=true", ["other"]),
            ("has_free_seat=false", ["small"]),
            ("buy_in_from_minor=101", ["other"]),
            ("buy_in_to_minor=100", ["small"]),
        ):
            told = ask(token, "GET", f"/tables?{query}").json()["tables"]
            assert [names[one["id"]] for one in told] == found, query
        for query in ("games=monko", "limit=201", "cursor=x", "has_free_seat=perhaps"):
            assert ask(token, "GET", f"/tables?{query}").status_code in (400, 422), query

    def test_counts_who_sits_and_who_is_ready_now(self, house: House) -> None:
        place = made(house)
        place.sit(0)
        place.sit(1)
        place.ready(1)
        [told] = ask(house.key, "GET", "/tables").json()["tables"]
        assert (told["seats_taken"], told["seats_ready"]) == (2, 1)

    def test_pages_hold_every_table_once_while_others_are_opened(self, house: House) -> None:
        ids = [str(made(house).id) for _ in range(5)]
        seen, cursor = [], ""
        while True:
            told = ask(house.key, "GET", f"/tables?limit=2{cursor}").json()
            seen += [one["id"] for one in told["tables"]]
            made(house)
            if told["next"] is None:
                break
            cursor = f"&cursor={told['next']}"
        assert seen == ids[::-1]

    def test_does_not_show_another_operators_tables(self, house: House) -> None:
        place = made(house, code="secret")
        _, key = accounts.operator_create(name=f"other {uuid4().hex[:12]}")
        assert ask(key, "GET", "/tables").json()["tables"] == []
        assert ask(key, "GET", "/tables?code=secret").json()["tables"] == []
        assert ask(key, "PATCH", f"/tables/{place.id}", {"status": "closed"}).status_code == 404


class TestAutoReady:
    """A player's own setting, where the operator allows it; it lapses."""

    def place(self, house: House, **settings: Any) -> Place:
        """Return a table for two that allows three rounds, both seats taken."""
        place = made(house, **{"entropy": "none", "auto_ready_rounds": 3} | settings)
        place.sit(0)
        place.sit(1)
        return place

    def want(self, house: House, place: Place, number: int, rounds: int) -> Any:
        """Ask by REST to be made ready."""
        return ask(house.token(place.players[number]), "POST", f"/tables/{place.id}/auto-ready", {"rounds": rounds})

    def tick(self, place: Place) -> Round:
        """Publish the commitment, let the table look, and return its round."""
        sequencer.tick(now_ms=clock.now_ms())
        advance.table_tick(table_id=place.id, now_ms=place.now)
        return place.round

    def test_is_off_where_the_operator_does_not_allow_it(self, house: House) -> None:
        for settings in ({"auto_ready_rounds": 0}, {"entropy": "open", "auto_ready_rounds": 0}):
            place = self.place(house, **settings)
            told = self.want(house, place, 0, 1)
            assert (told.status_code, told.json()["code"]) == (409, "auto_ready_not_allowed")
        told = self.want(house, self.place(house), 0, 4)
        assert (told.status_code, told.json()["rounds_max"]) == (409, 3)

    def test_deals_a_seat_in_for_as_many_rounds_as_were_asked_for_and_no_more(self, house: House) -> None:
        place = self.place(house)
        assert self.want(house, place, 0, 2).json()["your_auto_ready_rounds"] == 2
        assert self.want(house, place, 1, 3).status_code == 200
        for left in (1, 0):
            assert self.tick(place).status == Round.Status.RUNNING
            assert Seat.objects.get(table_id=place.id, number=0).auto_ready_left == left
            place.play_out()
        assert self.tick(place).status == Round.Status.OPEN
        assert not Seat.objects.get(table_id=place.id, number=0).is_ready
        assert Seat.objects.get(table_id=place.id, number=1).is_ready

    def test_looks_again_soon_while_the_commitment_is_not_published(self, house: House) -> None:
        place = self.place(house)
        self.want(house, place, 0, 1)
        assert place.table.wake_at_ms is not None
        assert place.table.wake_at_ms <= clock.now_ms() + advance.COMMITMENT_WAIT_MS
        self.tick(place)
        assert (place.table.wake_at_ms or 0) > clock.now_ms() + 60_000

    def test_is_taken_back_with_zero(self, house: House) -> None:
        place = self.place(house)
        self.want(house, place, 0, 3)
        self.want(house, place, 0, 0)
        self.tick(place)
        assert not Seat.objects.get(table_id=place.id, number=0).is_ready

    @pytest.mark.parametrize("why", ["away", "connection", "timeout", "money", "excluded", "frozen"])
    def test_lapses_without_its_player(self, house: House, why: str) -> None:
        place = self.place(house)
        player_id = place.players[0]
        token = house.token(player_id)
        self.want(house, place, 0, 3)
        seat = Seat.objects.filter(table_id=place.id, number=0)
        match why:
            case "away":
                assert ask(token, "POST", f"/tables/{place.id}/sit-out").status_code == 200
            case "connection":
                seat.update(connected=False)
            case "timeout":
                seat.update(timeouts_row=1)
            case "money":
                with transaction.atomic():
                    wallet_debit(
                        operator_id=house.operator_id,
                        player_id=player_id,
                        currency="PTS",
                        amount_minor=POINTS - 999,
                        external_id=secrets.token_hex(8),
                        actor="test",
                    )
            case "excluded":
                player_exclude(player_id=player_id, until_ms=None, actor="test", now=clock.now_ms())
            case "frozen":
                accounts.player_status_set(player_id=player_id, status=PlayerStatus.FROZEN)
        self.tick(place)
        found = seat.get()
        assert (found.is_ready, found.auto_ready_left) == (False, 0)

    def test_is_told_to_its_player_only(self, house: House) -> None:
        place = self.place(house)
        self.want(house, place, 0, 3)
        mine = ask(house.token(place.players[0]), "GET", f"/tables/{place.id}").json()
        theirs = ask(house.token(place.players[1]), "GET", f"/tables/{place.id}").json()
        assert (mine["your_auto_ready_rounds"], theirs["your_auto_ready_rounds"]) == (3, 0)
        assert "auto" not in "".join(theirs["seats"][0])

    def test_needs_a_seat(self, house: House) -> None:
        place = self.place(house)
        told = ask(house.token(house.player()), "POST", f"/tables/{place.id}/auto-ready", {"rounds": 1})
        assert (told.status_code, told.json()["code"]) == (409, "not_seated")
