"""Lateness of clocks: many tables where nobody moves, so that every turn ends by its clock.

A deadline is in the entry that set it, and the entry that its passing made has the time at which it was applied.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import time
from typing import TYPE_CHECKING

import httpx

from apps.client.errors import ApiError
from tools.load_meters import Machine, percentiles
from tools.load_table import LoadTable
from tools.processes import say

if TYPE_CHECKING:
    from tools.load import House, Site

PLAYERS = 64
FIRST_TURN_S = 14
LATENESS = """
SELECT (w.at_ms - (e.deadline->>'deadline')::bigint)::float8
FROM history_entry w
JOIN history_entry p ON p.round_id = w.round_id AND p.seq = w.seq - 1
CROSS JOIN LATERAL (
    SELECT value AS deadline FROM jsonb_array_elements(p.body::jsonb->'events') WHERE value->>'type' = 'turn_started'
) e
WHERE w.kind = 'wake' AND w.at_ms > %d
"""


async def clocks(site: Site, options: argparse.Namespace) -> None:
    """Deal at all tables, let nobody move, and print how late their clocks were."""
    from tools.load import House

    if site.stack is None:
        raise SystemExit("--clocks reads the database: leave --url out.")
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=120) as http:
        house = House(site, options, http)
        players = [await house.player(f"clock-{number}") for number in range(PLAYERS)]
        say(f"Seating {options.clocks} tables of {options.game}.")
        made = []
        for first in range(0, options.clocks, 100):
            numbers = range(first, min(first + 100, options.clocks))
            seats = {n: [players[(n + seat) % PLAYERS] for seat in range(options.seats)] for n in numbers}
            made += await asyncio.gather(*(house.table(n, seats[n], entropy="none") for n in numbers))
        say("Dealing.")
        for first in range(0, len(made), 100):
            await asyncio.gather(*(_deal(table, house) for table in made[first : first + 100]))
        since_ms = int(site.ask("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"))
        machine, began = Machine(site.roots), time.monotonic()
        await asyncio.sleep(options.seconds + FIRST_TURN_S)
        seconds, used = time.monotonic() - began, machine.since()
        house.wire.close()
    late_ms = [float(row[0]) for row in site.stack.ask(LATENESS % (since_ms + FIRST_TURN_S * 1000))]
    running = site.ask("SELECT count(*) FROM tables_round WHERE status = 'running'")
    say(f"\nlive tables    {running}")
    say(f"clocks         {len(late_ms)} ran out in {seconds - FIRST_TURN_S:.0f} s")
    say(f"lateness, ms   {percentiles(late_ms)} from a deadline to the time at which it was applied")
    for name, (cpu_s, _, _) in used.items():
        say(f"{name:14} {cpu_s / seconds:6.0%} of one core, {1000 * cpu_s / max(len(late_ms), 1):.2f} ms a clock")


async def _deal(table: LoadTable, house: House) -> None:
    """Get everybody ready once the table takes contributions."""
    while True:
        seen = await table.seats[0].table(table.id)
        round_ = seen["round"]
        if round_ and round_["status"] == "running":
            return
        if round_ and round_["takes_contributions"]:
            for player in table.seats:
                try:
                    await player.ready(table.id, {"round_id": round_["id"]})
                except ApiError as refusal:
                    if refusal.code != "already_ready":
                        raise
            return
        await asyncio.sleep(0.2 + secrets.randbelow(100) / 1000)
