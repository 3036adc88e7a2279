"""Two deals that differ only in cards a viewer may not know: all that the viewer is answered is equal, byte for byte.

The engine's views are compared in tests/games (law 7).  Here the stored state of a running round is replaced by that of
its twin, in which two cards hidden from the viewer have changed places, and everything is asked again over HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import F
from django.http import HttpResponse
from rest_framework.test import APIClient

from apps.core import clock
from apps.fairness import dealer, sequencer
from apps.games import registry
from apps.games.contract import RuleError
from apps.history.selectors import transcript
from apps.tables import live, replay
from apps.tables.models import Round
from tests.tables.conftest import House, Place
from tests.tables.test_secrecy import known

pytestmark = pytest.mark.django_db(transaction=True)

SEATS = (0, 1, 3)
OF_THE_REQUEST = {"RateLimit", "RateLimit-Policy", "Date"}
"""Headers that count requests or tell the time."""


def exchanged(deck: tuple[str, ...], first: int, second: int) -> tuple[str, ...]:
    """Return the deck with two cards exchanged."""
    order = list(deck)
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def played(round_: Round, deck: tuple[str, ...]) -> tuple[list[Any], Any]:
    """Replay a round as if this deck had been dealt; return all public events and the last state."""
    game, chance = registry.game(round_.game), dealer.chance(round_.pk)
    entries = transcript(round_id=round_.pk)
    setup = replay.setup_of(round_, deck)
    step = game.start(setup, chance)
    events = [*step.events]
    for entry in entries[1:]:
        step = replay.apply(game, step.state, entry, json.loads(entry.body)["input"], chance)
        events += step.events
    return events, step.state


def twin(place: Place, viewer: int | None) -> tuple[Any, tuple[str, str]]:
    """Return the state of a twin that looks the same in public, and the two cards that the viewer cannot tell apart."""
    round_, deck, seen = place.round, dealer.opening_deck(place.round.pk), known(place, viewer)
    ours, state = played(round_, deck)
    game = registry.game(round_.game)
    hidden = [pos for pos, code in enumerate(deck) if code not in seen]
    for first, second in zip(hidden, reversed(hidden), strict=True):
        try:
            theirs, other = played(round_, exchanged(deck, first, second))
        except RuleError:
            continue
        if first != second and theirs == ours and game.dump(other) != game.dump(state):
            return other, (deck[first], deck[second])
    raise AssertionError("no twin was found")


def asked(place: Place, token: str, cards: tuple[str, str]) -> Iterator[HttpResponse]:
    """Yield the answers to all that a viewer can ask, and to moves that are refused."""
    api = APIClient(headers={"authorization": f"Bearer {token}", "x-request-id": "twin"})
    round_ = place.round
    for path in (
        f"/v1/rounds/{round_.pk.hex}",
        f"/v1/rounds/{round_.pk.hex}/openings",
        f"/v1/rounds/{round_.pk.hex}/history",
        f"/v1/rounds/{round_.pk.hex}/history.txt",
        f"/v1/rounds/{round_.pk.hex}/proof",
        f"/v1/fairness/rounds/{round_.pk.hex}",
        f"/v1/fairness/rounds/{round_.pk.hex}/bundle",
        f"/v1/tables/{place.id}",
        "/v1/tables",
        "/v1/rounds",
    ):
        yield api.get(path)
    actions = f"/v1/rounds/{round_.pk.hex}/actions"
    for seen in (round_.seq, round_.seq - 1):
        for card in cards:
            yield api.post(actions, {"action": {"type": "play", "card": card}, "seen": seen})
            yield api.post(actions, {"action": {"type": "place", "card": card, "level": 1}, "seen": seen})
        yield api.post(actions, {"action": {"type": "no_such_verb"}, "seen": seen})


def told(place: Place, token: str, cards: tuple[str, str]) -> list[tuple[int, dict[str, str], bytes]]:
    """Return status, headers and body of every answer."""
    live.states_forget()
    return [
        (answer.status_code, {n: v for n, v in answer.items() if n not in OF_THE_REQUEST}, answer.content)
        for answer in asked(place, token, cards)
    ]


def stored(round_: Round, state: Any) -> None:
    """Store a state as the round's snapshot."""
    data = json.dumps(registry.game(round_.game).dump(state)).encode()
    sealed = dealer.state_seal(round_id=round_.pk, seq=round_.seq, data=data)
    Round.objects.filter(pk=round_.pk).update(state=sealed)


class TestTwins:
    @pytest.mark.parametrize("moves", [0, 4])
    @pytest.mark.parametrize("slug", registry.slugs())
    def test_no_answer_tells_two_deals_apart_that_the_viewer_may_not(self, house: House, slug: str, moves: int) -> None:
        place = house.table(slug)
        place.deal(*SEATS)
        place.play_out(moves_max=moves)
        sequencer.tick(now_ms=clock.now_ms())
        # Engine time stands still, as after an outage of an hour: no clock runs out while answers are compared.
        hour_ms = 3_600_000
        Round.objects.filter(pk=place.round.pk).update(
            offset_ms=F("offset_ms") + hour_ms, wake_at_ms=F("wake_at_ms") + hour_ms
        )
        round_ = place.round
        assert round_.status == Round.Status.RUNNING
        _, ours = played(round_, dealer.opening_deck(round_.pk))
        for viewer in (*SEATS, None):
            player = house.player() if viewer is None else place.players[viewer]
            token = house.token(player)
            theirs, cards = twin(place, viewer)
            first = told(place, token, cards)
            assert sum(status == 200 for status, _, _ in first) >= 5
            stored(round_, theirs)
            second = told(place, token, cards)
            stored(round_, ours)
            for ours_told, theirs_told in zip(first, second, strict=True):
                assert theirs_told == ours_told, (slug, viewer)
            assert place.round.seq == round_.seq, "nothing was played"

    def test_a_snapshot_with_another_hand_is_told_apart_by_its_holder(self, house: House) -> None:
        place = house.table()
        place.deal(*SEATS)
        theirs, cards = twin(place, None)
        game, state = place.state()
        holders = [seat for seat in SEATS if any(card in json.dumps(game.view(state, seat)) for card in cards)]
        stored(place.round, theirs)
        live.states_forget()
        game, other = place.state()
        assert holders
        assert any(game.view(state, seat) != game.view(other, seat) for seat in holders)
