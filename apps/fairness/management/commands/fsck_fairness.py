"""Check everything that fairness stored; after a clean pass, let a stopped log's writer go on if asked to.

Source: docs/fairness/operations.md, sections Sequencer and Checks.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from apps.core.clock import now_ms
from apps.fairness import anchor, fsck
from apps.fairness.models import LOG_ROW_ID, Checkpoint, Log

FINDINGS_MAX = 1000
"""Findings shown at most."""


class Command(BaseCommand):
    """Check records, log, tree, seeds and commitments against each other."""

    help = "Check records, log, tree, seeds and commitments against each other; exit 1 on any finding."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--resume", action="store_true", help="After a clean pass, start a stopped log's writer.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, print the findings, and end with their number."""
        found = 0
        for finding in fsck.check(now_ms=now_ms()):
            found += 1
            self.stdout.write(f"{finding.code:20} {finding.where}: {finding.detail}")
            if found == FINDINGS_MAX:
                self.stdout.write("More findings are not shown.")
                break
        if found:
            raise CommandError(f"{found} findings.")
        log = Log.objects.get(pk=LOG_ROW_ID)
        self.stdout.write(f"Clean: {log.size} entries, {Checkpoint.objects.count()} checkpoints.")
        if options["resume"]:
            self._resume(log)

    def _resume(self, log: Log) -> None:
        known = anchor.read()
        if known is not None and not Checkpoint.objects.filter(size=known[0], root=known[1]).exists():
            raise CommandError(
                f"A tree of {known[0]} entries was signed that this database does not have: the log was rolled back."
                " It is retired; see docs/fairness/operations.md, section Backups."
            )
        with transaction.atomic(durable=True):
            Log.objects.filter(pk=log.pk).update(stopped_reason="", stopped_detail="", stopped_at_ms=None)
        self.stdout.write("The log's writer may go on.")
