"""Pages that say which test shows what name tests that are there, in every row that can have one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"docs/developers/hazards.md": "tests", "docs/fairness/threats.md": "tests/fairness"}
"""Page to the folder that its names begin from."""
NO_TEST = "no test can show it"

named = re.compile(r"`([\w/]+\.py)::(\w+)`").findall


def rows(page: str) -> list[str]:
    """Return the rows of the tables that have a column of tests."""
    lines = (ROOT / page).read_text().splitlines()
    headed = False
    found = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if after.startswith("|---"):
            headed = line.endswith("shown by |")
        elif headed and line.startswith("| "):
            found.append(line)
        elif not line.startswith("|"):
            headed = False
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_row_names_tests_that_are_there(page: str) -> None:
    assert len(rows(page)) > 10
    for row in rows(page):
        last = row.removesuffix("|").rpartition("|")[2]
        tests = named(last)
        assert tests or NO_TEST in last, row
        for path, name in tests:
            source = (ROOT / PAGES[page] / path).read_text()
            assert re.search(rf"^\s*def {name}\(", source, re.MULTILINE), f"{path}::{name}"
