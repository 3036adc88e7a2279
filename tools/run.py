"""`make run`: the whole product on this machine, supervised, until Ctrl-C.

Starts the servers, migrates, makes the demo data, then runs the API, the stream server, worker, beat and the bots that
play through the public API.  What crashes is started again with growing pauses.  Everything lives under var/, so that a
second run goes on where the first one stopped.  Never used in production.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools import clone, keys
from tools.clone import RUN, VAR
from tools.processes import Child, ToolError, free_port, say, wait_for
from tools.services import ROOT, services

DEMO = VAR / "demo.json"
API_PORT, STREAM_PORT = 8000, 8001
API_WORKERS = 2
PAUSE_FIRST_S, PAUSE_MAX_S = 1.0, 30.0
STEADY_S = 60.0
"""A process that ran this long has recovered: its next crash is a first one again."""
LOOK_EVERY_S = 0.2
MANAGE = (sys.executable, "manage.py")


class Supervisor:
    """Keeps the children running and stops them in order."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.pauses: dict[str, float] = {}
        self.again_at: dict[str, float] = {}
        self.over = False
        """Whether the end has begun."""

    def add(self, child: Child) -> Child:
        """Watch a child from now on; the latest added is stopped first."""
        self.children.append(child)
        return child

    def watch(self) -> None:
        """Start again what ended, until a signal ends it.

        In the main thread: a child is told to stop when the thread that started it ends.
        """
        while True:
            time.sleep(LOOK_EVERY_S)
            self.look(time.monotonic())

    def look(self, now_s: float) -> None:
        """Notice what ended, and start again what has waited for long enough."""
        for child in self.children:
            if child.running():
                if now_s - child.started_s > STEADY_S:
                    self.pauses.pop(child.name, None)
            elif child.name not in self.again_at:
                pause_s = self.pauses.get(child.name, PAUSE_FIRST_S)
                self.pauses[child.name] = min(pause_s * 2, PAUSE_MAX_S)
                self.again_at[child.name] = now_s + pause_s
                say(f"{child.name} ended ({_ending(child)}); starting it again in {pause_s:.0f} s.")
            elif now_s >= self.again_at[child.name]:
                del self.again_at[child.name]
                child.sweep()
                child.start()

    def stop(self) -> None:
        """Stop the children, the last one first."""
        for child in reversed(self.children):
            child.stop()


def _ending(child: Child) -> str:
    code = child.process.returncode
    how = signal.Signals(-code).name if code < 0 else f"code {code}"
    return f"{how}; log: {child.log.relative_to(ROOT) if child.log.is_relative_to(ROOT) else child.log}"


def _port(what: str, wanted: int) -> int:
    port = free_port(wanted)
    if port != wanted:
        say(f"Port {wanted} is taken; {what} uses {port}.")
    return port


def _step(what: str, arguments: Sequence[str], env: Mapping[str, str], log: Path) -> None:
    """Run one management command to its end; show its last line only when it fails."""
    child = Child(what, [*MANAGE, *arguments], log=log, env=env, cwd=ROOT)
    try:
        wait_for(f"`manage.py {' '.join(arguments)}`", lambda: not child.running(), timeout_s=300)
    finally:
        child.stop()
    if child.process.returncode:
        raise ToolError(f"{what} failed: {child.tail()}")


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


def _granian(interface: str, application: str, port: int, workers: int) -> list[str]:
    command = [str(Path(sys.executable).parent / "granian"), "--interface", interface, application]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", str(workers), "--no-ws", "--http", "1"]
    command += ["--respawn-failed-workers", "--workers-kill-timeout", "5s", "--log-level", "warning"]
    return command + (["--blocking-threads", "1"] if interface == "wsgi" else [])


def _celery(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "config.celery", *arguments, "--loglevel", "WARNING"]


def run(supervisor: Supervisor) -> None:
    """Start everything and watch it."""
    logs = VAR / "log"
    with services(VAR / "services", throw_away=False) as running:
        api, streams = _port("the API", API_PORT), _port("the stream server", STREAM_PORT)
        env = clone.environment(running, f"http://127.0.0.1:{api}", f"http://127.0.0.1:{streams}")
        env["PROMETHEUS_MULTIPROC_DIR"] = str(clone.folder_emptied(RUN / "metrics"))
        env["PYTHONUNBUFFERED"] = "1"
        servers = {name: value for name, value in env.items() if name != "DATABASE_OWNER_URL"}
        say("Bringing the database up to date")
        _step("Migration", ["migrate", "--database", "owner", "--no-input"], env, logs / "migrate.log")
        root_key = ["--create-root", "--root-key-file", str(clone.keys_folder(running) / keys.ROOT_KEY)]
        _step("Start of the public log", ["fairness_keys", "init", "--if-missing", *root_key], env, logs / "log.log")
        _step("Demo data", ["demo", "--file", str(DEMO)], env, logs / "demo.log")

        def start(name: str, log: str, command: list[str], *, to_terminal: bool = False) -> Child:
            child = Child(name, command, log=logs / log, env=servers, cwd=ROOT, to_terminal=to_terminal)
            return supervisor.add(child)

        for server in running.children:
            supervisor.add(server)
        try:
            web = start("API", "api.log", _granian("wsgi", "config.wsgi:application", api, API_WORKERS))
            start("Stream server", "streams.log", _granian("asgi", "config.asgi:application", streams, 1))
            start("Worker", "worker.log", _celery("worker", "--without-gossip", "--without-mingle"))
            start("Beat", "beat.log", _celery("beat", "--schedule", str(RUN / "beat"), "--pidfile="))
            web.wait_ready("the API to answer", lambda: _healthy(f"http://127.0.0.1:{api}/health/live"))
            _introduce(api, streams)
            start(
                "Bots", "bots.log", [sys.executable, "-m", "apps.client.bots", "--config", str(DEMO)], to_terminal=True
            )
            supervisor.watch()
        finally:
            supervisor.over = True
            say("\nStopping")
            supervisor.stop()


def _introduce(api: int, streams: int) -> None:
    """Print where everything is."""
    address = f"http://127.0.0.1:{api}"
    demo: dict[str, Any] = json.loads(DEMO.read_text()) if DEMO.exists() else {}
    lines = [
        "",
        f"Sealdeck runs at {address}",
        f"  API docs   {address}/docs",
        f"  Admin      {address}/admin/",
        f"  Verifier   {address}/v1/fairness/sealdeck-verify.pyz",
        f"  Streams    http://127.0.0.1:{streams}",
        f"  Demo data  {DEMO.relative_to(ROOT)}",
        f"  Logs       {(VAR / 'log').relative_to(ROOT)}",
    ]
    for name, value in demo.get("credentials", {}).items():
        lines.append(f"  {name:<10} {value}")
    say("\n".join([*lines, "Ctrl-C stops everything; a second `make run` goes on; `make clean` forgets it.", ""]))


def main() -> int:
    """Run until told to stop; return the exit code."""
    supervisor = Supervisor()

    def end(_number: int, _frame: object) -> None:
        if not supervisor.over:  # A second Ctrl-C must not interrupt the stopping.
            supervisor.over = True
            raise KeyboardInterrupt

    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, end)
    try:
        with clone.only_one():
            run(supervisor)
    except KeyboardInterrupt:
        return 0
    except (ToolError, subprocess.SubprocessError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
