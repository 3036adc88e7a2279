"""Re-encrypt seeds, generation sources and signing keys under the newest key-encryption key.

Source: docs/fairness/operations.md, section Key-encryption keys.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.fairness import rewrap, sealing
from apps.fairness.errors import KeysUnavailable, SealBroken
from apps.fairness.protocol.sealed import KEK_USES_MAX


class Command(BaseCommand):
    """Seal everything anew under the key that SEALDECK_KEK_ID names."""

    help = "Seal everything anew under the key that SEALDECK_KEK_ID names, so that older keys can be retired."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--database", default="owner", help="Login that may change sealed columns.")
        parser.add_argument("--check", action="store_true", help="Only count; exit 1 while an older key is in use.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Count, or seal anew and count."""
        using = options["database"]
        try:
            if not options["check"]:
                for table, rows in rewrap.rewrap(using=using).items():
                    self.stdout.write(f"{table}: {rows} sealed anew")
            newest = sealing.current_kek_id()
        except (KeysUnavailable, SealBroken) as problem:
            raise CommandError(f"{problem.detail} {problem.facts or ''}".strip()) from problem
        older = 0
        for table, counts in rewrap.uses(using=using).items():
            for kek_id, rows in sorted(counts.items()):
                self.stdout.write(f"{table}: {rows} under {kek_id}")
                older += rows if kek_id != newest else 0
                if rows > KEK_USES_MAX // 2:
                    self.stdout.write(self.style.WARNING(f"{kek_id} is past half of its uses: add a new key."))
        if older:
            raise CommandError(f"{older} values are sealed under older keys.")
