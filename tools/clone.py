"""What belongs to this clone and lives under var/: the lock that lets one command use its data, and what its processes
are told.

`make run` and `make shell` share it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tools import keys
from tools.processes import ToolError
from tools.services import POSTGRES, ROOT, Services

VAR = ROOT / "var"
RUN = VAR / "run"
LOCK = RUN / "lock"
TOLD = RUN / "environment.json"
NOT_PASSED = ("DATABASE_ADMIN_URL", "DJANGO_SETTINGS_MODULE", "PYTHONOPTIMIZE")
"""Variables of the terminal that no process of the product sees: the administrator's login above all."""


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Hold the clone's lock.

    Raises:
        ToolError: another command holds it.
    """
    RUN.mkdir(parents=True, exist_ok=True)
    with LOCK.open("a+") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder.seek(0)
            raise ToolError(f"Another command uses this clone's data (process {holder.read() or '?'}).") from None
        holder.truncate(0)
        holder.write(str(os.getpid()))
        holder.flush()
        yield


def in_use() -> bool:
    """Tell whether a command of this clone, such as `make run`, holds the lock."""
    try:
        with only_one():
            return False
    except ToolError:
        return True


def keys_folder(running: Services) -> Path:
    """Return where the keys for this database are; what one database has sealed and signed, no other's keys open."""
    if running.children and running.children[0].name == POSTGRES:
        return VAR / "keys"
    server = urlsplit(running.owner_url)
    name = hashlib.sha256(f"{server.hostname}:{server.port}{server.path}".encode()).hexdigest()[:12]
    return VAR / "keys" / name


def environment(running: Services, api_url: str, stream_url: str) -> dict[str, str]:
    """Return what every process of the product is told, and keep what is ours for `make shell`."""
    ours = {
        **keys.environment(keys_folder(running)),
        **running.environment(),
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
        "SEALDECK_API_URL": api_url,
        "SEALDECK_STREAM_URL": stream_url,
    }
    del ours["DATABASE_ADMIN_URL"]
    TOLD.unlink(missing_ok=True)
    TOLD.touch(mode=0o600)
    TOLD.write_text(json.dumps(ours))
    return {**passed(), **ours}


def passed() -> dict[str, str]:
    """Return the terminal's variables that processes of the product may see."""
    return {name: value for name, value in os.environ.items() if name not in NOT_PASSED}


def told() -> dict[str, str]:
    """Return what the processes of the running `make run` were told.

    Raises:
        ToolError: it has not come that far yet.
    """
    if not TOLD.exists():
        raise ToolError("`make run` of this clone is still starting: try again in a moment.")
    return {**passed(), **json.loads(TOLD.read_text())}


def folder_emptied(path: Path) -> Path:
    """Return an empty folder at this place."""
    path.mkdir(parents=True, exist_ok=True)
    for left in path.iterdir():
        left.unlink()
    return path
