/**
 * One round while it is checked, what was found, and the closed list of codes in their order.
 *
 * Protocol: section 13.  Never checks anything itself.
 */

export const FAILURES = [
  "bundle_form", "record_form", "record_set", "key_record", "key_unknown", "key_revoked", "record_signature",
  "checkpoint", "witness_quorum", "inclusion", "log_order", "round_id", "prev", "link", "times", "deadline", "roster",
  "entropy_mode", "entropy_repeated", "entropy_opening", "seat_signature", "view_early", "view_split", "beacon_round",
  "close_late", "beacon_signature", "seed", "void_stage", "void_fault", "order", "opener", "root", "transcript_form",
  "transcript_head", "start_event", "generation", "card_place", "card_face", "deal_order", "end_event", "opening",
  "money", "payout", "rules", "chain", "fork",
];
export const CANNOT = ["unreadable", "version", "unfinished", "beacon_unchecked", "gap"];
const ORDER = [...FAILURES, ...CANNOT];

/** The chain that the protocol knows: drand's quicknet. */
export const QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
const GENESIS_S = 1692803367n;
const PERIOD_S = 3n;

/** Return when a beacon round is published, Unix milliseconds as a BigInt. */
export const beaconTimeMs = (number) => (GENESIS_S + PERIOD_S * (BigInt(number) - 1n)) * 1000n;

/** Return the beacon round that a close record binds, a BigInt (section 4). */
export function beaconRoundFor(closedMs, margin) {
  const earliestS = (BigInt(closedMs) + 999n) / 1000n + PERIOD_S * BigInt(margin);
  if (earliestS <= GENESIS_S) return 1n;
  return 1n + (earliestS - GENESIS_S + PERIOD_S - 1n) / PERIOD_S;
}

/** The findings on one bundle: the first one of each code. */
export class Findings {
  constructor() {
    this.found = new Map();
    this.notes = [];
  }

  fail(code, where, text) {
    if (!this.found.has(code)) this.found.set(code, { code, where, text });
  }

  failed(...codes) {
    return codes.some((code) => this.found.has(code));
  }

  /** Return the verdict: `pass`, the first code that failed, or else what could not be checked. */
  verdict(round) {
    const findings = [...this.found.values()].sort((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
    const verdict = findings.length ? findings[0].code : "pass";
    const status = verdict === "pass" ? 0 : CANNOT.includes(verdict) ? 2 : 1;
    const codes = findings.map((finding) => finding.code).filter((code) => !CANNOT.includes(code));
    return { round, status, verdict, codes, findings, notes: this.notes };
  }
}

export class Round {
  constructor(bundle, trust, findings) {
    this.bundle = bundle;
    this.trust = trust;
    this.findings = findings;
    this.keys = [];
    this.records = [];
    this.ring = null;
    this.checkpoint = null;
    this.schedule = null; // Null where the seed is not known, or does not give its commitment.
    this.trees = new Map(); // Generation to its cards and salts, as far as the seed gives them.
    this.play = null; // Null where the transcript has not the form that the checks of play need.
    this.id = null; // The 16 bytes that table and index give.
  }

  fail(code, where, text) {
    this.findings.fail(code, where, text);
  }

  record(type) {
    return this.records.find((record) => record.type === type) ?? null;
  }

  where(type, path = "") {
    const place = `records[${this.records.findIndex((record) => record.type === type)}]`;
    return path ? `${place}.body.${path}` : place;
  }

  /** Return the log index of a record that the round has. */
  index(type) {
    const number = this.records.findIndex((record) => record.type === type);
    return this.bundle.log.indexes[this.keys.length + number];
  }

  get open() {
    return this.records[0].body;
  }

  get openHash() {
    return this.records[0].hash;
  }

  get terminal() {
    const last = this.records.at(-1);
    return last.type === "reveal" || last.type === "void" ? last : null;
  }

  /** Seats of the deck record, in its order. */
  get seats() {
    return (this.record("deck")?.body.roster ?? []).map((row) => row.seat);
  }

  /** Whether the round is of a game whose pot spans several rounds. */
  get isMatch() {
    return this.open.game === "mojo";
  }

  /** When the bound beacon is published, Unix milliseconds; null where that is not known. */
  get beaconMs() {
    const number = this.record("close")?.body.beacon_round ?? null;
    return number === null || this.open.beacon?.chain !== QUICKNET ? null : beaconTimeMs(number);
  }
}

/** Tell whether each number is greater than the one before. */
export const isAscending = (numbers) => numbers.every((number, at) => at === 0 || numbers[at - 1] < number);
