"""``manage.py operator_create NAME``: create an operator and print its first API key, once."""

from __future__ import annotations

import base64
import binascii
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts import conf, selectors
from apps.accounts.errors import OperatorNameTaken, SignatureKeyInvalid
from apps.accounts.principals import SCOPES
from apps.accounts.services import Signing, operator_create
from apps.accounts.signatures import Algorithm, hmac_secret

NAME_LENGTH_MAX = 64
UNSIGNED = "none"


class Command(BaseCommand):
    """Create an operator and print its API key."""

    help = "Create an operator and print its API key. The key is shown this once and kept nowhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help=f"the operator's name, unique, at most {NAME_LENGTH_MAX} characters")
        parser.add_argument(
            "--scope", action="append", choices=SCOPES, dest="scopes", help="what the key may do; default all"
        )
        parser.add_argument(
            "--signature",
            choices=[UNSIGNED, *(str(algorithm) for algorithm in Algorithm)],
            default=str(Algorithm.HMAC_SHA256) if conf.requires_signatures() else UNSIGNED,
            help="how requests with the key are signed; default %(default)s here",
        )
        parser.add_argument("--public-key", default="", help="for ed25519: the operator's public key, base64")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the operator's id, its key, and the secret it signs with if it has one."""
        name = options["name"].strip()
        if not 1 <= len(name) <= NAME_LENGTH_MAX:
            raise CommandError(f"The name needs 1 to {NAME_LENGTH_MAX} characters.")
        signing = _signing(options["signature"], options["public_key"])
        try:
            operator, plaintext = operator_create(name=name, scopes=options["scopes"] or SCOPES, signing=signing)
        except OperatorNameTaken:
            raise CommandError(f"An operator named {name!r} exists already.") from None
        except SignatureKeyInvalid as error:
            raise CommandError(error.detail) from None
        self.stdout.write(f"operator    {operator.pk}")
        self.stdout.write(f"api_key     {plaintext}")
        if signing is not None and signing.algorithm == Algorithm.HMAC_SHA256:
            (key,) = selectors.keys(operator_id=operator.pk)
            self.stdout.write(f"hmac_secret {base64.b64encode(hmac_secret(key.pk)).decode()}")
        self.stdout.write("Keep this now: it is shown this once.")


def _signing(algorithm: str, public_key: str) -> Signing | None:
    if algorithm == UNSIGNED:
        return None
    try:
        return Signing(Algorithm(algorithm), base64.b64decode(public_key, validate=True))
    except binascii.Error:
        raise CommandError("The public key is not base64.") from None
