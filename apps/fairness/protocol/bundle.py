"""Audit bundles: reading one from its bytes, its form, and writing one so that it is read fast.

Protocol: docs/fairness/protocol.md, section 12.  Never judges what a bundle says, only that it has the form of one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from apps.fairness.protocol import canonical
from apps.fairness.protocol.cards import GENERATION_MAX, are_card_codes, is_card_code, is_opening
from apps.fairness.protocol.errors import CanonicalError, ProtocolError
from apps.fairness.protocol.hexes import are_hashes
from apps.fairness.protocol.notes import NOTE_CHARACTERS_MAX, is_origin
from apps.fairness.protocol.shapes import count

FORMAT: Final = "sealdeck-round/1"
KEYS_MAX: Final = 4000
EVENTS_MAX: Final = 4096
PROOF_MAX: Final = 64

_MEMBERS = frozenset(("format", "records", "keys", "order", "generations", "transcript", "log"))
_LOG_MEMBERS = frozenset(("origin", "checkpoint", "indexes", "proofs", "views", "close"))
_CLOSE_MEMBERS = frozenset(("checkpoint", "proof", "consistency"))
_VIEW_MEMBERS = frozenset(("size", "proof"))
_GENERATION_MEMBERS = frozenset(("gen", "stream", "from"))

_TRANSCRIPT = ',"transcript":['
"""The last member of a canonical bundle begins so."""
_ENTRY = b'{"at":'
"""The canonical bytes of every transcript entry begin so."""
_BETWEEN = b"," + _ENTRY

_write = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


class Unreadable(ProtocolError):
    """The bytes are not strict JSON."""


class OtherVersion(ProtocolError):
    """The document is of a format that this verifier does not know."""


class BundleForm(ProtocolError):
    """The document is not as section 12 says."""

    def __init__(self, where: str, detail: str) -> None:
        super().__init__(detail)
        self.where = where


def _no_fraction(text: str) -> Any:
    raise CanonicalError(f"the number {text[:40]} is not an integer")


_fast = json.JSONDecoder(parse_float=_no_fraction, parse_constant=_no_fraction).decode


@dataclass(slots=True)
class Bundle:
    """A document that has the form of a bundle."""

    value: dict[str, Any]
    entries: tuple[bytes, ...]
    """Canonical bytes of each transcript entry; cut out of the document as they are where ``proven`` is false."""
    proven: bool = True
    """Whether the transcript is known to be canonical.  Where it is not, integers and nesting of what has no fixed form
    are still to be looked at, too."""

    def prove(self) -> bool:
        """Find out whether the transcript is canonical as it was taken from the document."""
        if not self.proven:
            self.proven = _write(self.value["transcript"]).encode() == b"[" + b",".join(self.entries) + b"]"
        return self.proven

    @property
    def records(self) -> list[Any]:
        """The round's log entries, not yet checked."""
        records: list[Any] = self.value["records"]
        return records


def bundle_encode(value: dict[str, Any], entries: Sequence[bytes] = ()) -> bytes:
    """Return the bytes in which a bundle is best served: canonical, in one line without its end.

    Args:
        value: the bundle; its ``transcript`` is taken from ``entries`` where they are given.
        entries: canonical bytes of the transcript entries as they were stored.

    Raises:
        CanonicalError: the value has no canonical form.
    """
    if not entries:
        return canonical.encode(value)
    rest = {name: member for name, member in value.items() if name != "transcript"}
    return canonical.encode(rest)[:-1] + b',"transcript":[' + b",".join(entries) + b"]}"


def bundle_read(data: bytes | str | dict[str, Any], *, fast: bool = True) -> Bundle:
    """Read one bundle and check its form.

    Args:
        data: the bytes or text of the document, or the object that somebody has read from it already.
        fast: whether the transcript may be taken as it is from a document that looks canonical.  The caller then asks
            ``prove``, and reads again without it where that, or anything about the form, fails.

    Raises:
        Unreadable: not strict JSON.
        OtherVersion: ``format`` names another format.
        BundleForm: not as section 12 says.

    Source: docs/fairness/protocol.md, sections 1 and 12.
    """
    try:
        bundle = _read(data, fast)
    except (CanonicalError, UnicodeError, RecursionError) as problem:
        raise Unreadable(getattr(problem, "detail", "not UTF-8, or nested too deep")) from problem
    value = bundle.value
    if type(value) is not dict:
        raise BundleForm("", "the document is not an object")
    if type(value.get("format")) is str and value["format"] != FORMAT:
        raise OtherVersion(f"the format is {value['format'][:40]!r}, not {FORMAT!r}")
    _form(value)
    if bundle.proven:
        bundle.entries = tuple([_write(entry).encode() for entry in value["transcript"]])
    return bundle


def _read(data: bytes | str | dict[str, Any], fast: bool) -> Bundle:
    if isinstance(data, dict):
        canonical.check(data)
        return Bundle(data, ())
    raw = data.encode() if isinstance(data, str) else data
    text = raw.decode()
    found = _read_canonical(text, len(raw) - len(text)) if fast else None
    return found or Bundle(canonical.decode(text), ())


