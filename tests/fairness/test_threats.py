"""A server that is made to cheat, in each way of docs/fairness/threats.md, and who catches it with which code.

The server is ours, with its own services, keys, database and log; a test takes out the check that would stop it, or
lets it say something else than what it did.  Verifier, monitor and player's client are as everybody has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from apps.client.logview import LogView, ProofFailed
from apps.client.witness import RoundWitness, places
from apps.fairness import dealer, sealing, selectors, sequencer, services
from apps.fairness.api import views
from apps.fairness.entries import Rules
from apps.fairness.models import Generation, KeyUse
from apps.fairness.protocol import streams, transcript
from apps.fairness.protocol.cards import CardTree
from apps.fairness.protocol.records import log_object, record_sign
from apps.fairness.protocol.trust import Trust, trust_read
from apps.fairness.protocol.verify import verify_bundles
from apps.fairness.services import contributing, dealing, ending, opening
from apps.fairness.signing import live_secret
from apps.fairness.verify.archive import build
from apps.fairness.verify.watch import watch
from tests.fairness.table import START_MS, FairTable, Played, SeatHands

pytestmark = pytest.mark.django_db(transaction=True)

Entries = list[dict[str, Any]]


@pytest.fixture
def trust() -> Trust:
    """Return the trust file that everybody pinned before the cheating began."""
    sequencer.tick(now_ms=START_MS)
    return trust_read(selectors.trust())


def codes(trust: Trust, *bundles: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return what the verifier finds wrong with each bundle of a file."""
    lines = [json.dumps(bundle) for bundle in bundles]
    return [verdict.codes for verdict in verify_bundles(lines, trust)]


def failing(code: str) -> Any:
    """Expect the player's client to find this."""
    return pytest.raises(ProofFailed, match=f"^{code}: ")


def first_code(trust: Trust, table: FairTable) -> str | None:
    """Merge what is waiting, and return the verdict on the table's round."""
    table.merge()
    [found] = codes(trust, table.bundle())
    return found[0] if found else None


def begun(table: FairTable) -> FairTable:
    """Open a round and publish its commitment."""
    table.open()
    table.merge()
    return table


def watched(trust: Trust, table: FairTable) -> RoundWitness:
    """Return what a player's client has seen of the round up to its deck record."""
    log = LogView(trust)
    log.keys_take({"keys": selectors.keys()})
    published = selectors.published()
    assert published is not None
    log.checkpoint_take(published.note, now_s=0)
    told = selectors.round_records(table.round_id)
    witness = RoundWitness(log, told[0]["record"])
    witness.dealt(next(row["record"] for row in told if row["record"]["type"] == "deck"))
    return witness


def messages(table: FairTable, entries: Entries) -> Iterator[dict[str, Any]]:
    """Give the entries as the stream does, with the openings of what they show."""
    head = transcript.head_first(bytes.fromhex(table.deal.deck_hash))
    for entry in entries:
        head = transcript.head_next(head, transcript.entry_bytes(entry))
        shown = [(gen, pos) for gen, pos, card in places(entry["events"]) if card is not None]
        openings = dealer.openings(table.round_id, shown)
        yield {"seq": entry["seq"], "entry": entry, "head": head.hex(), "openings": openings}


def retold(table: FairTable, played: Played, change: Callable[[Entries], None]) -> Played:
    """Return a round as the server tells it from now on, with the head of what it tells."""
    entries: Entries = json.loads(json.dumps(played.entries))
    change(entries)
    heads = list(transcript.heads(bytes.fromhex(table.deal.deck_hash), map(transcript.entry_bytes, entries)))
    table.transcripts[table.round_id] = entries
    return Played(entries, heads[-1].hex(), played.outcome, played.shares, played.ended_ms)


def begun_play(table: FairTable) -> Played:
    """Deal a round and play it a while, the deck as it was dealt, so that nothing else breaks with a card."""
    while True:
        begun(table).dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1], entries_max=12)
        if not Generation.objects.filter(round_id=table.round_id).exists():
            return played
        stopped(table, played)
        assert table.index < 40, "most decks are not made anew so soon"


def stopped(table: FairTable, played: Played) -> None:
    """Void the running round, as the operator's fault."""
    table.void(
        stage="deck",
        reason="operator_fault",
        fault="operator",
        entries=len(played.entries),
        head=played.head,
    )


