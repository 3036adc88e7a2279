"""The whole product in processes of its own, on a database of its own: API, streams, workers, beats.

For whoever kills what runs: the tests in tests/system and ``make chaos``.  A process is named after its kind and, where
there is more than one, a number: ``worker``, ``worker-2``.  Never used in production.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql

from tools.processes import Child, ToolError, free_port, wait_for
from tools.services import ROOT

METRICS_TOKEN = "stack"
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

    def __init__(
        self,
        folder: Path,
        *,
        redis_database: int,
        servers: Mapping[str, str] = os.environ,
        api_workers: int = 1,
        is_sandbox: bool = False,
    ) -> None:
        """Make the database and what a demo has.

        Args:
            folder: for keys, logs and the demo's credentials.
            servers: the addresses of the servers, as tools.services gives them.
            api_workers: processes that the API has.
            is_sandbox: whether failures may be ordered and clocks moved: docs/operators/sandbox.md.
        """
        self.folder = folder
        self.api_workers = api_workers
        self.admin_url = servers["DATABASE_ADMIN_URL"]
        self.database = f"system_{uuid4().hex[:8]}"
        self.api_port, self.stream_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.api_port}"
        metrics = folder / "metrics"
        metrics.mkdir(parents=True, exist_ok=True)
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.local",
            "DATABASE_URL": renamed(servers["DATABASE_URL"], self.database),
            "DATABASE_OWNER_URL": renamed(servers["DATABASE_OWNER_URL"], self.database),
            "REDIS_URL": f"{servers['REDIS_URL'].rpartition('/')[0]}/{redis_database}",
            "SEALDECK_SECRET_KEY": "system-test",
            "SEALDECK_KEKS": json.dumps({"s1": "22" * 32}),
            "SEALDECK_KEK_ID": "s1",
            "SEALDECK_LOG_ORIGIN": "system.sealdeck.example/log",
            "SEALDECK_ROOT_KEY_FILE": str(folder / "root-key"),
            "SEALDECK_API_URL": self.url,
            "SEALDECK_STREAM_URL": f"http://127.0.0.1:{self.stream_port}",
            "SEALDECK_SANDBOX": str(is_sandbox),
            "SEALDECK_METRICS_TOKEN": METRICS_TOKEN,
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
            "PYTHONUNBUFFERED": "1",
        }
        self.children: dict[str, Child] = {}
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
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

    def start(self, *names: str, **env: str) -> None:
        """Start processes by name; their kinds are api, streams, worker and beat.  ``env`` is for these alone."""
        for name in names:
            log = self.folder / f"{name}.log"
            self.children[name] = Child(name, self._command(name), log=log, env={**self.env, **env}, cwd=ROOT)
        if "api" in names:
            until("the API", lambda: _healthy(f"{self.url}/health/live"))
        if "streams" in names:
            until("the stream server", lambda: _healthy(f"http://127.0.0.1:{self.stream_port}/health/live"))

    def _command(self, name: str) -> list[str]:
        celery = [sys.executable, "-m", "celery", "-A", "config.celery"]
        granian = [str(BIN / "granian"), "--host", "127.0.0.1", "--no-ws", "--http", "1", "--log-level", "warning"]
        match name.partition("-")[0]:
            case "api":
                granian += ["--interface", "wsgi", "--workers", str(self.api_workers), "--blocking-threads", "1"]
                granian += ["--respawn-failed-workers", "--port", str(self.api_port)]
                return [*granian, "config.wsgi:application"]
            case "streams":
                granian += ["--interface", "asgi", "--workers", "1", "--port", str(self.stream_port)]
                return [*granian, "config.asgi:application"]
            case "worker":
                celery += ["worker", "--hostname", f"{name}@%h", "--without-gossip", "--without-mingle"]
                return celery
            case "beat":
                return [*celery, "beat", "--schedule", str(self.folder / name), "--pidfile="]
        raise ToolError(f"There is no process {name!r}.")

    def kill(self, *names: str) -> None:
        """End processes and all their workers at once, as kill -9 does."""
        for name in names:
            self.children.pop(name).kill()

    def stop(self) -> None:
        """Stop everything and drop the database."""
        for child in reversed(self.children.values()):
            child.stop()
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self.database)))

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with psycopg.connect(self.env["DATABASE_URL"]) as connection:
            return connection.execute(statement.encode()).fetchall()

    def change(self, statement: str) -> None:
        """Run a statement with the application's login: so rows get the times that a test would have to wait for."""
        with psycopg.connect(self.env["DATABASE_URL"]) as connection:
            connection.execute(statement.encode())

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
