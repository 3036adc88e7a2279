"""Checks of what seats contribute, when it arrives; nothing is stored here.

Implements docs/fairness/protocol.md, section 3, steps 2 and 4, and Contributions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from apps.fairness import rosters, selectors
from apps.fairness.errors import (
    ContributionForm,
    ContributionMismatch,
    DeadlinePassed,
    OpenUnpublished,
    RoundStage,
    RoundUnknown,
    ViewEarly,
    ViewUnknown,
)
from apps.fairness.models import Checkpoint, FairRound, Record, RecordType, Stage
from apps.fairness.protocol.beacon import round_time_s
from apps.fairness.protocol.contributions import commit_body, entropy_body, reveal_body
from apps.fairness.signing import body_of


def contribution_check(
    *,
    round_id: UUID,
    mode: str,
    seat: int,
    pk: str,
    entropy_or_commit: str,
    cp: Mapping[str, Any] | None,
    sig: str,
    others: Iterable[Mapping[str, Any]] = (),
) -> None:
    """Check what a seat sends with its ready call: its entropy, or in a sealed round its commitment.

    Args:
        mode: the table's mode, which is that of the round.
        pk: the seat's key as hex; empty for a seat without one, which then has no ``cp`` and no ``sig``.
        others: ``pk`` and ``value`` of what other seats of the round have given so far.

    Raises:
        RoundUnknown, RoundStage: there is no such round, or its roster is closed.
        OpenUnpublished: its commitment is in no published checkpoint yet.
        ContributionForm: not of the mode's form.
        ContributionRepeated: another seat gave the same key or value.
        ViewUnknown, ViewEarly: the quoted checkpoint is not this log's, or too old.
        ContributionSignature: the signature does not verify.

    Source: docs/fairness/protocol.md, section 3.
    """
    round_ = _round(round_id)
    if round_.stage != Stage.OPEN:
        raise RoundStage(stage=round_.stage)
    if mode == "none" or mode != round_.entropy:
        raise ContributionForm(f"At this table the mode is {round_.entropy}.", pointer="/entropy")
    rosters.form_check(seat=seat, pk=pk, value=entropy_or_commit, cp=cp, sig=sig)
    answered = _published_index(round_, RecordType.OPEN)
    _view_check(cp, answered)
    given = [{"pk": row["pk"], "value": row["value"]} for row in others]
    rosters.repeated_check([*given, {"pk": pk, "value": entropy_or_commit}], "value")
    view = None if cp is None else dict(cp)
    open_hash = bytes(round_.open_hash).hex()
    if mode == "open":
        body = entropy_body(round_=round_.id.hex, open_=open_hash, seat=seat, pk=pk, entropy=entropy_or_commit, cp=view)
        rosters.signature_check(pk, "entropy", body, sig)
    else:
        body = commit_body(round_=round_.id.hex, open_=open_hash, seat=seat, pk=pk, commit=entropy_or_commit, cp=view)
        rosters.signature_check(pk, "commit", body, sig)


def opening_check(
    *,
    round_id: UUID,
    seat: int,
    entropy: str,
    cp: Mapping[str, Any] | None,
    sig: str,
    now_ms: int,
) -> rosters.RosterRow:
    """Check that a seat opens its commitment, after the close record of a sealed round; return its roster row.

    Args:
        now_ms: Unix time of its arrival, milliseconds; from the beacon's time on it is late.

    Raises:
        RoundUnknown, RoundStage: there is no such round, or it is not closed.
        OpenUnpublished: the close record is in no published checkpoint yet.
        DeadlinePassed: the beacon's time has come.
        ContributionForm: not of the form, or of a seat that is not in the close record.
        ContributionMismatch: it does not give the seat's commitment.
        ViewUnknown, ViewEarly: the quoted checkpoint is not this log's, or too old.
        ContributionSignature: the signature does not verify.

    Source: docs/fairness/protocol.md, section 3.
    """
    round_ = _round(round_id)
    if round_.stage != Stage.CLOSE or round_.entropy != "sealed":
        raise RoundStage(stage=round_.stage)
    if round_.beacon_round is not None and now_ms >= 1000 * round_time_s(round_.beacon_round):
        raise DeadlinePassed
    closed = body_of(bytes(Record.objects.only("entry").get(round=round_, type=RecordType.CLOSE).entry))
    own = next((row for row in closed["roster"] if row["seat"] == seat), None)
    if own is None:
        raise ContributionForm("The seat is not in the close record.", pointer="/seat")
    rosters.form_check(seat=seat, pk=own["pk"], value=entropy, cp=cp, sig=sig)
    _view_check(cp, _published_index(round_, RecordType.CLOSE))
    open_hash, close_hash = bytes(round_.open_hash).hex(), bytes(round_.close_hash or b"").hex()
    if own["commit"] != rosters.commit_of(round_.id.hex, open_hash, seat=seat, pk=own["pk"], entropy=entropy):
        raise ContributionMismatch
    view = None if cp is None else dict(cp)
    body = reveal_body(round_=round_.id.hex, close=close_hash, seat=seat, entropy=entropy, cp=view)
    rosters.signature_check(own["pk"], "reveal", body, sig)
    return rosters.RosterRow(seat=seat, pk=own["pk"], entropy=entropy, cp=view, sig=sig)


def _round(round_id: UUID) -> FairRound:
    round_ = FairRound.objects.defer("seed_sealed").filter(pk=round_id).first()
    if round_ is None:
        raise RoundUnknown
    return round_


def _published_index(round_: FairRound, type_: RecordType) -> int:
    index = selectors.published_index(round_.pk, type_)
    if index is None:
        raise OpenUnpublished
    return index


def _view_check(cp: Mapping[str, Any] | None, answered: int) -> None:
    if cp is None:
        return
    if cp["size"] <= answered:
        raise ViewEarly(index=answered)
    root = Checkpoint.objects.values_list("root", flat=True).filter(size=cp["size"]).first()
    if root is None or bytes(root).hex() != cp["root"]:
        raise ViewUnknown
