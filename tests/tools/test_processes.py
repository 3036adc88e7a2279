"""Children of the development commands: watched, started again, stopped in order, and never left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import processes
from tools.processes import Child, ToolError, free_port
from tools.run import PAUSE_FIRST_S, PAUSE_MAX_S, Supervisor

FOR_EVER = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.05)"
AT_ONCE = "raise SystemExit('it has no reason to live')"
STUBBORN = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + FOR_EVER
WITH_WORKER = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', %r])\n" % FOR_EVER + FOR_EVER  # noqa: UP031


def python(name: str, program: str, folder: Path) -> Child:
    """Start a small program."""
    return Child(name, [sys.executable, "-c", program], log=folder / f"{name}.log")


def alive(pid: int) -> bool:
    """Tell whether a process is there and not merely waiting to be collected."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    """Return a supervisor whose children are stopped at the end."""
    made = Supervisor()
    yield made
    made.stop()


class TestSupervisor:
    def test_starts_again_what_was_killed(self, supervisor: Supervisor, tmp_path: Path) -> None:
        child = supervisor.add(python("child", FOR_EVER, tmp_path))
        first = child.pid
        os.kill(first, signal.SIGKILL)
        child.process.wait(10)
        now_s = time.monotonic()
        supervisor.look(now_s)
        supervisor.look(now_s + PAUSE_FIRST_S - 0.1)
        assert not child.running()
        supervisor.look(now_s + PAUSE_FIRST_S)
        assert child.running()
        assert child.pid != first

    def test_waits_longer_each_time_up_to_a_bound(
        self, supervisor: Supervisor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        child = supervisor.add(python("child", AT_ONCE, tmp_path))
        now_s = time.monotonic()
        for _ in range(7):
            child.process.wait(10)
            supervisor.look(now_s)
            now_s += PAUSE_MAX_S
            supervisor.look(now_s)
        said = [line.rpartition(" in ")[2] for line in capsys.readouterr().out.splitlines()]
        assert said == ["1 s.", "2 s.", "4 s.", "8 s.", "16 s.", "30 s.", "30 s."]

    def test_stops_the_last_one_first(self, supervisor: Supervisor, tmp_path: Path) -> None:
        log = tmp_path / "order"
        program = (
            "import signal, sys, time\n"
            "def end(*_): open(sys.argv[1], 'a').write(sys.argv[2] + ' '); sys.exit()\n"
            "signal.signal(signal.SIGTERM, end)\n" + FOR_EVER
        )
        for name in ("first", "second", "third"):
            command = [sys.executable, "-c", program, str(log), name]
            child = supervisor.add(Child(name, command, log=tmp_path / name))
            child.wait_ready("it to print", lambda child=child: "up" in child.log.read_text())  # type: ignore[misc]
        supervisor.stop()
        assert log.read_text().split() == ["third", "second", "first"]


class TestChild:
    def test_that_does_not_stop_is_killed(self, tmp_path: Path) -> None:
        child = python("stubborn", STUBBORN, tmp_path)
        child.wait_ready("it to print", lambda: "up" in child.log.read_text())
        child.stop(patience_s=0.3)
        assert child.process.returncode == -signal.SIGKILL

    def test_takes_its_own_children_with_it(self, tmp_path: Path) -> None:
        child = python("parent", WITH_WORKER, tmp_path)
        child.wait_ready("both to print", lambda: child.log.read_text().count("up") == 2)
        group = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(child.pid)], capture_output=True, text=True, check=True
        )
        worker = int(group.stdout.split()[0])
        os.kill(child.pid, signal.SIGKILL)
        child.process.wait(10)
        child.sweep()
        processes.wait_for("the worker to end", lambda: not alive(worker), timeout_s=10)

    def test_that_ends_instead_of_starting_is_told_with_its_last_line(self, tmp_path: Path) -> None:
        child = python("child", AT_ONCE, tmp_path)
        with pytest.raises(ToolError, match="it has no reason to live"):
            child.wait_ready("it to print", lambda: False)

    def test_does_not_outlive_a_command_that_is_killed(self, tmp_path: Path) -> None:
        program = (
            "import sys, time; from pathlib import Path; from tools.processes import Child\n"
            f"child = Child('child', [sys.executable, '-c', {FOR_EVER!r}], log=Path({str(tmp_path / 'log')!r}))\n"
            "print(child.pid, flush=True); time.sleep(60)"
        )
        command = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert command.stdout is not None
        pid = int(command.stdout.readline())
        assert alive(pid)
        command.kill()
        command.wait(10)
        processes.wait_for("the child to end", lambda: not alive(pid), timeout_s=10)


class TestFreePort:
    def test_that_is_taken_is_replaced(self) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            taken = other.getsockname()[1]
            assert free_port(taken) != taken

    def test_is_not_given_to_two_commands_at_once(self) -> None:
        wanted = free_port()
        assert free_port(wanted) == wanted
        program = f"from tools.processes import free_port; print(free_port({wanted}))"
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert int(other.stdout) != wanted


class TestWaiting:
    def test_is_announced_when_it_takes_long(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(processes, "QUIET_S", 0.1)
        ready_at_s = time.monotonic() + 0.3
        processes.wait_for("the moon", lambda: time.monotonic() > ready_at_s)
        assert capsys.readouterr().out == "... waiting for the moon\n"

    def test_ends_in_a_sentence(self) -> None:
        with pytest.raises(ToolError, match=r"Gave up after 0 s waiting for the moon\."):
            processes.wait_for("the moon", lambda: False, timeout_s=0.1)
