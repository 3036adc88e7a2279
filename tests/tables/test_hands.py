"""The hand history: who may read what of which round, and that it is all there.

Source: docs/players/history.md and docs/operators/history.md.
"""

from __future__ import annotations

import json
import threading
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.accounts import services as accounts
from apps.accounts.models import PlayerStatus
from apps.core import clock
from apps.fairness import dealer
from apps.games import registry
from apps.history import selectors as history
from apps.tables import hand_text, hands
from apps.tables.hands import Filters, Reader
from apps.tables.models import Round
from apps.tables.services import advance, play
from tests.older import older_ended
from tests.tables.conftest import POINTS, House, Place
from tests.tables.test_secrecy import faces, known

pytestmark = pytest.mark.django_db(transaction=True)


def get(token: str, path: str) -> Any:
    """Return the answer to a GET request, once nothing older is open that would hold a list back."""
    older_ended()
    return APIClient().get(f"/v1{path}", headers={"authorization": f"Bearer {token}"})


def body(answer: Any) -> str:
    """Return the text of an answer, streamed or not."""
    return b"".join(answer.streaming_content if answer.streaming else [answer.content]).decode()


def played(house: House, game: str = "monko", **settings: Any) -> tuple[Place, Round]:
    """Return a table and the round that two players have played there to its end."""
    place = house.table(game, **settings)
    round_ = place.deal(0, 1)
    place.play_out()
    return place, Round.objects.select_related("table").get(pk=round_.pk)


class TestOwnRounds:
    def test_tell_a_player_what_each_cost_and_gave_with_his_balances(self, house: House) -> None:
        place, round_ = played(house)
        token = house.token(place.players[0])
        answer = get(token, "/rounds").json()
        assert answer["next"] is None
        [told] = answer["rounds"]
        [seat] = told["seats"]
        payout = (round_.outcome or {})["payouts"].get("0", 0)
        assert (told["id"], told["status"], told["pot_minor"], told["fee_minor"]) == (
            round_.pk.hex,
            "finished",
            2_000,
            100,
        )
        assert seat == {
            "seat": 0,
            "is_yours": True,
            "stake_minor": 1_000,
            "returned_minor": payout,
            "left_reason": "",
            "player_id": str(place.players[0]),
            "balance_before_minor": POINTS,
            "balance_after_minor": POINTS - 1_000 + payout,
        }
        assert get(token, told["proof"].removeprefix("/v1")).status_code in (200, 503)

    def test_are_never_another_players(self, house: House) -> None:
        place, round_ = played(house)
        stranger = house.token(house.player())
        assert get(stranger, "/rounds").json() == {"rounds": [], "next": None}
        for path in (f"/rounds/{round_.pk.hex}/history", f"/rounds/{round_.pk.hex}/history.txt"):
            answer = get(stranger, path)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_dealt_in")
        answer = get(stranger, f"/rounds?player_id={place.players[0]}")
        assert (answer.status_code, answer.json()["code"]) == (404, "player_not_found")
        assert body(get(stranger, "/rounds.jsonl")) == ""

    def test_show_of_others_what_the_table_saw_and_not_what_they_have(self, house: House) -> None:
        place, round_ = played(house)
        told = get(house.token(place.players[0]), f"/rounds/{round_.pk.hex}/history").json()
        other = next(seat for seat in told["seats"] if not seat["is_yours"])
        assert set(other) == {"seat", "is_yours", "stake_minor", "returned_minor", "left_reason"}
        assert {line["seat"] for line in told["movements"]} == {0}
        assert str(place.players[1]) not in json.dumps(told)

    @pytest.mark.parametrize("state", ["excluded", "frozen"])
    def test_stay_readable_for_who_may_not_play(self, house: House, state: str) -> None:
        place, round_ = played(house)
        player_id = place.players[0]
        if state == "excluded":
            accounts.player_exclude(player_id=player_id, until_ms=None, actor="test", now=house.now_ms)
        else:
            accounts.player_status_set(player_id=player_id, status=PlayerStatus.FROZEN)
        token = house.token(player_id)
        assert [told["id"] for told in get(token, "/rounds").json()["rounds"]] == [round_.pk.hex]
        assert get(token, f"/rounds/{round_.pk.hex}/history").status_code == 200

    def test_of_a_closed_player_stay_readable_for_his_operator(self, house: House) -> None:
        place, round_ = played(house)
        player_id = place.players[0]
        accounts.player_status_set(player_id=player_id, status=PlayerStatus.CLOSED)
        told = get(house.key, f"/rounds?player_id={player_id}").json()
        assert [one["id"] for one in told["rounds"]] == [round_.pk.hex]
        assert body(get(house.key, f"/rounds.jsonl?player_id={player_id}")).count("\n") == 1


