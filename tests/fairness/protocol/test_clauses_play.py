"""Transcripts, cards, generations, openings, settlements and replays that are wrong fail with their codes.

Source: docs/fairness/protocol.md, sections 6, 7, 8 and 13.
"""

from __future__ import annotations

import pytest

from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.cases import Build, Case, body, bundle, change, drop, each, entries, ids, plan, put
from tests.fairness.protocol.house import Body, House
from tests.fairness.protocol.scripts import hidden
from tests.fairness.protocol.toy import DECK, Toy

HASH = "11" * 32
ROW = {"gen": 1, "stream": "reshuffle/0", "from": ["R0#1"]}
TOY: Body = {"game": "toy", "options": {"hand": 1}}


def event(number: int, place: int, *path: object, value: object) -> Build:
    """Return how to change a member of an event."""
    return entries(put(number, "events", place, *path, value=value))


def first_swapped(cards: list[str]) -> list[str]:
    """Return cards with the first two exchanged."""
    return [cards[1], cards[0], *cards[2:]]


FORM: list[Case] = [
    ("transcript_form", "an entry with a member too many", entries(put(1, "x", value=1))),
    ("transcript_form", "an entry without input", entries(drop(1, "input"))),
    ("transcript_form", "a sequence number left out", entries(put(2, "seq", value=3))),
    ("transcript_form", "a truth value as sequence number", entries(put(1, "seq", value=True))),
    ("transcript_form", "an earlier time", entries(change(3, "at", by=lambda at: at - 10000))),
    ("transcript_form", "a time that is a text", entries(change(3, "at", by=str))),
    ("transcript_form", "a time before the deal", entries(change(0, "at", by=lambda at: at - 1))),
    ("transcript_form", "a time after the end", body("reveal", change("ended_ms", by=lambda at: at - 901))),
    ("transcript_form", "no start", entries(put(0, "kind", value="wake"))),
    ("transcript_form", "a second start", entries(each(put(1, "kind", value="start"), put(1, "seat", value=None)))),
    ("transcript_form", "an unknown kind", entries(put(1, "kind", value="think"))),
    ("transcript_form", "a start with a seat", entries(put(0, "seat", value=0))),
    ("transcript_form", "a start with an input", entries(put(0, "input", value={"a": 1}))),
    ("transcript_form", "an input that is a list", entries(put(1, "input", value=[]))),
    ("transcript_form", "an act without seat", entries(put(1, "seat", value=None))),
    ("transcript_form", "an act of another seat", entries(put(1, "seat", value=1))),
    ("transcript_form", "an action without type", entries(put(1, "input", value={}))),
    ("transcript_form", "an action with a number as type", entries(put(1, "input", "type", value=1))),
    ("transcript_form", "a leave for another reason", entries(put(6, "input", "reason", value="bored"))),
    ("transcript_form", "a leave for a list of reasons", entries(put(6, "input", "reason", value=[]))),
    ("transcript_form", "a connection that is a number", entries(put(3, "input", "connected", value=1))),
    ("transcript_form", "a wake with a seat", entries(put(4, "seat", value=0))),
    ("transcript_form", "events that are an object", entries(put(1, "events", value={}))),
    ("transcript_form", "an event that is a text", event(1, 0, value="played")),
    ("transcript_form", "an event without type", entries(drop(1, "events", 0, "type"))),
    ("transcript_form", "an event type that is no code", event(1, 0, "type", value="Played")),
    ("transcript_form", "an event of another seat", event(1, 0, "seat", value=1)),
    ("transcript_form", "an event of seat true", event(1, 0, "seat", value=True)),
    ("transcript_form", "a card with a member too many", event(1, 0, "card", "x", value=1)),
    ("transcript_form", "a shown card that is no code", event(1, 0, "card", "card", value="r")),
    ("transcript_form", "a place that is a text", event(1, 0, "card", "pos", value="0")),
    ("transcript_form", "a negative place", event(1, 0, "card", "pos", value=-1)),
    (
        "transcript_form",
        "an event that is a place",
        entries(change(1, "events", 0, by=lambda e: {**e, **hidden(0, 0)})),
    ),
    ("transcript_form", "a false place deep in an event", event(1, 0, "x", value=[[{"gen": 0, "pos": 0, "y": 0}]])),
    ("transcript_head", "another number of entries", body("reveal", change("entries", by=lambda n: n + 1))),
    ("transcript_head", "another head", body("reveal", put("head", value=HASH))),
    ("transcript_head", "an entry altered afterwards", bundle(put("transcript", 1, "input", "x", value=1))),
    ("transcript_head", "an entry left out at the end", bundle(change("transcript", by=lambda rows: rows[:-1]))),
    ("transcript_head", "an event left out afterwards", bundle(drop("transcript", 1, "events", 0))),
    ("start_event", "no events", entries(put(0, "events", value=[]))),
    ("start_event", "another first event", entries(change(0, "events", by=lambda rows: [rows[1], *rows]))),
    ("start_event", "another game", event(0, 0, "game", value="other")),
    ("start_event", "another version", event(0, 0, "rules", value="sample/2")),
    ("start_event", "other options", event(0, 0, "options", value={"a": 1})),
    ("start_event", "other seats", event(0, 0, "seats", value=[0, 2])),
    ("start_event", "another opener", event(0, 0, "opener", value=9)),
    ("start_event", "no entries at all", entries(lambda rows: [])),
]

