"""Who makes a request: an operator by an API key, or a player by a session token.

Source: docs/operators/keys-and-sessions.md.  Values only; never reads the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

SCOPES = ("read", "play", "money", "admin")
"""What a key may do: look, manage players and tables, move money, manage keys and statuses.  None contains another."""


@dataclass(frozen=True, slots=True)
class OperatorPrincipal:
    """A platform's back end, known by one of its API keys."""

    operator_id: UUID
    key_id: UUID
    scopes: frozenset[str]
    is_signed: bool = False
    """Whether this very request carried a valid signature."""
    must_sign: bool = False
    """Whether the key's requests that move money or administer have to be signed."""

    @property
    def actor(self) -> str:
        """Return the name under which history rows remember this caller."""
        return f"key:{self.key_id}"


@dataclass(frozen=True, slots=True)
class PlayerPrincipal:
    """A player's device, known by a session token."""

    operator_id: UUID
    player_id: UUID
    session_id: UUID
    token_version: int

    @property
    def actor(self) -> str:
        """Return the name under which history rows remember this caller."""
        return f"player:{self.player_id}"


Principal = OperatorPrincipal | PlayerPrincipal
