"""What a witness decides: cosign a checkpoint, or refuse it.

Protocol: docs/fairness/protocol.md, section 11; C2SP tlog-witness, add-checkpoint, in the order given there.  Reads no
clock.  Never answers before its memory holds what it answers for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from apps.fairness.protocol import notes
from apps.fairness.protocol.errors import NoteError
from apps.fairness.protocol.log import EMPTY_ROOT, consistency_verify
from apps.fairness.witness.memory import Held, Memory, Refused
from apps.fairness.witness.requests import AddCheckpoint, add_checkpoint_read

TEXT: Final = "text/plain; charset=utf-8"
SIZE: Final = "text/x.tlog.size"


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the log."""

    status: HTTPStatus
    body: str
    content_type: str = TEXT
    about: str = ""
    """Origin and size that were asked for, once they are believed to be the log's words."""


class Witness:
    """One witness of several logs."""

    def __init__(self, memory: Memory, logs: Iterable[notes.VerifierKey]) -> None:
        """Watch these logs; several keys of one name are one log that hands over from one key to the next."""
        self._memory = memory
        self._keys: dict[str, list[notes.VerifierKey]] = {}
        for key in logs:
            self._keys.setdefault(key.name, []).append(key)

    @property
    def origins(self) -> list[str]:
        """Return the names of the logs."""
        return sorted(self._keys)

    def add_checkpoint(self, body: bytes, *, now_s: int) -> Answer:
        """Cosign the checkpoint of a request if it extends what was cosigned before.

        Args:
            now_s: Unix time, seconds.
        """
        try:
            request = add_checkpoint_read(body)
        except NoteError as problem:
            return _no(HTTPStatus.BAD_REQUEST, problem.detail)
        checkpoint = request.checkpoint
        keys = self._keys.get(checkpoint.origin)
        if keys is None:
            return _no(HTTPStatus.NOT_FOUND, "this witness does not know the log")
        try:
            notes.checkpoint_verify_any(checkpoint, keys)
        except NoteError as problem:
            return _no(HTTPStatus.FORBIDDEN, problem.detail)
        about = f"{checkpoint.origin} {checkpoint.size}"
        if request.old > checkpoint.size:
            return _no(HTTPStatus.BAD_REQUEST, "the old size is greater than that of the checkpoint", about)
        with self._memory.turn() as turn:
            held = turn.held(checkpoint.origin) or Held(checkpoint.origin, 0, EMPTY_ROOT, "", 0)
            refusal = _refusal(request, held, about)
            if refusal is None:
                turn.hold(Held(checkpoint.origin, checkpoint.size, checkpoint.root, request.note, now_s))
            elif _is_evidence(request, held, refusal):
                turn.refuse(Refused(checkpoint.origin, request.note, held.note, now_s))
        if refusal is not None:
            return refusal
        identity = self._memory.identity
        line = notes.cosign(identity.secret_key, identity.name, checkpoint.body, now_s)
        return Answer(HTTPStatus.OK, line, about=about)


def _refusal(request: AddCheckpoint, held: Held, about: str) -> Answer | None:
    """Return why the checkpoint must not be cosigned; None where nothing speaks against it."""
    new = request.checkpoint
    if request.old != held.size or (new.size == held.size != 0 and new.root != held.root):
        return Answer(HTTPStatus.CONFLICT, f"{held.size}\n", SIZE, about)
    if not consistency_verify(held.size, new.size, held.root, new.root, request.proof):
        return _no(HTTPStatus.UNPROCESSABLE_ENTITY, "the proof does not lead from the tree that was cosigned", about)
    return None


def _is_evidence(request: AddCheckpoint, held: Held, refusal: Answer) -> bool:
    """Tell whether a refused checkpoint, which the log did sign, should be shown to others.

    Two trees of one size are proof by themselves.  A proof that leads nowhere may be a mistake; whoever has the tree
    can find out.  To ask from another size is no offence: logs do that after they lost an answer.
    """
    new = request.checkpoint
    return refusal.status == HTTPStatus.UNPROCESSABLE_ENTITY or (new.size == held.size and new.root != held.root)


def _no(status: HTTPStatus, text: str, about: str = "") -> Answer:
    return Answer(status, f"{text}\n", about=about)
