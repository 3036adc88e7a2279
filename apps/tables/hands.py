"""The hand history: what rounds were played, and everything of one round that its reader may know.

A player reads his own rounds, an operator those of its players.  While a round runs, a player reads the cards that his
seat has been shown and an operator the open ones; once it has ended, every card.  Balances are those of the ledger's
own lines: a player is told his, an operator those of its players.  Nothing here changes anything.

Source: docs/players/history.md and docs/operators/history.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from apps.accounts import selectors as accounts
from apps.accounts.errors import PlayerNotFound
from apps.fairness import dealer
from apps.history.selectors import StoredEntry, transcript
from apps.tables.errors import NotDealtIn
from apps.tables.models import Round, RoundSeat
from apps.tables.selectors import round_get, table_get
from apps.wallets import listing
from apps.wallets import selectors as wallets
from apps.wallets.values import RoundLine

FORMAT = "sealdeck-hand/1"

EXPORT_MAX = 1_000
"""Rounds of one export; the next ones are asked for with its cursor."""

XID_MAX = 2**63 - 1
LAST_ID = UUID(int=2**128 - 1)

Place = tuple[int, int]
"""Generation and position of a card."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: a player, or (None) an operator on behalf of all of its players."""

    operator_id: UUID
    player_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which rounds; None is any.  The window holds rounds that ended at ``ended_from_ms`` or later, before ``to``."""

    player_id: UUID | None = None
    table_id: UUID | None = None
    game: str | None = None
    currency: str | None = None
    status: str | None = None
    ended_from_ms: int | None = None
    ended_to_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Rounds in the order of the list, and the cursor of the rounds after them; None on the last page."""

    round_ids: list[UUID]
    following: str | None


_CONDITIONS = {
    "table_id": "r.table_id = %(table_id)s",
    "game": "r.game = %(game)s",
    "currency": (
        "r.table_id IN (SELECT id FROM tables_table WHERE operator_id = %(operator)s AND currency = %(currency)s)"
    ),
    "status": "r.status = %(status)s",
    "ended_from_ms": "r.ended_ms >= %(ended_from_ms)s",
    "ended_to_ms": "r.ended_ms < %(ended_to_ms)s",
}


def page(*, reader: Reader, filters: Filters, cursor: str, limit: int) -> Page:
    """Return a page of the rounds that a reader may list, newest first.

    The order is that of the database transactions that opened the rounds (of one player's: that dealt him in).  What is
    not certain to be complete, because a transaction still runs, is left out; so the list never gets a hole filled in
    behind a cursor.

    Raises:
        PlayerNotFound, TableNotFound: a filter names one that is not the reader's.
        CursorInvalid: the cursor is not one.
    """
    player_id = reader.player_id or filters.player_id
    if filters.player_id is not None:
        accounts.player_get(operator_id=reader.operator_id, player_id=filters.player_id)
        if reader.player_id not in (None, filters.player_id):
            raise PlayerNotFound
    if filters.table_id is not None:
        table_get(table_id=filters.table_id, operator_id=reader.operator_id)
    xid, last_id = listing.cursor_read(cursor) if cursor else (XID_MAX, LAST_ID)
    parameters: dict[str, Any] = {name: getattr(filters, name) for name in _CONDITIONS}
    conditions = [text for name, text in _CONDITIONS.items() if parameters[name] is not None]
    parameters |= {"operator": reader.operator_id, "player": player_id, "xid": xid, "id": last_id, "limit": limit + 1}
    if player_id is None:
        source, order = "tables_round r", "r"
        key = "r.id"
    else:
        source, order = "tables_roundseat o JOIN tables_round r ON r.id = o.round_id", "o"
        key = "o.round_id"
        conditions.append("o.player_id = %(player)s")
    with connection.cursor() as database:
        database.execute(
            f"SELECT {key}, {order}.xid::text::bigint FROM {source} WHERE r.operator_id = %(operator)s"  # noqa: S608
            f" AND {order}.xid < pg_snapshot_xmin(pg_current_snapshot())"
            f" AND ({order}.xid, {key}) < (%(xid)s::text::xid8, %(id)s)"
            f"{''.join(f' AND {text}' for text in conditions)}"
            f" ORDER BY {order}.xid DESC, {key} DESC LIMIT %(limit)s",
            parameters,
        )
        rows = database.fetchall()
    more = len(rows) > limit
    rows = rows[:limit]
    return Page([row[0] for row in rows], listing.cursor_make(rows[-1][1], rows[-1][0]) if more else None)


