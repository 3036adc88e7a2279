"""One browser for all of these tests, with the built page opened from disk.

Without a browser the tests are left out, which is said at the end of the run; where CI is set they fail instead.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from apps.fairness.browser.build import NAME, build
from apps.fairness.protocol.trust import Trust
from tests.browser.chromium import Tab, browser
from tools.browser import LEFT_OUT, MISSING, chromium_path, is_ci

HERE = Path(__file__).parent
VERIFY = """
async (trust, lines, complete) => {
  const bytes = lines.map((line) => Uint8Array.from(atob(line), (character) => character.charCodeAt(0)));
  const settings = { trust: trust && await sealdeck.notes.trustRead(trust), complete };
  return (await sealdeck.verify.verifyBundles(bytes, settings)).map(({ checked, ...result }) => result);
}
"""
Verdicts = list[dict[str, Any]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave these tests out where there is no browser, but never where CI is set."""
    if chromium_path() is not None or is_ci():
        return
    left_out = [item for item in items if HERE in item.path.parents]
    if left_out:
        items[:] = [item for item in items if HERE not in item.path.parents]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT] = len(left_out)


LEFT = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say at the end that tests were left out."""
    if LEFT in config.stash:
        terminalreporter.section("NO BROWSER", red=True, bold=True)
        terminalreporter.line(f"{config.stash[LEFT]} tests were not run. {MISSING} {LEFT_OUT}")


@pytest.fixture(scope="session")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page as a player would keep it."""
    path = tmp_path_factory.mktemp("kept") / NAME
    path.write_bytes(build().data)
    return path


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """Return the page of the one browser."""
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def kept(tab: Tab, page_path: Path) -> Tab:
    """Return the browser with the kept page freshly opened from disk."""
    tab.width(1100)
    tab.open(page_path.as_uri())
    return tab


@pytest.fixture(scope="module")
def verifier(tab: Tab, page_path: Path) -> Tab:
    """Return the browser with the kept page, for tests that only call its modules."""
    tab.open(page_path.as_uri())
    return tab


def trust_text(trust: Trust | None) -> str | None:
    """Return a trust file that says what a trust says."""
    if trust is None:
        return None
    witnesses = [str(key) for key in trust.witnesses]
    value = {"log": str(trust.log), "root": trust.root.hex(), "witnesses": witnesses, "quorum": trust.quorum}
    return json.dumps(value)


def browser_verdicts(tab: Tab, lines: Sequence[bytes], trust: Trust | None, *, complete: bool = False) -> Verdicts:
    """Return what the page's verifier says about documents."""
    data = [base64.b64encode(line).decode() for line in lines]
    verdicts: Verdicts = tab.give(VERIFY, trust_text(trust), data, complete)
    return verdicts