class TestRecall:
    @pytest.mark.parametrize("slug", registry.slugs())
    def test_of_an_ended_round_has_every_entry_and_every_card(self, house: House, slug: str) -> None:
        place, round_ = played(house, slug)
        for number in (0, 1):
            told = get(house.token(place.players[number]), f"/rounds/{round_.pk.hex}/history").json()
            stored = history.transcript(round_id=round_.pk)
            assert [entry["head"] for entry in told["entries"]] == [entry.head.hex() for entry in stored]
            assert [entry["at_ms"] for entry in told["entries"]] == [entry.at_ms for entry in stored]
            hidden = [card for card in _cards(told["entries"]) if "card" not in card]
            assert hidden == []
            for card in _cards(told["entries"]):
                assert told["decks"][card["gen"]][card["pos"]] == card["card"]
            assert sorted(told["decks"][0]) == sorted(dealer.opening_deck(round_.pk))

    def test_as_text_says_what_the_document_says(self, house: House) -> None:
        place, round_ = played(house)
        token = house.token(place.players[0])
        told = get(token, f"/rounds/{round_.pk.hex}/history").json()
        text = body(get(token, f"/rounds/{round_.pk.hex}/history.txt"))
        assert text == hand_text.text(told)
        lines = text.splitlines()
        assert lines[0] == f"Sealdeck round {round_.pk.hex}"
        assert "Stake 1000 PTS (minor units) a seat, pot 2000, fee 100" in lines
        paid = told["seats"][0]
        after = POINTS - 1_000 + paid["returned_minor"]
        assert f"  seat 0 (you): paid 1000, got back {paid['returned_minor']}, balance {POINTS} -> {after}" in lines
        acts = [line for line in lines if " act seat " in line]
        assert len(acts) == len([entry for entry in told["entries"] if entry["kind"] == "act"]) > 0
        assert [line for line in lines if "turn started" in line and "deadline 20" in line]
        assert "▒▒" not in text
        assert lines[-1] == f"Proof: /v1/fairness/rounds/{round_.pk.hex}/bundle"

    def test_of_a_voided_round_shows_the_refund(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        advance.round_give_up(round_id=round_.pk, reason="operator_fault", now_ms=house.now_ms)
        token = house.token(place.players[1])
        told = get(token, f"/rounds/{round_.pk.hex}/history").json()
        mine = next(seat for seat in told["seats"] if seat["is_yours"])
        assert (told["status"], told["reason"], told["fault"]) == ("void", "operator_fault", "operator")
        assert (mine["stake_minor"], mine["returned_minor"]) == (1_000, 1_000)
        assert (mine["balance_before_minor"], mine["balance_after_minor"]) == (POINTS, POINTS)
        assert [(line["kind"], line["amount_minor"]) for line in told["movements"]] == [
            ("buy_in", -1_000),
            ("void", 1_000),
        ]
        assert "void, operator_fault, fault of operator: every stake went back" in hand_text.text(told)

    def test_of_a_round_that_the_player_left_says_so_and_goes_on_to_its_end(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1, 2)
        leaver = place.players[1]
        play.round_leave(round_id=round_.pk, player_id=leaver, session_id=None, now_ms=house.now_ms)
        token = house.token(leaver)
        while_running = get(token, f"/rounds/{round_.pk.hex}/history").json()
        assert while_running["seats"][1]["left_reason"] == "left"
        assert while_running["seats"][1]["returned_minor"] is None
        place.play_out()
        told = get(token, f"/rounds/{round_.pk.hex}/history").json()
        assert (told["seats"][1]["left_reason"], told["seats"][1]["returned_minor"]) == ("left", 0)
        assert told["seats"][1]["balance_after_minor"] == POINTS - 1_000
        assert told["entries"][-1]["events"][-1]["type"] == "round_over"

    def test_of_a_match_has_its_money_with_its_first_round(self, house: House) -> None:
        place = house.table("mojo")
        first = place.deal(0, 1)
        token = house.token(place.players[0])
        for _ in range(40):
            ended = place.play_out()
            if (ended.outcome or {})["final"]:
                break
            [*_, told] = get(token, "/rounds").json()["rounds"]
            assert (told["status"], told["seats"][0]["returned_minor"]) == ("finished", None)
            place.deal(0, 1)
        rounds = get(token, "/rounds").json()["rounds"]
        assert {told["match_id"] for told in rounds} == {first.pk.hex}
        assert sum(told["seats"][0]["stake_minor"] for told in rounds) == 1_000
        assert [told["seats"][0]["stake_minor"] for told in rounds][-1] == 1_000
        gained = house.points(place.players[0]) - POINTS
        assert sum(told["seats"][0]["returned_minor"] for told in rounds) - 1_000 == gained


def _cards(value: Any) -> list[dict[str, Any]]:
    """Return every card of a document, hidden or not."""
    if isinstance(value, dict):
        if "gen" in value and "pos" in value:
            return [value]
        return [card for inner in value.values() for card in _cards(inner)]
    if isinstance(value, list):
        return [card for inner in value for card in _cards(inner)]
    return []


class TestSecrecy:
    @pytest.mark.parametrize("slug", registry.slugs())
    def test_of_a_running_round_nobody_reads_a_card_that_he_may_not_know(self, house: House, slug: str) -> None:
        place = house.table(slug)
        round_ = place.deal(0, 1, 3)
        seen: dict[int | None, set[str]] = {0: set(), 1: set(), 3: set(), None: set()}
        for moves in (0, 3, 6):
            place.play_out(moves_max=moves)
            if place.round.status != Round.Status.RUNNING:
                break
            for number in (0, 1, 3, None):
                seen[number] |= known(place, number)
                token = house.key if number is None else house.token(place.players[number])
                told = body(get(token, f"/rounds/{round_.pk.hex}/history"))
                exported = body(get(token, "/rounds.jsonl"))
                assert json.loads(told)["decks"] == []
                assert faces(told) <= seen[number], (slug, number)
                assert faces(exported) <= seen[number], (slug, number)

    def test_a_seat_reads_its_own_hand_while_it_plays(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        game, state = place.state()
        mine = {card["card"] for card in game.view(state, 0)["seats"][0]["hand"]}
        told = get(house.token(place.players[0]), f"/rounds/{round_.pk.hex}/history").json()
        dealt = next(event for event in told["entries"][0]["events"] if event["type"] == "dealt" and event["seat"] == 0)
        assert {card["card"] for card in dealt["cards"]} == mine
        assert told["entries"][0]["events"] != []
        theirs = [e for e in told["entries"][0]["events"] if e["type"] == "dealt" and e["seat"] == 1]
        assert [card for event in theirs for card in event["cards"] if "card" in card] == []


class TestOperator:
    def test_reads_all_seats_of_all_its_rounds_with_its_own_names(self, house: House) -> None:
        place, round_ = played(house)
        [told] = get(house.key, "/rounds?status=finished").json()["rounds"]
        assert told["id"] == round_.pk.hex
        assert {seat["player_id"] for seat in told["seats"]} == {str(player) for player in place.players.values()}
        assert all(len(seat["external_id"]) == 32 for seat in told["seats"])
        assert sum(seat["returned_minor"] for seat in told["seats"]) == 1_900
        assert all(seat["balance_before_minor"] == POINTS for seat in told["seats"])

    def test_finds_rounds_by_every_filter(self, house: House) -> None:
        place, round_ = played(house)
        ended, table, player = round_.ended_ms or 0, place.id, place.players[0]
        every = f"status=finished&game=monko&currency=PTS&table_id={table}&ended_to_ms={ended + 1}"
        for query, found in (
            ("status=finished", 1),
            ("status=void", 0),
            ("status=open", 1),
            ("game=monko", 2),
            ("game=mojo", 0),
            ("currency=PTS", 2),
            ("currency=EUR", 0),
            (f"ended_from_ms={ended}", 1),
            (f"ended_from_ms={ended + 1}", 0),
            (f"ended_to_ms={ended}", 0),
            (f"ended_to_ms={ended + 1}", 1),
            (f"table_id={table}", 2),
            (f"player_id={player}", 1),
            (f"player_id={player}&{every}", 1),
        ):
            assert len(get(house.key, f"/rounds?{query}").json()["rounds"]) == found, query

    def test_is_told_of_a_filter_that_is_none(self, house: House) -> None:
        for query in (
            "limit=201",
            "limit=0",
            "status=lost",
            "games=monko",
            "cursor=%21",
            "ended_to_ms=x",
            "table_id=7",
        ):
            assert get(house.key, f"/rounds?{query}").status_code in (400, 422), query

    def test_of_another_house_finds_nothing_on_any_route(self, house: House) -> None:
        place, round_ = played(house)
        _, key = accounts.operator_create(name=f"other {uuid4().hex[:12]}")
        for path, code in (
            (f"/rounds/{round_.pk.hex}/history", "round_not_found"),
            (f"/rounds/{round_.pk.hex}/history.txt", "round_not_found"),
            (f"/rounds?table_id={place.id}", "table_not_found"),
            (f"/rounds?player_id={place.players[0]}", "player_not_found"),
            (f"/rounds.jsonl?player_id={place.players[0]}", "player_not_found"),
            (f"/rounds.txt?table_id={place.id}", "table_not_found"),
        ):
            answer = get(key, path)
            assert (answer.status_code, answer.json()["code"]) == (404, code), path
        assert get(key, "/rounds").json()["rounds"] == []
        assert body(get(key, "/rounds.jsonl")) == body(get(key, "/rounds.txt")) == ""

    def test_needs_the_scope_for_reading(self, house: House) -> None:
        _, key = accounts.key_create(operator_id=house.operator_id, scopes=["play"], label="play")
        for path in ("/rounds", "/rounds.jsonl", "/rounds.txt"):
            answer = get(key, path)
            assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


class TestPages:
    def test_go_on_where_the_one_before_ended_whatever_was_played_in_between(self, house: House) -> None:
        place, first = played(house, pause_ms=0)
        ids = [first.pk.hex]
        for _ in range(3):
            ids.append(place.deal(0, 1).pk.hex)
            place.play_out()
        token = house.token(place.players[0])
        seen, cursor = [], ""
        while True:
            answer = get(token, f"/rounds?limit=1{cursor}")
            told = answer.json()
            seen += [one["id"] for one in told["rounds"]]
            place.deal(0, 1)
            place.play_out()
            if told["next"] is None:
                break
            assert answer["Link"] == f'</v1/rounds?limit=1&cursor={told["next"].replace("=", "%3D")}>; rel="next"'
            cursor = f"&cursor={told['next']}"
        assert seen == ids[::-1]

    def test_leave_out_what_a_running_transaction_might_still_precede(self, house: House) -> None:
        place, round_ = played(house)
        reader = Reader(house.operator_id, place.players[0])
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT pg_current_xact_id()")
                held.set()
                release.wait(30)
            connection.close()

        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(30)
        try:
            later = place.deal(0, 1)
            listed = hands.page(reader=reader, filters=Filters(), cursor="", limit=10)
            assert listed.round_ids == [round_.pk]
        finally:
            release.set()
            thread.join()
        listed = hands.page(reader=reader, filters=Filters(), cursor="", limit=10)
        assert listed.round_ids == [later.pk, round_.pk]


class TestExport:
    def test_streams_one_round_after_the_other(self, house: House) -> None:
        place, _ = played(house)
        for _ in range(2):
            place.deal(0, 1)
            place.play_out()
        reader = Reader(house.operator_id)
        found = hands.page(reader=reader, filters=Filters(status="finished"), cursor="", limit=10)
        stream = hands.hands(reader=reader, round_ids=found.round_ids)
        costs = []
        for _ in found.round_ids:
            with CaptureQueriesContext(connection) as asked:
                next(stream)
            costs.append(len(asked))
        assert len(costs) == 3
        assert max(costs) <= 12, "a round is read when it is written out, and by a bounded number of queries"
        assert len(set(costs)) == 1

    def test_as_lines_and_as_text_holds_what_the_single_routes_hold(self, house: House) -> None:
        place, first = played(house)
        second = place.deal(0, 1)
        place.play_out()
        answer = get(house.key, "/rounds.jsonl?status=finished")
        assert (answer["X-Rounds"], answer["Content-Type"]) == ("2", "application/jsonl")
        lines = body(answer).splitlines()
        assert [json.loads(line) for line in lines] == [
            get(house.key, f"/rounds/{round_.pk.hex}/history").json() for round_ in (second, first)
        ]
        text = body(get(house.key, "/rounds.txt?status=finished"))
        assert text == "".join(hand_text.text(json.loads(line)) + "\n" for line in lines)

    def test_goes_on_with_its_link(self, house: House) -> None:
        place, first = played(house)
        place.deal(0, 1)
        place.play_out()
        answer = get(house.key, "/rounds.jsonl?status=finished&limit=1")
        following = answer["Link"].split(">")[0].removeprefix("</v1")
        answer = get(house.key, following)
        assert [json.loads(line)["id"] for line in body(answer).splitlines()] == [first.pk.hex]
        assert "Link" not in answer

    def test_takes_whoever_asks_for_whatever(self, house: House) -> None:
        _, round_ = played(house)
        for path in (f"/rounds/{round_.pk.hex}/history.txt", "/rounds.txt", "/rounds.jsonl"):
            answer = APIClient().get(
                f"/v1{path}", headers={"authorization": f"Bearer {house.key}", "accept": "text/plain"}
            )
            assert answer.status_code == 200


def test_a_round_that_was_never_dealt_has_nothing_to_recall(house: House) -> None:
    place = house.table()
    place.sit(0)
    round_id: UUID = place.round.pk
    advance.round_give_up(round_id=round_id, reason="operator_fault", now_ms=clock.now_ms())
    told = get(house.key, f"/rounds/{round_id.hex}/history").json()
    assert (told["status"], told["entries"], told["decks"], told["seats"]) == ("void", [], [], [])
    assert hand_text.text(told).count("\n") < 10
