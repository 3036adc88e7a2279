"""What each code means, in words for players.

Protocol: docs/fairness/protocol.md, section 13.  Never decides anything.
"""

from __future__ import annotations

from typing import Final

BUNDLE: Final = {
    "bundle_form": "This is not a complete audit bundle. Ask for the file again; nothing in it was checked.",
    "record_form": "A signed record has members it may not have, or misses some. It cannot be understood safely.",
    "record_set": "The records are not those of one round from its beginning. One is missing, doubled or out of place.",
    "key_record": "A key was added or withdrawn without the operator's root key. Nothing it signed can be relied on.",
    "key_unknown": "A record is signed with a key that the operator never announced.",
    "key_revoked": "A record is signed with a key that had already been withdrawn.",
    "record_signature": "A record was altered after it was signed, or was never signed by the operator.",
    "checkpoint": "The log's own summary is not signed by the log you trust. This may be another log made for you.",
    "witness_quorum": "Too few independent witnesses saw this state of the log. It may have been shown to you alone.",
    "inclusion": "A record is not in the public log where the bundle says it is.",
    "log_order": "The records were logged in another order than the round took place.",
    "round_id": "The round does not carry the number that its table and index give.",
    "prev": "The round is not tied to the one before it as it has to be.",
    "link": "The records of this round do not belong together: one names another record than the bundle holds.",
    "times": "The recorded times run backwards, or cards were dealt before the beacon was out.",
    "deadline": "A step came later than the protocol allows.",
    "roster": "The seats in the records do not agree with each other or with what the table allows.",
    "entropy_mode": "A seat's contribution is there where it must not be, or missing where it must be.",
    "entropy_repeated": "Two seats have the same key, commitment or random bytes. One of them was copied.",
    "entropy_opening": "The random bytes of a seat are not those it had committed to.",
    "seat_signature": "A seat did not sign what the records say it contributed.",
    "view_early": "A seat answered a record that was not yet in the log it had seen.",
    "view_split": "A seat was shown another log than this one. That is proof of two versions of the truth.",
    "beacon_round": "The round does not use the beacon that the rule picks.",
    "close_late": "Nobody independent saw the list of seats before the beacon was out. It may have been made later.",
    "beacon_signature": "The beacon in the records is not the one that was published for this round.",
    "seed": "The revealed seed is not the one the operator had committed to. The deck may have been chosen afterwards.",
    "void_stage": "The round was called off with a reason that does not fit where it stood.",
    "void_fault": "Somebody is blamed for calling the round off who cannot be at fault by the rules.",
    "order": "The cards are not the deck that was announced before the round.",
    "opener": "Another seat began than the rule says.",
    "root": "The committed deck is not the one that seed and contributions give. The cards were arranged.",
    "transcript_form": "The record of play has not the form it must have: numbers, times, seats or events are wrong.",
    "transcript_head": "The record of play was altered after the round: it is not the one the operator signed.",
    "start_event": "Play began under other conditions than the records name.",
    "generation": "A reshuffle, or a start card that went back, was not done as the seed says.",
    "card_place": "A card is named that cannot exist: there is no such place in the deck.",
    "card_face": "A card that was shown is not the card that lay there.",
    "deal_order": "A card did not come from the top of the deck.",
    "end_event": "The recorded end is not how play ended, or a finished round was called off.",
    "opening": "A card opening does not prove the card it shows.",
    "money": "Buy-ins, fee and payouts do not add up as the rules of the table say.",
    "payout": "The pot was not split as the outcome says.",
    "rules": "Played again by the rules, the round goes another way than recorded.",
    "chain": "The round does not follow the one before it: it names another ending than that bundle shows.",
    "fork": "There are two different signed records of one step of this round. That is proof of cheating.",
}
"""Code of a failed check of a bundle to what it means."""

CANNOT: Final = {
    "unreadable": "This line is not strict JSON; it could not be read.",
    "version": "This bundle is of another version of the protocol. A newer verifier may be able to check it.",
    "unfinished": "The round has not ended; what exists so far is in order.",
    "beacon_unchecked": "The beacon's signature was not checked here. Everything else was.",
    "gap": "Rounds of this table are missing from the file. Ask for them: they must exist.",
}
"""Code of what could not be checked to what it means."""

LOG: Final = {
    "log_checkpoint": "The log's summary is not signed by the log you trust.",
    "log_witness": "Too few independent witnesses cosigned the newest state of the log.",
    "log_root": "The log's summary is not that of its entries. Something is hidden, or was changed.",
    "log_consistency": "The log does not extend what it was before. It was rewritten: keep the state file as proof.",
    "log_entry": "An entry is malformed or not signed by a key that was valid then.",
    "log_sequence": "A record came that cannot follow the ones before it in its round.",
    "log_index": "A table's rounds are not numbered one by one, or two of them ran at once.",
    "log_prev": "A round does not name the ending, or the opener, of the round before it.",
    "log_seed": "A revealed seed does not open its commitment, or was used twice.",
    "log_overdue": "A round is overdue: it was not ended in time.",
}
"""Code of a failed check of the whole log to what it means."""

NO_TRUST: Final = (
    "No trust file was given, so the keys are taken from what was checked: this shows only that it agrees with itself, "
    "not that it comes from the operator you play with. Use --trust FILE."
)


def meaning(code: str) -> str:
    """Return what a code means."""
    return BUNDLE.get(code) or CANNOT.get(code) or LOG[code]
