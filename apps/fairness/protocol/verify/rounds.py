"""One round: all checks of one bundle in their order.

Protocol: docs/fairness/protocol.md, section 13.  Never raises for what a bundle holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apps.fairness.protocol import canonical
from apps.fairness.protocol.bundle import BundleForm, OtherVersion, Unreadable, bundle_read
from apps.fairness.protocol.errors import VersionError
from apps.fairness.protocol.verdict import Findings, Verdict
from apps.fairness.protocol.verify.context import Round, Settings
from apps.fairness.protocol.verify.dealing import beacon_check, deck_check, seed_check, void_check
from apps.fairness.protocol.verify.evidence import FormFailed, keys_check, log_check, records_read
from apps.fairness.protocol.verify.money import money_check
from apps.fairness.protocol.verify.play import play_check
from apps.fairness.protocol.verify.replay import is_match_game, rules_check
from apps.fairness.protocol.verify.seats import seats_check
from apps.fairness.protocol.verify.story import story_check
from apps.fairness.protocol.verify.transcript_form import head_check, transcript_read

_EVIDENCE = (
    "key_record",
    "key_unknown",
    "key_revoked",
    "record_signature",
    "checkpoint",
    "inclusion",
    "round_id",
)
"""Codes after which a bundle's records say nothing about other bundles."""

_SPOILS_RULES = (
    "roster",
    "order",
    "opener",
    "root",
    "start_event",
    "generation",
    "card_place",
    "card_face",
)
"""Codes after which a replay would only say the same again."""


@dataclass(frozen=True, slots=True)
class MatchRound:
    """What the other rounds of a match need to know of one that was played to its end."""

    game: str
    carry_in: Any
    """What it took over; None begins a match."""
    carry_out: Any
    """What it hands on."""
    final: bool
    net: int
    """Pot less fee, minor units; 0 where the match goes on."""
    shares: dict[int, int]
    payouts: dict[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """What the other bundles of a file need to know of a round."""

    table: str
    index: int
    round: str
    prev: str
    last_opener: int | None
    opener: int | None
    """Opener of the round; None where nothing was dealt."""
    hashes: tuple[tuple[str, str], ...]
    """Type and hash of each record."""
    terminal: str | None
    """Hash of the terminal record."""
    proven: bool
    """Whether its records are signed and logged."""
    match: MatchRound | None
    """For a finished round of a game whose pot spans several rounds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result for one bundle before the file as a whole is looked at."""

    findings: Findings
    round: str | None
    place: Place | None
    """None where the records could not be read."""

    def verdict(self) -> Verdict:
        """Return the verdict."""
        return self.findings.verdict(self.round)


def round_check(data: bytes | str | dict[str, Any], settings: Settings) -> Checked:
    """Check one bundle alone."""
    return round_checked(data, settings)[0]


def round_checked(data: bytes | str | dict[str, Any], settings: Settings) -> tuple[Checked, Round | None]:
    """Check one bundle alone; return also what the checks worked out, where it could be taken as a bundle."""
    checked = _checked(data, settings, fast=True)
    if checked is None:
        checked = _checked(data, settings, fast=False)
    assert checked is not None, "what is read slowly is known to be strict"
    return checked


def _checked(
    data: bytes | str | dict[str, Any], settings: Settings, *, fast: bool
) -> tuple[Checked, Round | None] | None:
    """Check one bundle; None where it was read fast and something in it may not even be strict JSON."""
    findings = Findings()
    try:
        bundle = bundle_read(data, fast=fast)
        round_ = Round(bundle, settings, findings)
        records_read(round_)
    except (Unreadable, OtherVersion, BundleForm, VersionError, FormFailed) as problem:
        return None if fast else (_ended(findings, data, problem), None)
    _all_checks(round_)
    if fast and (findings.failed("transcript_form") or not bundle.prove()):
        return None
    return Checked(findings, round_.round_id, _place(round_)), round_


def _ended(findings: Findings, data: bytes | str | dict[str, Any], problem: Exception) -> Checked:
    """End the check of a document that cannot be taken as a bundle of this version."""
    if isinstance(problem, Unreadable):
        findings.cannot("unreadable", problem.detail)
        return Checked(findings, None, None)
    if isinstance(problem, OtherVersion):
        findings.cannot("version", problem.detail, "format")
    elif isinstance(problem, VersionError):
        findings.cannot("version", problem.detail, "records")
    elif isinstance(problem, BundleForm):
        findings.fail("bundle_form", problem.where, problem.detail)
    return Checked(findings, _round_named(data if isinstance(data, dict) else canonical.decode(data)), None)


def _round_named(value: Any) -> str | None:
    """Return the round that a document names, without believing it."""
    try:
        named = value["records"][0]["body"]["round"]
    except (TypeError, KeyError, IndexError):
        return None
    return named[:64] if type(named) is str else None


def _all_checks(round_: Round) -> None:
    round_.match_game = is_match_game(round_.settings, round_.open["rules"])
    keys_check(round_)
    log_check(round_)
    story_check(round_)
    seats_check(round_)
    beacon_check(round_)
    seed_check(round_)
    void_check(round_)
    deck_check(round_)
    play = transcript_read(round_)
    head_check(round_)
    if play is not None:
        play_check(round_, play)
    money_check(round_)
    findings = round_.findings
    if round_.settings.rules and play is not None and not findings.failed(*_SPOILS_RULES):
        rules_check(round_)
    if round_.terminal is None:
        findings.cannot("unfinished", "the round has no reveal and no void record yet")
    if round_.settings.trust is None:
        findings.note("no trust file: this shows only that the bundle agrees with itself")


def _place(round_: Round) -> Place:
    opened, deck, terminal = round_.open, round_.record("deck"), round_.terminal
    return Place(
        table=opened["table"],
        index=opened["index"],
        round=opened["round"],
        prev=opened["prev"],
        last_opener=opened["last_opener"],
        opener=deck.body["opener"] if deck is not None else None,
        hashes=tuple((record.type, record.hash_hex) for record in round_.records),
        terminal=terminal.hash_hex if terminal is not None else None,
        proven=not round_.findings.failed(*_EVIDENCE),
        match=_match(round_),
    )


def _match(round_: Round) -> MatchRound | None:
    reveal = round_.record("reveal")
    if reveal is None or not round_.match_game or round_.findings.failed("transcript_form", "start_event", "end_event"):
        return None
    transcript, body = round_.bundle.value["transcript"], reveal.body
    over = transcript[-1]["events"][-1]
    return MatchRound(
        game=round_.open["game"],
        carry_in=transcript[0]["events"][0].get("carry"),
        carry_out=over.get("carry"),
        final=bool(body["outcome"]["shares"]),
        net=sum(row["payout"] for row in body["payouts"]),
        shares={int(seat): weight for seat, weight in body["outcome"]["shares"].items()},
        payouts={row["seat"]: row["payout"] for row in body["payouts"]},
    )
