"""The kit: rings, clocks, draws, grammar, rankings, each by itself on a bare round."""

from __future__ import annotations

from typing import Any

import pytest

from apps.games.contract import Option, RuleError, Seat, Setup, Spec
from apps.games.kit import drawing, ending, grammar, guards, opening, turns, views
from apps.games.kit.cards import CardTable, face, table
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call, Deal, Round, dump_shared, load_shared
from tests.games.table import FixedChance, brief

CARDS = table([("A", 1), ("B", 2), ("C", 3)])
SEATS = (Seat(0), Seat(2), Seat(5))


class Bare(Round):
    """A round with nothing of its own."""

    def copy(self) -> Bare:
        new = object.__new__(Bare)
        self.copy_shared(new)
        return new


def bare(**changes: Any) -> Bare:
    deal = Deal(CARDS, SEATS, {}, Seat(2), None)
    return Bare(**{**opening.dealt_round(deal, (0, 1, 2, 3, 4, 5)), "deadline": 10_000, **changes})


def called(now: int = 0) -> Call:
    return Call(now, FixedChance())


class TestCards:
    def test_codes_count_copies_from_one(self) -> None:
        assert CARDS.codes == ("A#1", "B#1", "B#2", "C#1", "C#2", "C#3")
        assert CARDS.numbers(["C#3", "A#1"]) == (5, 0)
        assert CARDS.texts([5, 0]) == ("C#3", "A#1")
        assert face("B10#2") == "B10"

    def test_a_code_is_unique(self) -> None:
        with pytest.raises(AssertionError):
            CardTable(("A#1", "A#1"))


class TestRings:
    @pytest.mark.parametrize(
        ("seat", "clockwise", "counter"), [(0, 2, 5), (2, 5, 0), (5, 0, 2), (1, 2, 0), (3, 5, 2), (9, 0, 5)]
    )
    def test_after_searches_from_the_place_of_a_seat_that_may_be_gone(
        self, seat: int, clockwise: int, counter: int
    ) -> None:
        assert turns.after(SEATS, Seat(seat)) == clockwise
        assert turns.after(SEATS, Seat(seat), -1) == counter

    def test_after_is_the_seat_itself_when_it_is_alone(self) -> None:
        assert turns.after((Seat(3),), Seat(3)) == turns.after((Seat(3),), Seat(3), -1) == 3

    def test_ring_from(self) -> None:
        assert turns.ring_from(SEATS, Seat(2)) == (2, 5, 0)
        assert turns.ring_from(SEATS, Seat(3)) == (5, 0, 2)
        assert turns.ring_from(SEATS, Seat(0)) == SEATS


class TestClocks:
    def test_a_seat_without_connection_has_five_seconds_at_most(self) -> None:
        s = bare(offline=frozenset({Seat(2)}))
        assert turns.clock(s, Seat(0), 8_000, 100) == 8_100
        assert turns.clock(s, Seat(2), 8_000, 100) == 5_100
        assert turns.clock(s, Seat(2), 3_000, 100) == 3_100

    def test_start_turn_and_fresh_clock(self) -> None:
        s, call = bare(offline=frozenset({Seat(2)}), acted=True), called(50)
        turns.start_turn(s, Seat(2), 8_000, call)
        assert (s.turn, s.seat, s.acted, s.deadline) == (1, 2, False, 5_050)
        turns.start_turn(s, Seat(5), 8_000, call)
        turns.fresh_clock(s, 8_000, call)
        assert brief(call.events) == ["turn_started 2 1 5050", "turn_started 5 2 8050", "clock_changed 5 8050"]

    @pytest.mark.parametrize(
        ("acted", "offline", "counts"), [(0, 0, True), (1, 0, False), (0, 1, False), (1, 1, False)]
    )
    def test_what_a_time_out_counts(self, acted: int, offline: int, counts: bool) -> None:
        s, call = bare(acted=bool(acted), offline=frozenset({Seat(2)}) if offline else frozenset()), called()
        turns.time_out(s, call)
        assert call.events == [{"type": "timed_out", "seat": 2, "counts": counts}]

    def test_wake_lets_things_happen_until_none_is_due(self) -> None:
        def happen(s: Bare, call: Call) -> None:
            call.emit({"type": "ticked", "at": s.deadline})
            s.deadline += 1_000

        before = bare()
        step = turns.wake(before, 12_000, FixedChance(), happen)
        assert [event["at"] for event in step.events] == [10_000, 11_000, 12_000]
        assert (before.deadline, step.state.deadline) == (10_000, 13_000)
        assert turns.wake(before, 9_999, FixedChance(), happen) == (before, (), ())

    def test_a_set_up_clock_is_not_shortened(self) -> None:
        step = turns.connection(bare(), Seat(2), False, 0, shortens=False)
        assert brief(step.events) == ["connection_changed 2 false"]
        assert step.state.deadline == 10_000


