"""Nobody is told a card too early: views, answers, stream messages, errors and bundles of a running round.

The engine's law that equal knowledge gives equal views is tested in tests/games; here, that the service adds nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from apps.core import clock
from apps.fairness import dealer, sequencer
from apps.fairness.models import FairRound
from apps.games import registry
from apps.history import selectors as history
from apps.tables import feed, selectors
from apps.tables.live import places
from apps.tables.models import Round
from tests.tables.conftest import House, Place

pytestmark = pytest.mark.django_db(transaction=True)

CODE = re.compile(r'"([A-Z0-9]{1,6}#[0-9]{1,2})"')


def get(token: str, path: str) -> Any:
    """Return the answer to a GET request."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return APIClient().get(f"/v1{path}", headers=headers)


def faces(text: str) -> set[str]:
    """Return the card codes that a text names."""
    return set(CODE.findall(text))


def known(place: Place, seat: int | None) -> set[str]:
    """Return the cards that a viewer's view shows now, or an entry has shown to everybody."""
    game, state = place.state()
    view = json.dumps(game.view(state, seat))
    shown = {
        card["card"]
        for entry in history.transcript(round_id=place.round.pk)
        for card in cards_of(json.loads(entry.body)["events"])
    }
    return faces(view) | shown


def cards_of(value: Any) -> list[dict[str, Any]]:
    """Return every shown card in events."""
    if isinstance(value, dict):
        if "gen" in value and "pos" in value:
            return [value] if "card" in value else []
        return [card for inner in value.values() for card in cards_of(inner)]
    if isinstance(value, list):
        return [card for inner in value for card in cards_of(inner)]
    return []


def told(place: Place, number: int | None) -> str:
    """Return everything that a viewer is sent about the running round, in one text."""
    round_id = place.round.pk
    stranger = place.house.token(place.house.player(points=0))
    token = stranger if number is None else place.house.token(place.players[number])
    answers = [
        get(token, f"/rounds/{round_id.hex}").content,
        get(token, f"/rounds/{round_id.hex}/openings").content,
        get(token, f"/tables/{place.id}").content,
    ]
    messages = [
        feed.entry_message(entry, index=place.round.index, seat=number)
        for entry in history.transcript(round_id=round_id)
    ]
    return "\n".join(answer.decode() for answer in answers) + json.dumps(messages)


class TestCards:
    @pytest.mark.parametrize("slug", registry.slugs())
    def test_no_viewer_is_told_a_card_it_may_not_know(self, house: House, slug: str) -> None:
        place = house.table(slug)
        place.deal(0, 1, 3)
        for moves in (0, 3, 6):
            place.play_out(moves_max=moves)
            if place.round.status != Round.Status.RUNNING:
                break
            for viewer in (0, 1, 3, None):
                assert faces(told(place, viewer)) <= known(place, viewer), (slug, viewer)

    def test_everybody_is_sent_the_same_entries_and_only_its_own_openings(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1)
        entry = history.transcript(round_id=place.round.pk)[0]
        messages = {seat: feed.entry_message(entry, index=0, seat=seat) for seat in (0, 1, None)}
        for seat in (0, 1):
            mine = {(o["gen"], o["pos"]) for o in messages[seat]["openings"]}
            public = {(o["gen"], o["pos"]) for o in messages[None]["openings"]}
            game, state = place.state()
            hand = game.view(state, seat)["seats"][seat]["hand"]
            assert mine - public == {(card["gen"], card["pos"]) for card in hand}
        assert {json.dumps(m | {"openings": []}) for m in messages.values()} == {
            json.dumps(messages[None] | {"openings": []})
        }

    def test_openings_lead_to_the_root_of_the_deck_record(self, house: House) -> None:
        from apps.fairness.protocol.cards import check_opening

        place = house.table()
        round_ = place.deal(0, 1)
        sequencer.tick(now_ms=clock.now_ms())
        deck = json.loads(history.bundle(round_id=round_.pk).data)["records"][-1]["body"]
        for seat in (0, 1):
            for opening in selectors.openings(place.round, seat=seat):
                if opening["gen"] == 0:
                    root = bytes.fromhex(deck["root"])
                    assert check_opening(opening, round_=round_.pk.bytes, root=root, n=deck["n"])


class TestSecrets:
    def test_a_running_round_publishes_no_seed_and_no_salt_of_a_hidden_card(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        place.play_out(moves_max=4)
        sequencer.tick(now_ms=clock.now_ms())
        game, state = place.state()
        deck = dealer.opening_deck(round_.pk)
        open_now = {(g, p) for g, p, shown in places(game.view(state, None)) if shown}
        hidden = [(0, pos) for pos in range(len(deck)) if (0, pos) not in open_now]
        salts = {opening["salt"] for opening in dealer.openings(round_.pk, hidden)}
        public = get("", f"/fairness/rounds/{round_.pk.hex}/bundle").content.decode()
        public += get("", f"/fairness/rounds/{round_.pk.hex}").content.decode() + told(place, None)
        assert not {salt for salt in salts if salt in public}
        secret = bytes(FairRound.objects.get(pk=round_.pk).seed_sealed).hex()
        assert secret not in public
        assert "seed_commit" in public
        assert '"seed":' not in public

    def test_generations_of_a_running_round_are_not_published(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        sequencer.tick(now_ms=clock.now_ms())
        assert json.loads(history.bundle(round_id=round_.pk).data)["generations"] == []

    def test_a_snapshot_at_rest_names_no_card(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        deck = set(dealer.opening_deck(round_.pk))
        raw = bytes(Round.objects.get(pk=round_.pk).state or b"")
        assert not [code for code in deck if code.encode() in raw]

    @pytest.mark.parametrize("role", ["sealdeck_readonly", "sealdeck_support", "sealdeck_auditor"])
    @pytest.mark.parametrize(
        ("table", "column"),
        [
            ("tables_round", "state"),
            ("tables_seat", "entropy"),
            ("tables_seat", "commit"),
            ("fairness_round", "seed_sealed"),
            ("fairness_generation", "source_sealed"),
        ],
    )
    def test_no_reading_role_may_select_what_hides_cards(
        self, house: House, role: str, table: str, column: str
    ) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT has_column_privilege(%s, %s, %s, 'SELECT')", [role, table, column])
            assert cursor.fetchone() == (False,)

    def test_a_table_closed_to_spectators_shows_strangers_nothing_of_a_running_round(self, house: House) -> None:
        place = house.table(spectators_allowed=False)
        round_ = place.deal(0, 1)
        sequencer.tick(now_ms=clock.now_ms())
        stranger = house.token(house.player())
        assert get(stranger, f"/rounds/{round_.pk.hex}").json()["code"] == "spectators_not_allowed"
        assert get(stranger, f"/tables/{place.id}/stream").json()["code"] == "spectators_not_allowed"
        assert get("", f"/fairness/rounds/{round_.pk.hex}/bundle").json()["transcript"] == []
        place.play_out()
        sequencer.tick(now_ms=clock.now_ms())
        assert get("", f"/fairness/rounds/{round_.pk.hex}/bundle").json()["transcript"] != []
