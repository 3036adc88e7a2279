"""What a player's client checks of a round while it is played, and keeps to show later.

Protocol: docs/fairness/protocol.md, section 14, column "player's client".  It trusts nothing that it can work out, and
believes a finished round only if everything it saw on the way is in the bundle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.client.logview import LogView, ProofFailed
from apps.client.seat import Contribution
from apps.fairness.protocol import cards, contributions, transcript
from apps.fairness.protocol.errors import ProtocolError
from apps.fairness.protocol.records import Signed, round_id
from apps.fairness.protocol.verdict import Verdict
from apps.fairness.protocol.verify import Settings, verify_bundles
from apps.fairness.protocol.verify.replay import is_match_game


@dataclass(frozen=True, slots=True)
class LastRound:
    """The round before this one at the table, as the client saw it end."""

    index: int
    terminal_hash: str


@dataclass(frozen=True, slots=True)
class Generation:
    """How many cards a generation has, and what binds them."""

    n: int
    root: bytes


@dataclass(frozen=True, slots=True)
class Report:
    """The end of a round: the verifier's verdict, and what the caller's seat got."""

    verdict: Verdict
    payout: int | None
    """Minor units; None for a spectator, or where nothing was paid out."""


class RoundWitness:
    """Watches one round from its open record to its bundle."""

    def __init__(self, log: LogView, opened: Mapping[str, Any], *, last: LastRound | None = None) -> None:
        """Begin with the round's open record.

        Args:
            last: the round before, if the client saw it.

        Raises:
            ProofFailed: the record is not signed, or does not follow the round before.
        """
        self._log = log
        self.open = log.record_check(opened, "open")
        self.close: Signed | None = None
        self.deck: Signed | None = None
        self.contribution: Contribution | None = None
        self.openings: dict[tuple[int, int], dict[str, Any]] = {}
        self.heads: list[bytes] = []
        """Head of the transcript before the first entry, and after each."""
        self._generations: dict[int, Generation] = {}
        self._named: dict[int, set[int]] = {}
        body = self.open.body
        if body["round"] != round_id(bytes.fromhex(body["table"]), body["index"]).hex():
            raise ProofFailed("round_id", "the round's id is not that of its table and index")
        if (body["index"] == 0) != (body["prev"] == ""):
            raise ProofFailed("prev", "only the first round of a table follows nothing")
        if last is not None and (body["index"], body["prev"]) != (last.index + 1, last.terminal_hash):
            raise ProofFailed("chain", "the round does not follow the one before")

    @property
    def round_id(self) -> str:
        """Return the round's id, hex."""
        return str(self.open.body["round"])

    @property
    def entries(self) -> int:
        """Return how many entries were seen."""
        return max(len(self.heads) - 1, 0)

    def contributed(self, contribution: Contribution) -> None:
        """Remember what the seat put in, to look for it later."""
        assert contribution.round_id == self.round_id, "a contribution to another round"
        assert contribution.open_hash == self.open.hash_hex, "a contribution to another open record"
        self.contribution = contribution

    def closed(self, record: Mapping[str, Any]) -> Signed:
        """Check the close record, before the seat opens its commitment.

        Raises:
            ProofFailed: it is another round's, or the seat's own row is missing or changed.
        """
        close = self._log.record_check(record, "close")
        self._belongs(close, "open", self.open)
        own = self._own_row(close)
        mine = self.contribution
        if own is not None and mine is not None:
            expected = {"pk": mine.pk, "commit": mine.commit if mine.mode != "none" else ""}
            if any(own[name] != value for name, value in expected.items()):
                raise ProofFailed("roster", "the close record has another contribution of this seat")
        self._same_as(self.close, close)
        self.close = close
        return close

    def dealt(self, record: Mapping[str, Any]) -> Signed:
        """Check the deck record, before a card is shown.

        Raises:
            ProofFailed: it is another round's, changes the seat's own row or another seat's opening, or deals from
                another deck than the open record binds.
        """
        deck = self._log.record_check(record, "deck")
        self._belongs(deck, "open", self.open)
        if self.close is not None and deck.body["close"] != self.close.hash_hex:
            raise ProofFailed("link", "the deck record follows another close record")
        self._row_check(deck)
        self._rows_open(deck)
        self._deck_check(deck)
        self._same_as(self.deck, deck)
        self.deck = deck
        self.heads = self.heads or [transcript.head_first(deck.hash)]
        self._generations[0] = Generation(deck.body["n"], bytes.fromhex(deck.body["root"]))
        return deck

    def entry(self, message: Mapping[str, Any]) -> None:
        """Check the next entry of the stream: its place, its head, what it shows, and that it deals from the top.

        Raises:
            ProofFailed: something does not hold.
        """
        if self.deck is None:
            raise ProofFailed("record_set", "an entry came before the deck record")
        try:
            self._entry(message)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise ProofFailed("transcript_form", f"an entry is malformed: {problem!r}") from problem

    def _entry(self, message: Mapping[str, Any]) -> None:
        entry = message["entry"]
        if entry["seq"] != self.entries or message["seq"] != entry["seq"]:
            raise ProofFailed("transcript_form", f"entry {entry['seq']} came where {self.entries} belongs")
        try:
            head = transcript.head_next(self.heads[-1], transcript.entry_bytes(entry))
        except ProtocolError as problem:
            raise ProofFailed("transcript_form", problem.detail) from problem
        if head.hex() != message["head"]:
            raise ProofFailed("transcript_head", f"the head after entry {entry['seq']} is not that of the entries")
        for event in entry["events"]:
            self._event(event)
        for gen, named in self._named.items():
            if named != set(range(len(named))):
                raise ProofFailed("deal_order", f"a card of generation {gen} did not come from the top")
        self.heads.append(head)
        for opening in message["openings"]:
            self.opening(opening)
        self._shown_are_open(entry["events"])

    def opening(self, opening: Mapping[str, Any]) -> None:
        """Check and keep the opening of a card.

        Raises:
            ProofFailed: it does not lead to the root of its generation, or another card was opened at its place.
        """
        one = dict(opening)
        if not cards.is_opening(one):
            raise ProofFailed("opening", "an opening is malformed")
        place = (one["gen"], one["pos"])
        generation = self._generations.get(one["gen"])
        if generation is None or not cards.check_opening(
            one, round_=bytes.fromhex(self.round_id), root=generation.root, n=generation.n
        ):
            raise ProofFailed("opening", f"the card at {place} is not the one that was committed")
        self.openings[place] = one

    def ended(self, bundle: Mapping[str, Any]) -> Report:
        """Verify the finished round, with everything that was seen on the way.

        Raises:
            ProofFailed: the bundle tells another story than the one that was seen.
        """
        whole = {**bundle, "openings": [self.openings[place] for place in sorted(self.openings)]}
        if not whole["openings"]:
            del whole["openings"]
        verdict = verify_bundles([whole], trust=self._log.trust)[0]
        listed = list(bundle["records"])
        for seen in (self.open, self.close, self.deck):
            if seen is not None and not any(_is_same(seen, record) for record in listed):
                raise ProofFailed("fork", f"the {seen.type} record that was shown is not in the bundle")
        heads = self._bundle_heads(bundle)
        if heads[: len(self.heads)] != self.heads:
            raise ProofFailed("transcript_head", "the transcript is not the one that was shown")
        return Report(verdict, self._payout(listed))

    def terminal(self, bundle: Mapping[str, Any]) -> LastRound:
        """Return what the next round of the table has to follow."""
        record = self._log.record_check(bundle["records"][-1], bundle["records"][-1]["type"])
        return LastRound(self.open.body["index"], record.hash_hex)

    def _bundle_heads(self, bundle: Mapping[str, Any]) -> list[bytes]:
        if self.deck is None:
            return []
        return list(transcript.heads(self.deck.hash, map(transcript.entry_bytes, bundle["transcript"])))

    def _payout(self, listed: list[Any]) -> int | None:
        last = listed[-1]
        if self.contribution is None or last["type"] != "reveal":
            return None
        rows = last["body"]["payouts"]
        return next((int(row["payout"]) for row in rows if row["seat"] == self.contribution.seat), None)

    def _belongs(self, record: Signed, name: str, before: Signed) -> None:
        if record.body["round"] != self.round_id or record.body[name] != before.hash_hex:
            raise ProofFailed("link", f"the {record.type} record belongs to another round")

    @staticmethod
    def _same_as(seen: Signed | None, record: Signed) -> None:
        if seen is not None and seen != record:
            raise ProofFailed("fork", f"two different {record.type} records are signed for one round")

    def _own_row(self, record: Signed) -> dict[str, Any] | None:
        if self.contribution is None:
            return None
        seat = self.contribution.seat
        return next((row for row in record.body["roster"] if row["seat"] == seat), None)

    def _row_check(self, deck: Signed) -> None:
        mine, own = self.contribution, self._own_row(deck)
        if mine is None or own is None or mine.mode == "none":
            return  # A seat that got ready too late is not dealt in, and has lost nothing.
        if (own["pk"], own["entropy"]) != (mine.pk, mine.entropy.hex()):
            raise ProofFailed("roster", "the deck record has another contribution of this seat")
        if mine.mode == "open" and mine.key and (own["cp"], own["sig"]) != (mine.cp, mine.ready_body()["sig"]):
            raise ProofFailed("roster", "the deck record has another signature of this seat")

    def _rows_open(self, deck: Signed) -> None:
        if self.close is None or self.open.body["entropy"] != "sealed":
            return
        commits = {row["seat"]: row for row in self.close.body["roster"]}
        for row in deck.body["roster"]:
            closed = commits.get(row["seat"])
            made = contributions.commitment(
                round_=bytes.fromhex(self.round_id),
                open_hash=self.open.hash,
                seat=row["seat"],
                public_key=bytes.fromhex(row["pk"]),
                entropy=bytes.fromhex(row["entropy"]),
            )
            if closed is None or closed["pk"] != row["pk"] or closed["commit"] != made.hex():
                raise ProofFailed(
                    "entropy_opening", f"the entropy of seat {row['seat']} is not the one it committed to"
                )
        if len(commits) != len(deck.body["roster"]):
            raise ProofFailed("roster", "a seat of the close record is missing in the deck record")

    def _deck_check(self, deck: Signed) -> None:
        body, seats = deck.body, [row["seat"] for row in deck.body["roster"]]
        bound = [row for row in self.open.body["decks"] if row["seats_min"] <= len(seats) <= row["seats_max"]]
        if not bound or (bound[0]["n"], bound[0]["order_hash"]) != (body["n"], body["order_hash"]):
            raise ProofFailed("order", "the deck is not the one that the open record binds for so many seats")
        last = self.open.body["last_opener"]
        if last is not None and not is_match_game(Settings(), self.open.body["game"]):
            following = next((seat for seat in seats if seat > last), seats[0])
            if body["opener"] != following:
                raise ProofFailed("opener", f"seat {following} opens this round")

    def _event(self, event: Mapping[str, Any]) -> None:
        if "gen" in event and "pos" not in event:
            self._generations[event["gen"]] = Generation(event["n"], bytes.fromhex(event["root"]))
        for gen, pos, _card in places(event):
            generation = self._generations.get(gen)
            if generation is None or not 0 <= pos < generation.n:
                raise ProofFailed("card_place", f"there is no place {pos} in generation {gen}")
            self._named.setdefault(gen, set()).add(pos)

    def _shown_are_open(self, events: list[dict[str, Any]]) -> None:
        for gen, pos, card in places(events):
            opened = self.openings.get((gen, pos))
            if card is None:
                continue
            if opened is None:
                raise ProofFailed("opening", f"the card at {gen}/{pos} was shown without its opening")
            if opened["card"] != card:
                raise ProofFailed("card_face", f"the card at {gen}/{pos} was shown as {card}")


def places(value: Any) -> Iterator[tuple[int, int, str | None]]:
    """Give the places that an event names, with the card where it is shown."""
    if isinstance(value, Mapping):
        if "gen" in value and "pos" in value:
            yield value["gen"], value["pos"], value.get("card")
            return
        for inner in value.values():
            yield from places(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from places(inner)


def _is_same(seen: Signed, record: Mapping[str, Any]) -> bool:
    return (record["type"], record["body"], record["kid"], record["sig"]) == (seen.type, seen.body, seen.kid, seen.sig)
