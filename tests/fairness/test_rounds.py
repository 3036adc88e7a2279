"""A round through the fairness services, in every mode, ends in a bundle that the verifier passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from apps.fairness import dealer, errors, selectors, services
from apps.fairness.models import FairRound, Generation, Record
from apps.fairness.protocol.cards import check_opening
from apps.fairness.protocol.streams import KeySchedule
from apps.fairness.protocol.trust import trust_read
from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.table import FairTable, in_threads

BEACON_CLOSED_MS = 1_776_197_891_250
BEACON_MS = 1_776_197_898_000
BEACON_SIGNATURE = bytes.fromhex(
    "b18fa6dc92304844fc4e868d708953e6b628b3f88d4381249d32264df1bfe5bc20aa0905e57fe54063010881767fd56d"
)
"""Round 27798178 of drand's quicknet, recorded."""

pytestmark = pytest.mark.django_db(transaction=True)


def verdicts(table: FairTable, *round_ids: Any, complete: bool = False) -> list[tuple[str | None, list[str]]]:
    """Return the verifier's verdict and all failed codes for each round, under the server's own trust file."""
    bundles = [json.dumps(table.bundle(round_id)) for round_id in (round_ids or (table.round_id,))]
    found = verify_bundles(bundles, trust_read(selectors.trust()), complete=complete)
    return [(verdict.verdict, list(verdict.codes)) for verdict in found]


PASS: tuple[str | None, list[str]] = ("pass", [])


