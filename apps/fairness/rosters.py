"""Rosters: what the seats gave, and whether a list of it can stand in a record.

Implements docs/fairness/protocol.md, section 3, Modes and Contributions.  Never makes a contribution for a seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apps.fairness.errors import (
    ContributionForm,
    ContributionMismatch,
    ContributionRepeated,
    ContributionSignature,
)
from apps.fairness.protocol.contributions import (
    Kind,
    commit_body,
    commitment,
    entropy_body,
    reveal_body,
    seat_verify,
)
from apps.fairness.protocol.hexes import is_hex
from apps.fairness.protocol.shapes import SEAT_MAX

VIEW_MEMBERS = frozenset(("size", "root"))


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One seat of the deck roster; all bytes as hex, as the record says them.

    ``cp`` and ``sig`` are those of the message with which the seat gave its entropy.
    """

    seat: int
    pk: str = ""
    entropy: str = ""
    cp: Mapping[str, Any] | None = None
    sig: str = ""

    def body(self) -> dict[str, Any]:
        """Return the row as it stands in the deck record."""
        return {
            "seat": self.seat,
            "pk": self.pk,
            "entropy": self.entropy,
            "cp": dict(self.cp) if self.cp is not None else None,
            "sig": self.sig,
        }


def form_check(*, seat: int, pk: str, value: str, cp: Mapping[str, Any] | None, sig: str) -> None:
    """Check one contribution's form: a value of 32 bytes, and key, signature and view together or not at all.

    Raises:
        ContributionForm: with a pointer to the member.
    """
    if type(seat) is not int or not 0 <= seat <= SEAT_MAX:
        raise ContributionForm("A seat is 0 to 254.", pointer="/seat")
    if not is_hex(value, 32):
        raise ContributionForm("The contribution is 32 bytes as lowercase hex.", pointer="/entropy")
    if pk == "":
        if sig != "" or cp is not None:
            raise ContributionForm("A seat without a key has no signature and no checkpoint.", pointer="/pk")
        return
    if not is_hex(pk, 32):
        raise ContributionForm("A key is 32 bytes as lowercase hex.", pointer="/pk")
    if not is_hex(sig, 64):
        raise ContributionForm("A seat with a key signs: 64 bytes as lowercase hex.", pointer="/sig")
    if cp is not None and (
        not isinstance(cp, Mapping)
        or cp.keys() != VIEW_MEMBERS
        or type(cp["size"]) is not int
        or cp["size"] < 0
        or not is_hex(cp["root"], 32)
    ):
        raise ContributionForm("A quoted checkpoint is an object of size and root.", pointer="/cp")


def signature_check(pk: str, kind: Kind, body: dict[str, Any], sig: str) -> None:
    """Check a seat's signature; a seat without a key has none.

    Raises:
        ContributionSignature: it does not verify.
    """
    if pk and not seat_verify(bytes.fromhex(pk), kind, body, bytes.fromhex(sig)):
        raise ContributionSignature(pointer="/sig")


def repeated_check(rows: Sequence[Mapping[str, Any]], value: str) -> None:
    """Check that keys and values of a roster are all different.

    Args:
        value: the member that holds the contribution, ``commit`` or ``entropy``.

    Raises:
        ContributionRepeated: two rows share one.
    """
    for member in ("pk", value):
        given = [row[member] for row in rows if row[member]]
        if len(set(given)) != len(given):
            raise ContributionRepeated(pointer=f"/{member}")


def seats_check(rows: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the seats of a roster, which are strictly ascending."""
    seats = tuple(row["seat"] for row in rows)
    assert seats, "a roster has a row"
    assert all(a < b for a, b in pairwise(seats)), "a roster ascends by seat"
    return seats


def entropies_check(
    *,
    rows: Sequence[Mapping[str, Any]],
    entropy: str,
    round_id: str,
    open_hash: str,
    close_hash: str,
    close_roster: Sequence[Mapping[str, Any]] | None,
) -> None:
    """Check the rows of a deck record, or the entropies of a void, against the round's mode and its close record.

    Args:
        entropy: the mode.
        close_roster: rows of the close record; None where there is none.

    Raises:
        ContributionForm: a row is not of the mode's form.
        ContributionRepeated: two rows share a key or an entropy.
        ContributionMismatch: an entropy does not open its seat's commitment.
        ContributionSignature: a seat's signature does not verify.
    """
    if entropy == "none":
        if any(row["pk"] or row["entropy"] or row["sig"] or row["cp"] is not None for row in rows):
            raise ContributionForm("In mode none no seat contributes.")
        return
    closed = {row["seat"]: row for row in close_roster or ()}
    for row in rows:
        seat, pk, value = row["seat"], row["pk"], row["entropy"]
        form_check(seat=seat, pk=pk, value=value, cp=row["cp"], sig=row["sig"])
        if close_roster is not None:
            own = closed.get(seat)
            assert own is not None, "seats are those of the close record"
            assert own["pk"] == pk, "keys are those of the close record"
            if own["commit"] != commit_of(round_id, open_hash, seat=seat, pk=pk, entropy=value):
                raise ContributionMismatch(seat=seat)
        cp = row["cp"]
        if entropy == "open":
            message = entropy_body(round_=round_id, open_=open_hash, seat=seat, pk=pk, entropy=value, cp=cp)
            signature_check(pk, "entropy", message, row["sig"])
        else:
            message = reveal_body(round_=round_id, close=close_hash, seat=seat, entropy=value, cp=cp)
            signature_check(pk, "reveal", message, row["sig"])
    repeated_check(rows, "entropy")


def close_rows(
    *, roster: Sequence[Mapping[str, Any]], entropy: str, round_id: str, open_hash: str
) -> list[dict[str, Any]]:
    """Return the rows of the close record.

    Args:
        roster: in a sealed round rows with ``commit``, ``cp`` and ``sig``; in an open one with ``entropy``, from which
            the commitment is worked out, and the rest of the ready call; in mode none only ``seat``.

    Raises:
        ContributionForm: a row is not of the mode's form.
        ContributionRepeated: two rows share a key or a commitment.
        ContributionSignature: a seat's signature does not verify.
    """
    rows = []
    for given in roster:
        seat, pk = given["seat"], given.get("pk", "")
        row: dict[str, Any] = {"seat": seat, "pk": pk, "commit": "", "cp": None, "sig": ""}
        if entropy == "sealed":
            row.update(commit=given["commit"], cp=given["cp"], sig=given["sig"])
            form_check(seat=seat, pk=pk, value=row["commit"], cp=row["cp"], sig=row["sig"])
            message = commit_body(
                round_=round_id, open_=open_hash, seat=seat, pk=pk, commit=row["commit"], cp=row["cp"]
            )
            signature_check(pk, "commit", message, row["sig"])
        elif entropy == "open":
            sig, cp = given.get("sig", ""), given.get("cp")
            form_check(seat=seat, pk=pk, value=given["entropy"], cp=cp, sig=sig)
            row["commit"] = commit_of(round_id, open_hash, seat=seat, pk=pk, entropy=given["entropy"])
        elif pk:
            raise ContributionForm("In mode none no seat has a key.", pointer="/pk")
        rows.append(row)
    repeated_check(rows, "commit")
    return rows


def commit_of(round_id: str, open_hash: str, *, seat: int, pk: str, entropy: str) -> str:
    """Return a seat's commitment to its entropy, as hex."""
    return commitment(
        round_=bytes.fromhex(round_id),
        open_hash=bytes.fromhex(open_hash),
        seat=seat,
        public_key=bytes.fromhex(pk),
        entropy=bytes.fromhex(entropy),
    ).hex()
