"""What a player's client notices: every way in which a server could cheat it on the way, and an honest round."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import pytest

from apps.client.logview import ProofFailed
from apps.client.seat import Contribution, SeatKey, contribute
from apps.client.witness import LastRound, RoundWitness, places
from apps.fairness.protocol import records, transcript
from apps.fairness.protocol.errors import CanonicalError
from tests.client.world import World, messages, vector

Change = Callable[[dict[str, Any]], None]


def bodies(name: str) -> dict[str, dict[str, Any]]:
    """Return the records' bodies of a round of the vectors, to change at will."""
    return {row["type"]: copy.deepcopy(row["body"]) for row in vector(name)["bundle"]["records"]}


def mine(name: str, seat: int) -> Contribution:
    """Return what a keyless seat of a round of the vectors put in."""
    told = bodies(name)
    row = next(row for row in told["deck"]["roster"] if row["seat"] == seat)
    return contribute(
        mode=told["open"]["entropy"],
        round_id=told["open"]["round"],
        open_hash=told["deck"]["open"],
        seat=seat,
        key=None,
        entropy=bytes.fromhex(row["entropy"]) or bytes(32),
    )


def begun(world: World, name: str, *, last: LastRound | None = None) -> RoundWitness:
    """Return a witness of a round that saw its open record."""
    return RoundWitness(world.view(), world.sign("open", bodies(name)["open"]), last=last)


def dealt(world: World, name: str) -> RoundWitness:
    """Return a witness of a round that saw everything up to the deal."""
    witness, told = begun(world, name), bodies(name)
    if "close" in told:
        witness.closed(world.sign("close", told["close"]))
    witness.dealt(world.sign("deck", told["deck"]))
    return witness


def failing(code: str) -> Any:
    """Expect a proof that fails with this code."""
    return pytest.raises(ProofFailed, match=f"^{code}: ")


@pytest.fixture
def world() -> World:
    """Return a log with its keys."""
    return World()


class TestHonestRound:
    @pytest.mark.parametrize(("name", "seat", "payout"), [("none", 1, 0), ("open", 1, 1266), ("sealed", 2, 0)])
    def test_passes_with_everything_that_was_seen(self, world: World, name: str, seat: int, payout: int) -> None:
        bundle = world.bundle(name)
        witness, told = begun(world, name), bodies(name)
        witness.contributed(mine(name, seat))
        if "close" in told:
            witness.closed(world.sign("close", told["close"]))
        witness.dealt(world.sign("deck", told["deck"]))
        for message in messages(name):
            witness.entry(message)
        assert witness.entries == told["reveal"]["entries"]
        assert witness.heads[-1].hex() == told["reveal"]["head"]
        assert witness.openings
        if any(row["cp"] for row in told["deck"]["roster"]):
            # The seats of the vectors quoted checkpoints of another log.
            with failing("fork"):
                witness.ended({**bundle, "records": bundle["records"][1:]})
            return
        report = witness.ended(bundle)
        assert (report.verdict.verdict, report.payout) == ("pass", payout)

    def test_tells_what_the_next_one_has_to_follow(self, world: World) -> None:
        bundle = world.bundle("none")
        witness = dealt(world, "none")
        last = witness.terminal(bundle)
        assert last == LastRound(0, records.record_hash("reveal", bodies("none")["reveal"]).hex())
        assert begun(world, "void", last=last).open.body["index"] == 1


class TestOpen:
    def test_follows_the_round_before(self, world: World) -> None:
        for last in (LastRound(0, "ab" * 32), LastRound(1, bodies("void")["open"]["prev"])):
            with failing("chain"):
                begun(world, "void", last=last)

    @pytest.mark.parametrize(
        ("name", "change", "code"),
        [
            ("none", {"round": "ab" * 16}, "round_id"),
            ("none", {"prev": "ab" * 32}, "prev"),
            ("void", {"prev": ""}, "prev"),
        ],
    )
    def test_is_in_order_by_itself(self, world: World, name: str, change: dict[str, Any], code: str) -> None:
        with failing(code):
            RoundWitness(world.view(), world.sign("open", {**bodies(name)["open"], **change}))


def _row(record: dict[str, Any], seat: int) -> dict[str, Any]:
    row: dict[str, Any] = next(row for row in record["roster"] if row["seat"] == seat)
    return row


