"""What a table refuses, and why.  Codes never change; the sentences may."""

from __future__ import annotations

from apps.core.errors import ApplicationError


class TableNotFound(ApplicationError):
    """No such table for this caller."""

    code = "table_not_found"
    status = 404
    title = "There is no such table."


class RoundNotFound(ApplicationError):
    """No such round for this caller."""

    code = "round_not_found"
    status = 404
    title = "There is no such round."


class GameUnknown(ApplicationError):
    """No game has this slug."""

    code = "game_unknown"
    status = 422
    title = "No game has this name."


class TableSettingInvalid(ApplicationError):
    """A table setting is out of its range; the pointer names it."""

    code = "table_setting_invalid"
    status = 422
    title = "A table setting is not allowed."


class TablePaused(ApplicationError):
    """The table starts nothing new for now."""

    code = "table_paused"
    status = 409
    title = "The table is paused; nothing new starts until its operator opens it again."
    retry = True


class TableClosed(ApplicationError):
    """The table is closed or about to close."""

    code = "table_closed"
    status = 409
    title = "The table is closed. Choose another table."


class TableBusy(ApplicationError):
    """Closing needs an idle table."""

    code = "table_busy"
    status = 409
    title = "A round is running; drain the table instead, it closes when the round ends."
    retry = True


class WrongTableCode(ApplicationError):
    """A private table's code is missing or wrong."""

    code = "wrong_table_code"
    status = 403
    title = "This table is private; sit down with its code."


class SeatTaken(ApplicationError):
    """Somebody sits there."""

    code = "seat_taken"
    status = 409
    title = "This seat is taken. Choose another seat, or leave it open to be given one."


class TableFull(ApplicationError):
    """No seat is free."""

    code = "table_full"
    status = 409
    title = "No seat is free at this table."
    retry = True


class SeatUnknown(ApplicationError):
    """The table has no seat of this number."""

    code = "seat_unknown"
    status = 422
    title = "The table has no seat of this number."


class AlreadySeated(ApplicationError):
    """The player has a seat at this table."""

    code = "already_seated"
    status = 409
    title = "You already have a seat at this table."


class SelfPlay(ApplicationError):
    """The same person sits at the table under another account."""

    code = "self_play"
    status = 409
    title = "The same person already sits at this table under another account."


class NotSeated(ApplicationError):
    """The caller has no seat at this table."""

    code = "not_seated"
    status = 409
    title = "You have no seat at this table. Sit down first."


class BotsNotAllowed(ApplicationError):
    """The operator does not allow bots here."""

    code = "bots_not_allowed"
    status = 403
    title = "Bots may not sit at this table."


class SeatInPlay(ApplicationError):
    """The seat is dealt in; standing up would leave the round."""

    code = "seat_in_play"
    status = 409
    title = "Your seat is in a running round. Leave the round instead, or finish it."


class NotThisRound(ApplicationError):
    """The contribution names a round that is not the one taking contributions."""

    code = "not_this_round"
    status = 409
    title = "This is not the round that takes contributions now; read the table again."
    retry = True


class RoundRunning(ApplicationError):
    """A round is running; the next one takes contributions when it has ended."""

    code = "round_running"
    status = 409
    title = "A round is running. Get ready when the next one is open."
    retry = True


class CommitmentNotPublished(ApplicationError):
    """The open record is not in a published checkpoint yet, so nothing may be contributed."""

    code = "commitment_not_published"
    status = 409
    title = "The round's commitment is not in the public log yet; try again in a moment."
    retry = True
    same_key = True


class AlreadyReady(ApplicationError):
    """A contribution cannot be replaced."""

    code = "already_ready"
    status = 409
    title = "You are ready already; a contribution cannot be replaced."


class AutoReadyNotAllowed(ApplicationError):
    """The table lets nobody get ready in advance, or not for so many rounds."""

    code = "auto_ready_not_allowed"
    status = 409
    title = "Getting ready in advance is not allowed here, or not for so many rounds; get ready for each round."


class BuyInShort(ApplicationError):
    """The balance does not cover the buy-in."""

    code = "insufficient_funds"
    status = 409
    title = "The balance does not cover the buy-in."


class NotDealtIn(ApplicationError):
    """The player is not in this round."""

    code = "not_dealt_in"
    status = 404
    title = "You are not in this round."


class RoundNotRunning(ApplicationError):
    """The round is not running: not dealt yet, or ended."""

    code = "round_not_running"
    status = 409
    title = "The round is not running."


class RoundClosed(ApplicationError):
    """The round has ended."""

    code = "round_closed"
    status = 409
    title = "The round has ended."


class RoundOpen(ApplicationError):
    """The round has not ended; what was asked for is shown afterwards."""

    code = "round_open"
    status = 409
    title = "The round has not ended yet; this is shown when it has."
    retry = True


class StaleSeq(ApplicationError):
    """The action answers to a state that is gone; ``seq`` and ``view`` tell the present one."""

    code = "stale_seq"
    status = 409
    title = "Something happened since the state you saw; look again and decide anew."


class RequestKeyReused(ApplicationError):
    """The idempotency key was used with another action."""

    code = "request_key_reused"
    status = 422
    title = "This Idempotency-Key was already used for another action of this seat."


class TooManyCalls(ApplicationError):
    """Calls and catches that are refused are limited."""

    code = "too_many_calls"
    status = 429
    title = "Too many refused calls; wait a few seconds."
    retry = True


class SpectatorsNotAllowed(ApplicationError):
    """Only seats may watch this table."""

    code = "spectators_not_allowed"
    status = 403
    title = "This table may only be followed from a seat."