class TestDrawing:
    def test_a_draw_over_a_reshuffle_tells_both_parts(self) -> None:
        s, call = bare(deck=(0,), hands={Seat(2): (1,)}), called()
        left = [(2, 3, 4)]
        assert drawing.draw(s, Seat(2), 3, "turn", call, lambda s: left.pop() if left else ()) == (0, 4, 3)
        assert brief(call.events) == ["drew 2 [?] turn", "reshuffled 1 3", "drew 2 [? ?] turn"]
        assert (s.hands[Seat(2)], s.deck, s.gen, s.reshuffles) == ((1, 0, 4, 3), (2,), 1, 1)
        assert s.places == ((0, 0), (0, 1), (1, 2), (1, 1), (1, 0), (0, 5))
        (generation,) = call.generations
        assert (generation.stream, generation.source) == ("reshuffle/0", ("B#2", "C#1", "C#2"))
        assert generation.order == ("C#2", "C#1", "B#2")

    def test_what_cannot_be_drawn_is_forgiven(self) -> None:
        s, call = bare(deck=(0,), hands={Seat(2): ()}), called()
        assert drawing.draw(s, Seat(2), 3, "turn", call, drawing.no_renewal) == (0,)
        assert drawing.draw(s, Seat(2), 3, "turn", call, drawing.no_renewal) == ()
        assert brief(call.events) == ["drew 2 [?] turn"]

    def test_no_reshuffle_before_a_card_is_owed(self) -> None:
        s, call = bare(deck=(0,), hands={Seat(2): ()}), called()
        drawing.draw(s, Seat(2), 1, "turn", call, lambda s: (1, 2))
        assert (s.deck, s.gen) == ((), 0)


VERBS = {
    "do": Verb(
        n=grammar.integer(1, 3),
        optional={"who": grammar.null_or(grammar.seat), "at": grammar.record(card=grammar.card)},
    ),
    "lay": Verb(cards=grammar.rising_cards),
    "say": Verb(word=grammar.one_of("A", "b")),
}


class TestGrammar:
    @pytest.mark.parametrize(
        "action",
        [
            {"type": "do", "n": 1},
            {"type": "do", "n": 3, "who": None, "at": {"card": "A#1"}},
            {"type": "do", "n": 2, "who": 5},
            {"type": "lay", "cards": ["A#1", "C#3"]},
            {"type": "say", "word": "b"},
        ],
    )
    def test_takes(self, action: Any) -> None:
        assert grammar.check(VERBS, action, bare().deal) == action["type"]

    @pytest.mark.parametrize(
        "action",
        [
            None,
            "do",
            [["type", "do"]],
            {},
            {"n": 1},
            {"type": 1},
            {"type": ["do"], "n": 1},
            {"type": "do"},
            {"type": "do", "n": 0},
            {"type": "do", "n": 4},
            {"type": "do", "n": True},
            {"type": "do", "n": 1.0},
            {"type": "do", "n": "1"},
            {"type": "do", "n": 1, "m": 1},
            {"type": "do", "n": 1, "who": 1},
            {"type": "do", "n": 1, "who": False},
            {"type": "do", "n": 1, "who": 0.0},
            {"type": "do", "n": 1, "at": None},
            {"type": "do", "n": 1, "at": {}},
            {"type": "do", "n": 1, "at": {"card": "A#2"}},
            {"type": "do", "n": 1, "at": {"card": "A#1", "x": 1}},
            {"type": "lay", "cards": []},
            {"type": "lay", "cards": "A#1"},
            {"type": "lay", "cards": ["C#3", "A#1"]},
            {"type": "lay", "cards": ["A#1", "A#1"]},
            {"type": "lay", "cards": ["A#1", 5]},
            {"type": "say", "word": "a"},
            {"type": "say", "word": None},
            {"type": "say", "word": ["A"]},
        ],
        ids=str,
    )
    def test_refuses(self, action: Any) -> None:
        with pytest.raises(RuleError, match="bad_action"):
            grammar.check(VERBS, action, bare().deal)


SPEC = Spec(
    "bare",
    "Bare",
    "bare/1",
    2,
    3,
    options=(
        Option("piles", 1, (1, 2), ""),
        Option("quick", True, (True, False), ""),
        Option("t", "a", ("a", "b"), ""),
    ),
)


