"""Simulations: figures that add up, laws that are checked, failures that can be repeated, bots that know the rules."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.games import bots, registry, simulate
from apps.games.chance import Dice
from apps.games.contract import Seat
from apps.games.inputs import MANNERS, RandomPlay, apply, setup_of
from apps.games.laws import LawBroken, Laws, Places
from apps.games.secrecy import check_secrecy


def plan(slug: str, **changes: Any) -> simulate.Plan:
    """Return a plan of ten games."""
    values: dict[str, Any] = {
        "slug": slug,
        "seed": 100,
        "games": 10,
        "seats": None,
        "options": None,
        "manner": None,
        "laws": False,
        "bots": False,
    }
    return simulate.Plan(**values | changes)


@pytest.mark.parametrize("slug", registry.slugs())
@pytest.mark.parametrize("by_bots", [False, True])
def test_the_figures_add_up(slug: str, by_bots: bool) -> None:
    tally = simulate.simulate(plan(slug, bots=by_bots), processes=1)
    assert tally.games == sum(tally.played.values()) == sum(tally.reasons.values()) == 10
    assert tally.rounds == sum(tally.turns.values()) == tally.events["round_over"] == tally.events["round_started"]
    assert tally.fee_minor == tally.pot_minor // 20
    assert sum(tally.wins.values()) >= 10
    text = simulate.report(tally, 1.0, laws=False)
    assert f"games 10, rounds {tally.rounds}" in text


def test_two_processes_give_the_same_figures_as_one() -> None:
    assert simulate.simulate(plan("monko", games=40), 2) == simulate.simulate(plan("monko", games=40), 1)


def test_the_command_says_how_to_repeat_a_game(capsys: pytest.CaptureFixture[str], broken: str) -> None:
    assert simulate.main([broken, "--games", "3", "--seats", "0,4", "--laws", "--processes", "1"]) == 1
    errors = capsys.readouterr().err
    assert "law 5: a wake made no progress" in errors
    (command,) = re.findall(r"python -m apps\.games\.simulate (.*)", errors)
    assert simulate.main(shlex.split(command)) == 1
    assert "law 5" in capsys.readouterr().err


class Leaking:
    """A game with one fault, to see that the laws notice it."""

    def __init__(self, game: Any, fault: str) -> None:
        self._game = game
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def view(self, state: Any, viewer: Any) -> Any:
        view = self._game.view(state, viewer)
        if self._fault == "view" and state.deck:
            view["board"]["deck_count"] = state.deck[0]
        return view

    def legal(self, state: Any, seat: Any, now: int) -> Any:
        listed = self._game.legal(state, seat, now)
        return listed[1:] if self._fault == "legal" else listed

    def dump(self, state: Any) -> Any:
        data = self._game.dump(state)
        return {1: data} if self._fault == "dump" else data

    def wake(self, state: Any, now: int, chance: Any) -> Any:
        step = self._game.wake(state, now, chance)
        return type(step)(state, step.events) if self._fault == "wake" else step

    def leave(self, state: Any, seat: Any, reason: str, now: int, chance: Any) -> Any:
        step = self._game.leave(state, seat, reason, now, chance)
        return type(step)(state, step.events[1:]) if self._fault == "leave" else step


BROKEN = """
from apps.games.contract import Step
from apps.games.monko.game import Monko


class Sleepy(Monko):
    def wake(self, state, now, chance):
        return Step(state, ())


GAME = Sleepy()
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A registered game in which a clock never runs out."""
    (tmp_path / "sleepygame.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.GAMES, "sleepy", "sleepygame")
    yield "sleepy"
    registry.game.cache_clear()
    registry.part.cache_clear()
    sys.modules.pop("sleepygame", None)


def play_under_law(game: Any, games: int) -> None:
    """Play some rounds with all laws checked."""
    for seed in range(games):
        setup, chance = setup_of(game, seed, (Seat(0), Seat(1), Seat(2)))
        laws, source = Laws(game, setup, chance, seed), RandomPlay(game, seed, MANNERS["calm"])
        while game.outcome(laws.state) is None:
            laws.feed(source.next(laws.state))


@pytest.mark.parametrize(("fault", "law"), [("legal", 2), ("dump", 3), ("wake", 5), ("leave", 9)])
def test_a_broken_law_is_noticed(fault: str, law: int) -> None:
    game = Leaking(registry.game("monko"), fault)
    with pytest.raises(LawBroken) as noticed:
        play_under_law(game, 20)
    assert noticed.value.law == law


def test_a_leak_is_noticed() -> None:
    game = registry.game("monko")
    setup, chance = setup_of(game, 1, (Seat(0), Seat(1), Seat(2)))
    source, inputs = RandomPlay(game, 1, MANNERS["calm"]), []
    state = game.start(setup, chance).state
    while game.outcome(state) is None:
        inputs.append(source.next(state))
        state = apply(game, state, inputs[-1], chance).state
    assert sum(check_secrecy(game, setup, chance, inputs, seed) for seed in range(40)) > 500
    leaking = Leaking(game, "view")
    with pytest.raises(LawBroken) as noticed:
        sum(check_secrecy(leaking, setup, chance, inputs, seed) for seed in range(400))
    assert noticed.value.law == 7


def test_cards_that_are_not_named_from_the_top_are_noticed() -> None:
    places = Places(10)
    places.note([{"type": "drew", "cards": [{"gen": 0, "pos": 0}, {"gen": 0, "pos": 1}]}])
    with pytest.raises(LawBroken, match="from the top"):
        places.note([{"type": "drew", "cards": [{"gen": 0, "pos": 3}]}])
    with pytest.raises(LawBroken, match="another form"):
        Places(10).note([{"type": "drew", "cards": [{"gen": 1, "pos": 0}]}])
    with pytest.raises(LawBroken, match="numbered in order"):
        Places(10).note([{"type": "reshuffled", "gen": 2, "count": 3}])


@pytest.mark.parametrize("slug", registry.slugs())
def test_a_bot_takes_listed_actions_and_sees_its_view_only(slug: str) -> None:
    game, choose = registry.game(slug), bots.bot(slug)
    seats = tuple(Seat(seat) for seat in range(game.spec.seats_min))
    setup, chance = setup_of(game, 5, seats)
    state, dice = game.start(setup, chance).state, Dice(5)
    for _ in range(40):
        due = game.wake_at(state)
        if due is None:
            break
        acted = False
        for seat in seats:
            legal = game.legal(state, seat, due - 1)
            if legal:
                action = choose(game.view(state, seat), legal, dice.below)
                assert action is None or action in legal
                if action is not None and not acted:
                    state = game.act(state, seat, action, due - 1, chance).state
                    acted = True
                    break
        if not acted:
            state = game.wake(state, due, chance).state


def test_bench_counts_steps() -> None:
    steps, seconds = simulate.bench("monko", games=2)
    assert steps > 50
    assert seconds > 0


def test_the_command_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate.main(["monko", "--games", "5", "--seats", "3", "--laws", "--manner", "calm"]) == 0
    text = capsys.readouterr().out
    assert "3 seats (5 games)" in text
    assert "laws: all hold" in text
    assert simulate.main(["monko", "--games", "2", "--bench"]) == 0
    assert "steps/s on one core" in capsys.readouterr().out