def _read_canonical(text: str, wide: int) -> Bundle | None:
    """Read a document that is canonical already, without a call for each object and number.

    What is written back the same way it came holds no duplicate names, no odd numbers and no odd escapes.  Only too
    great integers and too deep nesting can hide, and only where no form is fixed.  The transcript, the last member,
    is left unproven: a replay writes it once more in any case.

    Args:
        wide: bytes that the characters beyond ASCII have more than one each; the dashes of the checkpoints must account
            for all of them, so that no name of a member has any.
    """
    text = text.rstrip("\n")
    try:
        value = _fast(text)
        transcript = value["transcript"]
        rest = _write({name: value[name] for name in value if name != "transcript"})
        start = len(rest) - 1 + len(_TRANSCRIPT)
        same = text[:start] == rest[:-1] + _TRANSCRIPT and text.endswith("]}")
        if not same or wide != 2 * _dashes(value["log"]):
            return None
        entries = text[start:-2].encode().split(_BETWEEN)
        if len(entries) != len(transcript):
            return None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    entries[1:] = [_ENTRY + entry for entry in entries[1:]]
    return Bundle(value, tuple(entries), proven=False)


def _dashes(log: dict[str, Any]) -> int:
    """Return how many dashes begin the signature lines of a bundle's checkpoints."""
    close = log["close"]
    notes: tuple[str, ...] = (log["checkpoint"],) if close is None else (log["checkpoint"], close["checkpoint"])
    return sum(note.count("\u2014") for note in notes)


def _form(value: dict[str, Any]) -> None:
    names = value.keys() - {"openings"}
    if names != _MEMBERS:
        odd = sorted(names ^ _MEMBERS, key=str)
        raise BundleForm("", f"a member is missing or one too many: {', '.join(odd)[:200]}")
    if value["format"] != FORMAT:
        raise BundleForm("format", "format is not a text")
    _list("records", value["records"])
    _list("keys", value["keys"], KEYS_MAX)
    _codes("order", value["order"])
    _transcript(value["transcript"])
    _generations(value["generations"])
    if "openings" in value:
        openings = value["openings"]
        _list("openings", openings)
        for number, opening in enumerate(openings):
            if not is_opening(opening):
                raise BundleForm(f"openings[{number}]", "not an opening")
    _log(value["log"], len(value["keys"]) + len(value["records"]))
    types = [record["type"] if type(record) is dict and "type" in record else None for record in value["records"]]
    if "deck" not in types:
        for name in ("order", "transcript", "generations", "openings"):
            if value.get(name):
                raise BundleForm(name, "there is no deck record that this could belong to")


def _list(where: str, value: Any, most: int | None = None) -> None:
    if type(value) is not list:
        raise BundleForm(where, "not a list")
    if most is not None and len(value) > most:
        raise BundleForm(where, f"more than {most} rows")


def _codes(where: str, value: Any) -> None:
    _list(where, value)
    if not are_card_codes(value):
        number = next(number for number, card in enumerate(value) if not is_card_code(card))
        raise BundleForm(f"{where}[{number}]", "not a card code")


def _transcript(value: Any) -> None:
    _list("transcript", value)
    for number, entry in enumerate(value):
        if type(entry) is not dict:
            raise BundleForm(f"transcript[{number}]", "not an object")
        if "events" in entry:
            events = entry["events"]
            if type(events) is list and len(events) > EVENTS_MAX:
                raise BundleForm(f"transcript[{number}].events", f"more than {EVENTS_MAX} events")


def _generations(value: Any) -> None:
    _list("generations", value)
    for number, row in enumerate(value):
        where = f"generations[{number}]"
        if type(row) is not dict or row.keys() != _GENERATION_MEMBERS:
            raise BundleForm(where, "a row has exactly the members gen, stream and from")
        if type(row["gen"]) is not int or not 0 <= row["gen"] <= GENERATION_MAX:
            raise BundleForm(f"{where}.gen", "not the number of a generation")
        if type(row["stream"]) is not str:
            raise BundleForm(f"{where}.stream", "not a text")
        _codes(f"{where}.from", row["from"])


def _log(value: Any, entries: int) -> None:
    if type(value) is not dict or value.keys() != _LOG_MEMBERS:
        raise BundleForm("log", "log has exactly the members origin, checkpoint, indexes, proofs, views and close")
    if not is_origin(value["origin"]):
        raise BundleForm("log.origin", "not the name of a log")
    _note("log.checkpoint", value["checkpoint"])
    for name in ("indexes", "proofs"):
        if type(value[name]) is not list or len(value[name]) != entries:
            raise BundleForm(f"log.{name}", "not one row for each key and record")
    for number, index in enumerate(value["indexes"]):
        if not count(index):
            raise BundleForm(f"log.indexes[{number}]", "not an index")
    for number, proof in enumerate(value["proofs"]):
        _proof(f"log.proofs[{number}]", proof)
    _list("log.views", value["views"])
    size = -1
    for number, view in enumerate(value["views"]):
        where = f"log.views[{number}]"
        if type(view) is not dict or view.keys() != _VIEW_MEMBERS or not count(view["size"]):
            raise BundleForm(where, "a row has exactly the members size and proof")
        if view["size"] <= size:
            raise BundleForm(where, "the sizes do not ascend")
        size = view["size"]
        _proof(f"{where}.proof", view["proof"])
    close = value["close"]
    if close is not None:
        if type(close) is not dict or close.keys() != _CLOSE_MEMBERS:
            raise BundleForm("log.close", "close has exactly the members checkpoint, proof and consistency")
        _note("log.close.checkpoint", close["checkpoint"])
        _proof("log.close.proof", close["proof"])
        _proof("log.close.consistency", close["consistency"])


def _note(where: str, value: Any) -> None:
    if type(value) is not str or len(value) > NOTE_CHARACTERS_MAX:
        raise BundleForm(where, f"not a text of at most {NOTE_CHARACTERS_MAX} characters")


def _proof(where: str, value: Any) -> None:
    if type(value) is not list or len(value) > PROOF_MAX:
        raise BundleForm(where, f"not a list of at most {PROOF_MAX} hashes")
    if not are_hashes(value):
        raise BundleForm(where, "holds something that is not a hash")
