"""``manage.py fsck``: execute stored rounds again and compare them with what is stored; then check log and ledger."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from apps.tables.audit import round_findings
from apps.tables.models import Round


class Command(BaseCommand):
    """Check rounds, log and ledger."""

    help = "Execute stored rounds again and compare; then fsck_fairness and fsck_ledger. Fails on any finding."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--table", type=UUID, help="only rounds of this table")
        parser.add_argument("--rounds-only", action="store_true", help="leave log and ledger out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check and print what was found."""
        rounds = Round.objects.exclude(dealt_ms=None).select_related("table").order_by("table_id", "index")
        if options["table"]:
            rounds = rounds.filter(table_id=options["table"])
        checked = found = 0
        for round_ in rounds.iterator(chunk_size=200):
            checked += 1
            for finding in round_findings(round_):
                found += 1
                self.stdout.write(f"round {round_.pk.hex}: {finding}")
        self.stdout.write(f"{checked} rounds executed again, {found} findings.")
        if not options["rounds_only"]:
            call_command("fsck_fairness", stdout=self.stdout)
            call_command("fsck_ledger", stdout=self.stdout)
        if found:
            raise CommandError(f"{found} findings.")
