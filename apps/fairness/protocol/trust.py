"""Trust files: which log, which root key and which witnesses a verifier believes.

Protocol: docs/fairness/protocol.md, section 11.  Never takes a key from a bundle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apps.fairness.protocol import canonical
from apps.fairness.protocol.errors import CanonicalError, NoteError, ProtocolError
from apps.fairness.protocol.hexes import is_hex
from apps.fairness.protocol.notes import TYPE_COSIGNATURE, TYPE_ED25519, VerifierKey, is_origin, vkey_read

WITNESSES_MAX = 256
"""Most witnesses a trust file may name."""

_MEMBERS = frozenset(("log", "root", "witnesses", "quorum"))


class TrustError(ProtocolError):
    """A trust file is malformed."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What a verifier believes."""

    log: VerifierKey
    root: bytes
    """The root key that the first key record of the log must add."""
    witnesses: tuple[VerifierKey, ...]
    quorum: int
    """How many of the witnesses must have cosigned; 0 asks for none."""


def trust_read(data: bytes | str | dict[str, Any]) -> Trust:
    """Read a trust file.

    Raises:
        TrustError: not strict JSON, a member is missing or malformed, or the quorum is greater than the witnesses.
    """
    try:
        value = data if isinstance(data, dict) else canonical.decode(data)
        if type(value) is not dict or value.keys() != _MEMBERS:
            raise TrustError("a trust file has exactly the members log, root, witnesses and quorum")
        log = vkey_read(value["log"], TYPE_ED25519)
        listed, quorum = value["witnesses"], value["quorum"]
        if type(listed) is not list or len(listed) > WITNESSES_MAX:
            raise TrustError("witnesses is not a list of keys")
        witnesses = tuple(vkey_read(text, TYPE_COSIGNATURE) for text in listed)
    except (CanonicalError, NoteError) as problem:
        raise TrustError(problem.detail) from problem
    if not is_origin(log.name):
        raise TrustError("the name of the log is not 1 to 128 printable characters without space and +")
    if not is_hex(value["root"], 32):
        raise TrustError("root is not the hex of a key")
    if len({key.public_key for key in witnesses}) != len(witnesses):
        raise TrustError("a witness is named twice")
    if type(quorum) is not int or not 0 <= quorum <= len(witnesses):
        raise TrustError("quorum is not between 0 and the number of witnesses")
    return Trust(log, bytes.fromhex(value["root"]), witnesses, quorum)
