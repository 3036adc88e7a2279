"""Child processes of the development commands: free ports, start, wait until ready, stop.

Nothing here knows Django or a particular server.  Each child leads a session of its own, so that Ctrl-C in the terminal
reaches only the command itself, which then stops its children in order; where the kernel offers it (Linux), a child is
also told to stop when the command is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

QUIET_S = 2.0
"""Waiting longer than this is announced."""
POLL_S = 0.05
PORT_STEP = 10
PORT_TRIES = 10
PR_SET_PDEATHSIG = 1


class ToolError(Exception):
    """A development command cannot go on; the message is one sentence for the person at the terminal."""


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)


def free_port(wanted: int | None = None) -> int:
    """Return ``wanted`` when nothing listens there, else one near it, else what the system picks; loopback only."""
    near = range(wanted, wanted + PORT_STEP * PORT_TRIES, PORT_STEP) if wanted else ()
    for port in (*near, 0):
        if port and not _reserved(port):
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ToolError("No TCP port is free on 127.0.0.1.")


def _reserved(port: int) -> bool:
    """Take the machine's lock for a port; False if another command holds it, whose server is only about to listen.

    The lock lasts as long as this process.  Without it two commands started at once would both find the port free.
    """
    path = Path(tempfile.gettempdir()) / f"sealdeck-port-{port}"
    try:
        holder = os.open(path, os.O_RDONLY if path.exists() else os.O_RDONLY | os.O_CREAT, 0o644)
    except OSError:
        return True  # A folder that cannot be written: then the port itself must decide.
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(holder)
        return False
    return True


def answers(port: int) -> bool:
    """Tell whether something accepts connections on the loopback port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def wait_for(what: str, ready: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
    """Return when ``ready()`` is true; say what is waited for when that takes long.

    Raises:
        ToolError: it was not ready in time.
    """
    began = time.monotonic()
    told = began + QUIET_S
    while not ready():
        now = time.monotonic()
        if now - began > timeout_s:
            raise ToolError(f"Gave up after {timeout_s:.0f} s waiting for {what}.")
        if now >= told:
            say(f"... waiting for {what}")
            told = now + 10.0
        time.sleep(POLL_S)


def _die_with_parent(sign: signal.Signals) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(sign))


def children_of(pid: int) -> list[int]:
    """Return the ids of a process's children, also those that lead groups of their own; none where no /proc is."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


class Child:
    """One child process with its log file; it can be started again."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        user: int | None = None,
        group: int | None = None,
        to_terminal: bool = False,
    ) -> None:
        self.name = name
        self.command = [str(part) for part in command]
        self.log = log
        self.env = None if env is None else dict(env)
        self.cwd = cwd
        self.stop_signal = stop_signal
        self.user = user
        self.group = group
        self.to_terminal = to_terminal
        """Let what the process prints reach the terminal; its errors go to the log all the same."""
        self.started_s = 0.0
        log.parent.mkdir(parents=True, exist_ok=True)
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, for the first time or again."""
        # Only between fork and exec, in a program without threads: the kernel is told to stop the child with us.
        die = (lambda: _die_with_parent(self.stop_signal)) if sys.platform == "linux" else None
        with self.log.open("ab") as sink:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=None if self.to_terminal else sink,
                stderr=sink,
                env=self.env,
                cwd=self.cwd,
                start_new_session=True,
                user=self.user,
                group=self.group,
                extra_groups=None if self.user is None else [],
                preexec_fn=die,
            )
        self.started_s = time.monotonic()
        return self.process

    @property
    def pid(self) -> int:
        """Return the process id, which is the id of its process group too."""
        return self.process.pid

    def running(self) -> bool:
        """Tell whether the process is still there."""
        return self.process.poll() is None

    def wait_ready(self, what: str, ready: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
        """Wait until ``ready()``.

        Raises:
            ToolError: the process ended instead, or was not ready in time.
        """

        def check() -> bool:
            if not self.running():
                raise ToolError(f"{self.name} ended at once (code {self.process.returncode}): {self.tail()}")
            return ready()

        wait_for(what, check, timeout_s=timeout_s)

    def tail(self) -> str:
        """Return the last line of the log, and where the log is."""
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return f"{lines[-1] if lines else 'it printed nothing'} (log: {self.log})"

    def stop(self, *, patience_s: float = 15.0) -> None:
        """Ask the process to stop, wait, and end what is left of its group."""
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(self.stop_signal)
            try:
                wait_for(f"{self.name} to stop", lambda: not self.running(), timeout_s=patience_s)
            except ToolError:
                say(f"{self.name} did not stop and is killed.")
        self.sweep()
        self.process.wait()

    def kill(self) -> None:
        """End the process and its workers at once, as kill -9 does; nothing of it can say good-bye."""
        workers = children_of(self.pid)
        self.process.kill()
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.sweep()
        self.process.wait()

    def sweep(self) -> None:
        """Kill what is left of the process group, for example the workers of a server that was killed."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
