"""The cards of a transcript: generations, places, faces, and that every card left the deck from the top.

Protocol: docs/fairness/protocol.md, sections 6 and 7; codes start_event to opening.  Never asks whether a move was
legal: replaying the rules does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.fairness.protocol.cards import CardTree, check_opening
from apps.fairness.protocol.shapes import CARDS_MAX, hex32
from apps.fairness.protocol.streams import CARD_SALT, insert_back
from apps.fairness.protocol.verify.context import Round
from apps.fairness.protocol.verify.transcript_form import Event, Place, Play

RESHUFFLE = "reshuffle"
START_RETURN = "start-return"


@dataclass(slots=True)
class _Generation:
    """One order of the draw deck, as far as the transcript and the seed tell."""

    n: int
    root: str
    order: Sequence[str] | None
    """Top first; None where the seed does not give it."""
    named: set[int] = field(default_factory=set)
    """Positions that an event has named."""
    below: int = 0
    """Greatest named position plus one."""


def play_check(round_: Round, play: Play) -> None:
    """Check what the events say about cards, beginning and end."""
    _start(round_, play)
    table = _Table(round_)
    for number, row in enumerate(play):
        for place, (event, places) in enumerate(row):
            if places:
                table.name(number, place, places)
            if "gen" in event:
                table.make(f"transcript[{number}].events[{place}]", event)
        table.entry_done(number)
    table.rows_done()
    _end(round_, play)
    _openings(round_, table.generations)


def _start(round_: Round, play: Play) -> None:
    deck, opened = round_.record("deck"), round_.open
    if deck is None or (not play and (round_.terminal is None or round_.terminal.type == "void")):
        return
    expected: dict[str, Any] = {
        "type": "round_started",
        "game": opened["game"],
        "rules": opened["rules"],
        "options": opened["options"],
        "seats": round_.seats,
    }
    if not round_.match_game:
        expected["opener"] = deck.body["opener"]
    first = play[0][0][0] if play and play[0] else {}
    for name, value in expected.items():
        if name not in first or not same(first[name], value):
            where = f"transcript[0].events[0].{name}"
            round_.fail("start_event", where, f"the first event does not repeat {name} of the records")


def same(a: Any, b: Any) -> bool:
    """Tell whether two JSON values are equal, numbers and truth values kept apart."""
    if type(a) is not type(b):
        return False
    if type(a) is dict:
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if type(a) is list:
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def _end(round_: Round, play: Play) -> None:
    terminal = round_.terminal
    if terminal is None:
        return
    ends = [
        (number, place)
        for number, row in enumerate(play)
        for place, (event, _) in enumerate(row)
        if event["type"] == "round_over"
    ]
    if terminal.type == "void":
        if ends:
            where = f"transcript[{ends[0][0]}].events[{ends[0][1]}]"
            round_.fail("end_event", where, "the round was over and is voided all the same")
        return
    last = (len(play) - 1, len(play[-1]) - 1) if play else (0, 0)
    where = f"transcript[{last[0]}].events[{last[1]}]"
    if ends != [last]:
        round_.fail("end_event", where, "the last event, and no other, is round_over")
        return
    event, outcome = play[-1][-1][0], terminal.body["outcome"]
    for name in ("reason", "shares", "ranking"):
        if name not in event or not same(event[name], outcome[name]):
            round_.fail("end_event", f"{where}.{name}", f"the {name} of the last event is not the recorded one")


class _Table:
    """The generations of the draw deck while the transcript is followed."""

    def __init__(self, round_: Round) -> None:
        deck = round_.record("deck")
        assert deck is not None, "a transcript belongs to a dealt round"
        tree = round_.trees.get(0)
        first = _Generation(deck.body["n"], deck.body["root"], tree.cards if tree else None)
        self.round = round_
        self.generations = [first]
        self._rows: list[dict[str, Any]] = round_.bundle.value["generations"]
        self._counts = {RESHUFFLE: 0, START_RETURN: 0}
        self._shown: set[str] = set()
        """Cards shown since they were last put into a draw deck."""
        self._touched: set[int] = set()
        self._id = round_.round_bytes

    def name(self, number: int, place: int, places: Sequence[Place]) -> None:
        """Take in the places that an event names."""
        generations = self.generations
        newest = len(generations) - 1
        for gen, pos, card in places:
            if gen > newest or pos >= generations[gen].n:
                self._fail("card_place", number, place, f"position {pos} of generation {gen} does not exist")
                continue
            generation = generations[gen]
            if pos not in generation.named:
                if gen != newest:
                    text = f"a card is dealt from generation {gen}, which is no longer the draw deck"
                    self._fail("deal_order", number, place, text)
                generation.named.add(pos)
                self._touched.add(gen)
                if pos >= generation.below:
                    generation.below = pos + 1
            if card is not None:
                lies = card if generation.order is None else generation.order[pos]
                self._shown.add(lies)
                if lies != card:
                    text = f"{card} is shown at position {pos} of generation {gen}, where {lies} lies"
                    self._fail("card_face", number, place, text)

    def _fail(self, code: str, number: int, place: int, text: str) -> None:
        self.round.fail(code, f"transcript[{number}].events[{place}]", text)

    def entry_done(self, number: int) -> None:
        """Check after an entry that the places named so far are the topmost ones."""
        if not self._touched:
            return
        for gen in self._touched:
            generation = self.generations[gen]
            if len(generation.named) != generation.below:
                missing = next(pos for pos in range(generation.below) if pos not in generation.named)
                text = f"position {generation.below - 1} of generation {gen} is dealt before position {missing}"
                self.round.fail("deal_order", f"transcript[{number}]", text)
        self._touched.clear()

    def make(self, where: str, event: Event) -> None:
        """Take in an event that makes a generation."""
        gen, n, root = event["gen"], event.get("n"), event.get("root")
        if type(gen) is not int or gen != len(self.generations):
            self.round.fail("generation", f"{where}.gen", f"the next generation is {len(self.generations)}")
            return
        if type(n) is not int or not 1 <= n <= CARDS_MAX or not hex32(root):
            self.round.fail("generation", where, "n or root of the new generation is missing or malformed")
            return
        made = _Generation(n, str(root), None)
        if self.round.terminal is not None:
            self._row(where, gen, made)
        self.generations.append(made)

    def _row(self, where: str, gen: int, made: _Generation) -> None:
        """Compare a generation with its row, and work out its order."""
        fail, place = self.round.fail, f"generations[{gen - 1}]"
        row = self._rows[gen - 1] if gen <= len(self._rows) else None
        if row is None or row["gen"] != gen:
            fail("generation", place, f"there is no row for generation {gen}")
            return
        kind, source = row["stream"].partition("/")[0], row["from"]
        if kind not in self._counts:
            fail("generation", f"{place}.stream", "not a stream that makes a generation")
            return
        stream = f"{kind}/{self._counts[kind]}"
        self._counts[kind] += 1
        if row["stream"] != stream:
            fail("generation", f"{place}.stream", f"the next stream of this kind is {stream}")
        if len(source) != made.n or len(set(source)) != len(source):
            fail("generation", f"{place}.from", f"not {made.n} different cards")
            return
        if kind == RESHUFFLE:
            self._reshuffle_check(place, source)
        else:
            self._return_check(place, source)
        self._shown.difference_update(source)
        schedule = self.round.schedule
        if schedule is None:
            return
        chance = schedule.chance().stream(stream)
        made.order = chance.shuffle(source) if kind == RESHUFFLE else insert_back(source, chance.uniform(len(source)))
        tree = CardTree(round_=self._id, gen=gen, cards=made.order, salt_key=schedule.key(CARD_SALT))
        self.round.trees[gen] = tree
        if tree.root.hex() != made.root:
            fail("generation", f"{where}.root", f"these cards and the seed give the root {tree.root.hex()}")

    def _reshuffle_check(self, place: str, source: Sequence[str]) -> None:
        newest = self.generations[-1]
        if len(newest.named) != newest.n:
            left = newest.n - len(newest.named)
            self.round.fail("generation", place, f"a reshuffle while {left} cards are left in the draw deck")
        hidden = [card for card in source if card not in self._shown]
        if hidden:
            self.round.fail("generation", f"{place}.from", f"{hidden[0]} was not shown before it was shuffled in")

    def _return_check(self, place: str, source: Sequence[str]) -> None:
        newest = self.generations[-1]
        back = source[-1]
        if back not in self._shown:
            self.round.fail("generation", f"{place}.from", f"{back} was not shown before it went back")
        if newest.order is None or len(newest.named) != newest.below or not newest.named:
            return
        if list(source[:-1]) != list(newest.order[newest.below :]) or back != newest.order[newest.below - 1]:
            text = "not the rest of the draw deck and the card just shown"
            self.round.fail("generation", f"{place}.from", text)

    def rows_done(self) -> None:
        """Check that no row is left over, and that there is none while the round runs."""
        if self._rows and self.round.terminal is None:
            self.round.fail("generation", "generations", "rows of a round that still runs")
            return
        if len(self._rows) > len(self.generations) - 1:
            made = len(self.generations) - 1
            text = f"{len(self._rows)} rows, but the transcript made {made} generations"
            self.round.fail("generation", "generations", text)


def _openings(round_: Round, generations: Sequence[_Generation]) -> None:
    id_ = round_.round_bytes
    for number, opening in enumerate(round_.bundle.value.get("openings", ())):
        where, gen, pos = f"openings[{number}]", opening["gen"], opening["pos"]
        if gen >= len(generations):
            round_.fail("opening", where, f"there is no generation {gen}")
            continue
        generation, tree = generations[gen], round_.trees.get(gen)
        if tree is not None and pos < generation.n and tree.root.hex() == generation.root:
            # The one opening of this place: no other leads to this root.
            if opening != tree.opening(pos):
                round_.fail("opening", where, "the card, its salt or its path is not the one the seed gives")
            continue
        if not check_opening(opening, round_=id_, root=bytes.fromhex(generation.root), n=generation.n):
            round_.fail("opening", where, "the path does not lead to the committed root")
        elif tree is not None and (opening["card"], opening["salt"]) != (tree.cards[pos], tree.salts[pos].hex()):
            round_.fail("opening", where, "the card or its salt is not the one the seed gives")