def summaries(*, reader: Reader, round_ids: list[UUID]) -> list[dict[str, Any]]:
    """Return where rounds stand and what they cost and gave, in the order asked for; a player's own seat, or all."""
    rounds = Round.objects.select_related("table").defer("state", "head").in_bulk(round_ids)
    seats = RoundSeat.objects.filter(round_id__in=round_ids).order_by("round_id", "number")
    if reader.player_id is not None:
        seats = seats.filter(player_id=reader.player_id)
    money = wallets.round_lines(operator_id=reader.operator_id, round_ids=round_ids)
    told = _names(reader, seats)
    found: dict[UUID, list[dict[str, Any]]] = {}
    for row in seats:
        found.setdefault(row.round_id, []).append(_seat(reader, rounds[row.round_id], row, money, told))
    return [_summary(rounds[round_id], found.get(round_id, [])) for round_id in round_ids]


def hand(*, reader: Reader, round_id: UUID) -> dict[str, Any]:
    """Return everything of a round that its reader may know.

    Raises:
        RoundNotFound: none, or another operator's.
        NotDealtIn: the player was not in it.
    """
    round_ = round_get(round_id=round_id, operator_id=reader.operator_id)
    rows = list(RoundSeat.objects.filter(round_id=round_id).order_by("number"))
    own = next((row.number for row in rows if row.player_id == reader.player_id), None)
    if reader.player_id is not None and own is None:
        raise NotDealtIn
    money = wallets.round_lines(operator_id=reader.operator_id, round_ids=[round_id])
    names = _names(reader, rows)
    entries = transcript(round_id=round_id)
    decks = dealer.decks_revealed(round_id) if _has_ended(round_) and round_.dealt_ms is not None else []
    faces = _faces(decks) if decks else _shown(round_id, own, entries)
    table = round_.table
    return {
        "format": FORMAT,
        **_summary(round_, [_seat(reader, round_, row, money, names) for row in rows]),
        "options": table.options,
        "buy_in_minor": table.buy_in_minor,
        "fee_bp": table.fee_bp,
        "entropy": table.entropy,
        "beacon_round": round_.beacon_round,
        "opener": round_.opener,
        "clock_offset_ms": round_.offset_ms,
        "outcome": round_.outcome,
        "movements": _movements(reader, rows, money.get(round_id, [])),
        "entries": [_entry(entry, faces) for entry in entries],
        "decks": [list(deck) for deck in decks],
    }


def hands(*, reader: Reader, round_ids: Iterable[UUID]) -> Iterator[dict[str, Any]]:
    """Yield the whole of many rounds, one at a time."""
    for round_id in round_ids:
        yield hand(reader=reader, round_id=round_id)


def _has_ended(round_: Round) -> bool:
    return round_.status not in Round.UNDER_WAY


def _summary(round_: Round, seats: list[dict[str, Any]]) -> dict[str, Any]:
    table, outcome = round_.table, round_.outcome or {}
    return {
        "id": round_.pk.hex,
        "table_id": str(table.pk),
        "table_name": table.name,
        "index": round_.index,
        "match_id": round_.match_id.hex,
        "game": round_.game,
        "rules": round_.rules,
        "currency": table.currency,
        "status": round_.status,
        "reason": outcome.get("void") or outcome.get("reason") or "",
        "fault": outcome.get("fault", ""),
        "opened_ms": round_.opened_ms,
        "dealt_ms": round_.dealt_ms,
        "ended_ms": round_.ended_ms,
        "pot_minor": round_.pot_minor,
        "fee_minor": round_.fee_minor,
        "seats": seats,
        "proof": f"/v1/fairness/rounds/{round_.pk.hex}/bundle",
    }


