"""How fast the verifier is: rounds a second of finished Monko rounds, with and without rules, and log entries a second.

    python -m tools.bench_verifier [--rounds 40] [--log 6000]

Plays rounds and fills a log in memory with the test house, then measures one process on its own processor time, and
all processes together on the clock.  Asserts nothing, reaches for no server.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from typing import Any

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.monitor import LogMonitor
from apps.fairness.protocol.verify import Checked, Settings, round_check
from apps.fairness.verify.cli import COLLECT_AFTER
from apps.fairness.verify.workers import batches, cores, in_order
from apps.games import registry
from tests.fairness.protocol.house import House

VOID = {"reason": "not_started", "fault": "none"}
REPEATS = 3


def rounds(house: House, count: int, keyed: tuple[int, ...]) -> list[bytes]:
    """Play four-seat Monko rounds at one table and return their bundles."""
    game = registry.game("monko")
    options = {option.name: option.default for option in game.spec.options}
    prev, last_opener, made = "", None, []
    for index in range(count):
        played = house.play(
            game="monko",
            options=options,
            order=game.deck(options, 4),
            seats=(0, 1, 2, 3),
            keyed=keyed,
            index=index,
            prev=prev,
            last_opener=last_opener,
            edits={"open": lambda body: body.update(rules=game.spec.rules)},
        )
        prev, last_opener = played.terminal, played.opener
        made.append(bundle_encode(played.bundle))
    return made


def seconds(work: Callable[[], Any]) -> float:
    """Return the least processor time of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def check_batch(settings: Settings, batch: list[bytes]) -> list[Checked]:
    """Check some bundles; a function of the module, so that other processes find it."""
    return [round_check(data, settings) for data in batch]


def bench_rounds(count: int) -> None:
    """Measure the verification of rounds."""
    print(f"{'finished Monko rounds, 4 seats':44} {'bytes':>8} {'rounds/s':>9}")
    for name, keyed in (("no seat has a key", ()), ("every seat has a key", (0, 1, 2, 3))):
        house = House()
        bundles = rounds(house, count, keyed)
        size = sum(map(len, bundles)) // count
        for said, rules in (("with rules", True), ("without rules", False)):
            settings = Settings(trust=house.trust, rules=rules)
            statuses = {round_check(data, settings).verdict().status for data in bundles}
            took = seconds(partial(check_batch, settings, bundles))
            print(f"{f'{name}, {said}, one process':44} {size:8} {count / took:9.0f}  statuses {statuses}")
        settings = Settings(trust=house.trust)
        many = list(islice(cycle(bundles), 20 * count))
        began = time.perf_counter()
        done = sum(map(len, in_order(partial(check_batch, settings), batches(many, 32), cores())))
        print(f"{f'{name}, with rules, {cores()} processes':44} {size:8} {done / (time.perf_counter() - began):9.0f}")


def bench_log(count: int) -> None:
    """Measure the monitoring of a log."""
    house = House()
    prev = ""
    for index in range((count - 3) // 2):
        prev = house.play(index=index, prev=prev, stop="open", void=VOID, edits={"bundle": dict}).terminal
    note = house.checkpoint()

    def follow() -> None:
        monitor = LogMonitor(origin=house.origin, trust=house.trust)
        for entry in house.entries:
            monitor.entry(entry)
        monitor.checkpoint(note)
        assert monitor.verdict().status == 0

    took = seconds(follow)
    size = len(house.entries)
    print(f"{'log entries followed, one process':44} {size:8} {size / took:9.0f} a second")
    print(f"{'a million entries, one process':44} {'':8} {took / size * 1e6 / 60:9.1f} minutes")


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench_verifier", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--log", type=int, default=6_000, help="Entries of the log that is followed.")
    given = parser.parse_args(arguments)
    gc.set_threshold(COLLECT_AFTER)
    bench_rounds(given.rounds)
    bench_log(given.log)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
