"""``manage.py stakes_retry ID ...``: send wins and rollbacks again that an operator's wallet has refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from apps.wallets.services import stakes_retry


class Command(BaseCommand):
    """Let calls of stakes be sent at once, with the same ids."""

    help = "Send wins and rollbacks again, with the same ids: those that were refused, and those that wait."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("stake", nargs="+", type=UUID, help="id of a stake")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it and say of how many."""
        count = stakes_retry(stake_ids=options["stake"])
        self.stdout.write(f"{count} of {len(options['stake'])} will be sent again")
