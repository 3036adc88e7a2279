"""``manage.py operator_create NAME``: create an operator and print its API key, once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.errors import OperatorNameTaken
from apps.accounts.principals import SCOPES
from apps.accounts.services import operator_create


class Command(BaseCommand):
    """Create an operator and print its API key."""

    help = "Create an operator and print its API key. The key is shown this once and kept nowhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the operator's name, unique, at most 64 characters")
        parser.add_argument(
            "--scope",
            action="append",
            choices=SCOPES,
            dest="scopes",
            help="what the key may do; default all",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the operator's id and its key."""
        name = options["name"].strip()
        if not 1 <= len(name) <= 64:
            raise CommandError("The name needs 1 to 64 characters.")
        try:
            operator, plaintext = operator_create(name=name, scopes=options["scopes"] or SCOPES)
        except OperatorNameTaken:
            raise CommandError(f"An operator named {name!r} exists already.") from None
        self.stdout.write(f"operator {operator.pk}")
        self.stdout.write(f"api_key  {plaintext}")
        self.stdout.write("Keep the key now: it is shown this once.")
