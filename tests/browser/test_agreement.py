"""The two verifiers, written apart from each other, say the same of every bundle: honest, broken or damaged.

Source: docs/fairness/protocol.md, section 13.  Compared are round, status, verdict and all codes; the Python verifier
is asked without rules and without BLS, which a browser does not have.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from copy import deepcopy
from types import ModuleType
from typing import Any

import pytest

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.trust import Trust
from apps.fairness.protocol.verify import verify_bundles
from tests.browser.chromium import Tab
from tests.browser.conftest import browser_verdicts
from tests.fairness.protocol import (
    test_clauses_deal,
    test_clauses_evidence,
    test_clauses_form,
    test_clauses_play,
    test_clauses_seats,
)
from tests.fairness.protocol.house import House
from tests.fairness.protocol.test_tampering import altered, flipped_fields, leaves
from tests.fairness.protocol.vectors import ROUNDS, TRUST

BUNDLES = {name: bundle_encode(row["bundle"]) for name, row in ROUNDS.items()}
FLIPS = 40
"""Bytes flipped in each of the eight bundles."""
ALTERED = 60
"""Fields altered in each bundle."""
CLAUSES = (test_clauses_deal, test_clauses_evidence, test_clauses_form, test_clauses_play, test_clauses_seats)


def agree(tab: Tab, lines: Sequence[bytes], trust: Trust | None, *, apart: bool) -> set[str]:
    """Assert that both verifiers say the same; return the verdicts.

    Args:
        apart: whether each line is a file of its own.
    """
    files = [[line] for line in lines] if apart else [list(lines)]
    ours = [verdict for file in files for verdict in verify_bundles(file, trust, rules=False, bls=False)]
    theirs = [verdict for file in files for verdict in browser_verdicts(tab, file, trust)]
    for line, mine, other in zip(lines, ours, theirs, strict=True):
        expected = (mine.round, mine.status, mine.verdict, list(mine.codes))
        assert (other["round"], other["status"], other["verdict"], other["codes"]) == expected, line[:300]
    return {verdict.verdict for verdict in ours}


@pytest.mark.parametrize("name", list(BUNDLES))
def test_on_flipped_bytes(verifier: Tab, name: str) -> None:
    data = BUNDLES[name]
    rng = random.Random(f"browser flip {name}")
    flipped = []
    for at in rng.sample(range(len(data)), FLIPS):
        flipped.append(data[:at] + bytes((data[at] ^ rng.choice((1, 2, 4, 8, 16, 32, 128)),)) + data[at + 1 :])
    assert "pass" not in agree(verifier, flipped, TRUST, apart=True)


@pytest.mark.parametrize("name", list(BUNDLES))
def test_on_altered_fields(verifier: Tab, name: str) -> None:
    whole = json.loads(BUNDLES[name])
    rng = random.Random(f"browser alter {name}")
    found = [(path, value) for path, value in leaves(whole) if path]
    lines = []
    for path, _ in rng.sample(found, ALTERED):
        changed: Any = deepcopy(whole)
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = altered(holder[path[-1]], rng)
        lines.append(json.dumps(changed).encode())
    assert len(agree(verifier, lines, TRUST, apart=True)) > 1
    agree(verifier, lines[:5], None, apart=True)


def test_on_each_kind_of_field(verifier: Tab) -> None:
    """One character of one field of every kind, at each of up to three places of its text."""
    changed = [bundle for _, bundle in flipped_fields(json.loads(BUNDLES["sealed"]), random.Random("kinds"), 3)]
    assert len(changed) > 150
    assert "pass" not in agree(verifier, [json.dumps(bundle).encode() for bundle in changed], TRUST, apart=True)


def cases(module: ModuleType) -> list[tuple[str, Any]]:
    """Return what was broken, and how the bundle is made, of every table of cases of a module."""
    tables = [value for value in vars(module).values() if isinstance(value, list) and value]
    rows = [row for table in tables for row in table if isinstance(row, tuple) and len(row) == 3 and callable(row[2])]
    return [(f"{code}: {about}", build) for code, about, build in rows]


@pytest.mark.parametrize("module", CLAUSES, ids=lambda module: module.__name__.rpartition("_")[2])
def test_on_rounds_of_a_house_that_cheats(verifier: Tab, module: ModuleType) -> None:
    found = cases(module)
    assert len(found) >= 40
    for about, build in found:
        house = House()
        try:
            agree(verifier, [json.dumps(build(house)).encode()], house.trust, apart=True)
        except AssertionError as problem:
            raise AssertionError(about) from problem


def test_on_two_rounds_of_a_table(verifier: Tab) -> None:
    lines = list(BUNDLES.values())
    assert agree(verifier, lines, TRUST, apart=False) == {"pass", "beacon_unchecked"}
    assert agree(verifier, [lines[2], lines[0], lines[0]], TRUST, apart=False) <= {"pass", "opener"}
