"""The chaos run in its short form: what is killed for a while leaves nothing stuck, doubled or unproven."""

from __future__ import annotations

import os
import subprocess
import sys

from tools.chaos import PARTS, kind, schedule
from tools.services import ROOT

SEED, MINUTES = 7, 0.4


class TestSchedule:
    def test_a_seed_gives_one_schedule_that_strikes_every_part(self) -> None:
        first, again, other = schedule(SEED), schedule(SEED), schedule(SEED + 1)
        strikes = [next(first) for _ in range(2 * len(PARTS))]
        assert strikes == [next(again) for _ in strikes]
        assert strikes != [next(other) for _ in strikes]
        assert {part for strike in strikes for part in strike.parts} == set(PARTS)
        assert all(len({kind(part) for part in strike.parts}) == len(strike.parts) for strike in strikes)


class TestChaos:
    def test_a_short_run_leaves_nothing_wrong(self) -> None:
        own = ("DATABASE_URL", "DATABASE_ADMIN_URL", "DATABASE_OWNER_URL", "REDIS_URL")
        env = {name: value for name, value in os.environ.items() if name not in own}
        done = subprocess.run(
            [sys.executable, "-m", "tools.chaos", "--seed", str(SEED), "--minutes", str(MINUTES), "--games", "mojo"],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            timeout=1_200,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Nothing went wrong" in done.stdout