class TestWholeLife:
    def test_passes_in_mode_none(self) -> None:
        table = FairTable(entropy="none")
        table.whole_round(0, 2)
        assert verdicts(table) == [PASS]

    def test_passes_in_mode_open_with_and_without_keys(self) -> None:
        table = FairTable(entropy="open")
        table.whole_round(0, 1, 3, keyless=[1])
        assert verdicts(table) == [PASS]

    def test_passes_in_mode_sealed(self) -> None:
        table = FairTable(entropy="sealed")
        table.open()
        table.merge()
        hands = table.seats(1, 2, 4, keyless=[2])
        table.close(hands)
        table.merge()
        table.dealt(table.open_seats(hands))
        table.reveal([1, 2, 4], table.play([1, 2, 4]))
        table.merge()
        assert verdicts(table) == [PASS]

    @pytest.mark.parametrize("entropy", ["none", "open", "sealed"])
    def test_passes_with_a_beacon(self, entropy: str) -> None:
        table = FairTable(entropy=entropy, margin=2)
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        table.now_ms = BEACON_CLOSED_MS
        table.close(hands)
        table.merge()
        roster = table.open_seats(hands) if entropy == "sealed" else table.roster(hands)
        table.now_ms = BEACON_MS
        table.dealt(roster, beacon=BEACON_SIGNATURE)
        table.reveal([0, 1], table.play([0, 1]))
        table.merge()
        assert verdicts(table) == [PASS]

    def test_passes_for_a_whole_table_with_voids_between(self) -> None:
        table = FairTable(entropy="open")
        rounds: list[UUID] = []
        for step in range(4):
            if step == 2:
                table.open()
                table.void(stage="open", reason="not_started", fault="none")
                table.merge()
            else:
                table.whole_round(0, 1, 2)
            rounds.append(table.round_id)
        assert verdicts(table, *rounds, complete=True) == [PASS] * 4

    @pytest.mark.parametrize("entropy", ["none", "open"])
    def test_passes_when_the_deck_is_made_anew(self, entropy: str) -> None:
        table = FairTable(entropy=entropy)
        rounds: list[UUID] = []
        while not Generation.objects.exists():
            table.open()
            table.merge()
            table.dealt(table.roster(table.seats(0, 1)))
            table.reveal([0, 1], table.play([0, 1], seed=len(rounds)))
            table.merge()
            rounds.append(table.round_id)
            assert len(rounds) < 40, "some round makes its deck anew"
        assert table.bundle()["generations"]
        assert verdicts(table, *rounds, complete=True) == [PASS] * len(rounds)

    def test_opens_cards_of_every_generation_in_a_cold_process(self) -> None:
        table = FairTable(entropy="none")
        while not Generation.objects.exists():
            table.open()
            table.dealt(table.roster(table.seats(0, 1)))
            played = table.play([0, 1], seed=table.index)
            made = {row.gen: (row.n, bytes(row.root)) for row in Generation.objects.all()}
            places = [(gen, 0) for gen in (0, *made)]
            made[0] = (108, bytes.fromhex(table.deal.root))
            told = dealer.openings(table.round_id, places)
            dealer.forget_all()
            assert dealer.openings(table.round_id, places) == told
            for opening in told:
                n, root = made[opening["gen"]]
                assert check_opening(opening, round_=table.round_id.bytes, root=root, n=n)
            table.reveal([0, 1], played)

    def test_is_unfinished_but_sound_while_it_runs(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        table.dealt(table.roster(table.seats(0, 1)))
        table.play([0, 1], entries_max=6)
        table.merge()
        bundle = table.bundle()
        assert bundle["generations"] == []
        [verdict] = verify_bundles([json.dumps(bundle)], trust_read(selectors.trust()))
        assert (verdict.status, verdict.verdict) == (2, "unfinished")

    @pytest.mark.parametrize("slug", ["monko"])
    def test_survives_a_cold_process_between_any_two_calls(self, slug: str) -> None:
        table = FairTable(entropy="open", slug=slug)
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        deal = table.dealt(table.roster(hands))
        told = dealer.openings(table.round_id, [(0, 0), (0, 107), (0, 5)])
        dealer.forget_all()
        assert dealer.openings(table.round_id, [(0, 0), (0, 107), (0, 5)]) == told
        assert [opening["card"] for opening in told] == [deal.deck[0], deal.deck[107], deal.deck[5]]
        dealer.forget_all()
        assert dealer.opening_deck(table.round_id) == deal.deck


class TestVoids:
    @pytest.fixture
    def sealed(self) -> FairTable:
        table = FairTable(entropy="sealed")
        table.open()
        table.merge()
        return table

    def test_passes_when_a_seat_does_not_open(self, sealed: FairTable) -> None:
        hands = sealed.seats(0, 1, 2)
        sealed.close(hands)
        sealed.merge()
        rows = sealed.open_seats([hands[0], hands[2]])
        sealed.void(stage="close", reason="entropy_missing", fault="seat:1", entropies=rows)
        sealed.merge()
        assert verdicts(sealed) == [PASS]

    def test_blames_no_seat_that_opened(self, sealed: FairTable) -> None:
        hands = sealed.seats(0, 1)
        sealed.close(hands)
        sealed.merge()
        rows = sealed.open_seats([hands[0]])
        with pytest.raises(AssertionError, match="not the fault of seat:0"):
            sealed.void(stage="close", reason="entropy_missing", fault="seat:0", entropies=rows)

    def test_passes_when_the_beacon_does_not_come(self) -> None:
        table = FairTable(entropy="open", margin=2)
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        table.now_ms = BEACON_CLOSED_MS
        table.close(hands)
        table.merge()
        table.now_ms = BEACON_MS + 59_000
        table.void(stage="close", reason="beacon_missing", fault="none", entropies=table.roster(hands))
        table.merge()
        assert verdicts(table) == [PASS]

    def test_passes_when_the_operator_stops_a_running_round(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        table.dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1], entries_max=5)
        table.void(
            stage="deck", reason="operator_fault", fault="operator", entries=len(played.entries), head=played.head
        )
        table.merge()
        assert verdicts(table) == [PASS]

    @pytest.mark.parametrize("entropy", ["none", "open", "sealed"])
    def test_passes_when_nothing_was_dealt(self, entropy: str) -> None:
        table = FairTable(entropy=entropy)
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        rows = table.roster(hands) if entropy == "open" else []
        table.void(stage="open", reason="operator_fault", fault="operator", entropies=rows)
        table.merge()
        assert verdicts(table) == [PASS]

    def test_is_only_the_operators_fault_past_the_deadline(self, sealed: FairTable) -> None:
        hands = sealed.seats(0, 1)
        sealed.close(hands)
        sealed.merge()
        rows = sealed.open_seats([hands[0]])
        sealed.now_ms += 60_001
        with pytest.raises(errors.DeadlinePassed):
            sealed.void(stage="close", reason="entropy_missing", fault="seat:1", entropies=rows)
        sealed.void(stage="close", reason="operator_fault", fault="operator", entropies=rows)
        sealed.merge()
        assert verdicts(sealed) == [PASS]

    def test_comes_once(self, sealed: FairTable) -> None:
        sealed.void(stage="open", reason="not_started", fault="none")
        with pytest.raises(errors.RoundStage):
            sealed.void(stage="open", reason="not_started", fault="none")
        assert Record.objects.filter(round_id=sealed.round_id, type="void").count() == 1


