"""``manage.py staff_roles``: make the groups support, finance, auditor and admin; safe to repeat after every update."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from apps.backoffice.roles import roles_make


class Command(BaseCommand):
    """Make the roles of staff."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Make or repair the groups."""
        self.stdout.write("roles: " + ", ".join(roles_make()))
