"""Monko a second time, written straight from the rule page: slow, without the kit, with card codes and plain loops.

Only for ``test_reference``: two programs that agree event by event and view by view rarely share a slip.  A round is
one object that is changed in place.
"""

from __future__ import annotations

from typing import Any

J = dict[str, Any]


def face(code: str) -> str:
    return code.split("#")[0]


def is_wild(code: str) -> bool:
    return face(code) in ("W", "W4")


def points(code: str) -> int:
    if is_wild(code):
        return 50
    return int(face(code)[1]) if face(code)[1].isdigit() else 20


def stage(window: J) -> int:
    due: int = window["closes_at"] if window["exposed"] else window["exposed_at"]
    return due


class Refused(Exception):
    """The rules say no; the first argument is the code."""


class Reference:
    """One round."""

    def __init__(self, seats: list[int], deck: list[str], opener: int, now: int, chance: Any, order: list[str]) -> None:
        self.order, self.chance, self.now, self.opener = order, chance, now, opener
        self.ring, self.active = list(seats), list(seats)
        self.place = {code: (0, pos) for pos, code in enumerate(deck)}
        self.deck, self.pile = list(deck), list[str]()
        self.hand: dict[int, list[str]] = {seat: [] for seat in seats}
        self.aside: dict[int, list[str]] = {seat: [] for seat in seats}
        self.online = dict.fromkeys(seats, True)
        self.colour, self.direction, self.size, self.plus4 = "", 1, 0, False
        self.pending: list[int] = []
        self.number, self.turn_seat, self.deadline = 0, opener, 0
        self.drawn: str | None = None
        self.acted = False
        self.windows: list[J] = []
        self.opened, self.dry, self.gen, self.reshuffles = 0, 0, 0, 0
        self.outcome: J | None = None
        self.events: list[J] = []
        self.start()

    # Words of the common rules.

    def tell(self, kind: str, **values: Any) -> None:
        self.events.append({"type": kind, **values})

    def h(self, code: str) -> J:
        return {"gen": self.place[code][0], "pos": self.place[code][1]}

    def s(self, code: str) -> J:
        return {**self.h(code), "card": code}

    def next(self, seat: int) -> int:
        place = self.ring.index(seat)
        for steps in range(1, len(self.ring) + 1):
            other = self.ring[(place + steps * self.direction) % len(self.ring)]
            if other in self.active:
                return other
        raise AssertionError

    def from_seat(self, seat: int) -> list[int]:
        place = self.ring.index(seat)
        return self.ring[place:] + self.ring[:place]

    def clock(self, seat: int, ms: int) -> int:
        return self.now + ms if self.online[seat] else self.now + min(ms, 5000)

    def new_generation(self, deck: list[str]) -> None:
        self.gen += 1
        self.deck = list(deck)
        for pos, code in enumerate(deck):
            self.place[code] = (self.gen, pos)

    def draw(self, seat: int, count: int, cause: str, to: list[str]) -> int:
        run: list[str] = []
        came = 0
        while count > 0:
            if not self.deck:
                if len(self.pile) < 2:
                    break
                if run:
                    self.tell("drew", seat=seat, cards=[self.h(code) for code in run], cause=cause)
                    run = []
                source, self.pile = self.pile[:-1], self.pile[-1:]
                self.new_generation(list(self.chance.shuffle(f"reshuffle/{self.reshuffles}", source)))
                self.reshuffles += 1
                self.tell("reshuffled", gen=self.gen, count=len(source))
            code = self.deck.pop(0)
            to.append(code)
            run.append(code)
            count -= 1
            came += 1
        if run:
            self.tell("drew", seat=seat, cards=[self.h(code) for code in run], cause=cause)
        if came:
            self.close(seat, "grew", None)
        return came

    def nothing_left(self) -> bool:
        return not self.deck and len(self.pile) == 1

    # The page.

    def start(self) -> None:
        self.tell(
            "round_started",
            game="monko",
            rules="monko/1",
            seats=self.ring,
            opener=self.opener,
            options={},
            carry=None,
        )
        ring = self.from_seat(self.opener)
        for _ in range(7):
            for seat in ring:
                self.hand[seat].append(self.deck.pop(0))
        for seat in ring:
            self.tell("dealt", seat=seat, zone="hand", cards=[self.h(code) for code in self.hand[seat]])
        returns = 0
        while True:
            code = self.deck.pop(0)
            if face(code) != "W4" or returns == 10:
                break
            shown = self.s(code)
            index = self.chance.uniform(f"start-return/{returns}", len(self.deck) + 1)
            self.new_generation([*self.deck[:index], code, *self.deck[index:]])
            self.tell("start_returned", card=shown, gen=self.gen)
            returns += 1
        self.pile.append(code)
        skip = False
        if is_wild(code):
            self.colour = "RYGB"[self.chance.uniform("start-colour", 4)]
            if face(code) == "W4":
                self.size, self.plus4 = 4, True
        else:
            self.colour = face(code)[0]
            symbol = face(code)[1]
            if symbol == "D":
                self.size = 2
            if symbol == "S" or (symbol == "R" and len(self.ring) == 2):
                skip = True
            elif symbol == "R":
                self.direction = -1
        self.tell("start_flipped", card=self.s(code), colour=self.colour, direction=self.direction, stack=self.size)
        if skip:
            self.tell("skipped", seat=self.opener)
            self.begin(self.next(self.opener))
        else:
            self.begin(self.opener)

    def playable(self, code: str) -> bool:
        if self.size:
            return face(code) == "W4" or (face(code)[1:] == "D" and not self.plus4)
        top = face(self.pile[-1])
        if is_wild(code) or face(code)[0] == self.colour:
            return True
        return not is_wild(top) and face(code)[1] == top[1]

    def begin(self, seat: int) -> None:
        if self.size and not self.hand[seat]:
            self.take(seat)
            return
        if not self.size and self.nothing_left():
            stuck = not any(self.playable(code) for each in self.active for code in self.hand[each])
            if stuck or self.dry >= len(self.active):
                self.end("blocked", self.fewest())
                return
        if self.number == 1000:
            self.end("cap", self.fewest())
            return
        self.number += 1
        self.turn_seat, self.drawn, self.acted = seat, None, False
        self.deadline = self.clock(seat, 14_000 if self.number == 1 else 10_000)
        self.tell("turn_started", seat=seat, turn=self.number, deadline=self.deadline)

    def score(self, seat: int) -> int:
        return sum(points(code) for code in self.hand[seat])

    def fewest(self) -> list[int]:
        least = min(self.score(seat) for seat in self.active)
        return [seat for seat in self.active if self.score(seat) == least]

    def end(self, reason: str, winners: list[int]) -> None:
        for seat in self.ring:
            for zone, cards in (("hand", self.hand[seat]), ("aside", self.aside[seat])):
                if cards:
                    self.tell("revealed", seat=seat, zone=zone, cards=[self.s(code) for code in cards])
        ranking = [sorted(winners)]
        others = [seat for seat in self.active if seat not in winners]
        while others:
            least = min(self.score(seat) for seat in others)
            ranking.append([seat for seat in others if self.score(seat) == least])
            others = [seat for seat in others if self.score(seat) != least]
        self.outcome = {
            "final": True,
            "reason": reason,
            "ranking": ranking,
            "shares": {str(seat): 1 for seat in winners},
            "scores": {str(seat): self.score(seat) for seat in self.active},
            "carry": None,
        }
        self.windows, self.drawn = [], None
        self.tell("round_over", **self.outcome)

    def close(self, seat: int, cause: str, by: int | None) -> None:
        for window in list(self.windows):
            if window["seat"] == seat:
                self.windows.remove(window)
                self.tell("window_closed", seat=seat, window=window["window"], cause=cause, by=by)

    def take(self, seat: int) -> None:
        self.tell("stack_taken", seat=seat, size=self.size)
        self.draw(seat, self.size, "stack", self.hand[seat])
        self.settle(seat)
        self.dry = 0
        if self.outcome is None:
            self.begin(self.next(seat))

    def settle(self, seat: int) -> None:
        self.size, self.plus4 = 0, False
        if seat in self.pending and (self.hand[seat] or seat not in self.active):
            self.pending.remove(seat)
        if self.pending:
            self.end("stack", [self.pending[0]])

    def pass_(self, cause: str, drew: bool) -> None:
        self.tell("passed", seat=self.turn_seat, cause=cause)
        self.dry = self.dry + 1 if self.nothing_left() and not drew else 0
        self.begin(self.next(self.turn_seat))

    # Inputs.

    def due(self) -> int:
        return min([self.deadline, *map(stage, self.windows)])

    def common(self, seat: int, now: int) -> None:
        for fails, code in (
            (self.outcome is not None, "round_over"),
            (now >= self.due(), "clock_due"),
            (seat not in self.active, "not_in_round"),
        ):
            if fails:
                raise Refused(code)
        self.now, self.events = now, []

    def act(self, seat: int, action: J, now: int) -> None:
        """Take an action that is well formed, or refuse it."""
        self.common(seat, now)
        if not self.online[seat]:
            raise Refused("disconnected")
        code = self.refusal(seat, action)
        if code is not None:
            raise Refused(code)
        if seat == self.turn_seat:
            self.acted = True
        verb = action["type"]
        if verb == "play":
            self.play(seat, action)
        elif verb == "draw":
            if self.nothing_left():
                self.pass_("nothing_left", False)
            else:
                self.draw(seat, 1, "turn", self.hand[seat])
                self.drawn = self.hand[seat][-1]
        elif verb == "pass":
            self.pass_("chosen", self.drawn is not None)
        elif verb == "take":
            self.take(seat)
        elif verb == "call":
            self.close(seat, "called", None)
        else:
            owner = next(w["seat"] for w in self.windows if w["window"] == action["window"])
            self.close(owner, "caught", seat)
            self.draw(owner, 2, "penalty", self.hand[owner])

    def refusal(self, seat: int, action: J) -> str | None:
        """Return the code of the first guard of the page that fails."""
        verb, turn = action["type"], seat == self.turn_seat
        if verb in ("call", "catch"):
            window = next((w for w in self.windows if w["window"] == action["window"]), None)
            if window is None:
                return "no_such_window"
            mine = window["seat"] == seat
            if verb == "call":
                return None if mine else "not_your_window"
            return "own_window" if mine else None if window["exposed"] else "not_exposed"
        if not turn:
            return "not_your_turn"
        if verb == "draw":
            return "stack_waiting" if self.size else "already_drew" if self.drawn else None
        if verb == "pass":
            if self.size:
                return "stack_waiting"
            return "must_draw_first" if not self.drawn and not self.nothing_left() else None
        if verb == "take":
            return None if self.size else "no_stack"
        card = action["card"]
        if card not in self.hand[seat]:
            return "card_not_held"
        if self.drawn and card != self.drawn:
            return "only_drawn_card"
        if not self.playable(card):
            return "stack_waiting" if self.size else "no_match"
        if is_wild(card):
            return None if "colour" in action else "colour_needed"
        return "colour_not_allowed" if "colour" in action else None

    def play(self, seat: int, action: J) -> None:
        card = action["card"]
        self.hand[seat].remove(card)
        self.pile.append(card)
        self.colour = action.get("colour") or face(card)[0]
        symbol = "" if is_wild(card) else face(card)[1]
        if symbol == "D":
            self.size += 2
        if face(card) == "W4":
            self.size, self.plus4 = self.size + 4, True
        skip = symbol == "S" or (symbol == "R" and len(self.active) == 2)
        if symbol == "R" and len(self.active) >= 3:
            self.direction = -self.direction
        self.dry = 0
        told = {"colour": self.colour, "direction": self.direction, "stack": self.size}
        self.tell("played", seat=seat, card=self.s(card), **told)
        if not self.hand[seat]:
            self.close(seat, "played", None)
            if symbol != "D" and face(card) != "W4":
                self.end("out", [seat])
                return
            self.pending.append(seat)
            self.tell("claimed", seat=seat)
        if len(self.hand[seat]) == 1:
            self.opened += 1
            times = {"exposed_at": self.now + 3000, "closes_at": self.now + 6000}
            self.windows.append({"window": self.opened, "seat": seat, "exposed": False, **times})
            self.tell("window_opened", seat=seat, window=self.opened, **times)
        following = self.next(seat)
        if skip:
            self.tell("skipped", seat=following)
            following = self.next(following)
        self.begin(following)

    def legal(self, seat: int, now: int) -> list[J]:
        """Return the listed actions: every action of the page's order that no guard refuses."""
        if self.outcome or now >= self.due() or seat not in self.active or not self.online[seat]:
            return []
        offered: list[J] = []
        for card in self.order:
            if is_wild(card):
                offered += [{"type": "play", "card": card, "colour": colour} for colour in "RYGB"]
            else:
                offered.append({"type": "play", "card": card})
        offered += [{"type": "draw"}, {"type": "pass"}, {"type": "take"}]
        for verb in ("call", "catch"):
            offered += [{"type": verb, "window": window["window"]} for window in self.windows]
        return [action for action in offered if self.refusal(seat, action) is None]

    def leave(self, seat: int, reason: str, now: int) -> None:
        self.common(seat, now)
        self.tell("left", seat=seat, reason=reason)
        self.active.remove(seat)
        self.aside[seat], self.hand[seat] = self.hand[seat], []
        if seat in self.pending:
            self.pending.remove(seat)
        if len(self.active) == 1:
            self.end("last_seat", list(self.active))
            return
        self.close(seat, "left", None)
        self.dry = 0
        if seat == self.turn_seat:
            if self.size:
                self.tell("stack_taken", seat=seat, size=self.size)
                self.draw(seat, self.size, "stack", self.aside[seat])
                self.settle(seat)
            if self.outcome is None:
                self.begin(self.next(seat))

    def connection(self, seat: int, connected: bool, now: int) -> None:
        self.common(seat, now)
        if self.online[seat] == connected:
            return
        self.online[seat] = connected
        self.tell("connection_changed", seat=seat, connected=connected)
        if not connected and seat == self.turn_seat and now + 5000 < self.deadline:
            self.deadline = now + 5000
            self.tell("clock_changed", seat=seat, deadline=self.deadline)

    def wake(self, now: int) -> None:
        self.events = []
        if self.outcome is None and now >= self.due():
            self.now = now
        while self.outcome is None and now >= self.due():
            due = self.due()
            window = next((w for w in self.windows if stage(w) == due), None)
            if window is not None and window["exposed"]:
                self.close(window["seat"], "survived", None)
            elif window is not None:
                window["exposed"] = True
                self.tell("exposed", seat=window["seat"], window=window["window"])
            else:
                self.time_out()

    def time_out(self) -> None:
        seat = self.turn_seat
        self.tell("timed_out", seat=seat, counts=self.online[seat] and not self.acted)
        if self.size:
            self.take(seat)
        elif self.drawn:
            self.pass_("clock", True)
        else:
            self.pass_("clock", self.draw(seat, 1, "clock", self.hand[seat]) > 0)

    def view(self, viewer: int | None) -> J:
        over = self.outcome is not None

        def card(code: str, shown: bool) -> J:
            return self.s(code) if shown or over else self.h(code)

        return {
            "game": "monko",
            "rules": "monko/1",
            "phase": "over" if over else "play",
            "viewer": viewer,
            "opener": self.opener,
            "turn": None if over else {"number": self.number, "seat": self.turn_seat},
            "deadline": None if over else self.deadline,
            "actors": [] if over else [self.turn_seat],
            "seats": [
                {
                    "seat": seat,
                    "status": "active" if seat in self.active else "left",
                    "connected": self.online[seat],
                    "hand": [card(code, seat == viewer) for code in self.hand[seat]],
                    "aside": [card(code, False) for code in self.aside[seat]],
                }
                for seat in self.ring
            ],
            "board": {
                "deck_count": len(self.deck),
                "pile": [self.s(code) for code in self.pile],
                "colour": self.colour,
                "direction": self.direction,
                "stack": {"size": self.size, "plus4": self.plus4},
                "drawn": card(self.drawn, viewer == self.turn_seat) if self.drawn else None,
                "pending": list(self.pending),
                "windows": [dict(window) for window in self.windows],
            },
            "outcome": self.outcome,
        }
