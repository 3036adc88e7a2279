"""``manage.py operator_wallet NAME seamless --url ... --answer-key ...``: choose whose books hold players' money."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from apps.accounts import selectors, signatures
from apps.core.errors import ApplicationError
from apps.wallets.seamless.models import WalletKind
from apps.wallets.services import operator_wallet_set


class Command(BaseCommand):
    """Set an operator's wallet: transfer, or seamless with its address and keys."""

    help = "Set an operator's wallet: transfer, or seamless with its address and keys."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the operator's name")
        parser.add_argument("kind", choices=[str(kind) for kind in WalletKind])
        parser.add_argument("--url", default="", help="where a seamless wallet is; /bet and the others are added")
        parser.add_argument(
            "--answer-key",
            action="append",
            default=[],
            dest="answer_keys",
            help="public Ed25519 key that signs the wallet's answers, hex; twice while keys change",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it, and print what the operator's wallet has to know."""
        operator = selectors.operator_by_name(name=options["name"])
        if operator is None:
            raise CommandError(f"There is no operator {options['name']!r}.")
        try:
            with transaction.atomic():
                operator_wallet_set(
                    operator_id=operator.pk,
                    kind=WalletKind(options["kind"]),
                    url=options["url"],
                    answer_keys=options["answer_keys"],
                )
        except ApplicationError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(f"wallet       {options['kind']}")
        for key in signatures.answer_keys() if options["kind"] == WalletKind.SEAMLESS else ():
            self.stdout.write(f"Sealdeck-Key {operator.pk}.{key.kid}")
            self.stdout.write(f"public key   {key.public_key.hex()}")