def caught_in_play(trust: Trust, table: FairTable, change: Callable[[Entries], None]) -> tuple[str, str | None]:
    """Deal and play honestly, tell it otherwise; return who found what: the client during play, the verifier after."""
    played = retold(table, begun_play(table), change)
    witness = watched(trust, table)
    caught = ""
    try:
        for message in messages(table, played.entries):
            witness.entry(message)
    except ProofFailed as problem:
        caught = problem.code
    stopped(table, played)
    return caught, first_code(trust, table)


def cards(entries: Entries, *, shown: bool) -> list[dict[str, Any]]:
    """Return the places that entries name, hidden or shown, to change at will."""
    found: list[dict[str, Any]] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if "gen" in value and "pos" in value and ("card" in value) is shown:
                found.append(value)
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(entries)
    return found


@contextmanager
def replaced(target: object, name: str, value: object) -> Iterator[None]:
    """Let the server do something else for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, name, value)
        yield


class TestSeeds:
    def test_contributions_are_taken_before_the_commitment_is_published(self, trust: Trust) -> None:
        table = FairTable(entropy="open")
        before = selectors.published()
        assert before is not None
        table.open()
        hands = [SeatHands(number, cp={"size": before.size, "root": before.root}) for number in (0, 1)]
        with replaced(contributing, "_published_index", lambda *_: 0):
            for hand in hands:
                hand.sig = hand.sign(*table.ready_message(hand))
                services.contribution_check(
                    round_id=table.round_id,
                    mode="open",
                    seat=hand.number,
                    pk=hand.pk,
                    entropy_or_commit=hand.entropy,
                    cp=hand.cp,
                    sig=hand.sig,
                )
        table.merge()
        table.dealt(table.roster(hands))
        table.reveal([0, 1], table.play([0, 1]))
        assert first_code(trust, table) == "view_early"

    def test_a_client_gives_nothing_for_a_commitment_that_is_not_in_the_log(self, trust: Trust) -> None:
        table = FairTable(entropy="open")
        table.open()
        log = LogView(trust)
        log.keys_take({"keys": selectors.keys()})
        log.checkpoint_take(str(getattr(selectors.published(), "note", "")), now_s=0)
        first = selectors.round_records(table.round_id)[0]
        witness = RoundWitness(log, first["record"])
        assert first["index"] is None
        with failing("inclusion"):
            log.inclusion_check(witness.open, 2, selectors.inclusion(2, 3)["path"])

    def test_the_seed_is_chosen_after_the_players_are_known(self, trust: Trust) -> None:
        """It deals from another seed than it committed to, and opens that one in the end."""
        table = begun(FairTable(entropy="open"))
        hands = table.seats(0, 1)
        with (
            replaced(sealing, "seed_open", lambda *_, **__: bytes(range(32))),
            replaced(ending, "_seed", lambda _: bytes(range(32))),
        ):
            table.dealt(table.roster(hands))
            table.reveal([0, 1], table.play([0, 1]))
        assert first_code(trust, table) == "seed"

    def test_the_deck_is_of_another_seed_than_the_one_that_is_opened(self, trust: Trust) -> None:
        table = FairTable(entropy="open")
        table.whole_round(0, 1)  # So that the opener is not drawn.
        begun(table)
        hands = table.seats(0, 1)
        with replaced(sealing, "seed_open", lambda *_, **__: bytes(range(32))):
            table.dealt(table.roster(hands))
            played = table.play([0, 1])
        table.reveal([0, 1], played)
        assert first_code(trust, table) == "root"

    @pytest.mark.parametrize("entropy", ["none", "open"])
    def test_what_no_verifier_can_see_is_said_to_the_players(self, trust: Trust, entropy: str) -> None:
        """Limits 2 and 3: many seeds tried in mode none, the last entropy chosen by a friend in mode open."""
        wanted, tries = "the top card is the house's", 0
        while True:
            tries += 1
            table = begun(FairTable(entropy=entropy))
            table.dealt(table.roster(table.seats(0, 1)))
            if table.deal.deck[0] == table.game.deck(table.options, 2)[0] or tries == 3:
                break
            table.void(stage="deck", reason="operator_fault", fault="operator", entries=0, head="ab" * 32)
        table.reveal([0, 1], table.play([0, 1]))
        assert first_code(trust, table) is None, wanted


class TestDecks:
    def test_the_order_is_stacked_after_the_commitment(self, trust: Trust) -> None:
        """The house puts a card of its choice on top of the deck that the seed gave."""

        def stacked(*, round_: bytes, gen: int, cards: tuple[str, ...], salt_key: bytes) -> CardTree:
            return CardTree(round_=round_, gen=gen, cards=(cards[-1], *cards[1:-1], cards[0]), salt_key=salt_key)

        table = begun(FairTable(entropy="open"))
        hands = table.seats(0, 1)
        with replaced(dealing, "CardTree", stacked):
            table.dealt(table.roster(hands))
        table.reveal([0, 1], table.play([0, 1]))
        assert first_code(trust, table) == "root"

    def test_the_deck_has_other_cards_than_the_open_record_binds(self, trust: Trust) -> None:
        table = begun(FairTable(entropy="open"))
        hands = table.seats(0, 1)
        order = table.game.deck(table.options, 2)
        marked = (*order[1:], order[0])
        with replaced(dealing, "_order_check", lambda *_: None), replaced(table.game, "deck", lambda *_: marked):
            table.dealt(table.roster(hands))
            played = table.play([0, 1])
        table.merge()
        with failing("order"):
            watched(trust, table)
        table.reveal([0, 1], played)
        assert first_code(trust, table) == "order"

    def test_the_opener_is_named_by_the_house(self, trust: Trust) -> None:
        table = FairTable(entropy="none")
        table.whole_round(0, 1, 2)
        last = table.last_opener
        begun(table)
        with replaced(streams, "opener", lambda *_: last):
            table.dealt(table.roster(table.seats(0, 1, 2)))
        table.merge()
        with failing("opener"):
            watched(trust, table)
        table.reveal([0, 1, 2], table.play([0, 1, 2]))
        assert first_code(trust, table) == "opener"

    def test_a_card_is_dealt_from_the_bottom(self, trust: Trust) -> None:
        def bottom(entries: Entries) -> None:
            cards(entries, shown=False)[0]["pos"] = 107

        assert caught_in_play(trust, FairTable(), bottom) == ("deal_order", "deal_order")

    def test_the_second_card_is_dealt_instead_of_the_first(self, trust: Trust) -> None:
        def second(entries: Entries) -> None:
            dealt = [place for place in cards(entries[:1], shown=False) if place["gen"] == 0]
            max(dealt, key=lambda place: int(place["pos"]))["pos"] += 1

        assert caught_in_play(trust, FairTable(), second) == ("deal_order", "deal_order")

    def test_another_card_is_shown_than_the_one_at_its_place(self, trust: Trust) -> None:
        def other(entries: Entries) -> None:
            first, second = [place for place in cards(entries, shown=True) if place["gen"] == 0][:2]
            first["card"], second["card"] = "R1#1" if first["card"] != "R1#1" else "R2#1", second["card"]

        assert caught_in_play(trust, FairTable(), other) == ("card_face", "card_face")

    def test_a_card_is_opened_as_another(self, trust: Trust) -> None:
        table = begun(FairTable())
        table.dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1])
        witness = watched(trust, table)
        for message in messages(table, played.entries):
            if message["openings"]:
                other = dealer.openings(table.round_id, [(0, 50)])[0]["card"]
                message["openings"][0]["card"] = other
                with failing("opening"):
                    witness.entry(message)
                return
            witness.entry(message)
        pytest.fail("no card was opened")

    def test_a_reshuffle_is_rigged(self, trust: Trust) -> None:
        honest_chance, honest_order = dealer.RoundChance, dealer._reordered

        class Rigged(honest_chance):  # type: ignore[misc, valid-type]
            def uniform(self, stream: str, m: int) -> int:
                drawn: int = super().uniform(stream, m)
                return (drawn + 1) % m if stream.startswith(dealer.RETURN_STREAM) else drawn

            def shuffle(self, stream: str, items: Any) -> Any:
                return super().shuffle(stream, items)[::-1]

        def rigged(schedule: Any, stream: str, source: tuple[str, ...]) -> tuple[str, ...]:
            if stream.startswith(dealer.RETURN_STREAM):
                at = schedule.chance().uniform(stream, len(source))
                return streams.insert_back(source, (at + 1) % len(source))
            return honest_order(schedule, stream, source)[::-1]

        table = FairTable(entropy="none")
        with replaced(dealer, "_reordered", rigged), replaced(dealer, "RoundChance", Rigged):
            while True:
                begun(table).dealt(table.roster(table.seats(0, 1)))
                played = table.play([0, 1], seed=table.index)
                if Generation.objects.filter(round_id=table.round_id).exists():
                    break
                table.reveal([0, 1], played)
                assert table.index < 40, "some round makes its deck anew"
        table.reveal([0, 1], played)
        assert first_code(trust, table) == "generation"


class TestChains:
    def test_a_finished_round_is_rewritten(self, trust: Trust) -> None:
        """The house signs another end of a round, and another deck, and shows them to somebody else."""
        table = FairTable(entropy="none")
        table.whole_round(0, 1)
        told = table.bundle()
        secret = live_secret(KeyUse.RECORDS)
        body = told["records"][-1]["body"]
        other = log_object(record_sign(secret, "reveal", {**body, "ended_ms": body["ended_ms"] + 1}))
        witness = watched(trust, table)
        deck = told["records"][1]["body"]
        again = log_object(record_sign(secret, "deck", {**deck, "dealt_ms": deck["dealt_ms"] + 1}))
        with failing("fork"):
            witness.dealt(again)
        elsewhere = {**told, "records": [*told["records"][:-1], other]}
        first, second = codes(trust, told, elsewhere)
        assert (first, "inclusion" in second) == ((), True), "and only one of them is in the log"

    def test_a_finished_round_is_left_out(self, trust: Trust) -> None:
        table, bundles = FairTable(entropy="none"), []
        for _ in range(3):
            table.whole_round(0, 1)
            bundles.append(table.bundle())
        lines = [json.dumps(bundle) for bundle in (bundles[0], bundles[2])]
        verdicts = verify_bundles(lines, trust, complete=True)
        assert [verdict.verdict for verdict in verdicts] == ["pass", "gap"]

    def test_rounds_are_chained_to_another_past(
        self, trust: Trust, live_server: Any, tmp_path: Path, table: FairTable
    ) -> None:
        state = str(tmp_path / "log.state")
        first = FairTable(entropy="none")
        first.whole_round(0, 1)
        before = first.bundle()
        honest = opening._prev
        with (
            replaced(opening, "_prev", lambda *given: ("ab" * 32, honest(*given)[1])),
            replaced(Rules, "admit", lambda *_: None),
        ):
            first.whole_round(0, 1)
        assert codes(trust, before, first.bundle())[1] == ("chain",)
        seen = watch(base=live_server.url, state_path=state, trust=trust, now_ms=first.now_ms, jobs=1)
        assert seen.verdict.verdict == "log_prev"

    def test_an_index_is_skipped(self, trust: Trust, live_server: Any, tmp_path: Path) -> None:
        table = FairTable(entropy="none")
        table.whole_round(0, 1)
        table.index += 1
        honest = opening._prev
        with (
            replaced(opening, "_prev", lambda id_, index, *rest: honest(id_, index - 1, *rest)),
            replaced(Rules, "admit", lambda *_: None),
        ):
            table.open()
            table.merge()
        seen = watch(base=live_server.url, state_path=str(tmp_path / "s"), trust=trust, now_ms=table.now_ms, jobs=1)
        assert seen.verdict.verdict == "log_index"

    def test_a_signed_record_is_kept_out_of_the_log(self, trust: Trust) -> None:
        table = begun(FairTable(entropy="none"))
        table.dealt(table.roster(table.seats(0, 1)))
        witness = watched(trust, table)
        deck, log = witness.deck, witness._log
        assert deck is not None
        row = selectors.round_records(table.round_id)[-1]
        assert row["index"] is None, "shown to the players, and waiting"
        assert not log.merged_check(deck, None, seen_ms=5_000, now_ms=6_000)
        with failing("inclusion"):
            log.merged_check(deck, None, seen_ms=5_000, now_ms=6_001)
        with failing("inclusion"):
            log.merged_check(deck, 1, selectors.inclusion(1, log.size)["path"], seen_ms=5_000, now_ms=5_000)
        old, size = log.size, table.merge()
        published = selectors.published()
        assert published is not None
        log.checkpoint_take(published.note, selectors.consistency(old, size)["path"], now_s=0)
        index = selectors.round_records(table.round_id)[-1]["index"]
        assert log.merged_check(deck, index, selectors.inclusion(index, size)["path"], seen_ms=5_000, now_ms=9_000)


class TestEndings:
    @pytest.mark.parametrize(
        ("payouts", "fee", "code"),
        [([95, 95], 10, "payout"), ([190, 0], 10, "payout"), ([150, 0], 50, "money"), ([290, 0], 10, "money")],
    )
    def test_something_else_is_paid_out(self, trust: Trust, payouts: list[int], fee: int, code: str) -> None:
        table = begun(FairTable(entropy="none"))
        table.dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1])
        honest = {seat: 190 * weight // sum(played.shares.values()) for seat, weight in played.shares.items()}
        rows = [{"seat": seat, "buy_in": 100, "payout": payouts[seat]} for seat in (0, 1)]
        if [row["payout"] for row in rows] == [honest.get(seat, 0) for seat in (0, 1)]:
            rows[0]["payout"], rows[1]["payout"] = rows[1]["payout"], rows[0]["payout"]
        with replaced(ending, "_money_check", lambda *_: None), transaction.atomic():
            services.round_reveal(
                round_id=table.round_id,
                entries=len(played.entries),
                head=played.head,
                outcome=played.outcome,
                payouts=rows,
                fee=fee,
                ended_ms=played.ended_ms,
            )
        assert first_code(trust, table) == code

    def test_another_result_than_that_of_the_rules(self, trust: Trust) -> None:
        """The winner is another seat, in the transcript and in the payouts."""
        table = begun(FairTable(entropy="none"))
        table.dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1])
        [winner] = played.shares
        loser = 1 - winner

        def other(entries: Entries) -> None:
            over = entries[-1]["events"][-1]
            over["shares"], over["ranking"] = {str(loser): 1}, [[loser], [winner]]

        told = retold(table, played, other)
        outcome = {**played.outcome, "shares": {str(loser): 1}, "ranking": [[loser], [winner]]}
        table.reveal([0, 1], Played(told.entries, told.head, outcome, {loser: 1}, told.ended_ms))
        assert first_code(trust, table) == "rules"

    def test_rounds_it_dislikes_are_void_and_everybody_can_count_them(self, trust: Trust, client: Client) -> None:
        for spared in (True, False, False):
            table = begun(FairTable(entropy="none"))
            table.dealt(table.roster(table.seats(0, 1)))
            played = table.play([0, 1])
            if spared:
                table.reveal([0, 1], played)
            else:
                stopped(table, played)
            found = first_code(trust, table)
            assert found == (None if spared else "end_event"), "a void after the end is no void"
        rows = client.get("/v1/fairness/statistics").json()["endings"]
        [void] = [row for row in rows if row["ending"] == "void"]
        assert (void["rounds"], void["reason"], void["fault"], void["share_ppm"]) == (
            2,
            "operator_fault",
            "operator",
            666_666,
        )


class TestTools:
    def test_a_verifier_that_always_says_yes_has_another_digest(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lie = b"#!/usr/bin/env python3\nprint('passed')\n"
        monkeypatch.setattr(views, "_verifier", lambda: (lie, sha256(build()).hexdigest()))
        answer = client.get("/v1/fairness/sealdeck-verify.pyz")
        assert sha256(answer.content).hexdigest() != sha256(build()).hexdigest() == answer.headers["Digest-SHA-256"]

    def test_a_trust_file_of_the_houses_making_is_not_the_pinned_one(self, trust: Trust) -> None:
        """Another house with the same name, other keys, and a trust file that goes with them."""
        from tests.fairness.protocol.house import House, Plan

        house = House()
        bundle = house.play(Plan()).bundle
        assert codes(house.trust, bundle) == [()]
        [found] = codes(trust, bundle)
        assert found[0] in ("key_record", "checkpoint")
