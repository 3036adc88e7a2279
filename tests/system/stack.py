"""The whole product in processes of its own, on a database of its own: API, streams, worker, beat.

What a person would do by hand with ``make run``, the tests of this folder do over HTTP, kill -9 included.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql

from tools.processes import Child, free_port, wait_for
from tools.services import ROOT

BIN = Path(sys.executable).parent
PATIENCE_S = 60.0


def renamed(url: str, database: str) -> str:
    """Return the URL of another database of the same server."""
    return f"{url.rpartition('/')[0]}/{database}"


def until(what: str, ready: Callable[[], Any], *, timeout_s: float = PATIENCE_S) -> Any:
    """Return what ``ready`` returns as soon as it is true."""
    found: list[Any] = []

    def check() -> bool:
        value = ready()
        if value:
            found.append(value)
        return bool(value)

    wait_for(what, check, timeout_s=timeout_s)
    return found[0]


class Stack:
    """One running Sealdeck."""

    def __init__(self, folder: Path, *, redis_database: int) -> None:
        self.folder = folder
        self.database = f"system_{uuid4().hex[:8]}"
        self.api_port, self.stream_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.api_port}"
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.local",
            "DATABASE_URL": renamed(os.environ["DATABASE_URL"], self.database),
            "DATABASE_OWNER_URL": renamed(os.environ["DATABASE_OWNER_URL"], self.database),
            "REDIS_URL": f"{os.environ['REDIS_URL'].rpartition('/')[0]}/{redis_database}",
            "SEALDECK_SECRET_KEY": "system-test",
            "SEALDECK_KEKS": json.dumps({"s1": "22" * 32}),
            "SEALDECK_KEK_ID": "s1",
            "SEALDECK_LOG_ORIGIN": "system.sealdeck.example/log",
            "SEALDECK_ROOT_KEY_FILE": str(folder / "root-key"),
            "SEALDECK_API_URL": self.url,
            "SEALDECK_STREAM_URL": f"http://127.0.0.1:{self.stream_port}",
            "PYTHONUNBUFFERED": "1",
        }
        self.children: dict[str, Child] = {}
        with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
            admin.execute(
                sql.SQL("CREATE DATABASE {} OWNER sealdeck_owner TEMPLATE sealdeck_template").format(
                    sql.Identifier(self.database)
                )
            )
        self.manage("migrate", "--database", "owner", "--no-input", "-v", "0")
        self.manage("fairness_keys", "init", "--create-root")
        self.manage("demo", "--file", str(folder / "demo.json"))
        self.demo: dict[str, Any] = json.loads((folder / "demo.json").read_text())

    def manage(self, *arguments: str) -> str:
        """Run a management command to its end and return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *names: str) -> None:
        """Start processes by name: api, streams, worker, beat."""
        celery = [sys.executable, "-m", "celery", "-A", "config.celery"]
        granian = [str(BIN / "granian"), "--host", "127.0.0.1", "--no-ws", "--http", "1", "--log-level", "warning"]
        commands = {
            "api": [
                *granian,
                *("--interface", "wsgi", "--workers", "1", "--blocking-threads", "1", "--respawn-failed-workers"),
                *("--port", str(self.api_port), "config.wsgi:application"),
            ],
            "streams": [
                *granian,
                *("--interface", "asgi", "--workers", "1", "--port", str(self.stream_port), "config.asgi:application"),
            ],
            "worker": [*celery, "worker", "--concurrency", "1", "--without-gossip", "--without-mingle"],
            "beat": [*celery, "beat", "--schedule", str(self.folder / "beat"), "--pidfile="],
        }
        for name in names:
            self.children[name] = Child(name, commands[name], log=self.folder / f"{name}.log", env=self.env, cwd=ROOT)
        if "api" in names:
            until("the API", lambda: _healthy(f"{self.url}/health/live"))
        if "streams" in names:
            until("the stream server", lambda: _healthy(f"http://127.0.0.1:{self.stream_port}/health/live"))

    def kill(self, *names: str) -> None:
        """End processes and all their workers at once, as kill -9 does."""
        for name in names:
            child = self.children.pop(name)
            os.killpg(child.pid, signal.SIGKILL)
            child.process.wait()

    def stop(self) -> None:
        """Stop everything and drop the database."""
        for child in reversed(self.children.values()):
            child.stop()
        with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self.database)))

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with psycopg.connect(self.env["DATABASE_URL"]) as connection:
            return connection.execute(statement.encode()).fetchall()

    def rounds_ended(self) -> int:
        """Return how many rounds have ended."""
        return int(self.ask("SELECT count(*) FROM tables_round WHERE status IN ('finished', 'void')")[0][0])


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError, TimeoutError):
        return False


def pause(seconds: float) -> None:
    """Let real time pass: clocks of the product are what is tested here."""
    time.sleep(seconds)
