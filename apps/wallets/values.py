"""The values that the ledger hands out.  Amounts are integers in minor units."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

AMOUNT_MINOR_MAX = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""


@dataclass(frozen=True, slots=True)
class CurrencyFacts:
    """What a table or a view needs to know of a currency."""

    code: str
    exponent: int
    is_money: bool
    min_buy_in_minor: int
    rake_rule: str


@dataclass(frozen=True, slots=True)
class Balance:
    """A player's balance: available is posted less held."""

    posted_minor: int
    held_minor: int

    @property
    def available_minor(self) -> int:
        """Return what may be spent now."""
        return self.posted_minor - self.held_minor


@dataclass(frozen=True, slots=True)
class Transaction:
    """One credit or debit; ``amount_minor`` is positive, ``kind`` says which way it went."""

    id: UUID
    kind: str
    external_id: str
    player_id: UUID
    currency: str
    amount_minor: int
    balance_after_minor: int
    round_id: UUID | None
    created_at_ms: int
    replayed: bool = False
    """True if an earlier request with the same id and content made it."""


@dataclass(frozen=True, slots=True)
class HoldFacts:
    """A reserved part of a player's balance."""

    id: UUID
    player_id: UUID
    currency: str
    amount_minor: int
    purpose: str
    reference: UUID
    state: str
    expires_at_ms: int
    transaction_id: UUID | None


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction that somebody asked for, with the lines that it would write or has written."""

    id: UUID
    kind: str
    state: str
    reason: str
    reverses_id: UUID | None
    round_id: UUID | None
    transaction_id: UUID | None
    requested_at_ms: int
    decided_at_ms: int | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class CorrectionPage:
    """A part of the list of corrections, newest first; ``next_cursor`` goes on after it."""

    items: tuple[Correction, ...]
    next_cursor: str
    has_more: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a movement; a player's line names him and his balance after it."""

    account: str
    player_id: UUID | None
    amount_minor: int
    balance_after_minor: int | None


@dataclass(frozen=True, slots=True)
class RoundLine:
    """What one transaction of a round did to one player's account; a stake is negative, what comes back positive."""

    tx_id: UUID
    kind: str
    player_id: UUID
    amount_minor: int
    balance_after_minor: int
    created_at_ms: int


@dataclass(frozen=True, slots=True)
class Movement:
    """A transaction with all its lines, which add up to zero."""

    id: UUID
    kind: str
    external_id: str
    round_id: UUID | None
    reverses_id: UUID | None
    reason: str
    currency: str
    created_at_ms: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; ``next_cursor`` goes on after it, and may be asked again when it is the end for now."""

    items: tuple[Movement, ...]
    next_cursor: str
    has_more: bool
