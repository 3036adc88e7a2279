/**
 * What each check looks at, in words for players, in the order of section 13 and in groups.
 *
 * What it means when one fails is in the list MEANINGS, which is the same for all verifiers of this product.
 */

export const GROUPS = [
  ["The file", {
    bundle_form: "The file has all parts of an audit bundle, each of the right kind.",
    record_form: "Every signed record has exactly the members it must have.",
    record_set: "The records are those of one round: opened, closed where it must be, dealt, and ended or voided.",
  }],
  ["Signatures and public log", {
    key_record: "Keys were announced and withdrawn by the operator's root key.",
    key_unknown: "Each record is signed with an announced key.",
    key_revoked: "No record is signed with a withdrawn key.",
    record_signature: "The signature of each record is genuine.",
    checkpoint: "The log's summary is signed by the log.",
    witness_quorum: "Enough independent witnesses saw that summary.",
    inclusion: "Every record is in the public log, at its place.",
    log_order: "The records were logged in the order of the round.",
  }],
  ["One story", {
    round_id: "The round's number is the one that its table and index give.",
    prev: "The round names the one before it.",
    link: "Each record names the one it builds on.",
    times: "The recorded times do not run backwards.",
    deadline: "No step came later than allowed.",
  }],
  ["Seats and their random bytes", {
    roster: "The seats agree in all records and fit the table.",
    entropy_mode: "Each seat gave just what this kind of table asks for.",
    entropy_repeated: "No seat copied another one.",
    entropy_opening: "Each seat's bytes are those it had committed to.",
    seat_signature: "Seats with a key signed what they gave.",
    view_early: "Seats answered only what was in the log before.",
    view_split: "All seats saw this very log.",
  }],
  ["Beacon, seed and void", {
    beacon_round: "The round uses the public beacon that the rule picks.",
    close_late: "Witnesses saw the list of seats before the beacon was out.",
    beacon_signature: "The beacon is the one that was published.",
    seed: "The revealed seed is the one that was committed to before the round.",
    void_stage: "The round was called off for a reason that fits.",
    void_fault: "Nobody is blamed wrongly for calling it off.",
  }],
  ["The deck", {
    order: "The cards are those that were announced.",
    opener: "The right seat began.",
    root: "The committed deck is the one that the seed and the seats' bytes give.",
  }],
  ["The cards in play", {
    transcript_form: "The record of play is well formed, from its first entry to its last.",
    transcript_head: "The record of play is the one the operator signed.",
    start_event: "Play began under the announced conditions.",
    generation: "Reshuffles and returned start cards went as the seed says.",
    card_place: "Every card that is named exists.",
    card_face: "Every card shown is the one that lay there.",
    deal_order: "Every card came from the top of the deck.",
    end_event: "Play ended as recorded.",
    opening: "The openings that a player was given prove their cards.",
  }],
  ["Money and rules", {
    money: "Buy-ins, fee and payouts add up.",
    payout: "The pot was split as the outcome says.",
    rules: "Every move was legal, and the rules give this outcome.",
  }],
  ["Other rounds of the table in this file", {
    chain: "The round follows the one before it.",
    fork: "There is only one version of this round.",
  }],
];

/** What is said where a check was not made, by reason. */
export const REASONS = {
  unneeded: "does not apply to this round",
  later: "can be checked when the round has ended",
  spoiled: "not reached: an earlier check failed",
  trust: "needs a trust file",
  alone: "needs more rounds of the table in one file",
  bls: "not checked in browsers",
  rules: "not checked here: the program sealdeck-verify does it",
};

/** What could not be checked, where this page has to say it in other words than verifiers that check more. */
export const SAID_HERE = {
  unfinished: "The round has not ended. What comes later cannot be checked yet.",
  beacon_unchecked: "The beacon's signature was not checked: browsers cannot do it.",
};

/** Said beside the checks of keys where no trust file was given. */
export const OWN_KEYS = "measured only against the keys that the file itself brings";
export const ON_KEYS = ["key_record", "checkpoint"];

