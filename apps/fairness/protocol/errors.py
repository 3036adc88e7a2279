"""The errors of the pure protocol code.

Every function of this package raises these, and nothing else, for bytes that are not what the protocol asks for.
"""

from __future__ import annotations


class ProtocolError(Exception):
    """Bytes or values are not as the protocol page says."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class CanonicalError(ProtocolError):
    """A text is not strict JSON, or a value has no restricted canonical form."""


class RecordError(ProtocolError):
    """A record or a log entry is not as sections 2 and 3 say."""


class VersionError(RecordError):
    """A record is of another version of the protocol."""


class StreamError(ProtocolError):
    """A stream name or the size of a draw is outside of section 5."""


class CardError(ProtocolError):
    """A card code, a place or an order of cards is outside of section 6."""


class ProofError(ProtocolError):
    """A log proof cannot be made for these sizes."""


class NoteError(ProtocolError):
    """A signed note, a checkpoint or a verifier key is malformed, or a signature does not verify."""


class TileError(ProtocolError):
    """A tile, its path or an entry bundle is malformed."""


class SettlementError(ProtocolError):
    """Shares, seats or amounts cannot be settled by section 8."""


class BeaconError(ProtocolError):
    """A beacon signature is not the one of its round."""


class BeaconUnavailable(BeaconError):
    """This machine has no BLS implementation, or the chain is not one the protocol knows."""


class SealedError(ProtocolError):
    """A sealed seed is malformed or does not open with this key and these facts."""