class TestClose:
    def test_holds_the_seats_own_row(self, world: World) -> None:
        witness, told = begun(world, "sealed"), bodies("sealed")
        witness.contributed(mine("sealed", 2))
        _row(told["close"], 2)["commit"] = "ab" * 32
        with failing("roster"):
            witness.closed(world.sign("close", told["close"]))

    def test_is_of_this_round_and_the_only_one(self, world: World) -> None:
        witness, told = begun(world, "sealed"), bodies("sealed")
        with failing("link"):
            witness.closed(world.sign("close", {**told["close"], "open": "ab" * 32}))
        witness.closed(world.sign("close", told["close"]))
        with failing("fork"):
            witness.closed(world.sign("close", {**told["close"], "closed_ms": told["close"]["closed_ms"] + 1}))


class TestDeck:
    @pytest.mark.parametrize(
        ("name", "seat", "change", "code"),
        [
            ("open", 1, lambda deck: _row(deck, 1).update(entropy="ab" * 32), "roster"),
            ("open", 1, lambda deck: _row(deck, 1).update(pk="ab" * 32, sig="ab" * 64), "roster"),
            ("sealed", 2, lambda deck: _row(deck, 2).update(entropy="ab" * 32), "roster"),
            ("sealed", 2, lambda deck: _row(deck, 0).update(entropy="ab" * 32), "entropy_opening"),
            ("sealed", 2, lambda deck: deck["roster"].pop(0), "roster"),
            ("sealed", 2, lambda deck: deck.update(close="ab" * 32), "link"),
            ("sealed", 2, lambda deck: deck.update(opener=0), "opener"),
            ("open", 1, lambda deck: deck.update(open="ab" * 32), "link"),
            ("open", 1, lambda deck: deck.update(n=107), "order"),
            ("open", 1, lambda deck: deck.update(order_hash="ab" * 32), "order"),
            ("none", 1, lambda deck: deck["roster"].pop(), "order"),
        ],
    )
    def test_is_refused_where_it_cheats(self, world: World, name: str, seat: int, change: Change, code: str) -> None:
        witness, told = begun(world, name), bodies(name)
        witness.contributed(mine(name, seat))
        if "close" in told:
            witness.closed(world.sign("close", told["close"]))
        change(told["deck"])
        with failing(code):
            witness.dealt(world.sign("deck", told["deck"]))
        assert witness.deck is None

    def test_is_the_only_one(self, world: World) -> None:
        witness = dealt(world, "open")
        told = bodies("open")["deck"]
        witness.dealt(world.sign("deck", told))
        with failing("fork"):
            witness.dealt(world.sign("deck", {**told, "dealt_ms": told["dealt_ms"] + 1}))

    def test_has_the_seats_own_signature(self, world: World) -> None:
        witness, told = begun(world, "open"), bodies("open")
        key = SeatKey.make()
        own = contribute(mode="open", round_id=told["open"]["round"], open_hash=told["deck"]["open"], seat=1, key=key)
        witness.contributed(own)
        row = _row(told["deck"], 1)
        row.update(pk=key.pk, entropy=own.entropy.hex(), cp=None, sig="ab" * 64)
        with failing("roster"):
            witness.dealt(world.sign("deck", told["deck"]))
        row["sig"] = own.ready_body()["sig"]
        witness.dealt(world.sign("deck", told["deck"]))

    def test_may_leave_out_a_seat_that_came_too_late(self, world: World) -> None:
        witness, told = begun(world, "open"), bodies("open")
        witness.contributed(mine("open", 1))
        told["deck"]["roster"] = [row for row in told["deck"]["roster"] if row["seat"] != 1]
        witness.dealt(world.sign("deck", told["deck"]))


