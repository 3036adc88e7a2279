"""Check the ledger's invariants and print each."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.wallets.fsck import State, check


class Command(BaseCommand):
    """Check the invariants I1 to I19; fails if one is broken."""

    help = "Check the invariants I1 to I19 of the ledger and print each; exits with an error if one is broken."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--operator", type=UUID, default=None, help="only this operator's ledger")
        parser.add_argument("--quick", action="store_true", help="only what is cheap enough for every few minutes")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check and print."""
        broken = 0
        for finding in check(operator_id=options["operator"], is_quick=options["quick"]):
            self.stdout.write(f"{finding.id:4} {finding.state:12} {finding.says}")
            for violation in finding.violations:
                self.stdout.write(f"       {violation}")
            broken += finding.state is State.BROKEN
        if broken:
            raise CommandError(f"{broken} invariants of the ledger are broken.")
