"""The dealer: chance, openings and re-ordered decks of running rounds, and the sealing of their state.

Implements docs/fairness/protocol.md, sections 5 and 6, for rounds that are dealt.  What a round's seed gave is kept per
process in a bounded cache, so that an ordinary move asks the database for nothing here; it is entered only from
committed data and dropped when the round ends.  Nothing in this module shows a card to anybody: the caller decides who
is entitled to an opening.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, transaction

from apps.fairness import sealing
from apps.fairness.errors import RoundUnknown
from apps.fairness.models import DeckOrder, FairRound, Generation, Record, RecordType, Stage
from apps.fairness.protocol import beacon as beacon_rules
from apps.fairness.protocol import streams
from apps.fairness.protocol.cards import CardTree
from apps.fairness.signing import body_of
from apps.games import contract

ROUNDS_MAX = 512
"""Rounds whose key schedule and card trees one process keeps; about 40 kB each with a deck of 108 cards."""
RETURN_STREAM = "start-return/"
"""Generations of this stream put one card back; all others shuffle."""
OWN_STREAMS = frozenset((streams.DECK, streams.FIRST_SEAT, streams.CARD_SALT))
"""Streams that the rules of a game never draw from."""

T = TypeVar("T")


class _Dealt:
    """What this process knows of one dealt round."""

    __slots__ = ("schedule", "trees")

    def __init__(self, schedule: streams.KeySchedule) -> None:
        self.schedule = schedule
        self.trees: dict[int, CardTree] = {}


class _Rounds:
    """A bounded cache of dealt rounds, least recently used out first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rounds: OrderedDict[UUID, _Dealt] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, round_id: UUID) -> _Dealt | None:
        """Return what is known of a round."""
        with self._lock:
            known = self._rounds.get(round_id)
            if known is not None:
                self._rounds.move_to_end(round_id)
            return known

    def add(self, round_id: UUID, schedule: streams.KeySchedule, trees: Iterable[CardTree]) -> _Dealt:
        """Enter committed facts of a round."""
        with self._lock:
            known = self._rounds.setdefault(round_id, _Dealt(schedule))
            known.trees.update({tree.gen: tree for tree in trees})
            self._rounds.move_to_end(round_id)
            while len(self._rounds) > self._size:
                self._rounds.popitem(last=False)
            return known

    def drop(self, round_id: UUID) -> None:
        """Forget a round."""
        with self._lock:
            self._rounds.pop(round_id, None)

    def clear(self) -> None:
        """Forget all rounds."""
        with self._lock:
            self._rounds.clear()


_rounds = _Rounds(ROUNDS_MAX)


class _OnCommit:
    """Facts of a transaction that is still open; Django drops the hook, and them, with a roll-back."""

    def __init__(self, round_id: UUID, schedule: streams.KeySchedule, tree: CardTree) -> None:
        self.round_id = round_id
        self.schedule = schedule
        self.tree = tree

    def __call__(self) -> None:
        _rounds.add(self.round_id, self.schedule, [self.tree])


def _uncommitted(round_id: UUID) -> list[_OnCommit]:
    hooks = [row[1] for row in connection.run_on_commit]
    return [hook for hook in hooks if isinstance(hook, _OnCommit) and hook.round_id == round_id]


def remember(round_id: UUID, schedule: streams.KeySchedule, tree: CardTree) -> None:
    """Keep what was just derived for a round, from now in this transaction and for the process once it commits."""
    transaction.on_commit(_OnCommit(round_id, schedule, tree))


def forget(round_id: UUID) -> None:
    """Drop a round that ends, once that is committed."""
    transaction.on_commit(lambda: _rounds.drop(round_id))


def forget_all() -> None:
    """Drop every round: for tests, and for a process that must lose what it knows."""
    _rounds.clear()


def _schedule(round_id: UUID) -> streams.KeySchedule:
    pending = _uncommitted(round_id)
    if pending:
        return pending[0].schedule
    known = _rounds.get(round_id)
    if known is not None:
        return known.schedule
    return _rounds.add(round_id, _load(round_id), ()).schedule


