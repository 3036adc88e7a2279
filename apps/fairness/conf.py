"""The settings of the fairness application, read once and typed.

``SEALDECK_KEKS``            object of key id to 32 bytes hex: the key-encryption keys this process may use
``SEALDECK_KEK_ID``          id of the key that seals from now on
``SEALDECK_LOG_ORIGIN``      name of the public log, taken once by ``fairness_keys init``
``SEALDECK_ROOT_KEY_FILE``   file with the root key; only the commands of the key ceremony open it
``SEALDECK_LOG_ANCHOR_FILE`` file outside of the database in which the log's writer keeps the last tree it signed
``SEALDECK_WITNESSES``       list of objects ``vkey`` and ``url``: who cosigns checkpoints
``SEALDECK_WITNESS_QUORUM``  how many of them a checkpoint needs
``SEALDECK_BEACON_URLS``     relays of the beacon chain; empty turns fetching off

Meaning and rotation: docs/fairness/operations.md.  Never logs or shows a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

KEK_BYTES = 32
KEK_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,31}", re.ASCII)
ORIGIN = re.compile(r"[!-*,-~]{1,128}", re.ASCII)
"""Printable ASCII without space and ``+`` (section 12)."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A cosigner: its verifier key and the address its ``add-checkpoint`` is under."""

    vkey: str
    url: str

    @property
    def id(self) -> str:
        """Return its name and key id, under which its lines are kept."""
        return "+".join(self.vkey.split("+")[:2])


class ConfigurationError(ValueError):
    """A setting is missing or malformed; the text names the setting and never its value."""


def keks() -> dict[str, bytes]:
    """Return the key-encryption keys by id.

    Raises:
        ConfigurationError: an id or a key is malformed, or two ids hold the same key.
    """
    raw: Any = getattr(settings, "SEALDECK_KEKS", None) or {}
    if not isinstance(raw, Mapping):
        raise ConfigurationError("SEALDECK_KEKS is not an object of key id to hex")
    result: dict[str, bytes] = {}
    for kek_id, text in raw.items():
        if not isinstance(kek_id, str) or KEK_ID.fullmatch(kek_id) is None:
            raise ConfigurationError("SEALDECK_KEKS: an id has 1 to 32 of a-z, 0-9 and '-'")
        try:
            key = bytes.fromhex(text)
        except (TypeError, ValueError):
            key = b""
        if len(key) != KEK_BYTES:
            raise ConfigurationError(f"SEALDECK_KEKS: the key {kek_id} has not 32 bytes in hex")
        result[kek_id] = key
    if len(set(result.values())) != len(result):
        raise ConfigurationError("SEALDECK_KEKS: two ids hold the same key")
    return result


def kek_id() -> str:
    """Return the id of the key that seals from now on; empty where this process has none."""
    return str(getattr(settings, "SEALDECK_KEK_ID", "") or "")


def origin() -> str:
    """Return the log's name as configured; the log's own row decides once it exists."""
    return str(getattr(settings, "SEALDECK_LOG_ORIGIN", "") or "")


def root_key_file() -> Path | None:
    """Return the file of the root key, where this machine has one."""
    return _path("SEALDECK_ROOT_KEY_FILE")


def anchor_file() -> Path | None:
    """Return the file in which the log's writer remembers the last tree it signed."""
    return _path("SEALDECK_LOG_ANCHOR_FILE")


def witnesses() -> tuple[Witness, ...]:
    """Return the cosigners."""
    rows = getattr(settings, "SEALDECK_WITNESSES", None) or ()
    return tuple(Witness(vkey=row["vkey"], url=row["url"].rstrip("/")) for row in rows)


def quorum() -> int:
    """Return how many witnesses a checkpoint needs before it counts."""
    return int(getattr(settings, "SEALDECK_WITNESS_QUORUM", 0) or 0)


def beacon_urls() -> tuple[str, ...]:
    """Return the relays of the beacon chain; empty turns fetching off."""
    return tuple(url.rstrip("/") for url in getattr(settings, "SEALDECK_BEACON_URLS", None) or ())


def _path(name: str) -> Path | None:
    value = getattr(settings, name, None)
    return Path(value) if value else None
