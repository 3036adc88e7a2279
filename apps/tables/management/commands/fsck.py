"""``manage.py fsck``: execute stored rounds again and compare them with what is stored; then check log and ledger."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from apps.tables.audit import round_findings
from apps.tables.models import Round


def _findings(round_id: UUID) -> list[str]:
    """Check one round as it stands at one moment, while play goes on."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return list(round_findings(Round.objects.select_related("table").get(pk=round_id)))


class Command(BaseCommand):
    """Check rounds, log and ledger."""

    help = "Execute stored rounds again and compare; then fsck_fairness and fsck_ledger. Fails on any finding."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--table", type=UUID, help="only rounds of this table")
        parser.add_argument("--rounds-only", action="store_true", help="leave log and ledger out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check and print what was found."""
        rounds = Round.objects.exclude(dealt_ms=None).order_by("table_id", "index")
        if options["table"]:
            rounds = rounds.filter(table_id=options["table"])
        checked = found = 0
        for round_id in rounds.values_list("pk", flat=True).iterator(chunk_size=1_000):
            checked += 1
            for finding in _findings(round_id):
                found += 1
                self.stdout.write(f"round {round_id.hex}: {finding}")
        self.stdout.write(f"{checked} rounds executed again, {found} findings.")
        if not options["rounds_only"]:
            call_command("fsck_fairness", stdout=self.stdout)
            call_command("fsck_ledger", stdout=self.stdout)
        if found:
            raise CommandError(f"{found} findings.")
