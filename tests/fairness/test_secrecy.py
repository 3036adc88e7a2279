"""While a round runs, nothing public holds its seed, anything derived from it, or a card nobody saw (S1, S2, F9)."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from apps.fairness import dealer, selectors
from apps.fairness.models import FairRound, KeyUse
from apps.fairness.protocol.streams import CARD_SALT
from tests.fairness.keys import ceremony
from tests.fairness.table import FairTable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def running() -> FairTable:
    """Return a table in play, with everything so far merged."""
    table = FairTable(entropy="open")
    table.open()
    table.merge()
    table.dealt(table.roster(table.seats(0, 1, 2)))
    table.play([0, 1, 2], entries_max=8)
    table.merge()
    return table


def everything_public(client: Client, table: FairTable) -> str:
    """Return all that the public fairness API answers about a round, and its evidence so far, as one text."""
    size = client.get("/v1/fairness/proofs/inclusion?index=0").json()["size"]
    paths = [
        "keys",
        "trust",
        "trust.json",
        "checkpoint",
        "statistics",
        f"tile/0/000.p/{size}",
        f"tile/entries/000.p/{size}",
        f"rounds/{table.round_id.hex}",
        f"proofs/consistency?from=1&to={size}",
        *(f"proofs/inclusion?index={index}&size={size}" for index in range(size)),
    ]
    answers = [client.get(f"/v1/fairness/{path}") for path in paths]
    assert all(answer.status_code == 200 for answer in answers)
    bodies = [answer.content for answer in answers]
    text = b"".join(bodies).decode(errors="replace") + b"".join(bodies).hex()
    return text + json.dumps(selectors.round_evidence(table.round_id))


def secrets_of(table: FairTable) -> list[str]:
    """Return what must stay in the dealing process, as hex."""
    schedule = dealer._schedule(table.round_id)
    cards = range(len(table.deal.deck))
    salts = [opening["salt"] for opening in dealer.openings(table.round_id, [(0, pos) for pos in cards])]
    streams = [schedule.key(name).hex() for name in ("deck", CARD_SALT, "first-seat", "start-colour", "reshuffle/0")]
    return [schedule.prk.hex(), *streams, *salts]


def test_nothing_public_holds_what_the_dealer_knows(client: Client, running: FairTable) -> None:
    public = everything_public(client, running)
    secrets = secrets_of(running)
    assert running.opened.seed_commit in public, "what is public is found"
    assert not [secret for secret in secrets if secret in public]
    assert '"seed"' not in public


def test_nothing_public_depends_on_the_order_of_the_deck(client: Client, running: FairTable) -> None:
    evidence = selectors.round_evidence(running.round_id)
    assert evidence["order"] == list(running.game.deck(running.options, 3))
    assert evidence["generations"] == []
    assert json.dumps(list(running.deal.deck))[1:-1] not in everything_public(client, running)


def test_everything_is_told_after_the_end(client: Client, running: FairTable) -> None:
    running.void(
        stage="deck",
        reason="operator_fault",
        fault="operator",
        entries=8,
        head="ab" * 32,
    )
    running.merge()
    record = selectors.round_records(running.round_id)[-1]["record"]
    assert record["body"]["seed"] in everything_public(client, running)
    assert FairRound.objects.get(pk=running.round_id).stage == "ended"


def test_no_address_takes_a_wish_to_reveal(client: Client, running: FairTable) -> None:
    for method in ("post", "put", "patch", "delete"):
        answer = getattr(client, method)(f"/v1/fairness/rounds/{running.round_id.hex}")
        assert answer.status_code == 405
    assert FairRound.objects.get(pk=running.round_id).stage == "deck"


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize("use", [KeyUse.RECORDS, KeyUse.LOG])
def test_rotating_a_key_opens_no_running_round(client: Client, running: FairTable, use: KeyUse) -> None:
    ceremony(running.now_ms).rotate(use, reason="scheduled")
    running.merge()
    public = everything_public(client, running)
    assert not [secret for secret in secrets_of(running) if secret in public]
    assert '"seed"' not in public
    assert FairRound.objects.get(pk=running.round_id).stage == "deck"
