"""A game needs four places and no more: a package, a line in the registry, a page, a folder of tests.

Source: docs/developers/engine-contract.md, section Adding a sixth game.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.games import bots, registry, simulate
from tests.games import test_laws

ROOT = Path(__file__).parents[2]


def missing(slug: str, root: Path = ROOT) -> list[str]:
    """Return which of the four places of a game are missing."""
    package = Path(*registry.GAMES[slug].split(".")) if slug in registry.GAMES else Path("apps", "games", slug)
    places = {
        "the package": package / "__init__.py",
        "the page": Path("docs", "games", f"{slug}.md"),
        "the tests": Path("tests", "games", slug, "__init__.py"),
    }
    gone = [name for name, path in places.items() if not (root / path).is_file()]
    return gone if slug in registry.GAMES else ["the line in the registry", *gone]


@pytest.mark.parametrize("slug", registry.slugs())
def test_every_registered_game_has_its_four_places(slug: str) -> None:
    assert missing(slug) == []
    assert any((ROOT / "tests" / "games" / slug).glob("test_*.py"))


def test_every_package_page_and_test_folder_belongs_to_a_registered_game() -> None:
    packages = {path.parent.name for path in (ROOT / "apps" / "games").glob("*/game.py")}
    folders = {path.parent.name for path in (ROOT / "tests" / "games").glob("*/__init__.py")} - {"kit"}
    pages = {path.stem for path in (ROOT / "docs" / "games").glob("*.md")} - {"README", "common"}
    assert packages == folders == pages == set(registry.slugs())


@pytest.mark.parametrize("slug", registry.slugs())
def test_a_game_says_what_it_is_called(slug: str) -> None:
    spec = registry.game(slug).spec
    assert spec.slug == slug
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,31}", slug)
    assert re.fullmatch(rf"{slug}/[1-9]\d*", spec.rules)
    assert 2 <= spec.seats_min <= spec.seats_max
    assert "turn_cap" in spec.clocks
    for option in spec.options:
        assert option.default in option.allowed
        assert {type(value) for value in option.allowed} == {type(option.default)}


@pytest.mark.parametrize("slug", registry.slugs())
def test_a_stored_round_finds_the_rules_it_was_played_with(slug: str) -> None:
    game = registry.game(slug)
    assert registry.by_rules(game.spec.rules) is game
    for unknown in (f"{slug}/0", slug, "chess/1", ""):
        with pytest.raises(KeyError):
            registry.by_rules(unknown)


def test_an_older_version_stays_retrievable(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.OLDER, "monko/0", "toygames.toy")
    assert registry.by_rules("monko/0").spec.title == "Toy"
    registry.by_rules.cache_clear()


TOY = '''
"""Toy: each seat has three cards; in turn lay one; who is out first wins.  For the test of the registry."""

from dataclasses import dataclass

from apps.games.contract import Outcome, Spec, Step
from apps.games.kit import ending, grammar, guards, opening, turns, views
from apps.games.kit.cards import table
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call, Round, dump_shared, load_shared

TABLE = table([("A", 4), ("B", 4), ("C", 4), ("D", 4)])
SPEC = Spec("toy", "Toy", "toy/1", 2, 4, clocks={"turn_ms": 5000, "turn_cap": 50})
VERBS = {"lay": Verb(card=grammar.card)}


@dataclass(slots=True)
class State(Round):
    pile: tuple[int, ...]

    def copy(self):
        new = object.__new__(State)
        self.copy_shared(new)
        new.pile = self.pile
        return new

    def zones(self):
        return {**Round.zones(self), "pile": TABLE.texts(self.pile)}


def lay(s, seat, card, call):
    s.put(seat, tuple(c for c in s.hands[seat] if c != card))
    s.pile += (card,)
    call.emit({"type": "laid", "seat": seat, "card": s.shown(card)})
    if s.hands[seat]:
        turns.start_turn(s, turns.after(s.active, seat), 5000, call)
    else:
        end(s, "out", seat, call)


def end(s, reason, winner, call):
    ending.reveal(s, (("hand", s.hands), ("aside", s.aside)), call)
    scores = {seat: len(s.hands[seat]) for seat in s.active}
    ranking = ending.ranked((winner,), scores)
    ending.finish(s, Outcome(True, {winner: 1}, ranking, scores, reason), call)


def happen(s, call):
    turns.time_out(s, call)
    lay(s, s.seat, s.hands[s.seat][0], call)


class Toy:
    spec = SPEC

    def deck(self, options, seats):
        return TABLE.codes

    def start(self, setup, chance):
        deal, deck = opening.opened(SPEC, setup, lambda options, seats: TABLE)
        s, call = State(**opening.dealt_round(deal, deck), pile=()), Call(setup.now, chance)
        opening.announce(SPEC, s, call)
        s.hands = opening.deal_out(s, 3, "hand", call)
        turns.start_turn(s, deal.opener, 5000, call)
        return call.step(s)

    def actors(self, state):
        return frozenset() if state.outcome else frozenset((state.seat,))

    def legal(self, state, seat, now):
        if not guards.listens(state, seat, now) or seat != state.seat:
            return ()
        return tuple({"type": "lay", "card": TABLE.codes[card]} for card in sorted(state.hands[seat]))

    def act(self, state, seat, action, now, chance):
        guards.may_act(state, seat, now)
        grammar.check(VERBS, action, state.deal)
        guards.refuse(seat != state.seat, "not_your_turn")
        card = TABLE.index[action["card"]]
        guards.refuse(card not in state.hands[seat], "card_not_held")
        s, call = state.copy(), Call(now, chance)
        s.acted = True
        lay(s, seat, card, call)
        return call.step(s)

    def wake_at(self, state):
        return None if state.outcome else state.due()

    def wake(self, state, now, chance):
        return turns.wake(state, now, chance, happen)

    def leave(self, state, seat, reason, now, chance):
        guards.may_leave(state, seat, reason, now)
        s, call = state.copy(), Call(now, chance)
        ending.depart(s, seat, reason, call)
        ending.hand_aside(s, seat)
        if len(s.active) == 1:
            end(s, "last_seat", s.active[0], call)
        elif seat == s.seat:
            turns.start_turn(s, turns.after(s.active, seat), 5000, call)
        return call.step(s)

    def connection(self, state, seat, connected, now):
        return turns.connection(state, seat, connected, now)

    def outcome(self, state):
        return state.outcome

    def view(self, state, viewer):
        rows = {
            seat: {
                "hand": views.cards(state, state.hands[seat], seat == viewer),
                "aside": views.cards(state, state.aside[seat], False),
            }
            for seat in state.deal.seats
        }
        board = {"pile": views.cards(state, state.pile, True), "deck_count": len(state.deck)}
        return views.shared(SPEC, state, viewer, phase="play", actors=self.actors(state), seats=rows, board=board)

    def dump(self, state):
        return {**dump_shared(state), "pile": list(state.pile)}

    def load(self, data):
        return State(**load_shared(data, TABLE), pile=tuple(data["pile"]))


GAME = Toy()
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A sixth game in its four places, in a tree of its own; the line in the registry is the only one added."""
    for place, name, text in (
        ("toygames/toy", "__init__.py", TOY),
        ("docs/games", "toy.md", "# Toy\n"),
        ("tests/games/toy", "__init__.py", ""),
    ):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.GAMES, "toy", "toygames.toy")
    yield tmp_path
    registry.game.cache_clear()
    registry.part.cache_clear()
    for name in [name for name in sys.modules if name.startswith("toygames")]:
        del sys.modules[name]


def test_a_sixth_game_needs_nothing_but_its_four_places(toy: Path) -> None:
    assert registry.slugs()[-1] == "toy"
    assert missing("toy", toy) == []
    for seats in (2, 3, 4):
        for manner in ("calm", "rough", "storm"):
            laws = test_laws.play_under_law("toy", test_laws.ring(seats, 1), {}, manner, seats)
            assert registry.game("toy").outcome(laws.state) is not None
    tally = simulate.play_game(simulate.Plan("toy", 1, 1, None, None, None, True, False), 1)
    assert tally.games == 1
    assert bots.bot("toy") is bots.at_random


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("toygames/toy/__init__.py", "the package"),
        ("docs/games/toy.md", "the page"),
        ("tests/games/toy/__init__.py", "the tests"),
    ],
)
def test_a_missing_place_is_told(toy: Path, place: str, name: str) -> None:
    (toy / place).unlink()
    assert missing("toy", toy) == [name]


def test_a_missing_line_in_the_registry_is_told(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry.GAMES, "toy")
    assert "the line in the registry" in missing("toy", toy)