def _load(round_id: UUID) -> streams.KeySchedule:
    """Derive a round's key schedule from its sealed seed and its deck record.

    Raises:
        RoundUnknown: no such round was dealt.
    """
    record = (
        Record.objects.select_related("round")
        .only(
            "entry",
            "round__table_id",
            "round__index",
            "round__seed_commit",
            "round__seed_sealed",
            "round__open_hash",
            "round__close_hash",
            "round__beacon_round",
        )
        .filter(round_id=round_id, type=RecordType.DECK)
        .first()
    )
    if record is None or record.round is None:
        raise RoundUnknown
    round_ = record.round
    body = body_of(bytes(record.entry))
    beacon = b""
    if body["beacon"]:
        assert round_.beacon_round is not None
        beacon = beacon_rules.beacon_bytes(beacon_rules.QUICKNET, round_.beacon_round, bytes.fromhex(body["beacon"]))
    seed = sealing.seed_open(
        bytes(round_.seed_sealed),
        table=round_.table_id.bytes,
        index=round_.index,
        seed_commit=bytes(round_.seed_commit),
    )
    return streams.KeySchedule.derive(
        seed=seed,
        rows=[(row["seat"], bytes.fromhex(row["pk"]), bytes.fromhex(row["entropy"])) for row in body["roster"]],
        round_=round_id.bytes,
        open_hash=bytes(round_.open_hash),
        close_hash=bytes(round_.close_hash or b""),
        beacon=beacon,
    )


class RoundChance:
    """The chance of one dealt round; opens nothing before the first draw.

    Implements ``apps.games.contract.Chance``.
    """

    __slots__ = ("_round_id", "_streams")

    def __init__(self, round_id: UUID) -> None:
        self._round_id = round_id
        self._streams: streams.StreamChance | None = None

    def _open(self, stream: str) -> streams.StreamChance:
        assert stream not in OWN_STREAMS, f"the rules never draw from {stream}"
        if self._streams is None:
            self._streams = _schedule(self._round_id).chance()
        return self._streams

    def uniform(self, stream: str, m: int) -> int:
        """Return an integer in [0, m), 1 <= m <= 65536."""
        return self._open(stream).uniform(stream, m)

    def shuffle(self, stream: str, items: Sequence[T]) -> tuple[T, ...]:
        """Return the items in the order the stream gives; index 0 is the top."""
        return self._open(stream).shuffle(stream, items)


def chance(round_id: UUID) -> RoundChance:
    """Return the chance of a round in play; one for each call into the rules.

    Each stream name is drawn from once in a round, so every new one begins at its beginning.
    """
    return RoundChance(round_id)


def generation_added(round_id: UUID, generation: contract.Generation) -> dict[str, Any]:
    """Store a re-ordering that the rules made and return what its event says of it.

    Returns:
        ``n``, the number of cards, and ``root``, the commitment to their order, as hex.

    Source: docs/fairness/protocol.md, sections 6 and 7.
    """
    assert connection.in_atomic_block, "a generation is stored in the caller's transaction"
    schedule = _schedule(round_id)
    order = _reordered(schedule, generation.stream, generation.source)
    assert order == tuple(generation.order), "the rules draw as the protocol says"
    tree = _tree(round_id, schedule, generation.gen, order)
    Generation.objects.create(
        round_id=round_id,
        gen=generation.gen,
        stream=generation.stream,
        n=len(order),
        root=tree.root,
        source_sealed=sealing.cards_seal(tuple(generation.source), round_id=round_id, gen=generation.gen),
    )
    remember(round_id, schedule, tree)
    return {"n": len(order), "root": tree.root.hex()}


