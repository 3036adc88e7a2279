"""Golden rounds: whole rounds in text, with what each seat sees, compared exactly.

A file begins with what the round is played from (game, seats, seed, manner, and options if any) up to a line of dashes;
below stands what happened.  After each input its events are written in the notation of the rule pages, then what
changed in the view of everybody, or of single viewers.  ``SEALDECK_GOLDEN=write`` writes the files anew; read the diff.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from apps.games import registry
from apps.games.bots import BotPlay
from apps.games.contract import Seat, View
from apps.games.inputs import MANNERS, START_MS, Input, RandomPlay, apply, setup_of
from apps.games.table_text import rows_of
from tests.games.notation import written_event

LINE = "-" * 40
INPUTS_MAX = 400


def header_of(path: Path) -> dict[str, str]:
    """Return what a golden round is played from."""
    lines = path.read_text().split(LINE)[0].splitlines()
    return dict(line.split(": ", 1) for line in lines if line.strip())


def play(header: dict[str, str]) -> str:
    """Return the text of the file of a golden round: its header and what happened."""
    game = registry.game(header["game"])
    seats = tuple(Seat(int(number)) for number in header["seats"].split())
    options = json.loads(header.get("options", "{}"))
    setup, chance = setup_of(game, int(header["seed"]), seats, options)
    bots = header["manner"] == "bots"
    seed = int(header["seed"])
    source = BotPlay(game, seed) if bots else RandomPlay(game, seed, MANNERS[header["manner"]])
    lines = [f"{key}: {value}" for key, value in header.items()] + [LINE]
    step = game.start(setup, chance)
    seen: dict[Seat | None, Rows] = {}
    given: Input | None = None
    for number in range(INPUTS_MAX):
        lines.append(f"{number} {_input_text(given)}")
        lines += [f"    {_times(written_event(event))}" for event in step.events]
        lines += _changes(game, step.state, (None, *seats), seen)
        if game.outcome(step.state) is not None:
            break
        given = source.next(step.state)
        step = apply(game, step.state, given, chance)
    return "\n".join(lines) + "\n"


def _input_text(given: Input | None) -> str:
    if given is None:
        return "start"
    at = f"at {given.now - START_MS}"
    if given.kind == "act":
        return f"seat {given.seat} {json.dumps(given.value, separators=(',', ':'))} {at}"
    if given.kind == "wake":
        return f"wake {at}"
    return f"seat {given.seat} {given.kind} {given.value} {at}"


def _times(text: str) -> str:
    """Write times from the start of the round, so that they can be read."""
    return re.sub(r"\b\d{13}\b", lambda found: f"t+{int(found[0]) - START_MS}", text)


Rows = dict[str, str]


def _changes(game: Any, state: Any, viewers: tuple[Seat | None, ...], seen: dict[Seat | None, Rows]) -> list[str]:
    """Return the rows of views that changed: once where all viewers see the same, else by viewer."""
    now = {viewer: _rows(game.view(state, viewer)) for viewer in viewers}
    lines = []
    for label in dict.fromkeys(label for rows in now.values() for label in rows):
        texts = {viewer: rows.get(label, "-") for viewer, rows in now.items()}
        changed = {viewer for viewer in viewers if seen.get(viewer, {}).get(label) != texts[viewer]}
        if not changed:
            continue
        common = texts[None]
        if None in changed:
            lines.append(f"  all   | {label}: {common}")
        lines += [
            f"  {viewer:<5} | {label}: {texts[viewer]}"
            for viewer in viewers
            if viewer is not None and viewer in changed and texts[viewer] != common
        ]
    seen.update(now)
    return lines


def _rows(view: View) -> Rows:
    rows = {label: _times(text) for label, text in rows_of(view).items() if label != "deadline"}
    if view["turn"] is not None and view["actors"] == [view["turn"]["seat"]]:
        del rows["actors"]
    return rows
