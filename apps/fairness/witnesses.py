"""Asking witnesses to cosign the newest checkpoint, and keeping what they answer.

Implements the client's side of C2SP tlog-witness (``add-checkpoint``) for docs/fairness/protocol.md, section 11.  A
line that does not verify is not kept.  Never asks the network inside of a transaction; the log goes on without
witnesses, only what counts as published waits for their quorum.
"""

from __future__ import annotations

from base64 import b64encode

import httpx
import structlog

from apps.fairness import conf, tree
from apps.fairness.models import Checkpoint, Cosignature
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes
from apps.fairness.protocol.errors import NoteError

TIMEOUT_S = 2.0
ANSWER_BYTES_MAX = 4096
REFRESH_S = 20
"""A checkpoint that stays the newest is cosigned anew after this long, so that clients see that it is fresh."""

log = structlog.get_logger(__name__)


def cosign_newest(*, now_s: int) -> int:
    """Ask every witness that has not cosigned the newest checkpoint lately; return how many did.

    Args:
        now_s: Unix time, seconds.
    """
    newest = Checkpoint.objects.order_by("-size").first()
    if newest is None:
        return 0
    fresh = set(
        Cosignature.objects.filter(checkpoint=newest, at_s__gt=now_s - REFRESH_S).values_list("witness", flat=True)
    )
    done = 0
    with httpx.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client:
        for witness in conf.witnesses():
            key = notes.vkey_read(witness.vkey, notes.TYPE_COSIGNATURE)
            if name_of(key) in fresh:
                continue
            try:
                done += _cosign(client, witness.url, key, newest)
            except (httpx.HTTPError, NoteError, ValueError) as problem:
                log.warning("witness_failed", witness=key.name, size=newest.size, problem=type(problem).__name__)
    return done


def name_of(key: notes.VerifierKey) -> str:
    """Return the name and key id under which a witness's lines are kept."""
    return f"{key.name}+{key.id.hex()}"


def _cosign(client: httpx.Client, url: str, key: notes.VerifierKey, newest: Checkpoint) -> int:
    """Ask one witness, from the size it cosigned last, or from the one it says it has."""
    last = Cosignature.objects.filter(witness=name_of(key)).order_by("-checkpoint_id").first()
    answer = _ask(client, url, newest, last.checkpoint_id if last else 0)
    if answer.status_code == httpx.codes.CONFLICT:
        known = int(answer.text.strip())
        if not 0 <= known <= newest.size:
            log.error("witness_ahead", witness=key.name, size=newest.size, known=known)
            return 0
        answer = _ask(client, url, newest, known)
    if answer.status_code != httpx.codes.OK or len(answer.content) > ANSWER_BYTES_MAX:
        raise NoteError(f"the witness answered {answer.status_code}")
    checkpoint = notes.checkpoint_read(newest.note + answer.text)
    found = notes.cosignatures(checkpoint, [key])
    if not found:
        raise NoteError("the witness's line does not verify")
    line = next(line for line in answer.text.splitlines(keepends=True) if line.startswith(f"\u2014 {key.name} "))
    row = Cosignature(checkpoint=newest, witness=name_of(key), at_s=found[0].time_s, line=line)
    Cosignature.objects.bulk_create([row], ignore_conflicts=True)
    return 1


def _ask(client: httpx.Client, url: str, newest: Checkpoint, old: int) -> httpx.Response:
    proof = log_rules.consistency_path(tree.source(newest.size), old, newest.size)
    lines = [f"old {old}", *(b64encode(node).decode() for node in proof), "", newest.note]
    return client.post(f"{url}/add-checkpoint", content="\n".join(lines).encode())
