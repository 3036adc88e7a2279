"""What fairness costs: milliseconds that it adds to each step of a round, and entries the log's writer merges a second.

    python -m tools.bench_fairness [--rounds 200] [--log 20000]

Starts a durable PostgreSQL of its own, migrates, starts a log, and calls the services as the table service does, each
step in a transaction of its own; the cost of an empty transaction is printed beside them.  Then fills the log and
measures merging and proofs as it grows.  Asserts nothing; never touches another database than its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from tools.bench_site import site
from tools.processes import say

SEATS = (0, 1, 2, 3)
BATCH = 400
"""Records stored between two measured merges."""


class Clocks:
    """Times of named steps, in milliseconds."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}
        """Of this process alone, without PostgreSQL's; what is left of it on a busy machine."""

    def measure(self, name: str, work: Callable[[], Any]) -> Any:
        """Do the work and keep how long it took."""
        began, spent = time.perf_counter(), time.process_time()
        result = work()
        self.cpu.setdefault(name, []).append(1000 * (time.process_time() - spent))
        self.times.setdefault(name, []).append(1000 * (time.perf_counter() - began))
        return result

    def show(self) -> None:
        """Print median and 95th percentile of each step, and the median of this process's own time."""
        print(f"{'step':44} {'median ms':>10} {'p95 ms':>10} {'own CPU ms':>11} {'n':>6}")
        for name, times in self.times.items():
            ordered = sorted(times)
            p95 = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
            own = statistics.median(self.cpu[name])
            print(f"{name:44} {statistics.median(ordered):10.3f} {p95:10.3f} {own:11.3f} {len(ordered):6}")


def main(arguments: list[str]) -> int:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(prog="bench_fairness", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--log", type=int, default=20_000, help="Entries to grow the log to.")
    options = parser.parse_args(arguments)
    with site():
        _rounds(options.rounds)
        _log(options.log)
    return 0


def _rounds(count: int) -> None:
    """Measure every step of ``count`` rounds in mode open."""
    from django.db import connection, transaction

    from apps.core.clock import now_ms
    from apps.fairness import dealer, sequencer, services
    from apps.fairness.protocol import settlement
    from apps.games import registry

    game = registry.game("monko")
    options = {option.name: option.default for option in game.spec.options}
    decks, order = services.deck_rows(game, options), game.deck(options, len(SEATS))
    stake = {"currency": "PTS", "buy_in": 100, "fee_bp": 500}
    clocks = Clocks()

    def step(name: str, work: Callable[[], Any]) -> Any:
        def whole() -> Any:
            with transaction.atomic():
                return work()

        return clocks.measure(name, whole)

    def nothing() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    for _ in range(count):
        step("(empty transaction, one statement)", nothing)
        opened = step(
            "open: seed, seal, sign, store",
            lambda: services.round_open(
                table_id=uuid4(),
                index=0,
                game="monko",
                rules=game.spec.rules,
                options=options,
                entropy="open",
                beacon=None,
                stake=stake,
                decks=decks,
                last_opener=None,
                now_ms=now_ms(),
            ),
        )
        roster = [services.RosterRow(seat, entropy=os.urandom(32).hex()) for seat in SEATS]
        deal = step(
            "deal: unseal, shuffle, commit, sign, store",
            partial(
                services.round_deal,
                round_id=opened.round_id,
                roster=roster,
                beacon_signature=None,
                order=order,
                opener=None,
                now_ms=now_ms(),
            ),
        )
        hand = [(0, pos) for pos in range(7)]
        clocks.measure("seven openings", partial(dealer.openings, opened.round_id, hand))
        state = os.urandom(4000)
        sealed = clocks.measure("seal a state of 4 kB", partial(dealer.state_seal, opened.round_id, 9, state))
        clocks.measure("open a state of 4 kB", partial(dealer.state_open, opened.round_id, 9, sealed))
        dealer.forget_all()
        clocks.measure("seven openings in a cold process", partial(dealer.openings, opened.round_id, hand))
        settled = settlement.settle(seats=SEATS, buy_in_minor=100, fee_bp=500, shares={0: 1}, opener=deal.opener)
        payouts = [{"seat": seat, "buy_in": 100, "payout": amount} for seat, amount in settled.payouts_minor.items()]
        step(
            "reveal: unseal, sign, store",
            partial(
                services.round_reveal,
                round_id=opened.round_id,
                entries=1,
                head="00" * 32,
                outcome={"reason": "out", "shares": {"0": 1}, "ranking": [[0]]},
                payouts=payouts,
                fee=20,
                ended_ms=now_ms(),
            ),
        )
        clocks.measure("merge the round (one tick, three entries)", lambda: sequencer.tick(now_ms=now_ms()))
    clocks.show()


def _log(size: int) -> None:
    """Grow the log and measure merging and proofs."""
    from django.db import transaction

    from apps.core.clock import now_ms
    from apps.fairness import selectors, sequencer, services, tree
    from apps.games import registry

    game = registry.game("monko")
    decks = services.deck_rows(game, {option.name: option.default for option in game.spec.options})
    stake = {"currency": "PTS", "buy_in": 100, "fee_bp": 500}

    def void() -> None:
        opened = services.round_open(
            table_id=uuid4(),
            index=0,
            game="monko",
            rules=game.spec.rules,
            options={},
            entropy="none",
            beacon=None,
            stake=stake,
            decks=decks,
            last_opener=None,
            now_ms=now_ms(),
        )
        services.round_void(
            round_id=opened.round_id,
            stage="open",
            reason="not_started",
            fault="none",
            entropies=[],
            entries=0,
            head="",
            now_ms=now_ms(),
        )

    say(f"Growing the log to {size} entries.")
    merged, spent, reached = 0, 0.0, 0
    print(f"{'entries':>9} {'merged/s':>9} {'tick of 2, ms':>13} {'inclusion ms':>13} {'consistency ms':>15}")
    while reached < size:
        with transaction.atomic():
            for _ in range(BATCH // 2):
                void()
        began = time.perf_counter()
        merges = sequencer.tick(now_ms=now_ms())
        spent += time.perf_counter() - began
        merged += sum(merge.merged for merge in merges)
        before, reached = reached, merges[-1].size
        if before // 4000 != reached // 4000:
            void_clock = Clocks()
            with transaction.atomic():
                void()
            void_clock.measure("tick", lambda: sequencer.tick(now_ms=now_ms()))
            for index in range(0, reached, max(1, reached // 20)):
                tree.forget_all()
                void_clock.measure("inclusion", partial(selectors.inclusion, index, None))
                tree.forget_all()
                void_clock.measure("consistency", partial(selectors.consistency, index, None))
            times = {name: statistics.median(values) for name, values in void_clock.times.items()}
            print(
                f"{reached:9} {merged / spent:9.0f} {times['tick']:13.2f} {times['inclusion']:13.2f}"
                f" {times['consistency']:15.2f}"
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
