"""The admin during a running round: every page opens, none changes anything, none tells a card, a seed or a key."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Player
from apps.core import clock
from apps.fairness import dealer, sequencer
from apps.fairness.models import FairRound
from apps.history.selectors import transcript
from apps.tables import hand_text, hands
from apps.tables.hands import Reader
from apps.tables.models import Round
from tests.tables.conftest import House, house  # noqa: F401 - the fixture

pytestmark = pytest.mark.django_db(transaction=True)

CARD = re.compile(r"[A-Z0-9]{1,6}#[0-9]{1,2}")


@pytest.fixture
def staff() -> Client:
    """Return a browser in which the mightiest member of staff is logged in."""
    User.objects.create_superuser("chief", password="chief")
    client = Client()
    assert client.login(username="chief", password="chief")
    return client


def pages(client: Client) -> str:
    """Open every list and every row of every registered model; return all that they say."""
    told = []
    for model in admin.site._registry:
        if not model.__module__.startswith("apps."):
            continue
        base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        answer = client.get(reverse(f"{base}_changelist"))
        assert answer.status_code == 200, base
        told.append(answer.content.decode())
        for row in model._default_manager.all()[:20]:
            answer = client.get(reverse(f"{base}_change", args=[row.pk]))
            assert answer.status_code == 200, (base, row.pk)
            told.append(answer.content.decode())
    return "\n".join(told)


class TestAdmin:
    def test_no_page_tells_a_hidden_card_a_seed_or_a_key(self, staff: Client, house: House) -> None:  # noqa: F811
        place = house.table()
        round_ = place.deal(0, 1)
        sequencer.tick(now_ms=clock.now_ms())
        told = pages(staff)
        # A start card that went back was open once: what the public transcript shows is no secret.
        public = "".join(entry.body for entry in transcript(round_id=round_.pk))
        hidden = set(dealer.opening_deck(round_.pk)) - set(CARD.findall(public))
        assert len(hidden) > 90
        assert not hidden & set(CARD.findall(told))
        row = FairRound.objects.get(pk=round_.pk)
        assert bytes(row.seed_sealed).hex() not in told
        assert house.key not in told
        assert house.key.split("_")[2] not in told
        assert bytes(Round.objects.get(pk=round_.pk).state or b"").hex() not in told
        assert round_.pk.hex in told or str(round_.pk) in told

    def test_nothing_can_be_added_changed_or_deleted(self, staff: Client, house: House) -> None:  # noqa: F811
        place = house.table()
        round_ = place.deal(0, 1)
        base = "admin:tables_round"
        assert staff.get(reverse(f"{base}_add")).status_code == 403
        assert staff.post(reverse(f"{base}_change", args=[round_.pk]), {"status": "void"}).status_code == 403
        assert staff.post(reverse(f"{base}_delete", args=[round_.pk]), {"post": "yes"}).status_code == 403
        assert Round.objects.get(pk=round_.pk).status == Round.Status.RUNNING

    def test_who_is_not_staff_is_sent_to_the_login(self, house: House) -> None:  # noqa: F811
        answer = Client().get(reverse("admin:tables_round_changelist"))
        assert answer.status_code == 302
        assert "/admin/login/" in answer["Location"]

    def test_support_finds_a_round_by_whatever_the_player_names(self, staff: Client, house: House) -> None:  # noqa: F811
        place, other = house.table(name="Blue room"), house.table(name="Red room")
        round_ = place.deal(0, 1)
        other.deal(0, 1)
        player = Player.objects.get(pk=place.players[0])
        wanted = (round_.pk.hex, str(round_.pk), str(player.pk), player.external_id, str(place.id), "Blue room")
        for term in wanted:
            answer = staff.get(reverse("admin:tables_round_changelist"), {"q": f" {term} "})
            assert [row.pk for row in answer.context["cl"].result_list] == [round_.pk], term

    def test_support_reads_the_text_that_the_operator_reads(self, staff: Client, house: House) -> None:  # noqa: F811
        place = house.table()
        round_ = place.deal(0, 1)
        page = reverse("admin:tables_round_change", args=[round_.pk])
        assert "What happened" in staff.get(page).content.decode()
        place.play_out()
        told = hand_text.text(hands.hand(reader=Reader(house.operator_id), round_id=round_.pk))
        assert html.escape(told).replace("&#x27;", "&#39;") in staff.get(page).content.decode().replace(
            "&#x27;", "&#39;"
        )