/** Return the reason why a check was not made on a round, null where it was. */
export function notMade(code, round, rounds) {
  if (code === "rules") return "rules";
  if (round === null) return "spoiled";
  const has = (type) => round.record(type) !== null;
  const ended = round.terminal !== null;
  const dealt = has("deck");
  const played = () => (dealt ? (round.play === null ? "spoiled" : null) : "unneeded");
  const revealed = () => (has("reveal") ? null : ended ? "unneeded" : "later");
  const derived = () => (!dealt ? "unneeded" : !ended ? "later" : round.trees.has(0) ? null : "spoiled");
  const rows = () => (has("close") || dealt || (has("void") && round.record("void").body.entropies.length));
  const made = {
    witness_quorum: () => (round.trust === null ? "trust" : round.trust.quorum ? null : "unneeded"),
    entropy_opening: () => (has("close") && round.open.entropy === "sealed" ? null : "unneeded"),
    beacon_round: () => (has("close") && round.open.beacon !== null ? null : "unneeded"),
    close_late: () =>
      (!has("close") || round.open.beacon === null ? "unneeded" : round.trust === null ? "trust" : null),
    beacon_signature: () => (round.findings.failed("beacon_unchecked") ? "bls" : dealt ? null : "unneeded"),
    seed: () => (ended ? null : "later"),
    void_stage: () => (has("void") ? null : "unneeded"),
    void_fault: () => (has("void") ? null : "unneeded"),
    order: () => (dealt ? null : "unneeded"),
    opener: () => (dealt ? null : "unneeded"),
    root: derived,
    transcript_form: () => (dealt ? null : "unneeded"),
    transcript_head: () => (!dealt ? "unneeded" : ended ? null : "later"),
    start_event: played,
    card_place: played,
    deal_order: played,
    generation: () => played() ?? derived(),
    card_face: () => played() ?? derived(),
    end_event: () => (ended ? played() : dealt ? "later" : "unneeded"),
    opening: () => (round.bundle.openings?.length ? played() : "unneeded"),
    money: revealed,
    payout: revealed,
    chain: () => (rounds > 1 ? null : "alone"),
    fork: () => (rounds > 1 ? null : "alone"),
  };
  for (const code of ["roster", "entropy_mode", "entropy_repeated", "seat_signature", "view_early", "view_split"]) {
    made[code] = () => (rows() ? null : "unneeded");
  }
  return made[code]?.() ?? null;
}

/** What a verdict means for the round as a whole: heading and sentence. */
export function verdictWords(result, trusted) {
  if (result.status === 1) {
    return ["Something is wrong", "At least one check failed. Keep this file and what your app wrote down, and show "
      + "both to the operator and to whoever watches over it."];
  }
  if (result.verdict === "unfinished") {
    return ["In order so far", "The round has not ended. What there is of it passes every check that can be made."];
  }
  if (result.verdict === "beacon_unchecked") {
    const about = trusted ? "is in order" : "agrees with itself (no trust file was given)";
    return ["In order, but not fully checked", `Everything that a browser can check ${about}. The signature of the `
      + "public beacon has to be checked with the program sealdeck-verify."];
  }
  if (result.verdict === "gap") {
    return ["In order, but rounds are missing", "This round is in order. Other rounds of its table that must exist are "
      + "not in the file."];
  }
  if (result.status === 2) {
    return ["Not checked", "The file could not be read, so nothing can be said about the round."];
  }
  if (!trusted) {
    return ["In order, as far as it tells about itself", "The file agrees with itself. Without a trust file nobody can "
      + "tell whether it comes from the operator you play with."];
  }
  return ["This round is in order", orderWords(result.checked)];
}

/** Say what it means that a round passed. */
function orderWords(round) {
  if (round.terminal.type === "void") {
    return "It was called off: every buy-in goes back, and the seed that was published is the one committed to before.";
  }
  const fixed = round.open.entropy === "none" && round.open.beacon === null
    ? "The deck follows from the seed that was committed to before the round"
    : "The deck follows from a seed that was committed to before the other random bytes were known";
  return `${fixed}, the cards were dealt from its top, and the payouts follow from the recorded outcome.`;
}
