"""The nine laws of the contract, as checks on any game.

Source: docs/developers/engine-contract.md, section Laws.  The tests of every registered game and ``make simulate`` with
``--laws`` run these.  Law 4 (the same bytes in another process) is checked by comparing ``digest`` between processes;
law 7 (secrecy) needs two rounds at once and stands in ``apps.games.secrecy``.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

from apps.games.chance import Dice
from apps.games.contract import Action, Card, Chance, Event, Game, Outcome, RuleError, Seat, Setup, Step
from apps.games.inputs import Input, apply, error_of

LEGAL_TRIED_MAX = 8
"""How many listed actions are tried per seat and state; of longer lists a random sample."""
WRONG_TRIED = 3
"""How many changed actions are tried per seat and state."""
OTHERS_EVERY = 3
"""One in so many times the actions of a seat are tried whose turn it is not."""
ALL_VIEWS_EVERY = 8
"""In one of so many states every viewer looks, in the others a spectator and one seat."""
PLAIN_EVERY = 4
"""One in so many views and lists of events is written as JSON and read again."""
EXAMPLES_MAX = 64
"""How many seen actions are kept per verb to make changed ones from."""
FROZEN_MAX = 10_000
"""Listed actions kept as bytes."""
LEAVE_ALL_EVERY = 40
"""One in so many states is played on by letting all seats leave."""


class LawBroken(AssertionError):
    """A game broke a law of the contract."""

    def __init__(self, law: int, what: str, **facts: Any) -> None:
        super().__init__(f"law {law}: {what}" + "".join(f"\n  {name} = {value!r}" for name, value in facts.items()))
        self.law = law


_write = json.JSONEncoder(check_circular=False, sort_keys=True, separators=(",", ":")).encode
_read = json.JSONDecoder(parse_float=str).decode


def _text_and_copy(value: Any) -> tuple[str, Any]:
    """Return a plain JSON value as text that does not depend on key order, and as read back from it.

    Raises:
        LawBroken: it is not plain JSON: a key that is no string, a tuple, a fraction.
    """
    text = _write(value)
    copy = _read(text)
    if copy != value:
        raise LawBroken(3, "not plain JSON with string keys", value=value)
    return text, copy


def text_of(value: Any) -> str:
    """Return a plain JSON value as text that does not depend on key order.

    Raises:
        LawBroken: it is not plain JSON: a key that is no string, a tuple, a fraction.
    """
    return _text_and_copy(value)[0]


def frozen(value: Any) -> bytes:
    """Return a plain value as bytes, for comparing it with itself later: many times as quick as text.

    It tells true from 1 and a tuple from a list; two dicts with the same members in another order differ.
    """
    return marshal.dumps(value, 0)  # The first format neither interns nor counts references.


def cards_in(value: Any) -> list[dict[str, Any]]:
    """Return every ``<h>`` and ``<s>`` inside a JSON value."""
    found, todo = [], [value]
    for item in todo:  # It grows on the way: a loop is several times as fast as recursion here.
        kind = type(item)
        if kind is dict:
            if "gen" in item and "pos" in item:
                found.append(item)
            else:
                todo += item.values()
        elif kind is list:
            todo += item
    return found


class Places:
    """The places that events have named, which must come from the top of each generation."""

    def __init__(self, cards: int) -> None:
        self.cards = cards
        self.sizes = {0: cards}
        self.named: dict[int, set[int]] = {0: set()}

    def note(self, events: Sequence[Event]) -> None:
        """Take in the events of one input.

        Raises:
            LawBroken: a place that does not exist, a card object of another form, or a card not from the top.
        """
        for event in events:
            for card in cards_in(event):
                if not set(card) <= {"gen", "pos", "card"} or card["gen"] not in self.named:
                    raise LawBroken(6, "a card is named in another form", event=event)
                self.named[card["gen"]].add(card["pos"])
            if "gen" in event and "pos" not in event:
                if event["gen"] != len(self.named):
                    raise LawBroken(6, "generations are numbered in order", event=event)
                self.named[event["gen"]] = set()
        for gen, named in self.named.items():
            if named and max(named) != len(named) - 1:
                raise LawBroken(6, "cards leave a deck from the top", gen=gen, named=sorted(named))


class Laws:
    """One round, fed input by input, with every law checked that can be checked on the way."""

    def __init__(self, game: Game[Any], setup: Setup, chance: Chance, seed: int = 0) -> None:
        self.game = game
        self.setup = setup
        self.chance = chance
        self.dice = Dice(seed)
        self.inputs: list[Input] = []
        self.events: list[tuple[Event, ...]] = []
        self.examples: dict[str, list[Action]] = {}
        self.frozen: dict[int, tuple[Action, bytes]] = {}
        """Of listed actions by their identity, since games share what they list again and again."""
        self.cards = game.deck(setup.options, len(setup.seats))
        self.places = Places(len(self.cards))
        self.turns_max = game.spec.clocks["turn_cap"]
        step = game.start(setup, chance)
        self.state = step.state
        self.dumped = b""
        self._check_step(step)

    def feed(self, given: Input) -> Any:
        """Apply one input, check the laws, and return the new state.

        Raises:
            RuleError: the rules refuse the input.
            LawBroken: a law does not hold.
        """
        before, dumped = self.state, self.dumped
        step = apply(self.game, before, given, self.chance)
        again = apply(self.game, before, given, self.chance)
        if again.events != step.events or again.state != step.state:
            raise LawBroken(4, "the same input on the same state gives something else", given=given)
        if frozen(self.game.dump(before)) != dumped:
            raise LawBroken(3, "a call changed the state it was given", given=given)
        self.state = step.state
        self.inputs.append(given)
        self._check_step(step)
        return self.state

    def _check_step(self, step: Step[Any]) -> None:
        self.events.append(step.events)
        self.places.note(step.events)
        self._check_plain(list(step.events))
        for event in step.events:
            if event["type"] == "turn_started" and event["turn"] > self.turns_max:
                raise LawBroken(1, "more turns than the cap", event=event)
        made = [event["gen"] for event in step.events if "gen" in event and "pos" not in event]
        if made != [generation.gen for generation in step.generations]:
            raise LawBroken(6, "events and generations disagree", made=made)
        for generation in step.generations:
            if sorted(generation.source) != sorted(generation.order):
                raise LawBroken(6, "a re-ordering lost or made cards", generation=generation)
        self._check_state()
        self._check_views()
        if self.game.outcome(self.state) is None:
            self._check_running()
        else:
            self._check_over(step.events)

    def _check_plain(self, value: Any) -> None:
        if self.dice.below(PLAIN_EVERY) == 0:
            text_of(value)

    def _check_state(self) -> None:
        game, state = self.game, self.state
        dump = game.dump(state)
        text, copy = _text_and_copy(dump)
        self.dumped = frozen(dump)
        if game.load(copy) != state:
            raise LawBroken(3, "load(dump(state)) is not the state", dump=text)
        held = sorted(card for zone in state.zones().values() for card in zone)
        if held != sorted(self.cards):
            raise LawBroken(6, "the zones do not add up to the deck", zones=state.zones())

    def _check_views(self) -> None:
        game, state = self.game, self.state
        over = game.outcome(state) is not None
        seats = self.setup.seats
        if not over and self.dice.below(ALL_VIEWS_EVERY):
            seats = (seats[self.dice.below(len(seats))],)
        for viewer in (None, *seats):
            view = game.view(state, viewer)
            self._check_plain(view)
            if view["viewer"] != viewer or view["actors"] != sorted(game.actors(state)):
                raise LawBroken(7, "the view is of another viewer or other actors", view=view)
            if [row["seat"] for row in view["seats"]] != list(self.setup.seats):
                raise LawBroken(7, "the view lists other seats", view=view)
            if over and any("card" not in card for card in cards_in(view)):
                raise LawBroken(7, "a card is hidden after the end", view=view)
        stranger = Seat(max(self.setup.seats) + 1)
        if _refusal(lambda: game.view(state, stranger)) != "not_in_round":
            raise LawBroken(7, "a seat that was not dealt in may look", seat=stranger)

    def _check_running(self) -> None:
        game, state = self.game, self.state
        due = game.wake_at(state)
        if due is None:
            raise LawBroken(5, "nothing is due while the round runs")
        early = game.wake(state, due - 1, self.chance)
        if early.events or early.generations or early.state != state:
            raise LawBroken(5, "a wake before its time did something", events=early.events)
        woken = game.wake(state, due, self.chance)
        later = game.wake_at(woken.state)
        if not woken.events or (later is not None and later <= due) or woken.state == state:
            raise LawBroken(5, "a wake made no progress", due=due, later=later)
        actors = game.actors(state)
        for seat in self.setup.seats:
            if seat in actors or self.dice.below(OTHERS_EVERY) == 0:
                self._check_legal(seat, due)
        if self.dice.below(LEAVE_ALL_EVERY) == 0:
            self._check_leaving(due - 1)

    def _check_legal(self, seat: Seat, due: int) -> None:
        """Check law 2 for one seat, just before the next thing is due."""
        game, state, now = self.game, self.state, due - 1
        listed = game.legal(state, seat, now)
        known = self._frozen(listed)
        if len(known) != len(listed):
            raise LawBroken(2, "an action is listed twice", seat=seat)
        tried = list(_sample(listed, LEGAL_TRIED_MAX, self.dice))
        self._check_plain(tried)
        before = frozen(tried)
        for action in tried:
            code = error_of(game, state, Input("act", now, seat, action), self.chance)
            if code is not None and code not in game.spec.refusals:
                raise LawBroken(2, "a listed action is refused", seat=seat, action=action, code=code)
            self._remember(action)
        if frozen(tried) != before:
            raise LawBroken(2, "an action was changed by trying it", seat=seat)
        for _ in range(WRONG_TRIED):
            wrong = self._changed_action()
            if wrong is None or frozen(wrong) in known:
                continue
            code = error_of(game, state, Input("act", now, seat, wrong), self.chance)
            if code is None:
                raise LawBroken(2, "an action that is not listed is taken", seat=seat, action=wrong)
        if game.legal(state, seat, due) != ():
            raise LawBroken(2, "actions are listed although something is due", seat=seat)
        for late in ("act", "leave", "connection"):
            if error_of(game, state, Input(late, due, seat, False), self.chance) != "clock_due":
                raise LawBroken(2, "a late input is not refused with clock_due", kind=late)

    def _frozen(self, listed: Sequence[Action]) -> set[bytes]:
        """Return actions as bytes; a list may hold thousands.  That trying one changed it is seen when it is tried."""
        if len(self.frozen) > FROZEN_MAX:
            self.frozen.clear()
        known = set()
        for action in listed:
            kept = self.frozen.get(id(action))
            if kept is None:
                kept = self.frozen[id(action)] = (action, frozen(action))  # Kept alive: no other has its identity.
            known.add(kept[1])
        return known

    def _remember(self, action: Action) -> None:
        kept = self.examples.setdefault(action["type"], [])
        if len(kept) < EXAMPLES_MAX:
            kept.append(action)
        else:
            kept[self.dice.below(EXAMPLES_MAX)] = action

    def _changed_action(self) -> Any:
        """Return an action of some verb with something changed in it, well formed or not."""
        if not self.examples:
            return None
        verbs = sorted(self.examples)
        kept = self.examples[verbs[self.dice.below(len(verbs))]]
        action = marshal.loads(frozen(kept[self.dice.below(len(kept))]))  # noqa: S302 - a copy of our own
        how = self.dice.below(12)
        if how == 0:
            action["extra"] = 1
        elif how == 1 and len(action) > 1:
            del action[sorted(set(action) - {"type"})[0]]
        elif how == 2:
            return [None, [], "play", 1, {}, {"type": None}, {"type": []}, {"type": "nothing"}][self.dice.below(8)]
        elif how > 3:
            _change(action, self.dice, self.cards, self.setup.seats)
        return action

    def _check_leaving(self, now: int) -> None:
        """Let the seats leave one by one from here (law 9)."""
        game, state = self.game, self.state
        while game.outcome(state) is None:
            rows = game.view(state, None)["seats"]
            active = [row["seat"] for row in rows if row["status"] == "active"]
            if len(active) < 2:
                raise LawBroken(9, "the round runs with fewer than two active seats", rows=rows)
            seat = active[self.dice.below(len(active))]
            step = game.leave(state, seat, "left", now, self.chance)
            state = step.state
            if step.events[:1] != ({"type": "left", "seat": seat, "reason": "left"},):
                raise LawBroken(9, "leaving begins with another event", events=step.events)
            outcome = game.outcome(state)
            if len(active) == 2 and outcome is None:
                raise LawBroken(9, "one seat is left and the round goes on", rows=rows)
            if len(active) == 2 and outcome is not None and not any(row["status"] == "out" for row in rows):
                last = next(other for other in active if other != seat)
                if (outcome.reason, dict(outcome.shares), outcome.ranking) != ("last_seat", {last: 1}, ((last,),)):
                    raise LawBroken(9, "the last seat has not won", outcome=outcome)
            after = game.wake_at(state)
            now = now if after is None else min(now, after - 1)

    def _check_over(self, events: Sequence[Event]) -> None:
        game, state = self.game, self.state
        outcome = game.outcome(state)
        assert outcome is not None
        self._check_outcome(outcome, events[-1])
        if game.wake_at(state) is not None or game.actors(state):
            raise LawBroken(8, "something is due, or somebody's turn, after the end")
        now = self.setup.now + 10**9
        woken = game.wake(state, now, self.chance)
        if woken.events or woken.state != state:
            raise LawBroken(8, "a wake after the end did something", events=woken.events)
        for seat in self.setup.seats:
            if game.legal(state, seat, now):
                raise LawBroken(8, "actions are listed after the end", seat=seat)
            for kind, value in (("act", {}), ("act", {"type": "draw"}), ("leave", "left"), ("connection", False)):
                if error_of(game, state, Input(kind, now, seat, value), self.chance) != "round_over":
                    raise LawBroken(8, "an input after the end is not refused with round_over", kind=kind)

    def _check_outcome(self, outcome: Outcome, last: Event) -> None:
        view = self.game.view(self.state, None)
        if {"type": "round_over", **view["outcome"]} != last:
            raise LawBroken(8, "view and round_over disagree", outcome=outcome, last=last)
        ranked = [seat for group in outcome.ranking for seat in group]
        stayed = [row["seat"] for row in view["seats"] if row["status"] != "left"]
        if sorted(ranked) != stayed or sorted(outcome.scores) != stayed:
            raise LawBroken(8, "the ranking does not hold each seat that stayed once", outcome=outcome)
        if any(list(group) != sorted(group) for group in outcome.ranking):
            raise LawBroken(8, "a group of the ranking is not ascending", outcome=outcome)
        if bool(outcome.shares) != outcome.final or not set(outcome.shares) <= set(stayed):
            raise LawBroken(8, "shares are for other seats, or before the end", outcome=outcome)
        if any(weight < 1 for weight in outcome.shares.values()) or (outcome.carry is None) != outcome.final:
            raise LawBroken(8, "a weight below 1, or a carry that does not fit", outcome=outcome)


def _refusal(call: Callable[[], Any]) -> str | None:
    try:
        call()
    except RuleError as error:
        return error.code
    return None


def _sample(actions: Sequence[Action], most: int, dice: Dice) -> Sequence[Action]:
    if len(actions) <= most:
        return actions
    return [actions[dice.below(len(actions))] for _ in range(most)]


def _change(value: Any, dice: Dice, cards: Sequence[Card], seats: Sequence[Seat]) -> None:
    """Put another value in one place of an action: a card, a seat, a number, a value of another type."""
    keys: list[Any] = sorted(value) if isinstance(value, dict) else list(range(len(value)))
    if "type" in keys and len(keys) > 1:
        keys.remove("type")
    key = keys[dice.below(len(keys))]
    old = value[key]
    if isinstance(old, (dict, list)) and old and dice.below(8):
        _change(old, dice, cards, seats)
        return
    if isinstance(old, str) and "#" in old and dice.below(4):
        value[key] = cards[dice.below(len(cards))]
    elif type(old) is int and dice.below(4):
        value[key] = seats[dice.below(len(seats))] if dice.below(2) else old + dice.below(5) - 2
    else:
        value[key] = [None, True, 1, 0, -1, "", "R", "Y", "A", "C", "deck", "flat", [], {}][dice.below(14)]


def digest(events: Iterable[Sequence[Event]]) -> str:
    """Return a digest of the event lists of a round, for comparing processes (law 4)."""
    text = "\n".join(text_of(list(step)) for step in events)
    return sha256(text.encode()).hexdigest()
