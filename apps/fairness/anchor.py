"""The last tree this machine signed, kept in a file outside of the database.

A database that was restored from a backup does not know what it signed since; this file does, and the log's writer
refuses to go on from an older tree (docs/fairness/operations.md, section Backups).  Optional: without the setting
SEALDECK_LOG_ANCHOR_FILE only witnesses and players notice.
"""

from __future__ import annotations

import os

from apps.fairness import conf


def read() -> tuple[int, bytes] | None:
    """Return size and root of the last tree, or None where there is no file."""
    path = conf.anchor_file()
    if path is None or not path.exists():
        return None
    size, root = path.read_text(encoding="ascii").split()
    return int(size), bytes.fromhex(root)


def write(size: int, root: bytes) -> None:
    """Replace the file by the tree that was just committed, so that a crash leaves the old or the new one."""
    path = conf.anchor_file()
    if path is None:
        return
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with beside.open("w", encoding="ascii") as file:
        file.write(f"{size} {root.hex()}\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