def openings(round_id: UUID, places: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the openings of places, in their order; for those who are entitled to see these cards, and nobody else.

    Args:
        places: generation and position of each.

    Raises:
        RoundUnknown: no such round was dealt.
        CardError: there is no such place.

    Source: docs/fairness/protocol.md, section 6.
    """
    found: dict[int, CardTree] = {hook.tree.gen: hook.tree for hook in _uncommitted(round_id)}
    result = []
    for gen, pos in places:
        tree = found.get(gen)
        if tree is None:
            tree = found[gen] = _committed_tree(round_id, gen)
        result.append(tree.opening(pos))
    return result


def opening_deck(round_id: UUID) -> tuple[str, ...]:
    """Return the shuffled opening deck of a dealt round, to re-execute it inside the server; never for anybody's eyes.

    Raises:
        RoundUnknown: no such round was dealt.
    """
    hook = next((hook for hook in _uncommitted(round_id) if hook.tree.gen == 0), None)
    tree = hook.tree if hook is not None else _committed_tree(round_id, 0)
    return tree.cards


def decks_revealed(round_id: UUID) -> list[tuple[str, ...]]:
    """Return the opening deck of a round that has ended and every re-ordered one, top first, by generation.

    Nothing is kept of it: the cache is for rounds in play.

    Raises:
        RoundUnknown: no such round was dealt.
    """
    round_ = FairRound.objects.only("stage", "order_hash").filter(pk=round_id).first()
    if round_ is None:
        raise RoundUnknown
    assert round_.stage == Stage.ENDED, "a deck is secret while its round runs"
    schedule = _load(round_id)
    codes = DeckOrder.objects.values_list("codes", flat=True).get(pk=round_.order_hash)
    decks: list[tuple[str, ...]] = [schedule.chance().shuffle(streams.DECK, codes)]
    for row in Generation.objects.only("gen", "stream", "source_sealed").filter(round_id=round_id).order_by("gen"):
        source = sealing.cards_open(bytes(row.source_sealed), round_id=round_id, gen=row.gen)
        decks.append(_reordered(schedule, row.stream, source))
    return decks


def _committed_tree(round_id: UUID, gen: int) -> CardTree:
    known = _rounds.get(round_id)
    if known is not None and gen in known.trees:
        return known.trees[gen]
    schedule = _schedule(round_id)
    if gen == 0:
        digest = FairRound.objects.values_list("order_hash", flat=True).get(pk=round_id)
        codes = DeckOrder.objects.values_list("codes", flat=True).get(pk=digest)
        order = schedule.chance().shuffle(streams.DECK, codes)
    else:
        row = Generation.objects.only("stream", "source_sealed").get(round_id=round_id, gen=gen)
        source = sealing.cards_open(bytes(row.source_sealed), round_id=round_id, gen=gen)
        order = _reordered(schedule, row.stream, source)
    tree = _tree(round_id, schedule, gen, order)
    _rounds.add(round_id, schedule, [tree])
    return tree


def _tree(round_id: UUID, schedule: streams.KeySchedule, gen: int, order: Sequence[str]) -> CardTree:
    return CardTree(round_=round_id.bytes, gen=gen, cards=order, salt_key=schedule.key(streams.CARD_SALT))


def _reordered(schedule: streams.KeySchedule, stream: str, source: Sequence[str]) -> tuple[str, ...]:
    drawn = schedule.chance()
    return drawn.insert_back(stream, source) if stream.startswith(RETURN_STREAM) else drawn.shuffle(stream, source)


def state_seal(round_id: UUID, seq: int, data: bytes) -> bytes:
    """Seal a state snapshot for storage: it holds hidden cards.

    Args:
        seq: the sequence number of the entry that led to it; it opens with this one only.

    Raises:
        KeysUnavailable: this process has no key to seal with.
    """
    return sealing.state_seal(data, round_id=round_id, seq=seq)


def state_open(round_id: UUID, seq: int, sealed: bytes) -> bytes:
    """Open a state snapshot.

    Raises:
        KeysUnavailable: this process does not have the key the snapshot names.
        SealBroken: it was altered, or is of another round or sequence number.
    """
    return sealing.state_open(sealed, round_id=round_id, seq=seq)
