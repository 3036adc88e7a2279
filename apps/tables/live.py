"""A running round in memory, under its lock: the engine's state, and the entries that one transaction will add.

This module joins the pure engine to the transcript.  It decides nothing about the game, moves no money and writes
nothing itself; apps.tables.locks loads it and apps.tables.services.play commits it.

Source: docs/fairness/protocol.md, section 7; docs/games/common.md, X-24 to X-28.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.fairness import dealer
from apps.fairness.protocol import transcript
from apps.games.contract import Action, Game, Outcome, RuleError, Seat, Step
from apps.history.selectors import StoredEntry
from apps.history.services import NewEntry
from apps.tables.desk import Desk

STATES_KEPT = 512
"""Engine states a process keeps, so that a move does not unseal and load the snapshot it wrote itself."""

_states: OrderedDict[tuple[UUID, bytes], Any] = OrderedDict()
_lock = threading.Lock()


def state_kept(round_id: UUID, head: bytes) -> Any | None:
    """Return the engine state after the entry with this chain head, if this process has it."""
    with _lock:
        state = _states.get((round_id, head))
        if state is not None:
            _states.move_to_end((round_id, head))
        return state


def state_keep(round_id: UUID, head: bytes, state: Any) -> None:
    """Keep a committed state; the chain head names it, so a state of another history is never found."""
    with _lock:
        _states[(round_id, head)] = state
        if len(_states) > STATES_KEPT:
            _states.popitem(last=False)


def states_forget() -> None:
    """Forget every state that this process keeps, as a new process has none."""
    with _lock:
        _states.clear()


def places(value: Any) -> Iterator[tuple[int, int, bool]]:
    """Yield (gen, pos, shown) for every card in events or views."""
    if isinstance(value, dict):
        if "gen" in value and "pos" in value:
            yield value["gen"], value["pos"], "card" in value
        else:
            for inner in value.values():
                yield from places(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from places(inner)


@dataclass(slots=True)
class Live:
    """One running round; ``fresh`` are the entries this transaction adds."""

    id: UUID
    table_id: UUID
    operator_id: UUID
    index: int
    slug: str
    game: Game[Any]
    state: Any
    seq: int
    head: bytes
    desk: Desk
    last_at_ms: int
    offset_ms: int
    seats: tuple[int, ...]
    fresh: list[NewEntry] = field(default_factory=list)

    def engine_time(self, now_ms: int) -> int:
        """Turn the database's time into engine time: never backwards, and blind to outages of the service."""
        return max(now_ms - self.offset_ms, self.last_at_ms)

    @property
    def outcome(self) -> Outcome | None:
        """How the round ended; None while it runs."""
        return self.game.outcome(self.state)

    def wake_at_ms(self) -> int | None:
        """Return when something happens by itself next, on the database's clock; None once the round is over."""
        engine = self.game.wake_at(self.state)
        if engine is None:
            return None
        grace = self.desk.wake_at()
        return self.offset_ms + (engine if grace is None else min(engine, grace))

    def append(
        self,
        kind: str,
        seat: Seat | None,
        given: dict[str, Any],
        step: Step[Any],
        at: int,
        *,
        request_key: str | None = None,
        request_sha256: bytes | None = None,
    ) -> NewEntry:
        """Take one step of the engine into the transcript: one entry, one link of the chain."""
        events = [dict(event) for event in step.events]
        for generation in step.generations:
            made = next(e for e in events if e.get("gen") == generation.gen and "pos" not in e)
            made.update(dealer.generation_added(round_id=self.id, generation=generation))
        self.state = step.state
        self.seq += 1
        body = transcript.entry_bytes(
            {"seq": self.seq, "at": at, "kind": kind, "seat": seat, "input": given, "events": events}
        )
        self.head = transcript.head_next(self.head, body)
        self.last_at_ms = at
        self.desk.timeouts_count(events)
        entry = NewEntry(
            seq=self.seq,
            at_ms=at,
            kind=kind,
            seat=seat,
            body=body.decode(),
            head=self.head,
            shown=self._shown(events),
            request_key=request_key,
            request_sha256=request_sha256,
        )
        self.fresh.append(entry)
        return entry

    def stored(self, entry: NewEntry) -> StoredEntry:
        """Return a fresh entry in the form in which it will be read."""
        return StoredEntry(self.id, entry.seq, entry.at_ms, entry.kind, entry.seat, entry.body, entry.head, entry.shown)

    def _shown(self, events: list[dict[str, Any]]) -> dict[str, list[list[int]]]:
        """Return, per seat, the places of this entry's hidden cards whose faces the seat's view shows."""
        hidden = {(gen, pos) for gen, pos, shown in places(events) if not shown}
        if not hidden:
            return {}
        learned: dict[str, list[list[int]]] = {}
        for number in self.seats:
            view = self.game.view(self.state, Seat(number))
            seen = sorted({(g, p) for g, p, shown in places(view) if shown} & hidden)
            if seen:
                learned[str(number)] = [list(place) for place in seen]
        return learned

    def due_happen(self, now: int) -> None:
        """Let everything due by ``now`` (engine time) happen, in the order of X-26."""
        chance = dealer.chance(self.id)
        due = self.game.wake_at(self.state)
        if due is not None and due <= now:
            self.append("wake", None, {}, self.game.wake(self.state, now, chance), now)
        for seat in self.desk.to_remove():
            self.leave(seat, "timeouts", now)
        for seat in self.desk.grace_ended(now):
            self.leave(seat, "connection", now)

    def leave(self, seat: Seat, reason: str, now: int) -> bool:
        """Take a seat out of the round for good; return False if the round no longer holds it."""
        self.desk.lost_at.pop(seat, None)
        self.desk.left.setdefault(seat, reason)
        if self.outcome is not None:
            return False
        try:
            step = self.game.leave(self.state, seat, reason, now, dealer.chance(self.id))
        except RuleError as refusal:
            if refusal.code == "not_in_round":
                return False
            raise
        self.append("leave", seat, {"reason": reason}, step, now)
        return True

    def connection(self, seat: Seat, connected: bool, now: int) -> bool:
        """Tell the engine that a seat's connection changed; return False if nothing came of it."""
        if connected:
            self.desk.lost_at.pop(seat, None)
        try:
            step = self.game.connection(self.state, seat, connected, now)
        except RuleError as refusal:
            if refusal.code in ("not_in_round", "round_over"):
                return False
            raise
        if not step.events:
            return False
        if not connected:
            self.desk.lost_at[seat] = now
        self.append("connection", seat, {"connected": connected}, step, now)
        return True

    def act(
        self, seat: Seat, action: Action, now: int, *, request_key: str | None, request_sha256: bytes | None
    ) -> NewEntry:
        """Apply one action of one seat.

        Raises:
            RuleError: the rules refuse; the transcript and the state are as before.
        """
        chance = dealer.chance(self.id)
        before, back = self.state, None
        if seat in self.desk.lost_at:
            # who acts is back, but only an accepted action says so.
            back = self.game.connection(self.state, seat, True, now)
            before = back.state
        its_turn = seat in self.game.actors(before)
        step = self.game.act(before, seat, action, now, chance)
        if back is not None:
            del self.desk.lost_at[seat]
            self.append("connection", seat, {"connected": True}, back, now)
        if its_turn:
            self.desk.timeouts.pop(seat, None)
        return self.append("act", seat, action, step, now, request_key=request_key, request_sha256=request_sha256)
