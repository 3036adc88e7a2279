"""What accounts refuse, one class per code.

Source: docs/operators/errors.md.  A refusal writes nothing and moves no money.
"""

from __future__ import annotations

from apps.core.errors import ApplicationError


class Unauthenticated(ApplicationError):
    """No usable ``Authorization`` header came with the request."""

    code = "unauthenticated"
    status = 401
    title = "Credentials are missing."


class KeyInvalid(ApplicationError):
    """The API key is unknown, revoked, or its operator is closed."""

    code = "key_invalid"
    status = 401
    title = "The API key is not valid."


class TokenInvalid(ApplicationError):
    """The player token was not made by this server, or its session was revoked."""

    code = "token_invalid"
    status = 401
    title = "The player token is not valid."


class SessionExpired(ApplicationError):
    """The player token's time is over."""

    code = "session_expired"
    status = 401
    title = "The player session is over."


class SignatureRequired(ApplicationError):
    """Requests of this kind are signed, and this one is not."""

    code = "signature_required"
    status = 401
    title = "This request must be signed."


class SignatureInvalid(ApplicationError):
    """The signature is not one of this request by this key."""

    code = "signature_invalid"
    status = 401
    title = "The signature of the request is not valid."


class TimestampOutOfRange(ApplicationError):
    """The signed timestamp is more than 300 s away from the server's time, which ``now_s`` tells."""

    code = "timestamp_out_of_range"
    status = 401
    title = "The timestamp of the request is too far from the server's time."


class NonceReused(ApplicationError):
    """A request with this nonce came before; a retry is signed anew, with a new nonce and the same Idempotency-Key."""

    code = "nonce_reused"
    status = 401
    title = "A request with this nonce came before."


class SignatureKeyInvalid(ApplicationError):
    """The public key is not an Ed25519 key in base64, or is given where none belongs."""

    code = "signature_key_invalid"
    status = 422
    title = "The public key is not one for this way of signing."


class RateLimited(ApplicationError):
    """Too many requests with this key or by this player; ``Retry-After`` says when the next one passes."""

    code = "rate_limited"
    status = 429
    title = "Too many requests."
    retry = True
    same_key = True


class AddressNotAllowed(ApplicationError):
    """The key may be used from listed addresses only."""

    code = "address_not_allowed"
    status = 403
    title = "The API key may not be used from this address."


class ScopeMissing(ApplicationError):
    """The key lacks the scope, or the route is for the other kind of caller."""

    code = "scope_missing"
    status = 403
    title = "These credentials do not allow this."


class OperatorNotFound(ApplicationError):
    """No operator has this id."""

    code = "operator_not_found"
    status = 404
    title = "There is no such operator."


class OperatorNameTaken(ApplicationError):
    """Another operator has the name."""

    code = "operator_name_taken"
    status = 409
    title = "Another operator has this name."


class KeyNotFound(ApplicationError):
    """The operator has no key with this id."""

    code = "key_not_found"
    status = 404
    title = "There is no such API key."


class KeyLimitReached(ApplicationError):
    """Two live keys of one label are enough for a rotation; a third needs a revocation first."""

    code = "key_limit_reached"
    status = 409
    title = "Two live keys with this label exist; revoke one first."


class PlayerNotFound(ApplicationError):
    """The operator has no player with this id."""

    code = "player_not_found"
    status = 404
    title = "There is no such player."


class PlayerConflict(ApplicationError):
    """The player exists, with another value in a field that never changes."""

    code = "player_conflict"
    status = 409
    title = "The player exists with other facts."


class PlayerFrozen(ApplicationError):
    """The operator froze the player."""

    code = "player_frozen"
    status = 403
    title = "The player is frozen."


class PlayerExcluded(ApplicationError):
    """The player, or the same person under another account, excluded himself."""

    code = "player_excluded"
    status = 403
    title = "The player is excluded from play."


class PlayerClosed(ApplicationError):
    """The player's account is closed for good."""

    code = "player_closed"
    status = 403
    title = "The player's account is closed."


class LimitExceeded(ApplicationError):
    """A limit that the player has set would be passed; ``kind``, ``currency`` and ``limit`` say which."""

    code = "limit_exceeded"
    status = 403
    title = "A limit of the player would be passed."


class LimitCurrencyInvalid(ApplicationError):
    """A limit of money needs a currency, a limit of minutes has none."""

    code = "limit_currency_invalid"
    status = 422
    title = "Limits of money have a currency, limits of minutes have none."


class ExclusionTooShort(ApplicationError):
    """An exclusion lasts at least a day; ``until_ms_min`` is the earliest end."""

    code = "exclusion_too_short"
    status = 422
    title = "An exclusion lasts at least 24 hours."


class GamingDisabled(ApplicationError):
    """New play is stopped for the whole operator; payouts and withdrawals go on."""

    code = "gaming_disabled"
    status = 403
    title = "Play is stopped for this operator."
    retry = True


class SessionNotFound(ApplicationError):
    """The operator has no player session with this id."""

    code = "session_not_found"
    status = 404
    title = "There is no such session."