def _names(reader: Reader, rows: Iterable[RoundSeat]) -> Mapping[UUID, accounts.PlayerFacts]:
    if reader.player_id is not None:
        return {}
    return accounts.players_get(operator_id=reader.operator_id, player_ids={row.player_id for row in rows})


def _seat(
    reader: Reader,
    round_: Round,
    row: RoundSeat,
    money: Mapping[UUID, list[RoundLine]],
    names: Mapping[UUID, accounts.PlayerFacts],
) -> dict[str, Any]:
    """Return what a seat paid and got; who sat there and what he had is for himself and his operator."""
    of_round = money.get(round_.pk, [])
    lines = [line for line in of_round if line.player_id == row.player_id]
    is_later = round_.match_id != round_.pk  # The money of a match is with its first round.
    is_over = _has_ended(round_) and (round_.outcome or {}).get("final", True)
    is_settled = is_later or is_over or any(line.kind != "buy_in" for line in of_round)
    seat: dict[str, Any] = {
        "seat": row.number,
        "is_yours": row.player_id == reader.player_id,
        "stake_minor": row.buy_in_minor,
        "returned_minor": sum(line.amount_minor for line in lines if line.kind != "buy_in") if is_settled else None,
        "left_reason": row.left_reason or (round_.desk or {}).get("left", {}).get(str(row.number), ""),
    }
    if reader.player_id in (None, row.player_id):
        first, last = (lines[0], lines[-1]) if lines else (None, None)
        seat |= {
            "player_id": str(row.player_id),
            "balance_before_minor": None if first is None else first.balance_after_minor - first.amount_minor,
            "balance_after_minor": last.balance_after_minor if last is not None and is_settled else None,
        }
    if row.player_id in names:
        seat["external_id"] = names[row.player_id].external_id
    return seat


def _movements(reader: Reader, rows: Iterable[RoundSeat], lines: Iterable[RoundLine]) -> list[dict[str, Any]]:
    seats = {row.player_id: row.number for row in rows}
    return [
        {
            "transaction_id": str(line.tx_id),
            "kind": line.kind,
            "seat": seats.get(line.player_id),
            "amount_minor": line.amount_minor,
            "balance_after_minor": line.balance_after_minor,
            "created_at_ms": line.created_at_ms,
        }
        for line in lines
        if reader.player_id in (None, line.player_id)
    ]


def _faces(decks: Iterable[tuple[str, ...]]) -> dict[Place, str]:
    return {(gen, pos): code for gen, deck in enumerate(decks) for pos, code in enumerate(deck)}


def _shown(round_id: UUID, seat: int | None, entries: Iterable[StoredEntry]) -> dict[Place, str]:
    """Return the hidden cards of a running round whose faces one seat was shown."""
    places = {(gen, pos) for entry in entries for gen, pos in entry.shown.get(str(seat), [])}
    opened = dealer.openings(round_id=round_id, places=sorted(places))
    return {(one["gen"], one["pos"]): one["card"] for one in opened}


def _entry(entry: StoredEntry, faces: Mapping[Place, str]) -> dict[str, Any]:
    body = json.loads(entry.body)
    return {
        "seq": entry.seq,
        "at_ms": entry.at_ms,
        "kind": entry.kind,
        "seat": entry.seat,
        "input": body["input"],
        "events": _filled(body["events"], faces),
        "head": entry.head.hex(),
    }


def _filled(value: Any, faces: Mapping[Place, str]) -> Any:
    """Return events with the faces of the cards that the reader knows."""
    if isinstance(value, list):
        return [_filled(inner, faces) for inner in value]
    if not isinstance(value, dict):
        return value
    if "gen" in value and "pos" in value:
        face = faces.get((value["gen"], value["pos"]))
        return value if face is None else value | {"card": face}
    return {key: _filled(inner, faces) for key, inner in value.items()}
