"""Create a currency."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from apps.core.errors import ApplicationError
from apps.wallets.models import EXPONENT_MAX
from apps.wallets.services import currency_create


class Command(BaseCommand):
    """Create a currency; its code, exponent and kind never change afterwards."""

    help = "Create a currency. Its code, exponent and kind never change afterwards."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("code", help="three to eight capital letters and digits, a letter first")
        parser.add_argument("--exponent", type=int, default=0, help=f"decimal places, 0 to {EXPONENT_MAX}")
        parser.add_argument("--money", action="store_true", help="real money; without it these are points")
        parser.add_argument("--min-buy-in", type=int, default=1, help="smallest buy-in of a table, in minor units")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create it and say so."""
        try:
            made = currency_create(
                code=options["code"],
                exponent=options["exponent"],
                is_money=options["money"],
                min_buy_in_minor=options["min_buy_in"],
            )
        except ApplicationError as error:
            raise CommandError(error.detail) from error
        except IntegrityError as error:
            raise CommandError(f"The database refuses this currency: {error}") from error
        self.stdout.write(f"{made.code}: {'money' if made.is_money else 'points'}, exponent {made.exponent}")
