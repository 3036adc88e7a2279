/**
 * The shape of every record body, and of the log entry around it.
 *
 * Protocol: sections 1 to 3; code record_form.  Looks at one record at a time.
 */

import { frame, hex, sha256, u32, unhex, utf8 } from "./bytes.js";
import { INTEGER_MAX, isObject, jsonText } from "./json.js";

const ENTRY_BYTES_MAX = 65535;
export const CARDS_MAX = 65536;
export const GENERATION_MAX = 65535;

/** A record is not of its form. */
export class BadRecord extends Error {}

const matches = (pattern) => (value) => typeof value === "string" && pattern.test(value);
const between = (least, most) => (value) => typeof value === "number" && value >= least && value <= most;
const oneOf = (...values) => (value) => values.includes(value);
const nullOr = (inner) => (value) => value === null || inner(value);
const rows = (inner, least, most) => (value) =>
  Array.isArray(value) && value.length >= least && value.length <= most && value.every(inner);

/** Tell whether a value is an object with exactly these members. */
export function hasExactly(value, names) {
  return isObject(value) && Object.keys(value).length === names.length && names.every((name) => name in value);
}

function members(checks) {
  const names = Object.keys(checks);
  return (value) => hasExactly(value, names) && names.every((name) => checks[name](value[name]));
}

export const hexOf = (bytes) => matches(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
const hexOrEmpty = (bytes) => matches(new RegExp(`^(?:[0-9a-f]{${2 * bytes}})?$`));
export const isCount = between(0, INTEGER_MAX);
export const isHash = hexOf(32);
const hex16 = hexOf(16);
const hash0 = hexOrEmpty(32);
const isSeat = between(0, 254);
export const isCode = matches(/^[a-z][a-z0-9_]{0,47}$/);
export const isCard = matches(/^[!"$-~]{1,12}#[1-9][0-9]*$/);

const SEAT = /^(?:0|[1-9][0-9]{0,2})$/;
const isSeatName = (value) => SEAT.test(value) && Number(value) <= 254;
const isFault = (value) =>
  value === "none" || value === "operator"
  || (typeof value === "string" && value.startsWith("seat:") && isSeatName(value.slice(5)));
const isShares = (value) =>
  isObject(value) && Object.keys(value).every((name) => isSeatName(name) && between(1, 65536)(value[name]));

const view = nullOr(members({ size: isCount, root: isHash }));
const contribution = { seat: isSeat, pk: hash0, cp: view, sig: hexOrEmpty(64) };
const deckRow = members({ ...contribution, entropy: hash0 });

const BODIES = {
  open: {
    table: hex16, index: between(0, 2 ** 32 - 1), round: hex16, prev: hash0, seed_commit: isHash,
    game: matches(/^[a-z][a-z0-9_-]{0,31}$/),
    rules: matches(/^[a-z][a-z0-9_-]{0,31}\/[0-9a-z][0-9a-z._-]{0,31}$/),
    options: isObject,
    entropy: oneOf("none", "open", "sealed"),
    beacon: nullOr(members({ chain: isHash, margin: between(1, 1000) })),
    stake: members({ currency: matches(/^[A-Z][A-Z0-9]{2,7}$/), buy_in: isCount, fee_bp: between(0, 10000) }),
    decks: rows(members({
      seats_min: between(1, 255), seats_max: between(1, 255), n: between(1, CARDS_MAX), order_hash: isHash,
    }), 1, 16),
    last_opener: nullOr(isSeat), opened_ms: isCount,
  },
  close: {
    round: hex16, open: isHash, roster: rows(members({ ...contribution, commit: hash0 }), 1, 255),
    beacon_round: nullOr(between(1, INTEGER_MAX)), closed_ms: isCount,
  },
  deck: {
    round: hex16, open: isHash, close: hash0, roster: rows(deckRow, 1, 255), beacon: hexOrEmpty(48), opener: isSeat,
    n: between(1, CARDS_MAX), order_hash: isHash, root: isHash, dealt_ms: isCount,
  },
  reveal: {
    round: hex16, deck: isHash, entries: isCount, head: isHash, seed: isHash,
    outcome: members({ reason: isCode, shares: isShares, ranking: rows(rows(isSeat, 0, Infinity), 0, Infinity) }),
    payouts: rows(members({ seat: isSeat, buy_in: isCount, payout: isCount }), 0, 255),
    fee: isCount, ended_ms: isCount,
  },
  void: {
    round: hex16, last: isHash, stage: oneOf("open", "close", "deck"), reason: isCode, fault: isFault,
    entropies: rows(deckRow, 0, 255), entries: isCount, head: hash0, seed: isHash, voided_ms: isCount,
  },
  key: {
    op: oneOf("add", "revoke"), use: oneOf("root", "records", "log"), pk: isHash, reason: isCode, at_ms: isCount,
  },
};

/** Type of a record to the member that holds its time. */
export const TIMES = {
  open: "opened_ms", close: "closed_ms", deck: "dealt_ms", reveal: "ended_ms", void: "voided_ms",
};

/** Raise BadRecord unless a body has exactly the members of its type, each well formed. */
function bodyCheck(type, body) {
  const shape = typeof type === "string" && Object.hasOwn(BODIES, type) ? BODIES[type] : null;
  if (shape === null) throw new BadRecord("there is no such type of record");
  const names = Object.keys(shape);
  if (!hasExactly(body, [...names, "v"]) || body.v !== "sealdeck/1") {
    throw new BadRecord(`the ${type} record misses a member or has one too many`);
  }
  const odd = names.find((name) => !shape[name](body[name]));
  if (odd !== undefined) throw new BadRecord(`${type}.${odd} is not of its form`);
  if (type !== "open") return;
  if (body.rules.split("/")[0] !== body.game) throw new BadRecord("open.rules is not of open.game");
  let seats = 0;
  for (const row of body.decks) {
    if (row.seats_min <= seats || row.seats_max < row.seats_min) {
      throw new BadRecord("open.decks overlap or are not ascending");
    }
    seats = row.seats_max;
  }
}

/**
 * Return a record with its message, hash and log entry, from the object of a bundle.
 *
 * @throws {BadRecord}
 */
export async function recordRead(value) {
  if (!hasExactly(value, ["body", "kid", "sig", "type"])) {
    throw new BadRecord("a log entry has exactly the members body, kid, sig and type");
  }
  const { type, body, kid, sig } = value;
  bodyCheck(type, body);
  if (!hexOf(8)(kid) || !hexOf(64)(sig)) throw new BadRecord(`kid or sig of the ${type} record is not of its form`);
  const entry = utf8(jsonText(value));
  if (entry.length > ENTRY_BYTES_MAX) throw new BadRecord("a log entry is longer than 65535 bytes");
  const message = frame("sealdeck/1/record", type, utf8(jsonText(body)));
  return { type, body, kid, sig: unhex(sig), message, hash: hex(await sha256(message)), entry };
}

/** Return the kid of a key. */
export async function keyId(publicKey) {
  return hex((await sha256(frame("sealdeck/1/kid", publicKey))).subarray(0, 8));
}

/** Return the 16 bytes that name a round (section 3). */
export async function roundId(table, index) {
  return (await sha256(frame("sealdeck/1/round", table, u32(index)))).subarray(0, 16);
}

/** Return the hex of the commitment to a seed (section 3). */
export async function seedCommit(table, index, seed) {
  return hex(await sha256(frame("sealdeck/1/seed", table, u32(index), seed)));
}
