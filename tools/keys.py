"""Secrets for `make run`: made once, kept in var/keys where only their owner can read them.

Never used in production, which takes every key from its environment.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path

SECRET_KEY = "SEALDECK_SECRET_KEY"
KEKS = "SEALDECK_KEKS"
KEK_ID = "SEALDECK_KEK_ID"
LOCAL_KEK = "local-1"
ROOT_KEY = "root-key"


def secret_file(path: Path) -> str:
    """Return the secret kept in the file; on first use make it, 32 random bytes in hex, readable by its owner only."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32))
    return path.read_text()


def environment(folder: Path) -> dict[str, str]:
    """Return the variables with this machine's keys."""
    return {
        SECRET_KEY: secret_file(folder / "secret"),
        KEKS: json.dumps({LOCAL_KEK: secret_file(folder / "kek")}),
        KEK_ID: LOCAL_KEK,
        "SEALDECK_METRICS_TOKEN": secret_file(folder / "metrics-token"),
        "SEALDECK_LOG_ANCHOR_FILE": str(folder / "log-anchor"),
        "SEALDECK_LOG_ORIGIN": "local.sealdeck.example/log",
    }
