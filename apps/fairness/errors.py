"""What the fairness application refuses, one class per code.

``AssertionError`` is raised where the caller inside the server is wrong; these classes are for what a client or the
world may do.  No text or fact of an error depends on a card, a seed or a key.
"""

from __future__ import annotations

from apps.core.errors import ApplicationError


class KeysUnavailable(ApplicationError):
    """This process has no key to seal, open or sign with."""

    code = "keys_unavailable"
    status = 503
    title = "This server cannot deal at the moment: its keys are not available."
    retry = True
    same_key = True


class LogUnavailable(ApplicationError):
    """The public log was not set up, or its writer was stopped."""

    code = "log_unavailable"
    status = 503
    title = "The public log is not available at the moment."
    retry = True
    same_key = True


class SealBroken(ApplicationError):
    """A sealed value does not open with its key and its facts: it was altered or belongs elsewhere."""

    code = "seal_broken"
    status = 500
    title = "A sealed value could not be opened."


class RoundUnknown(ApplicationError):
    """There is no round with this id."""

    code = "round_unknown"
    status = 404
    title = "There is no round with this id."


class RoundStage(ApplicationError):
    """The round is not at the stage this needs."""

    code = "round_stage"
    status = 409
    title = "The round is not at the stage for this."


class TableRunning(ApplicationError):
    """The table has a round that did not end, or this index was used."""

    code = "table_running"
    status = 409
    title = "The table's last round has not ended."


class OpenUnpublished(ApplicationError):
    """The record that a contribution answers is in no published checkpoint yet."""

    code = "open_unpublished"
    status = 409
    title = "The round's commitment is not published yet; contributions are taken once it is."
    retry = True
    same_key = True


class ContributionForm(ApplicationError):
    """A contribution is not of the form its mode asks for."""

    code = "contribution_form"
    status = 422
    title = "The contribution is not of the form this table's mode asks for."


class ContributionSignature(ApplicationError):
    """The seat's signature does not verify."""

    code = "contribution_signature"
    status = 422
    title = "The signature of the contribution does not verify."


class ContributionRepeated(ApplicationError):
    """Another seat of the round has the same key, commitment or entropy."""

    code = "contribution_repeated"
    status = 409
    title = "Another seat of this round has the same key, commitment or entropy."


class ContributionMismatch(ApplicationError):
    """An opening does not give the seat's commitment."""

    code = "contribution_mismatch"
    status = 422
    title = "The entropy does not open the seat's commitment."


class ViewUnknown(ApplicationError):
    """The quoted checkpoint is not one of this log."""

    code = "view_unknown"
    status = 409
    title = "The quoted checkpoint was never published by this log."


class ViewEarly(ApplicationError):
    """The quoted checkpoint does not contain the record that the contribution answers."""

    code = "view_early"
    status = 409
    title = "The quoted checkpoint does not contain the record that is answered; fetch a newer one."
    retry = True


class DeadlinePassed(ApplicationError):
    """Past the deadline of section 9 a round can only be voided as the operator's fault."""

    code = "fairness_deadline_passed"
    status = 409
    title = "The deadline for this step of the round has passed."


class BeaconInvalid(ApplicationError):
    """The beacon signature is missing, early or not that of the bound round."""

    code = "beacon_invalid"
    status = 409
    title = "The beacon of this round is not there yet or does not verify."
    retry = True
    same_key = True


class ProofRange(ApplicationError):
    """The sizes or the index asked for are outside of the published log."""

    code = "proof_range"
    status = 422
    title = "The log has no such index or size."


class TileUnknown(ApplicationError):
    """There is no such tile at the published size."""

    code = "tile_unknown"
    status = 404
    title = "There is no such tile at the published size."
