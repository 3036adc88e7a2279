"""Law 7 of the contract: two deals that differ only in faces a viewer may not know look the same to that viewer.

Source: docs/developers/engine-contract.md, section Laws; docs/games/common.md, X-15.  A recorded round is replayed
beside a twin in which two cards that the viewer never saw have changed places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from apps.games.chance import Dice
from apps.games.contract import Card, Chance, Game, RuleError, Seat, Setup, Step, View
from apps.games.inputs import Input, apply
from apps.games.laws import LawBroken, cards_in


class TwinChance:
    """The same chance, but with two cards of one shuffle's result exchanged."""

    def __init__(self, chance: Chance, stream: str, first: int, second: int) -> None:
        self._chance = chance
        self._stream = stream
        self._swap = (first, second)

    def uniform(self, stream: str, m: int) -> int:
        """Return the number the other chance gives."""
        return self._chance.uniform(stream, m)

    def shuffle(self, stream: str, items: Sequence[Card]) -> tuple[Card, ...]:
        """Return the order the other chance gives, two cards exchanged in the one stream."""
        order = self._chance.shuffle(stream, items)
        return _swapped(order, *self._swap) if stream == self._stream else order


def _swapped(cards: Sequence[Card], first: int, second: int) -> tuple[Card, ...]:
    order = list(cards)
    order[first], order[second] = order[second], order[first]
    return tuple(order)


Discloses = Callable[[View, Input, View], bool]
"""Whether the events of this input may depend on hidden faces, from a spectator's view before and after it."""


def check_secrecy(
    game: Game[Any],
    setup: Setup,
    chance: Chance,
    inputs: Sequence[Input],
    seed: int,
    discloses: Discloses | None = None,
) -> int:
    """Replay a round with two hidden cards exchanged and compare all that one viewer is told (law 7).

    The viewer, how far the round is replayed and the two cards are drawn from ``seed``.

    Args:
        inputs: of a recorded round, all accepted.

    Returns:
        How many inputs were compared; 0 where the viewer knows too much for a twin to exist.

    Raises:
        LawBroken: the viewer can tell the two deals apart.
    """
    dice = Dice(seed)
    viewers: list[Seat | None] = [None, *setup.seats]
    viewer = viewers[dice.below(len(viewers))]
    upto = dice.below(len(inputs)) if inputs else 0
    made, known, told = _knowledge(game, setup, chance, inputs[:upto], viewer)
    gen = dice.below(len(made)) if dice.below(2) else 0
    stream, order = made[gen]
    unknown = [pos for pos, code in enumerate(order) if known.get(code, -1) < gen]
    if len(unknown) < 2 or not (gen == 0 or stream.startswith("reshuffle/")):
        return 0
    first = unknown.pop(dice.below(len(unknown)))
    second = unknown[dice.below(len(unknown))]
    twin_setup, twin_chance = setup, chance
    if gen == 0:
        twin_setup = replace(setup, deck=_swapped(setup.deck, first, second))
    else:
        twin_chance = TwinChance(chance, stream, first, second)
    theirs = game.start(twin_setup, twin_chance)
    for compared, (given, (ours, view)) in enumerate(zip((None, *inputs[:upto]), told, strict=True)):
        if given is not None:
            try:
                theirs = apply(game, theirs.state, given, twin_chance)
            except RuleError:
                return compared
        difference = _difference(game, ours, view, theirs, viewer)
        if difference is not None:
            if given and discloses:
                before, after = [game.view(step.state, None) for step, _ in told[compared - 1 : compared + 1]]
                if discloses(before, given, after):
                    return compared
            facts = {"viewer": viewer, "given": given, "swapped": (gen, first, second), "input": compared}
            raise LawBroken(
                7, f"a hidden card shows in {difference[0]}", **facts, ours=difference[1], theirs=difference[2]
            )
    return len(told)


def _knowledge(
    game: Game[Any], setup: Setup, chance: Chance, inputs: Sequence[Input], viewer: Seat | None
) -> tuple[list[tuple[str, tuple[Card, ...]]], dict[Card, int], list[tuple[Step[Any], View]]]:
    """Replay a round for one viewer.

    Returns:
        Stream and order of every generation; of each card the viewer was shown the last generation it had; and every
        step, from the start on, with the view after it.
    """
    made: list[tuple[str, tuple[Card, ...]]] = [("deck", setup.deck)]
    known: dict[Card, int] = {}
    told: list[tuple[Step[Any], View]] = []
    step = game.start(setup, chance)
    for given in (None, *inputs):
        if given is not None:
            step = apply(game, step.state, given, chance)
        view = game.view(step.state, viewer)
        told.append((step, view))
        made += [(generation.stream, generation.order) for generation in step.generations]
        for card in cards_in([*step.events, view]):
            if "card" in card:
                known[card["card"]] = max(card["gen"], known.get(card["card"], 0))
    return made, known, told


def _difference(
    game: Game[Any], ours: Step[Any], view: View, theirs: Step[Any], viewer: Seat | None
) -> tuple[str, Any, Any] | None:
    """Return where two steps differ for a viewer, and both values; None if nowhere.

    Args:
        view: the viewer's after our step.
    """
    now = game.wake_at(ours.state)
    pairs: list[tuple[str, Any, Any]] = [
        ("events", ours.events, theirs.events),
        ("view", view, game.view(theirs.state, viewer)),
        ("clocks", now, game.wake_at(theirs.state)),
    ]
    if viewer is not None and now is not None:
        pairs.append(("legal", game.legal(ours.state, viewer, now - 1), game.legal(theirs.state, viewer, now - 1)))
    return next((pair for pair in pairs if pair[1] != pair[2]), None)
