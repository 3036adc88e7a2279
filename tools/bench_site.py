"""What benchmarks measure on: a durable PostgreSQL and a Redis of their own, with this process as a client."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools import services as servers
from tools.processes import say


@contextmanager
def site() -> Iterator[tuple[servers.Services, Path]]:
    """Start servers with an up-to-date database and a started log, point Django at them; at the end remove everything.

    Yields:
        The servers, and the folder of all that they keep.
    """
    (servers.ROOT / "var").mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="bench-", dir=servers.ROOT / "var"))
    home.chmod(0o755)
    try:
        with servers.services(home, throw_away=False, outer={}) as running:
            say("Preparing the database.")
            os.environ.update(
                running.environment(),
                DJANGO_SETTINGS_MODULE="config.settings.local",
                SEALDECK_SECRET_KEY="bench",
                SEALDECK_KEKS=json.dumps({"bench": os.urandom(32).hex()}),
                SEALDECK_KEK_ID="bench",
                SEALDECK_LOG_ORIGIN="bench.sealdeck.example/log",
                SEALDECK_ROOT_KEY_FILE=str(home / "root-key"),
                SEALDECK_RATE_LIMITS="player=1000000/60",
            )
            manage("migrate", "--database", "owner", "-v", "0")
            manage("fairness_keys", "init", "--create-root")
            import django

            django.setup()
            yield running, home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def manage(*command: str) -> None:
    """Run a management command to its end."""
    subprocess.run([sys.executable, "-m", "django", *command], check=True, env=os.environ, stdout=subprocess.DEVNULL)
