"""Identifiers: random, so that nobody can guess or count another's."""

from __future__ import annotations

from uuid import UUID, uuid4


def new_id() -> UUID:
    """Return a new random identifier (UUID version 4)."""
    return uuid4()
