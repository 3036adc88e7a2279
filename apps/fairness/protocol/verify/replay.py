"""Replay: the rules run again on the recorded inputs with the derived chance, and everything they say compared.

Protocol: docs/fairness/protocol.md, section 13, code rules.  Never runs a game that the registry does not offer in the
version the round was played under.
"""

from __future__ import annotations

import json
from typing import Any

from apps.fairness.protocol.errors import ProtocolError
from apps.fairness.protocol.streams import StreamChance
from apps.fairness.protocol.verify.context import Round, Settings
from apps.fairness.protocol.verify.play import same
from apps.games import registry
from apps.games.contract import Game, Generation, RuleError, Seat, Setup, Step

_write = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


class _Differs(Exception):
    def __init__(self, where: str, text: str) -> None:
        super().__init__(text)
        self.where = where
        self.text = text


def game_known(settings: Settings, rules: str) -> Game[Any] | None:
    """Return the rules of a version, ``slug/number``; None where they are not known here."""
    given = settings.games.get(rules.partition("/")[0])
    if given is not None and given.spec.rules == rules:
        return given
    try:
        return registry.by_rules(rules)
    except KeyError:
        return None


def is_match_game(settings: Settings, rules: str) -> bool:
    """Tell whether the pot of a game spans several rounds."""
    game, slug = game_known(settings, rules), rules.partition("/")[0]
    if game is None and slug in registry.slugs():
        game = registry.game(slug)
    return game.spec.match_game if game is not None else slug == "mojo"


def rules_check(round_: Round) -> None:
    """Replay the rules, code ``rules``; leaves a note where they cannot be replayed."""
    opened = round_.open
    if round_.record("deck") is None:
        return
    if round_.schedule is None or 0 not in round_.trees:
        return
    game = game_known(round_.settings, opened["rules"])
    if game is None:
        round_.findings.note(f"rules not replayed: {opened['rules']} is not known here")
        return
    try:
        _replay(round_, game, round_.schedule.chance())
    except _Differs as problem:
        round_.fail("rules", problem.where, problem.text)


def _replay(round_: Round, game: Game[Any], chance: StreamChance) -> None:
    deck = round_.record("deck")
    assert deck is not None, "only dealt rounds are replayed"
    seats = tuple(Seat(seat) for seat in round_.seats)
    entries = round_.bundle.value["transcript"]
    written: list[dict[str, Any]] = []
    where, outcome = "order", None
    try:
        if list(game.deck(round_.open["options"], len(seats))) != round_.bundle.value["order"]:
            raise _Differs("order", "the rules name another canonical order")
        state: Any = None
        for number, entry in enumerate(entries):
            where = f"transcript[{number}]"
            step = _step(game, state, entry, chance) if number else _start(round_, game, seats, chance)
            state = step.state
            events = list(step.events)
            if step.generations:
                events = _completed(events, entry["events"])
                for generation in step.generations:
                    _generation_compare(round_, generation)
            written.append({**entry, "events": events})
        where = "transcript"
        outcome = game.outcome(state) if entries else None
    except Exception as problem:
        # A bundle may hold any JSON, and the engines promise their own errors only for inputs of their grammar.
        _compare(round_, written)
        raise _difference(where, problem) from problem
    _compare(round_, written)
    reveal = round_.record("reveal")
    if reveal is None:
        return
    where = round_.where("reveal", "outcome")
    if outcome is None:
        raise _Differs(where, "by the rules the round is not over")
    recorded = {
        "reason": outcome.reason,
        "shares": {str(seat): weight for seat, weight in outcome.shares.items()},
        "ranking": [list(group) for group in outcome.ranking],
    }
    if not same(recorded, reveal.body["outcome"]):
        raise _Differs(where, f"by the rules the outcome is {_write(recorded)}")


def _difference(where: str, problem: Exception) -> _Differs:
    """Return what it means that a game raised something: the rules say something else."""
    if isinstance(problem, _Differs):
        return problem
    if isinstance(problem, RuleError):
        return _Differs(where, f"the rules refuse it: {problem.code}")
    if isinstance(problem, ProtocolError):
        return _Differs(where, problem.detail)
    return _Differs(where, f"the rules cannot take it: {type(problem).__name__}")


def _step(game: Game[Any], state: Any, entry: dict[str, Any], chance: StreamChance) -> Step[Any]:
    kind, now, given = entry["kind"], entry["at"], entry["input"]
    if kind == "wake":
        return game.wake(state, now, chance)
    seat = Seat(entry["seat"])
    if kind == "act":
        return game.act(state, seat, given, now, chance)
    if kind == "leave":
        return game.leave(state, seat, given["reason"], now, chance)
    return game.connection(state, seat, given["connected"], now)


def _start(round_: Round, game: Game[Any], seats: tuple[Seat, ...], chance: StreamChance) -> Step[Any]:
    entry, deck = round_.bundle.value["transcript"][0], round_.record("deck")
    assert deck is not None, "only dealt rounds are replayed"
    setup = Setup(
        seats=seats,
        deck=round_.trees[0].cards,
        options=round_.open["options"],
        now=entry["at"],
        opener=Seat(deck.body["opener"]),
        carry=entry["events"][0].get("carry") if entry["events"] else None,
    )
    return game.start(setup, chance)


def _completed(events: list[Any], recorded: list[Any]) -> list[Any]:
    """Add to the events that make generations what the table service adds; both were checked before."""
    for place, event in enumerate(events):
        if "gen" in event and place < len(recorded):
            added = {name: recorded[place][name] for name in ("n", "root") if name in recorded[place]}
            events[place] = {**event, **added}
    return events


def _compare(round_: Round, written: list[dict[str, Any]]) -> None:
    """Compare the entries with the events that the rules gave with the recorded ones, byte for byte.

    Where all is the same the recorded entries are canonical: they are what a canonical writer wrote.
    """
    recorded, bundle = round_.bundle.value["transcript"], round_.bundle
    if _write(written).encode() == b"[" + b",".join(bundle.entries[: len(written)]) + b"]":
        bundle.proven = bundle.proven or len(written) == len(recorded)
        return
    for number, row in enumerate(written):
        events, there = row["events"], recorded[number]["events"]
        if not same(events, there):
            pairs = enumerate(zip(events, there, strict=False))
            place = next((place for place, pair in pairs if not same(*pair)), min(len(events), len(there)))
            said = _write(events[place])[:200] if place < len(events) else "no event"
            raise _Differs(f"transcript[{number}].events[{place}]", f"by the rules here is {said}")


def _generation_compare(round_: Round, generation: Generation) -> None:
    rows, made = round_.bundle.value["generations"], generation.gen
    where = f"generations[{made - 1}]"
    row = rows[made - 1] if made <= len(rows) else None
    if row is None or (row["gen"], row["stream"]) != (generation.gen, generation.stream):
        raise _Differs(where, f"by the rules here is generation {generation.gen} of stream {generation.stream}")
    if row["from"] != list(generation.source):
        raise _Differs(f"{where}.from", "by the rules other cards, or in another order, went in")
    tree = round_.trees.get(made)
    if tree is None or tree.cards != generation.order:
        raise _Differs(where, "by the rules another order came out")
