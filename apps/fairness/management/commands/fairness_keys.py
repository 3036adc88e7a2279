"""The key ceremony's command: start the log, rotate and revoke its keys, show them.

Source: docs/fairness/operations.md, section Key ceremony.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.clock import now_ms
from apps.fairness import conf
from apps.fairness.ceremony import Ceremony, CeremonyError, root_key_create, root_key_read
from apps.fairness.errors import KeysUnavailable
from apps.fairness.models import KeyUse, Log, SigningKey


class Command(BaseCommand):
    """Manage the keys of the public log."""

    help = "Manage the keys of the public log: start it, rotate and revoke its keys, show them."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the actions."""
        parser.add_argument("--database", default="owner", help="Login that may add keys (default: owner).")
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("status", help="Show the log and its keys; no secrets.")
        new = actions.add_parser("root-new", help="Make a root key in a new file; needs no database.")
        new.add_argument("path", type=Path)
        init = actions.add_parser("init", help="Start the log: once for a database.")
        init.add_argument("--origin", default="", help="Name of the log (default: SEALDECK_LOG_ORIGIN).")
        init.add_argument("--if-missing", action="store_true", help="Do nothing where there is a log already.")
        init.add_argument("--create-root", action="store_true", help="Make the root key file if it is missing.")
        rotate = actions.add_parser("rotate", help="Add a new key; a new records key revokes the old one.")
        rotate.add_argument("use", choices=[str(use) for use in KeyUse])
        rotate.add_argument("--reason", default="scheduled")
        rotate.add_argument("--new-root-key-file", type=Path, help="The new root key, for use root.")
        revoke = actions.add_parser("revoke", help="Revoke a key by its id.")
        revoke.add_argument("kid")
        revoke.add_argument("--reason", required=True)
        for action in (init, rotate, revoke):
            _root_argument(action)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one action."""
        try:
            getattr(self, f"_{options['action'].replace('-', '_')}")(options)
        except (CeremonyError, KeysUnavailable, conf.ConfigurationError) as problem:
            raise CommandError(str(problem)) from problem

    def _root_new(self, options: dict[str, Any]) -> None:
        public = root_key_create(options["path"])
        self.stdout.write(f"Root key written to {options['path']}; its public half for trust files: {public.hex()}")

    def _init(self, options: dict[str, Any]) -> None:
        if options["if_missing"] and Log.objects.using(options["database"]).exists():
            return
        path = _root_path(options)
        if options["create_root"] and not path.exists():
            root_key_create(path)
        self._ceremony(options).begin(origin=options["origin"] or conf.origin())
        self.stdout.write("The log was started; its key records are merged by the log's writer.")

    def _rotate(self, options: dict[str, Any]) -> None:
        path = options["new_root_key_file"]
        new_root = None if path is None else root_key_read(path)
        kid = self._ceremony(options).rotate(KeyUse(options["use"]), reason=options["reason"], new_root=new_root)
        self.stdout.write(f"The {options['use']} key {kid} was added.")

    def _revoke(self, options: dict[str, Any]) -> None:
        self._ceremony(options).revoke(options["kid"], reason=options["reason"])
        self.stdout.write(f"The key {options['kid']} was revoked.")

    def _status(self, options: dict[str, Any]) -> None:
        log = Log.objects.using(options["database"]).first()
        if log is None:
            raise CommandError("There is no log yet: fairness_keys init.")
        state = f"stopped: {log.stopped_reason}" if log.stopped_at_ms is not None else "running"
        self.stdout.write(f"log {log.origin}, {log.size} entries, writer {log.holder or '-'} ({state})")
        for key in SigningKey.objects.using(options["database"]).order_by("added"):
            secret = "sealed here" if key.secret_sealed is not None else "kept elsewhere"
            life = "revoked" if key.revoked_id is not None else "live"
            self.stdout.write(f"{key.use:8} {key.kid}  {life:8} {secret:14} {bytes(key.public_key).hex()}")

    def _ceremony(self, options: dict[str, Any]) -> Ceremony:
        return Ceremony(root_key_read(_root_path(options)), now_ms(), options["database"])


def _root_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--root-key-file", type=Path, help="The root key (default: SEALDECK_ROOT_KEY_FILE).")


def _root_path(options: dict[str, Any]) -> Path:
    path: Path | None = options["root_key_file"] or conf.root_key_file()
    if path is None:
        raise CommandError("Give the root key with --root-key-file.")
    return path
