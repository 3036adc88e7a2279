"""Player tokens: signed, short-lived, checked without the database.

``pt_`` and base64url of ``u8(1) || operator || player || session || u32(token_version) || u64(expires_ms) || MAC``,
where MAC is HMAC-SHA-256 over everything before it.  The MAC key is HKDF-SHA-256 of Django's SECRET_KEY; tokens made
under one of SECRET_KEY_FALLBACKS stay valid until they expire.  A token says who a player was when it was made: whether
the session was revoked since is for the caller to ask (see apps.accounts.api.authentication).

Source: docs/operators/keys-and-sessions.md, section Player sessions.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from functools import lru_cache
from uuid import UUID

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from apps.accounts.errors import SessionExpired, TokenInvalid
from apps.accounts.principals import PlayerPrincipal

PREFIX = "pt_"
_FORM = struct.Struct(">B16s16s16sIQ")
_VERSION = 1
_MAC_BYTES = 32
_TEXT_LENGTH = len(PREFIX) + (_FORM.size + _MAC_BYTES) * 4 // 3
_INFO = b"sealdeck/accounts/player-token/1"


@lru_cache(maxsize=8)
def secret_derive(secret: str, info: bytes) -> bytes:
    """Derive a 32-byte key for one purpose from a process secret."""
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(secret.encode())


def token_make(principal: PlayerPrincipal, *, expires_ms: int) -> str:
    """Return the token of a player session that ends at ``expires_ms`` (Unix milliseconds; equal is expired)."""
    body = _FORM.pack(
        _VERSION,
        principal.operator_id.bytes,
        principal.player_id.bytes,
        principal.session_id.bytes,
        principal.token_version,
        expires_ms,
    )
    mac = hmac.digest(secret_derive(settings.SECRET_KEY, _INFO), body, "sha256")
    return PREFIX + base64.urlsafe_b64encode(body + mac).decode().rstrip("=")


def token_read(token: str, *, now_ms: int) -> PlayerPrincipal:
    """Return who the token speaks for; checks its signature and its end, not whether the session was revoked.

    Raises:
        TokenInvalid: not a token of this server.
        SessionExpired: its time is over.
    """
    data = _decoded(token)
    body, mac = data[: _FORM.size], data[_FORM.size :]
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if not any(hmac.compare_digest(hmac.digest(secret_derive(s, _INFO), body, "sha256"), mac) for s in secrets):
        raise TokenInvalid
    version, operator, player, session, token_version, expires_ms = _FORM.unpack(body)
    if version != _VERSION:
        raise TokenInvalid
    if now_ms >= expires_ms:
        raise SessionExpired
    return PlayerPrincipal(UUID(bytes=operator), UUID(bytes=player), UUID(bytes=session), token_version)


def _decoded(token: str) -> bytes:
    if len(token) != _TEXT_LENGTH or not token.startswith(PREFIX) or not token.isascii():
        raise TokenInvalid
    text = token[len(PREFIX) :]
    try:
        data = base64.b64decode(text, altchars=b"-_", validate=True)
    except binascii.Error:
        raise TokenInvalid from None
    if base64.urlsafe_b64encode(data).decode() != text:  # Only one spelling of a token is a token.
        raise TokenInvalid
    return data
