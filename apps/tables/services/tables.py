"""Tables as their operator has them: made, paused, drained, closed.

Rules: docs/operators/tables.md; docs/games/common.md, X-17.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from apps.core.retries import constraint
from apps.fairness.conf import beacon_urls
from apps.games import registry
from apps.games.contract import RuleError
from apps.games.kit.opening import options_filled
from apps.tables import feed, locks
from apps.tables.errors import (
    GameUnknown,
    TableBusy,
    TableClosed,
    TableSettingInvalid,
)
from apps.tables.models import Round, Table
from apps.tables.services import advance
from apps.wallets import selectors as wallets_selectors


def table_create(
    *,
    operator_id: UUID,
    game: str,
    currency: str,
    buy_in_minor: int,
    fee_bp: int = 500,
    options: Mapping[str, Any] | None = None,
    name: str = "",
    seats_min: int | None = None,
    seats_max: int | None = None,
    entropy: str = "open",
    beacon_margin: int | None = None,
    start_after_ms: int = 10_000,
    pause_ms: int = 3_000,
    code: str = "",
    random_seating: bool = False,
    spectators_allowed: bool = True,
    spectator_delay_ms: int = 0,
    bots_allowed: bool = False,
    auto_ready_rounds: int = 0,
) -> Table:
    """Make a table of one game.

    Args:
        buy_in_minor: stake of each seat per round (of a match game: per match), minor units of ``currency``.
        fee_bp: fee on the pot in basis points.
        code: players sit down only with this code; empty for a public table.
        auto_ready_rounds: how many rounds in a row a player may ask in advance to be made ready for; 0 is never.

    Raises:
        GameUnknown: no game has this slug.
        TableSettingInvalid: with a pointer to the setting.
        CurrencyUnknown: the operator has no such currency.
    """
    if game not in registry.slugs():
        raise GameUnknown(f"There is no game {game!r}; the games are {', '.join(registry.slugs())}.", pointer="/game")
    spec = registry.game(game).spec
    low = spec.seats_min if seats_min is None else seats_min
    high = spec.seats_max if seats_max is None else seats_max
    if not spec.seats_min <= low <= high <= spec.seats_max:
        raise TableSettingInvalid(
            f"{spec.title} is played by {spec.seats_min} to {spec.seats_max} seats.", pointer="/seats_min"
        )
    try:
        filled = options_filled(spec, options or {})
    except RuleError as refusal:
        raise TableSettingInvalid(
            f"{spec.title} has no such option or value: {refusal.facts}.", pointer="/options"
        ) from None
    facts = wallets_selectors.currency_get(code=currency)
    if buy_in_minor < facts.min_buy_in_minor and (buy_in_minor or facts.is_money):
        raise TableSettingInvalid(
            f"The buy-in in {currency} is at least {facts.min_buy_in_minor} minor units.", pointer="/buy_in_minor"
        )
    if auto_ready_rounds and entropy != "none":
        raise TableSettingInvalid(
            "Seats that give entropy get ready for each round themselves.", pointer="/auto_ready_rounds"
        )
    if beacon_margin is not None and not beacon_urls():
        raise TableSettingInvalid("This server fetches no beacon.", pointer="/beacon_margin")
    table = Table(
        operator_id=operator_id,
        name=name,
        game=game,
        rules=spec.rules,
        options=filled,
        currency=currency,
        buy_in_minor=buy_in_minor,
        fee_bp=fee_bp,
        seats_min=low,
        seats_max=high,
        entropy=entropy,
        beacon_margin=beacon_margin,
        start_after_ms=start_after_ms,
        pause_ms=pause_ms,
        is_private=bool(code),
        code=code,
        random_seating=random_seating,
        spectators_allowed=spectators_allowed,
        spectator_delay_ms=spectator_delay_ms,
        bots_allowed=bots_allowed,
        auto_ready_rounds=auto_ready_rounds,
    )
    try:
        with transaction.atomic():
            table.save(force_insert=True)
    except IntegrityError as error:
        if constraint(error) != "tables_one_code":
            raise
        raise TableSettingInvalid("Another table of yours has this code.", pointer="/code") from None
    return table


def table_status_set(*, table_id: UUID, status: str, now_ms: int) -> Table:
    """Open, pause, drain or close a table.

    Draining lets the running round (its match) end, then closes; closing an idle table gives its seats back at once.

    Raises:
        TableClosed: a closed or retired table stays so.
        TableBusy: it is to be closed at once, and a round or a match is running.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        if table.status in (Table.Status.CLOSED, Table.Status.RETIRED):
            raise TableClosed
        if status == Table.Status.CLOSED:
            dealt = table.round is not None and table.round.status in (Round.Status.CLOSING, Round.Status.RUNNING)
            if dealt or table.seats.filter(in_match=True).exists():
                raise TableBusy
            status = Table.Status.DRAINING  # Nothing holds it up, so the tick below closes it.
        if table.status == Table.Status.PAUSED:
            table.seats.update(active_ms=now_ms)  # While it was paused nobody could do anything.
        table.status = status
        advance.plan(table, list(table.seats.all()), now_ms)
        advance.table_save(table)
    feed.table_publish(table_id)
    advance.table_tick(table_id=table_id, now_ms=now_ms)
    return Table.objects.get(pk=table_id)