class TestRaces:
    def test_a_round_ends_once_however_many_end_it(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        table.dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1])
        ended: list[str] = []
        refused: list[errors.RoundStage] = []

        def end(number: int) -> None:
            try:
                if number % 2:
                    table.reveal([0, 1], played)
                else:
                    table.void(
                        stage="deck",
                        reason="operator_fault",
                        fault="operator",
                        entries=len(played.entries),
                        head=played.head,
                    )
                ended.append("reveal" if number % 2 else "void")
            except errors.RoundStage as problem:
                refused.append(problem)

        in_threads(end, 6)
        assert len(ended) == 1
        assert len(refused) == 5
        assert Record.objects.filter(type__in=("reveal", "void")).values_list("type", flat=True)[0] == ended[0]
        table.merge()
        assert ended == ["void"] or verdicts(table) == [PASS]

    def test_a_round_is_dealt_once_however_many_deal_it(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        roster = table.roster(table.seats(0, 1))
        decks: list[str] = []

        def deal(_: int) -> None:
            try:
                decks.append(table.dealt(roster).deck_hash)
            except errors.RoundStage:
                decks.append("")

        in_threads(deal, 4)
        assert sorted(decks)[:3] == ["", "", ""]
        assert bytes(FairRound.objects.get().deck_hash or b"").hex() == max(decks)


class TestOpening:
    def test_refuses_a_second_running_round(self) -> None:
        table = FairTable()
        table.open()
        with pytest.raises(errors.TableRunning):
            table.open()

    def test_refuses_an_index_that_is_not_the_next(self) -> None:
        table = FairTable()
        table.index = 1
        with pytest.raises(errors.TableRunning):
            table.open()
        assert not FairRound.objects.exists()

    def test_refuses_another_opener_than_the_last_one(self) -> None:
        table = FairTable()
        table.last_opener = 3
        with pytest.raises(AssertionError, match="last_opener"):
            table.open()

    def test_never_uses_a_seed_twice(self) -> None:
        commits = set()
        for _ in range(20):
            table = FairTable()
            commits.add(table.open().seed_commit)
        assert len(commits) == 20

    def test_leaves_nothing_where_its_transaction_is_undone(self) -> None:
        table = FairTable()

        def undone() -> None:
            with transaction.atomic():
                table.open()
                raise LookupError

        with pytest.raises(LookupError):
            undone()
        assert not FairRound.objects.exists()
        table.index = 0
        table.open()


class TestDealing:
    @pytest.fixture
    def table(self) -> FairTable:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        return table

    def test_forgets_what_was_undone(self, table: FairTable) -> None:
        hands = table.seats(0, 1, 2)

        def undone() -> None:
            with transaction.atomic():
                table.dealt(table.roster(hands))
                assert dealer.openings(table.round_id, [(0, 0)])[0]["card"] == table.deal.deck[0]
                raise LookupError

        with pytest.raises(LookupError):
            undone()
        with pytest.raises(errors.RoundUnknown):
            dealer.openings(table.round_id, [(0, 0)])
        deal = table.dealt(table.roster(hands[:2]))
        assert dealer.openings(table.round_id, [(0, 0)])[0]["card"] == deal.deck[0]

    def test_asks_the_database_nothing_on_an_ordinary_move(
        self, table: FairTable, django_assert_num_queries: Callable[[int], Any]
    ) -> None:
        table.dealt(table.roster(table.seats(0, 1)))
        with django_assert_num_queries(0):
            dealer.openings(table.round_id, [(0, 0), (0, 1)])
            chance = dealer.chance(table.round_id)
            chance.uniform("start-colour", 4)

    def test_opens_nothing_before_the_first_draw(
        self, table: FairTable, django_assert_num_queries: Callable[[int], Any]
    ) -> None:
        table.dealt(table.roster(table.seats(0, 1)))
        dealer.forget_all()
        with django_assert_num_queries(0):
            dealer.chance(table.round_id)
        with django_assert_num_queries(1):
            dealer.chance(table.round_id).uniform("start-colour", 4)

    def test_remembers_a_bounded_number_of_rounds(self) -> None:
        schedule = KeySchedule(bytes(32), bytes(16))
        rounds = dealer._Rounds(2)
        first, second, third = (UUID(int=number) for number in range(3))
        rounds.add(first, schedule, ())
        rounds.add(second, schedule, ())
        assert rounds.get(first) is not None
        rounds.add(third, schedule, ())
        assert rounds.get(second) is None, "the one that was not asked for the longest goes"
        assert rounds.get(first) is not None
        rounds.drop(first)
        assert rounds.get(first) is None

    @pytest.mark.parametrize("stream", ["deck", "first-seat", "card-salt"])
    def test_gives_the_rules_no_stream_of_its_own(self, table: FairTable, stream: str) -> None:
        table.dealt(table.roster(table.seats(0, 1)))
        with pytest.raises(AssertionError, match="never draw"):
            dealer.chance(table.round_id).uniform(stream, 4)

    def test_refuses_a_repeated_entropy(self, table: FairTable) -> None:
        hands = table.seats(0, 1, keyless=[0, 1])
        hands[1].entropy = hands[0].entropy
        with pytest.raises(errors.ContributionRepeated):
            table.dealt(table.roster(hands))

    def test_refuses_a_row_whose_signature_is_not_its_seats(self, table: FairTable) -> None:
        hands = table.seats(0, 1)
        hands[0].sig = hands[1].sig
        with pytest.raises(errors.ContributionSignature):
            table.dealt(table.roster(hands))

    def test_refuses_a_second_deal(self, table: FairTable) -> None:
        hands = table.seats(0, 1)
        table.dealt(table.roster(hands))
        with pytest.raises(errors.RoundStage):
            table.dealt(table.roster(hands))

    def test_refuses_past_the_deadline(self, table: FairTable) -> None:
        hands = table.seats(0, 1)
        table.now_ms += 24 * 3_600_000 + 1
        with pytest.raises(errors.DeadlinePassed):
            table.dealt(table.roster(hands))

    @pytest.mark.parametrize("case", ["none", "early", "other"])
    def test_refuses_a_beacon_that_is_not_the_bound_one(self, case: str) -> None:
        table = FairTable(entropy="open", margin=2)
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        table.now_ms = BEACON_CLOSED_MS
        table.close(hands)
        table.now_ms = BEACON_MS - (case == "early")
        signature = {"none": None, "other": bytes(48)}.get(case, BEACON_SIGNATURE)
        with pytest.raises(errors.BeaconInvalid):
            table.dealt(table.roster(hands), beacon=signature)

    def test_refuses_a_wrong_payout_before_it_is_signed(self, table: FairTable) -> None:
        table.dealt(table.roster(table.seats(0, 1)))
        played = table.play([0, 1])
        with pytest.raises(AssertionError, match="payouts"), transaction.atomic():
            services.round_reveal(
                round_id=table.round_id,
                entries=len(played.entries),
                head=played.head,
                outcome=played.outcome,
                payouts=[{"seat": 0, "buy_in": 100, "payout": 95}, {"seat": 1, "buy_in": 100, "payout": 96}],
                fee=10,
                ended_ms=played.ended_ms,
            )
        assert not Record.objects.filter(type="reveal").exists()

    def test_has_one_record_of_each_type(self, table: FairTable) -> None:
        record = Record.objects.get(round_id=table.round_id, type="open")
        again = Record(
            round_id=table.round_id,
            type="open",
            place=0,
            kid=record.kid,
            entry=record.entry,
            record_hash=bytes(32),
            leaf_hash=record.leaf_hash,
            signed_at_ms=0,
        )
        with pytest.raises(IntegrityError):
            again.save()


def test_recorded_beacon_is_that_of_the_vectors() -> None:
    vectors = json.loads((Path(__file__).parent.parent / "vectors" / "vectors.json").read_text())
    [row] = [row for row in vectors["primitives"]["beacon"]["signatures"] if row["time_ms"] == BEACON_MS]
    assert bytes.fromhex(row["signature"]) == BEACON_SIGNATURE
