"""Who calls: ``Authorization: Bearer sk_...`` for an operator's back end, ``Bearer pt_...`` for a player's device.

``request.auth`` becomes a principal of apps.accounts.principals; there is no Django user.  A key or token that is
present and wrong is refused here; that nobody called at all is for the permissions to refuse.

Source: docs/operators/keys-and-sessions.md.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from apps.accounts import selectors
from apps.accounts.addresses import address_check
from apps.accounts.callers import Caller, caller_set
from apps.accounts.errors import KeyInvalid, SignatureInvalid, TimestampOutOfRange, TokenInvalid, Unauthenticated
from apps.accounts.keys import is_test_key, key_digest, key_matches, key_prefix
from apps.accounts.models import ApiKey, OperatorStatus
from apps.accounts.paths import path_of
from apps.accounts.principals import OperatorPrincipal, PlayerPrincipal, Principal
from apps.accounts.services.nonces import nonce_use
from apps.accounts.services.operators import key_used
from apps.accounts.signatures import (
    HEADER_NONCE,
    HEADER_SIGNATURE,
    HEADER_TIMESTAMP,
    NONCE,
    SKEW_S_MAX,
    Algorithm,
    SignedRequest,
    signature_check,
    timestamp_read,
)
from apps.accounts.tokens import token_read
from apps.core.clock import now_ms
from apps.core.sandbox import is_sandbox

_NOBODY_SHA256 = key_digest("nobody")


def bearer(request: HttpRequest | Request) -> str:
    """Return the credential of the request, or '' if there is none.

    Raises:
        Unauthenticated: the header is there and is not ``Bearer`` and one credential.
    """
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if not header:
        return ""
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != "bearer" or not credential.startswith(("sk_", "pt_")):
        raise Unauthenticated("Send 'Authorization: Bearer' and an API key or a player token.")
    return str(credential)


class OperatorKeyAuthentication(BaseAuthentication):
    """An operator's API key."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Principal] | None:
        """Return the operator of the key, or None if no key came.

        Raises:
            KeyInvalid: unknown or revoked, or its operator is closed.
            AddressNotAllowed: the key may be used from listed addresses only.
            SignatureInvalid, TimestampOutOfRange, NonceReused: a signature came that is wrong, too far or a repetition.
        """
        credential = bearer(request)
        if not credential.startswith("sk_"):
            return None
        now = now_ms()
        key = _key_find(credential)
        # From here on the answer is signed, also one that refuses the address or the signature.
        caller_set(request._request, Caller(key.prefix))
        address_check(request.META, key.addresses)
        is_signed = _signature_check(request._request, key, now)
        key_used(key=key, now_ms=now)
        principal = OperatorPrincipal(
            key.operator_id,
            key.pk,
            frozenset(key.scopes),
            is_signed=is_signed,
            must_sign=bool(key.signature_alg),
        )
        return AnonymousUser(), principal

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return "Bearer"


class PlayerTokenAuthentication(BaseAuthentication):
    """A player's session token, its session checked in the database."""

    check_version = True

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Principal] | None:
        """Return the player of the token, or None if no token came.

        Raises:
            TokenInvalid: not made here, or its session was revoked.
            SessionExpired: its time is over.
        """
        credential = bearer(request)
        if not credential.startswith("pt_"):
            return None
        return AnonymousUser(), player_authenticate(credential, check_version=self.check_version)

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return "Bearer"


class PlayerSignatureAuthentication(PlayerTokenAuthentication):
    """A player's session token by its signature alone, for the route of a move.

    Whoever uses it compares ``token_version`` with the player's in the statement that locks what is to be changed.
    """

    check_version = False


def player_authenticate(token: str, *, check_version: bool = True) -> PlayerPrincipal:
    """Return the player of a token; without ``check_version`` a revoked session passes.

    Raises:
        TokenInvalid: not made here, or its session was revoked.
        SessionExpired: its time is over.
    """
    principal = token_read(token, now_ms=now_ms())
    if check_version and not selectors.session_is_live(principal):
        raise TokenInvalid
    return principal


def _key_find(plaintext: str) -> ApiKey:
    if is_test_key(plaintext) and not is_sandbox():
        raise KeyInvalid("This is the key of a sandbox, and this is none.")
    prefix = key_prefix(plaintext)
    key = ApiKey.objects.select_related("operator").filter(prefix=prefix).first() if prefix else None
    # An unknown prefix costs the same comparison as a known one.
    matches = key_matches(plaintext, bytes(key.secret_sha256) if key else _NOBODY_SHA256)
    if key is None or not matches or key.revoked_at_ms is not None or key.operator.status == OperatorStatus.CLOSED:
        raise KeyInvalid
    return key


def _signature_check(request: HttpRequest, key: ApiKey, now: int) -> bool:
    """Return whether the request is signed, having checked the signature if it is."""
    header = request.headers.get(HEADER_SIGNATURE)
    if header is None:
        return False
    if not key.signature_alg:
        raise SignatureInvalid("No way of signing is agreed for this key.")
    signed = SignedRequest(
        key_prefix=key.prefix,
        method=str(request.method),
        path=path_of(request),
        query=request.META.get("QUERY_STRING", ""),
        timestamp=request.headers.get(HEADER_TIMESTAMP, ""),
        nonce=request.headers.get(HEADER_NONCE, ""),
        body=request.body,
        idempotency_key=request.headers.get("Idempotency-Key", ""),
    )
    timestamp_s = timestamp_read(signed.timestamp)
    if not NONCE.fullmatch(signed.nonce):
        raise SignatureInvalid(f"{HEADER_NONCE} is 16 to 64 letters, digits, '-' and '_'.")
    if not all(text.isascii() and text.isprintable() for text in (signed.query, signed.idempotency_key)):
        raise SignatureInvalid("The query and the Idempotency-Key are printable ASCII.")
    signature_check(
        request=signed,
        header=header,
        key_id=key.pk,
        algorithm=Algorithm(key.signature_alg),
        public_key=bytes(key.signature_public_key),
    )
    # Only what is truly signed is told about clocks, and only that leaves a row behind.
    if abs(now - timestamp_s * 1000) > SKEW_S_MAX * 1000:
        raise TimestampOutOfRange(now_s=now // 1000)
    nonce_use(key_id=key.pk, nonce=signed.nonce, now=now)
    return True
