"""The seats and what they contributed: rosters, commitments, openings, signatures and the checkpoints they quote.

Protocol: docs/fairness/protocol.md, section 3; codes roster to view_split.  Never asks who sits in a seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apps.fairness.protocol import contributions
from apps.fairness.protocol.log import consistency_verify
from apps.fairness.protocol.verify.context import Round
from apps.fairness.protocol.verify.evidence import is_ascending

Row = dict[str, Any]


def seats_check(round_: Round) -> None:
    """Check rosters and contributions."""
    for type_, name in (("close", "roster"), ("deck", "roster"), ("void", "entropies")):
        record = round_.record(type_)
        if record is None:
            continue
        rows, where = record.body[name], round_.where(type_, name)
        _roster(round_, type_, rows, where)
        _presence(round_, type_, rows, where)
        _repeats(round_, rows, where)
        if type_ != "close":
            _openings(round_, rows, where)
        _signatures(round_, type_, rows, where)
        _views(round_, type_, rows, where)


def seats_covered(round_: Round, seats: int) -> Row | None:
    """Return the row of ``decks`` for a number of seats, if there is one."""
    decks: list[Row] = round_.open["decks"]
    return next((row for row in decks if row["seats_min"] <= seats <= row["seats_max"]), None)


def _roster(round_: Round, type_: str, rows: Sequence[Row], where: str) -> None:
    if not is_ascending([row["seat"] for row in rows]):
        round_.fail("roster", where, "the seats do not ascend")
    if type_ != "void" and seats_covered(round_, len(rows)) is None:
        round_.fail("roster", where, f"no row of decks is for {len(rows)} seats")
    close = round_.record("close")
    if type_ == "close" or close is None:
        return
    closed = [(row["seat"], row["pk"]) for row in close.body["roster"]]
    here = [(row["seat"], row["pk"]) for row in rows]
    if type_ == "deck" and here != closed:
        round_.fail("roster", where, "seats or keys are not those of the close record")
    if type_ == "void" and not set(here) <= set(closed):
        round_.fail("roster", where, "a seat or its key is not in the close record")


def _presence(round_: Round, type_: str, rows: Sequence[Row], where: str) -> None:
    mode, given = round_.mode, "commit" if type_ == "close" else "entropy"
    signs = mode == "sealed" or (mode == "open" and type_ != "close")
    for number, row in enumerate(rows):
        present = {name for name in ("pk", given, "sig") if row[name] != ""}
        if row["cp"] is not None:
            present.add("cp")
        needed = set() if mode == "none" else {given}
        allowed = set(needed) if mode == "none" else needed | {"pk"}
        if signs and row["pk"] != "":
            needed.add("sig")
            allowed |= {"sig", "cp"}
        wrong = sorted((needed - present) | (present - allowed))
        if wrong:
            text = f"{', '.join(wrong)} is there or missing against entropy mode {mode}"
            round_.fail("entropy_mode", f"{where}[{number}]", text)


def _repeats(round_: Round, rows: Sequence[Row], where: str) -> None:
    for name in ("pk", "commit", "entropy"):
        values = [row[name] for row in rows if row.get(name)]
        if len(set(values)) != len(values):
            round_.fail("entropy_repeated", where, f"two rows have the same {name}")


def _openings(round_: Round, rows: Sequence[Row], where: str) -> None:
    close = round_.record("close")
    if close is None:
        return
    commits = {row["seat"]: row["commit"] for row in close.body["roster"]}
    bytes_round = round_.round_bytes
    for number, row in enumerate(rows):
        committed = commits.get(row["seat"])
        if not committed or not row["entropy"]:
            continue
        commit = contributions.commitment(
            round_=bytes_round,
            open_hash=round_.open_hash,
            seat=row["seat"],
            public_key=bytes.fromhex(row["pk"]),
            entropy=bytes.fromhex(row["entropy"]),
        )
        if commit.hex() != committed:
            text = f"the entropy of seat {row['seat']} does not give its commitment"
            round_.fail("entropy_opening", f"{where}[{number}].entropy", text)


def _signatures(round_: Round, type_: str, rows: Sequence[Row], where: str) -> None:
    for number, row in enumerate(rows):
        if not row["pk"] or not row["sig"]:
            continue
        message = _message(round_, type_, row)
        if message is None:
            continue
        kind, body = message
        if not contributions.seat_verify(bytes.fromhex(row["pk"]), kind, body, bytes.fromhex(row["sig"])):
            text = f"not the signature of seat {row['seat']} over its {kind} message"
            round_.fail("seat_signature", f"{where}[{number}].sig", text)


def _message(round_: Round, type_: str, row: Row) -> tuple[contributions.Kind, Row] | None:
    """Return what a seat signed for its row; None where it signs nothing."""
    id_, seat, pk, cp = round_.round_id, row["seat"], row["pk"], row["cp"]
    close = round_.record("close")
    if round_.mode == "sealed" and type_ == "close":
        body = contributions.commit_body(
            round_=id_, open_=round_.open_hash.hex(), seat=seat, pk=pk, commit=row["commit"], cp=cp
        )
        return "commit", body
    if round_.mode == "sealed" and close is not None:
        return "reveal", contributions.reveal_body(
            round_=id_, close=close.hash_hex, seat=seat, entropy=row["entropy"], cp=cp
        )
    if round_.mode == "open" and type_ != "close":
        body = contributions.entropy_body(
            round_=id_, open_=round_.open_hash.hex(), seat=seat, pk=pk, entropy=row["entropy"], cp=cp
        )
        return "entropy", body
    return None


def _views(round_: Round, type_: str, rows: Sequence[Row], where: str) -> None:
    checkpoint = round_.checkpoint
    answered = "close" if round_.mode == "sealed" and type_ != "close" else "open"
    if round_.record(answered) is None:
        answered = "open"
    index = round_.index(answered)
    proofs = {view["size"]: view["proof"] for view in round_.bundle.value["log"]["views"]}
    seen: set[tuple[int, str]] = set()
    for number, row in enumerate(rows):
        cp = row["cp"]
        if cp is None or (cp["size"], cp["root"]) in seen:
            continue
        seen.add((cp["size"], cp["root"]))
        place = f"{where}[{number}].cp"
        if cp["size"] <= index:
            round_.fail("view_early", place, f"a tree of size {cp['size']} has not the {answered} record at {index}")
        if checkpoint is None:
            continue
        proof = proofs.get(cp["size"])
        if proof is None:
            round_.fail("view_split", place, f"there is no consistency proof for size {cp['size']}")
        elif not consistency_verify(
            cp["size"],
            checkpoint.size,
            bytes.fromhex(cp["root"]),
            checkpoint.root,
            [bytes.fromhex(node) for node in proof],
        ):
            round_.fail("view_split", place, f"the tree of size {cp['size']} is not part of the checkpoint's tree")
