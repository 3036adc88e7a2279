"""The worked examples of the rule pages, read from docs/games and played.

So a page cannot say something else than the game does.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.games.notation import read_events, written_event
from tests.games.table import Table

PAGES = Path(__file__).parents[2] / "docs" / "games"
_INPUT = re.compile(
    r"(?:seat (?P<actor>\d+) `(?P<action>\{.*\})`|leave seat (?P<leaver>\d+), (?P<reason>\w+)"
    r"|connection seat (?P<user>\d+), (?P<connected>true|false)|(?P<wake>wake)|(?P<start>start)) \((?P<now>\d+)\)"
)


def page_of(slug: str) -> str:
    """Return the rule page of a game."""
    return (PAGES / f"{slug}.md").read_text()


def rows_of(slug: str) -> list[tuple[re.Match[str], str]]:
    """Return the rows of the worked example: the input, and the cell with what follows."""
    rows = []
    for line in page_of(slug).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 3 and cells[0].isdigit() and (given := _INPUT.fullmatch(cells[1])):
            rows.append((given, cells[2]))
    return rows


def play_example(slug: str, table: Table, left_out: tuple[str, ...] = ("round_started",)) -> None:
    """Play the worked example on a table that was just started and compare every event.

    Args:
        left_out: types of events that the page leaves out in the first row.
    """
    rows = rows_of(slug)
    assert len(rows) > 10, "the page has a worked example"
    for number, (given, cell) in enumerate(rows):
        if given["start"]:
            events = [event for event in table.events if event["type"] not in left_out]
        elif cell.startswith("error "):
            refused = table.refused(int(given["actor"]), json.loads(given["action"]), int(given["now"]))
            assert cell == f"error `{refused}`", f"row {number}"
            continue
        else:
            events = _feed(table, given)
        told = "\n  ".join(written_event(event) for event in events)
        assert events == read_events(cell), f"row {number}: told\n  {told}\nbut the page says\n  {cell}"


def _feed(table: Table, given: re.Match[str]) -> list[Any]:
    now = int(given["now"])
    if given["actor"]:
        return table.act(int(given["actor"]), json.loads(given["action"]), now)
    if given["leaver"]:
        return table.leave(int(given["leaver"]), now, given["reason"])
    if given["user"]:
        return table.connection(int(given["user"]), given["connected"] == "true", now)
    return table.wake(now)