class TestEntry:
    def test_waits_for_the_deck_record(self, world: World) -> None:
        with failing("record_set"):
            begun(world, "open").entry(next(messages("open")))

    def test_comes_in_order_with_its_head(self, world: World) -> None:
        first, second, *_ = messages("open")
        witness = dealt(world, "open")
        with failing("transcript_form"):
            witness.entry(second)
        with failing("transcript_head"):
            witness.entry({**first, "head": "ab" * 32})
        witness = dealt(world, "open")
        witness.entry(first)
        with failing("transcript_form"):
            witness.entry(first)

    def test_shows_cards_with_their_openings(self, world: World) -> None:
        changes: tuple[Change, ...] = (
            lambda m: m["openings"].clear(),
            lambda m: m["openings"][0].update(salt="ab" * 32),
            lambda m: m["openings"][0].update(card="R1#1"),
            lambda m: m["openings"][0].update(gen=9),
            lambda m: m["openings"][0].pop("path"),
        )
        for change in changes:
            witness = dealt(world, "open")
            first, second, *_ = messages("open")
            shown = first if first["openings"] else second
            if shown is second:
                witness.entry(first)
            change(shown)
            with failing("opening"):
                witness.entry(shown)

    def test_shows_the_card_that_was_opened(self, world: World) -> None:
        witness = dealt(world, "open")
        head = witness.heads[-1]
        for message in messages("open"):
            shown = [event["card"] for event in message["entry"]["events"] if "card" in str(event.get("card"))]
            if shown and message["openings"]:
                shown[0]["card"] = "R1#1" if shown[0]["card"] != "R1#1" else "R2#1"
                head = transcript.head_next(head, transcript.entry_bytes(message["entry"]))
                with failing("card_face"):
                    witness.entry({**message, "head": head.hex()})
                return
            witness.entry(message)
            head = witness.heads[-1]
        pytest.fail("no card was shown")

    @pytest.mark.parametrize(
        "change",
        [
            lambda m: m.pop("entry"),
            lambda m: m.pop("head"),
            lambda m: m.pop("openings"),
            lambda m: m["entry"].pop("seq"),
            lambda m: m["entry"].update(events=None),
            lambda m: m["entry"]["events"].append(None),
            lambda m: m["entry"]["events"].append({"type": "x", "gen": 1}),
            lambda m: m["entry"]["events"].append({"type": "x", "gen": 1, "n": 2, "root": "zz"}),
            lambda m: m["entry"]["events"].append({"type": "x", "card": {"gen": "0", "pos": []}}),
            lambda m: m["entry"].update(at=1.5),
            lambda m: m.update(openings=[7]),
        ],
    )
    def test_that_is_malformed_fails_like_any_other_cheat(self, world: World, change: Change) -> None:
        witness, first = dealt(world, "none"), next(messages("none"))
        change(first)
        if "entry" in first and "head" in first:
            with contextlib.suppress(CanonicalError):
                head = transcript.head_next(witness.heads[-1], transcript.entry_bytes(first["entry"]))
                first["head"] = head.hex()
        with pytest.raises(ProofFailed):
            witness.entry(first)

    @pytest.mark.parametrize(("pos", "code"), [(107, "deal_order"), (108, "card_place"), (-1, "card_place")])
    def test_deals_from_the_top(self, world: World, pos: int, code: str) -> None:
        witness = dealt(world, "none")
        first = next(messages("none"))
        first["entry"]["events"][1]["cards"][-1]["pos"] = pos
        head = transcript.head_next(witness.heads[-1], transcript.entry_bytes(first["entry"]))
        with failing(code):
            witness.entry({**first, "head": head.hex()})


class TestEnd:
    def test_is_the_story_that_was_seen(self, world: World) -> None:
        bundle = world.bundle("none")
        witness = dealt(world, "none")
        told = list(messages("none"))
        for message in told:
            witness.entry(message)
        other = copy.deepcopy(bundle)
        other["transcript"][-1]["at"] += 1
        with failing("transcript_head"):
            witness.ended(other)
        shorter = copy.deepcopy(bundle)
        shorter["transcript"].pop()
        with failing("transcript_head"):
            witness.ended(shorter)
        another = copy.deepcopy(bundle)
        another["records"][1]["sig"] = "ab" * 64
        with failing("fork"):
            witness.ended(another)

    def test_is_judged_with_the_openings_that_were_given(self, world: World) -> None:
        bundle = world.bundle("none")
        witness = dealt(world, "none")
        for message in messages("none"):
            witness.entry(message)
        place = next(iter(witness.openings))
        witness.openings[place] = {**witness.openings[place], "salt": "ab" * 32}
        assert witness.ended(bundle).verdict.verdict == "opening"


class TestPlaces:
    def test_finds_cards_at_any_depth(self) -> None:
        event = {
            "type": "x",
            "gen": 3,
            "cards": [{"gen": 0, "pos": 1}, {"gen": 0, "pos": 2, "card": "R1#1"}],
            "by": {"0": [{"gen": 1, "pos": 0}]},
        }
        assert list(places(event)) == [(0, 1, None), (0, 2, "R1#1"), (1, 0, None)]
