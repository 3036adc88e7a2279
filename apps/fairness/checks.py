"""System checks of the key settings: a process that would fail at its first deal fails at its start.

Never opens a connection and never prints a value of a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register

from apps.fairness import conf
from apps.fairness.protocol.errors import NoteError
from apps.fairness.protocol.notes import TYPE_COSIGNATURE, vkey_read


@register(Tags.security)
def keys_well_formed(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check the form of every setting that is there."""
    found: list[CheckMessage] = []
    try:
        keks = conf.keks()
    except conf.ConfigurationError as problem:
        return [Error(str(problem), id="fairness.E001")]
    if keks and conf.kek_id() not in keks:
        found.append(Error("SEALDECK_KEK_ID names no key of SEALDECK_KEKS.", id="fairness.E002"))
    if conf.origin() and conf.ORIGIN.fullmatch(conf.origin()) is None:
        found.append(
            Error(
                "SEALDECK_LOG_ORIGIN has 1 to 128 printable ASCII characters without space and '+'.", id="fairness.E003"
            )
        )
    try:
        for witness in conf.witnesses():
            vkey_read(witness.vkey, TYPE_COSIGNATURE)
    except (KeyError, TypeError, AttributeError, NoteError):
        found.append(
            Error("SEALDECK_WITNESSES is not a list of objects with a witness's vkey and url.", id="fairness.E007")
        )
        return found
    if not 0 <= conf.quorum() <= len(conf.witnesses()):
        found.append(Error("SEALDECK_WITNESS_QUORUM is more than there are witnesses.", id="fairness.E004"))
    return found


@register(Tags.security, deploy=True)
def keys_present(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that a production server has what it needs to deal and to sign."""
    found: list[CheckMessage] = []
    try:
        keks = conf.keks()
    except conf.ConfigurationError:
        return found
    if not keks:
        found.append(Error("SEALDECK_KEKS is empty: seeds cannot be sealed.", id="fairness.E005"))
    if not conf.origin():
        found.append(Error("SEALDECK_LOG_ORIGIN is empty: the public log has no name.", id="fairness.E006"))
    if conf.root_key_file() is not None:
        found.append(
            Warning(
                "SEALDECK_ROOT_KEY_FILE is set: the root key belongs on a machine of its own.",
                hint="Give the file to the key ceremony's commands by --root-key-file only.",
                id="fairness.W001",
            )
        )
    return found