class TestOpening:
    def test_options_are_filled_in(self) -> None:
        assert opening.options_filled(SPEC, {}) == {"piles": 1, "quick": True, "t": "a"}
        assert opening.options_filled(SPEC, {"t": "b", "piles": 2}) == {"piles": 2, "quick": True, "t": "b"}

    @pytest.mark.parametrize(
        "options",
        [
            {"piles": 3},
            {"piles": True},
            {"piles": "1"},
            {"piles": 1.0},
            {"quick": 1},
            {"quick": None},
            {"t": "c"},
            {"u": 1},
            {1: 1},
            None,
            [],
            "t",
        ],
        ids=str,
    )
    def test_refuses_other_options(self, options: Any) -> None:
        with pytest.raises(RuleError, match="bad_option"):
            opening.options_filled(SPEC, options)

    def test_a_match_game_checks_its_carry_itself(self) -> None:
        setup = Setup(SEATS, CARDS.codes, {}, 0, Seat(2), {"x": 1})
        with pytest.raises(RuleError, match="bad_carry"):
            opening.opened(SPEC, setup, lambda options, seats: CARDS)
        match = Spec("bare", "Bare", "bare/1", 2, 3, match_game=True)
        deal, deck = opening.opened(match, setup, lambda options, seats: CARDS)
        assert (deal.carry, deal.seats, deal.opener, deck) == ({"x": 1}, SEATS, 2, (0, 1, 2, 3, 4, 5))

    def test_the_deal_goes_round_from_the_opener(self) -> None:
        s, call = bare(), called()
        assert opening.deal_out(s, 2, "hand", call) == {0: (2, 5), 2: (0, 3), 5: (1, 4)}
        assert [event["seat"] for event in call.events] == [2, 5, 0]
        assert s.deck == ()


class TestEnding:
    def test_groups_and_ranked(self) -> None:
        scores = {Seat(0): 7, Seat(2): 3, Seat(5): 7}
        assert ending.groups(scores) == ((2,), (0, 5))
        assert ending.ranked((Seat(5),), scores) == ((5,), (2,), (0,))
        assert ending.ranked((Seat(5), Seat(0)), scores) == ((0, 5), (2,))

    def test_leaving_sets_the_hand_aside_behind_what_lies_there(self) -> None:
        s, call = bare(hands={Seat(2): (1, 2)}, aside={Seat(2): (0,)}), called()
        ending.depart(s, Seat(2), "left", call)
        ending.hand_aside(s, Seat(2))
        assert (s.active, s.hands[Seat(2)], s.aside[Seat(2)]) == ((0, 5), (), (0, 1, 2))

    def test_reveal_goes_by_seat_then_zone_and_leaves_out_what_is_empty(self) -> None:
        s, call = bare(), called()
        zones: list[ending.Zone] = [("hand", {Seat(0): (1,), Seat(2): (), Seat(5): (2,)}), ("aside", {Seat(0): (3,)})]
        ending.reveal(s, zones, call)
        assert brief(call.events) == ["revealed 0 hand [B#1]", "revealed 0 aside [C#1]", "revealed 5 hand [B#2]"]


class TestGuards:
    def test_listens(self) -> None:
        s = bare(active=(Seat(0), Seat(2)), offline=frozenset({Seat(0)}))
        assert guards.listens(s, Seat(2), 9_999)
        assert not guards.listens(s, Seat(2), 10_000)
        assert not guards.listens(s, Seat(0), 0)
        assert not guards.listens(s, Seat(5), 0)

    def test_refuse(self) -> None:
        guards.refuse(False, "no")
        with pytest.raises(RuleError, match="no"):
            guards.refuse(True, "no")


class TestViews:
    def test_cards_and_card(self) -> None:
        s = bare()
        assert views.cards(s, (1,), False) == [{"gen": 0, "pos": 1}]
        assert views.cards(s, (1,), True) == [{"gen": 0, "pos": 1, "card": "B#1"}]
        assert views.card(s, None, True) is None
        assert views.card(s, 1, False) == {"gen": 0, "pos": 1}
        assert views.card(s, 1, True) == {"gen": 0, "pos": 1, "card": "B#1"}

    def test_a_set_up_phase_has_no_turn(self) -> None:
        s = bare(active=(Seat(0),))
        rows: dict[Seat, dict[str, Any]] = {seat: {} for seat in SEATS}
        view = views.shared(SPEC, s, None, phase="ab", actors=SEATS, seats=rows, board={}, out=(Seat(2),), turns=False)
        assert (view["turn"], view["deadline"], view["actors"]) == (None, 10_000, [0, 2, 5])
        assert [row["status"] for row in view["seats"]] == ["active", "out", "left"]


def test_the_shared_part_survives_a_dump() -> None:
    s = bare(hands={Seat(2): (1, 2)}, offline=frozenset({Seat(5), Seat(0)}), acted=True, turn=3)
    assert Bare(**load_shared(dump_shared(s), CARDS)) == s


def test_a_copy_is_equal_and_independent() -> None:
    s = bare(hands={Seat(2): (1,)})
    copied = s.copy()
    assert copied == s
    copied.put(Seat(2), ())
    assert s.hands == {2: (1,)}
