"""Asking witnesses to cosign the newest checkpoint, and keeping what they answer.

Implements the client's side of C2SP tlog-witness (``add-checkpoint``) for docs/fairness/protocol.md, section 11.  All
are asked at once, so that one who is slow holds up nobody; a line that does not verify is not kept.  Never asks the
network inside of a transaction.  The log goes on without witnesses; only what counts as published waits for a quorum.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import structlog

from apps.fairness import conf, metrics, tree
from apps.fairness.models import Checkpoint, Cosignature
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes
from apps.fairness.protocol.errors import NoteError

TIMEOUT_S = 2.0
"""Longest wait for one answer, from the first byte sent to the last one read."""
ANSWER_BYTES_MAX = 4096
INTEGER_DIGITS = 17
"""So many digits and more have numbers that no size has."""
REFRESH_S = 20
"""A checkpoint that stays the newest is cosigned anew after this long, so that clients see that it is fresh."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A witness and the size from which it is asked."""

    witness: conf.Witness
    old: int


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a witness said; the status is 0 where it said nothing."""

    asked: _Asked
    status: int
    text: str


def cosign_newest(*, now_s: int) -> int:
    """Ask every witness that has not cosigned the newest checkpoint lately; return how many did.

    Args:
        now_s: Unix time, seconds.
    """
    newest = Checkpoint.objects.order_by("-size").first()
    if newest is None:
        return 0
    recent = Cosignature.objects.filter(checkpoint=newest, at_s__gt=now_s - REFRESH_S)
    fresh = set(recent.values_list("witness", flat=True))
    due = [_Asked(one, _size_known(one)) for one in conf.witnesses() if one.id not in fresh]
    elsewhere, done = [], 0
    for answer in _ask(newest, due):
        if answer.status == httpx.codes.CONFLICT:
            elsewhere.append(answer)
        else:
            done += _keep(newest, answer)
    again = [asked for answer in elsewhere if (asked := _from_where_it_is(newest, answer)) is not None]
    return done + sum(_keep(newest, answer) for answer in _ask(newest, again))


def _size_known(witness: conf.Witness) -> int:
    """Return the size that a witness cosigned last, as far as this server knows."""
    last = Cosignature.objects.filter(witness=witness.id).order_by("-checkpoint_id").first()
    return last.checkpoint_id if last else 0


def _from_where_it_is(newest: Checkpoint, answer: _Answered) -> _Asked | None:
    """Return how to ask a witness again that is at another size than it was thought to be."""
    size = answer.text.strip()
    if not (size.isascii() and size.isdigit() and len(size) < INTEGER_DIGITS):
        _failed(newest, answer, "says not where it is")
    elif int(size) > newest.size:
        _failed(newest, answer, f"has seen {size} entries")
    elif int(size) == answer.asked.old:
        _failed(newest, answer, "has seen another tree of this size")
    else:
        return _Asked(answer.asked.witness, int(size))
    return None


def _keep(newest: Checkpoint, answer: _Answered) -> int:
    """Keep the line of a witness if it verifies; return how many were kept."""
    witness = answer.asked.witness
    if answer.status != httpx.codes.OK:
        said = f"answered {answer.status}" if answer.status else answer.text
        _failed(newest, answer, said)
        return 0
    try:
        key = notes.vkey_read(witness.vkey, notes.TYPE_COSIGNATURE)
        found = notes.cosignatures(notes.checkpoint_read(newest.note + answer.text), [key])
    except NoteError as problem:
        _failed(newest, answer, problem.detail)
        return 0
    if not found:
        _failed(newest, answer, "sent a line that does not verify")
        return 0
    line = next(line for line in answer.text.splitlines(keepends=True) if line.startswith(f"\u2014 {key.name} "))
    row = Cosignature(checkpoint=newest, witness=witness.id, at_s=found[0].time_s, line=line)
    Cosignature.objects.bulk_create([row], ignore_conflicts=True)
    metrics.COSIGNED.labels(witness.id).set(newest.size)
    return 1


def _failed(newest: Checkpoint, answer: _Answered, problem: str) -> None:
    """Say that a witness did not cosign; loudly where it accuses the log."""
    accused = answer.status in (httpx.codes.CONFLICT, httpx.codes.UNPROCESSABLE_ENTITY)
    say = log.error if accused else log.warning
    event = "witness_refused" if accused else "witness_failed"
    say(event, witness=answer.asked.witness.id, size=newest.size, old=answer.asked.old, problem=problem)


def _ask(newest: Checkpoint, asked: Iterable[_Asked]) -> list[_Answered]:
    """Ask several witnesses at once; their threads do nothing but wait for the network."""
    requests = [(one, _request(newest, one.old)) for one in asked]
    if not requests:
        return []
    with (
        httpx.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client,
        ThreadPoolExecutor(len(requests)) as threads,
    ):
        return list(threads.map(lambda request: _post(client, *request), requests))


def _request(newest: Checkpoint, old: int) -> bytes:
    proof = log_rules.consistency_path(tree.source(newest.size), old, newest.size)
    lines = [f"old {old}", *(b64encode(node).decode() for node in proof), "", newest.note]
    return "\n".join(lines).encode()


def _post(client: httpx.Client, asked: _Asked, body: bytes) -> _Answered:
    """Send one request; read no more, and wait no longer, than an answer may take."""
    until = time.monotonic() + TIMEOUT_S
    data = b""
    try:
        with client.stream("POST", f"{asked.witness.url}/add-checkpoint", content=body) as response:
            for part in response.iter_bytes(ANSWER_BYTES_MAX):
                data += part
                if len(data) > ANSWER_BYTES_MAX or time.monotonic() > until:
                    return _Answered(asked, 0, "sends too much, or too slowly")
            return _Answered(asked, response.status_code, data.decode())
    except (httpx.HTTPError, UnicodeDecodeError) as problem:
        return _Answered(asked, 0, type(problem).__name__)
