"""Rounds that were played on the product pass in the browser, fetched by the page from the running server.

Protocol: docs/fairness/protocol.md, section 13.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from apps.core import clock
from apps.fairness import sequencer
from apps.games import registry
from apps.history import selectors as history
from tests.browser.chromium import Tab
from tests.browser.conftest import browser_verdicts
from tests.browser.test_page import said, settled, shown
from tests.tables.conftest import House, Place, house
from tests.tables.test_modes import sealed_open, sealed_ready

__all__ = ["house"]

pytestmark = pytest.mark.django_db(transaction=True)

MODES = ("none", "open", "sealed")


def played(place: Place, mode: str) -> UUID:
    """Play a round of two seats to its end."""
    if mode != "sealed":
        place.deal(0, 1)
        return UUID(str(place.play_out().pk))
    for number in (0, 1):
        place.sit(number)
    given = {number: sealed_ready(place, number) for number in (0, 1)}
    for number, entropy in given.items():
        sealed_open(place, number, entropy)
    return UUID(str(place.play_out().pk))


@pytest.mark.parametrize("mode", MODES)
def test_a_round_of_every_mode_passes(house: House, tab: Tab, live_server: Any, mode: str) -> None:
    round_id = played(house.table(entropy=mode), mode)
    sequencer.tick(now_ms=clock.now_ms())
    tab.width(1100)
    tab.open(f"{live_server.url}/verify/#{round_id.hex}")
    tab.run("document.getElementById('trust-fetch').click()")
    tab.until("document.getElementById('trust').value.length > 0")
    tab.run("document.getElementById('fetch-form').requestSubmit()")
    settled(tab)
    assert said(tab) == "This round is in order."
    assert round_id.hex in shown(tab)
    assert ("mode none" in shown(tab)) is (mode == "none")
    strange = [address for address in tab.asked() if not address.startswith((live_server.url, "data:"))]
    assert strange == []


def test_every_game_passes(house: House, verifier: Tab) -> None:
    rounds = {slug: played(house.table(slug), "open") for slug in registry.slugs()}
    sequencer.tick(now_ms=clock.now_ms())
    lines = list(history.bundles(round_ids=list(rounds.values())))
    verdicts = browser_verdicts(verifier, lines, None)
    assert dict(zip(rounds, [verdict["verdict"] for verdict in verdicts], strict=True)) == dict.fromkeys(rounds, "pass")