CARDS: list[Case] = [
    ("generation", "a number left out", event(5, 0, "gen", value=3)),
    ("generation", "a number that is a text", event(5, 0, "gen", value="2")),
    ("generation", "n is missing", entries(drop(5, "events", 0, "n"))),
    ("generation", "root is missing", entries(drop(5, "events", 0, "root"))),
    ("generation", "another root", event(5, 0, "root", value=HASH)),
    ("generation", "another number of cards", event(5, 0, "n", value=3)),
    ("generation", "a row is missing", bundle(drop("generations", 1))),
    ("generation", "a row too many", bundle(change("generations", by=lambda rows: [*rows, ROW]))),
    ("generation", "a row with another number", bundle(put("generations", 1, "gen", value=3))),
    ("generation", "another stream number", bundle(put("generations", 1, "stream", value="reshuffle/1"))),
    ("generation", "a stream of another kind", bundle(put("generations", 1, "stream", value="tremor/0"))),
    ("generation", "a stream without number", bundle(put("generations", 1, "stream", value="reshuffle"))),
    ("generation", "the cards in another order", bundle(change("generations", 1, "from", by=lambda c: c[::-1]))),
    ("generation", "a card twice", bundle(change("generations", 1, "from", by=lambda cards: cards[:1] * 2))),
    ("generation", "no cards", bundle(put("generations", 1, "from", value=[]))),
    (
        "generation",
        "the rest of the deck in another order",
        bundle(change("generations", 0, "from", by=first_swapped)),
    ),
    (
        "generation",
        "a reshuffle while the draw deck has cards",
        entries(change(4, "events", 0, "cards", by=lambda c: c[:-1])),
    ),
    ("generation", "a card shuffled in that nobody saw", event(1, 0, "card", value=hidden(0, 0))),
    ("generation", "a start card goes back that nobody saw", event(0, 4, "card", value=hidden(0, 6))),
    ("generation", "a row while the round runs", bundle(put("generations", value=[ROW]), stop="deck")),
    ("card_place", "a position beyond the deck", event(1, 0, "x", value=hidden(0, 12))),
    ("card_place", "a generation that does not exist yet", event(1, 0, "x", value=hidden(2, 0))),
    ("card_face", "another card", event(1, 0, "card", "card", value="X#1")),
    ("card_face", "another card of a later generation", event(0, 5, "card", "card", value="X#1")),
    (
        "deal_order",
        "a card from below the top",
        event(0, 1, "more", value=hidden(0, 8)),
    ),
    ("deal_order", "a card from a deck that was put away", event(1, 0, "x", value=hidden(0, 7))),
    ("end_event", "no end", entries(change(6, "events", by=lambda rows: rows[:1]))),
    ("end_event", "an end that is not the last event", entries(change(6, "events", by=lambda rows: rows[::-1]))),
    ("end_event", "two ends", entries(change(5, "events", by=lambda rows: [*rows, {"type": "round_over"}]))),
    ("end_event", "another reason", body("reveal", put("outcome", "reason", value="other"))),
    ("end_event", "other shares", body("reveal", put("outcome", "shares", value={"0": 1, "3": 1}))),
    ("end_event", "another ranking", body("reveal", put("outcome", "ranking", value=[[3], [0]]))),
    ("opening", "another card", bundle(put("openings", 0, "card", value="X#1"))),
    ("opening", "another salt", bundle(put("openings", 0, "salt", value=HASH))),
    ("opening", "another position", bundle(put("openings", 0, "pos", value=1))),
    ("opening", "a position beyond the deck", bundle(put("openings", 0, "pos", value=12))),
    ("opening", "a generation that does not exist", bundle(put("openings", 0, "gen", value=3))),
    ("opening", "another generation", bundle(put("openings", 1, "gen", value=2))),
    ("opening", "a path too long", bundle(change("openings", 0, "path", by=lambda path: [*path, path[0]]))),
    ("opening", "a path too short", bundle(change("openings", 0, "path", by=lambda path: path[1:]))),
]

