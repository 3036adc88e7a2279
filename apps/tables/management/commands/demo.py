"""``manage.py demo``: what ``make run`` shows: an operator, players, bots and a table of each game, played with points.

Idempotent: what is there stays, and the file is written anew with credentials that work.
"""

from __future__ import annotations

import json
import os
import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand
from django.db import transaction

from apps.accounts.selectors import operator_by_name
from apps.accounts.services import key_create, operator_create, player_upsert
from apps.games import registry
from apps.tables.models import Table
from apps.tables.services.tables import table_create
from apps.wallets.selectors import balance
from apps.wallets.services import currency_create, wallet_credit

OPERATOR = "Demo House"
CURRENCY = "PTS"
PEOPLE = ("alice", "bob")
STAFF = "staff"
BOTS_PER_TABLE = 3
POINTS = 100_000
BUY_IN = 1_000
KEY_SCOPES = ("read", "play", "money", "admin")


class Command(BaseCommand):
    """Make the demo data and write its credentials to a file that only its owner may read."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--file", default="var/demo.json", help="where the credentials go")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing."""
        path = Path(options["file"])
        known = json.loads(path.read_text()) if path.exists() else {}
        with transaction.atomic():
            demo = self._demo(known)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(demo, indent=1))
        os.replace(fresh, path)
        self.stdout.write(f"demo: {len(demo['tables'])} tables, {len(demo['bots'])} bots, credentials in {path}")

    def _demo(self, known: dict[str, Any]) -> dict[str, Any]:
        operator = operator_by_name(name=OPERATOR)
        if operator is None:
            operator, key = operator_create(name=OPERATOR)
        elif known.get("operator_id") == str(operator.pk):
            key = known["api_key"]
        else:
            _, key = key_create(operator_id=operator.pk, scopes=KEY_SCOPES, label=f"demo-{os.getpid()}")
        currency_create(code=CURRENCY, exponent=0, is_money=False)
        tables = [self._table(operator.pk, slug) for slug in registry.slugs()]
        bots = {
            str(table.pk): [
                self._player(operator.pk, f"bot-{table.game}-{number}", is_bot=True)
                for number in range(1, BOTS_PER_TABLE + 1)
            ]
            for table in tables
        }
        people = [self._player(operator.pk, name, is_bot=False) for name in PEOPLE]
        return {
            "operator_id": str(operator.pk),
            "api_key": key,
            "currency": CURRENCY,
            "credentials": {"API key": key, "Admin": f"{STAFF} / {self._staff(known)}"},
            "people": people,
            "tables": [{"id": str(table.pk), "game": table.game, "name": table.name} for table in tables],
            "bots": [{"table_id": table_id, **bot} for table_id, seated in bots.items() for bot in seated],
        }

    def _staff(self, known: dict[str, Any]) -> str:
        """Return the password of the demo's login to the admin; make both where one is missing."""
        said = str(known.get("credentials", {}).get("Admin", "")).rpartition(" / ")[2]
        user = User.objects.filter(username=STAFF).first() or User(username=STAFF, is_staff=True, is_superuser=True)
        if not said or not user.check_password(said):
            said = secrets.token_urlsafe(9)
            user.set_password(said)
            user.save()
        return said

    def _table(self, operator_id: Any, slug: str) -> Table:
        title = registry.game(slug).spec.title
        name = f"Demo {title}"
        table = Table.objects.filter(operator_id=operator_id, name=name, status=Table.Status.OPEN).first()
        return table or table_create(
            operator_id=operator_id,
            name=name,
            game=slug,
            currency=CURRENCY,
            buy_in_minor=BUY_IN,
            start_after_ms=3_000,
            pause_ms=2_000,
            bots_allowed=True,
        )

    def _player(self, operator_id: Any, external_id: str, *, is_bot: bool) -> dict[str, str]:
        player = player_upsert(operator_id=operator_id, external_id=external_id, is_bot=is_bot)
        funds = balance(operator_id=operator_id, player_id=player.pk, currency=CURRENCY).available_minor
        if funds < POINTS // 2:
            wallet_credit(
                operator_id=operator_id,
                player_id=player.pk,
                currency=CURRENCY,
                amount_minor=POINTS,
                external_id=f"demo-{external_id}-{funds}-{secrets.token_hex(4)}",
                actor="demo",
            )
        return {"external_id": external_id, "player_id": str(player.pk)}
