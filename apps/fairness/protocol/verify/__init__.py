"""The verifier: what anybody can check about a round with nothing but its bundle, and a trust file.

Protocol: docs/fairness/protocol.md, section 13.  Never raises for what a bundle holds, reads no clock, and reaches for
nothing outside of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apps.fairness.protocol.trust import Trust
from apps.fairness.protocol.verdict import Verdict
from apps.fairness.protocol.verify.context import Settings
from apps.fairness.protocol.verify.rounds import Checked, round_check, round_checked
from apps.fairness.protocol.verify.tables import tables_check
from apps.games.contract import Game

__all__ = ["Checked", "Settings", "round_check", "round_checked", "tables_check", "verify_bundles"]


def verify_bundles(
    bundles: Iterable[bytes | str | dict[str, Any]],
    trust: Trust | None = None,
    rules: bool = True,
    complete: bool = False,
    bls: bool = True,
    games: Mapping[str, Game[Any]] | None = None,
) -> list[Verdict]:
    """Check the bundles of one file, each alone and all against each other.

    Args:
        bundles: one document for each round, as bytes, text or as the object read from it.
        trust: what to believe; None takes the keys from each bundle, which shows only that it agrees with itself.
        rules: whether to replay the rules of the games known here.
        complete: whether to name gaps between the rounds of a table.
        games: games that are known besides those of the registry, by slug.
        bls: whether to check beacon signatures where a BLS implementation is at hand.

    Source: docs/fairness/protocol.md, section 13.
    """
    settings = Settings(trust=trust, rules=rules, bls=bls, games=games or {})
    checked = [round_check(bundle, settings) for bundle in bundles]
    tables_check(checked, complete=complete, rules=rules)
    return [result.verdict() for result in checked]