MONEY: list[Case] = [
    ("money", "a row is missing", body("reveal", drop("payouts", 1))),
    ("money", "rows out of order", body("reveal", change("payouts", by=lambda rows: rows[::-1]))),
    ("money", "a row of another seat", body("reveal", put("payouts", 1, "seat", value=1))),
    ("money", "another buy-in", body("reveal", put("payouts", 1, "buy_in", value=999))),
    ("money", "a fee too low", body("reveal", change("fee", by=lambda amount: amount - 1))),
    ("money", "more than the pot", body("reveal", change("payouts", 0, "payout", by=lambda amount: amount + 1))),
    (
        "payout",
        "one unit to another seat",
        body(
            "reveal",
            each(
                change("payouts", 0, "payout", by=lambda amount: amount - 1),
                change("payouts", 1, "payout", by=lambda amount: amount + 1),
            ),
        ),
    ),
    ("payout", "a share of a seat that is not there", plan(shares={"0": 1, "9": 1})),
    ("payout", "nobody has a share", plan(shares={})),
    ("payout", "a ranking with another seat", plan(ranking=[[9]])),
    ("payout", "a ranking with a seat twice", plan(ranking=[[0], [0]])),
    ("payout", "a ranking with a group out of order", plan(ranking=[[3, 0]])),
]

RULES: list[Case] = [
    ("rules", "an event left out", entries(change(0, "events", by=lambda rows: rows[:-1]), **TOY)),
    ("rules", "an event too many", entries(change(0, "events", by=lambda rows: [*rows, {"type": "noted"}]), **TOY)),
    ("rules", "an input the rules refuse", entries(put(1, "input", "x", value=1), **TOY)),
    ("rules", "an action of another seat", entries(lambda rows: put(1, "seat", value=rows[2]["seat"])(rows), **TOY)),
    ("rules", "a truth value for nothing", entries(put(0, "events", 0, "carry", value=False), **TOY)),
    (
        "rules",
        "a wake that nothing came of",
        entries(
            lambda rows: put(1, "kind", value="connection")(rows) or put(1, "input", value={"connected": True})(rows),
            **TOY,
        ),
    ),
    ("rules", "another canonical order", plan(("order", lambda codes: codes[::-1]), **TOY)),
]


def first_code(build: Build) -> str:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust, games={"toy": Toy()})
    return verdict.verdict


@pytest.mark.parametrize(("code", "about", "build"), FORM, ids=ids(FORM))
def test_the_form_of_transcripts(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), CARDS, ids=ids(CARDS))
def test_cards(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), MONEY, ids=ids(MONEY))
def test_settlements(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), RULES, ids=ids(RULES))
def test_replays(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


def test_rules_are_replayed_only_when_asked_for_and_known() -> None:
    house = House()
    value = entries(change(0, "events", by=lambda rows: rows[:-1]), **TOY)(house)
    assert verify_bundles([value], house.trust, games={"toy": Toy()}, rules=False)[0].verdict == "pass"
    (verdict,) = verify_bundles([value], house.trust)
    assert verdict.verdict == "pass"
    assert any("toy" in note for note in verdict.notes)


def test_a_voided_round_is_replayed_as_far_as_it_went() -> None:
    members: Body = {**TOY, "stop": "deck", "void": {"reason": "operator_fault", "fault": "operator"}}
    assert first_code(plan(**members)) == "pass"
    broken = entries(change(1, "events", by=lambda rows: [{"type": "noted"}]), **members)
    assert first_code(broken) == "rules"


def test_a_hand_of_every_card_may_be_dealt() -> None:
    assert first_code(plan(order=DECK, seats=(0, 1, 2, 254), keyed=(254,), shares={"254": 1})) == "pass"
