"""The public beacon: drand's quicknet chain, which round a close record binds, and whether a signature is its own.

Protocol: docs/fairness/protocol.md, section 4.  Never fetches a beacon, and takes nobody's word for one: the signature
is checked as BLS with subgroup checks or not believed.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from apps.fairness.protocol.errors import BeaconError, BeaconUnavailable
from apps.fairness.protocol.frames import u64

QUICKNET: Final = bytes.fromhex("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
"""Hash of the chain."""
GENESIS_S: Final = 1692803367
"""Unix time of round 1, seconds."""
PERIOD_S: Final = 3
"""Seconds from one round to the next."""
SIGNATURE_BYTES: Final = 48
DOMAIN: Final = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
PUBLIC_KEY: Final = bytes.fromhex(
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc2"
    "2b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
"""The chain's key, a compressed point on G2."""


def round_time_s(number: int) -> int:
    """Return when a beacon round is published, Unix seconds."""
    return GENESIS_S + PERIOD_S * (number - 1)


def round_for(closed_ms: int, margin: int) -> int:
    """Return the beacon round that a close record binds.

    Args:
        closed_ms: Unix time of the close record, milliseconds.
        margin: periods to wait at least, 1 to 1000.
    """
    earliest_s = -(-closed_ms // 1000) + PERIOD_S * margin
    return max(1, 1 - (GENESIS_S - earliest_s) // PERIOD_S)


def beacon_bytes(chain: bytes, number: int, signature: bytes) -> bytes:
    """Return ``B``, what the beacon adds to the key schedule."""
    return chain + u64(number) + sha256(signature).digest()


def available() -> bool:
    """Tell whether this machine can check a beacon signature."""
    return _bls() is not None


@lru_cache(maxsize=1)
def _bls() -> Any:
    try:
        import py_arkworks_bls12381
    except ImportError:
        return None
    return py_arkworks_bls12381


@lru_cache(maxsize=1)
def _keys() -> tuple[Any, Any]:
    bls = _bls()
    return bls.G2Point.from_compressed_bytes(PUBLIC_KEY), -bls.G2Point()


@lru_cache(maxsize=1024)
def _is_valid(number: int, signature: bytes) -> bool:
    bls = _bls()
    try:
        point = bls.G1Point.from_compressed_bytes(signature)
    except (ValueError, TypeError, OverflowError):
        return False
    if point == bls.G1Point.identity():
        return False
    public, generator = _keys()
    message = bls.G1Point.hash_to_curve(sha256(u64(number)).digest(), DOMAIN)
    return bool(bls.GT.pairing_check([message, point], [public, generator]))


def verify(chain: bytes, number: int, signature: bytes) -> None:
    """Check that a signature is the one of a beacon round.

    Raises:
        BeaconUnavailable: another chain, or no BLS implementation here.
        BeaconError: not the signature of this round.
    """
    if chain != QUICKNET:
        raise BeaconUnavailable("the beacon's chain is not one this verifier knows")
    if len(signature) != SIGNATURE_BYTES:
        raise BeaconError("a beacon signature has 48 bytes")
    if not 1 <= number < 2**64:
        raise BeaconError("there is no such beacon round")
    if _bls() is None:
        raise BeaconUnavailable("no BLS implementation is installed here (package py-arkworks-bls12381)")
    if not _is_valid(number, signature):
        raise BeaconError("not the signature of this beacon round")
