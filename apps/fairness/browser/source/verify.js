/**
 * The verifier: all checks of one bundle in their order, and of the bundles of a file against each other.
 *
 * Protocol: section 13.  Does not replay the rules of a game and does not check the beacon's signature; each result
 * says so where it matters.  Reads no clock and reaches for nothing outside of its arguments.
 */

import { BadForm, FORMAT, bundleForm } from "./bundle.js";
import { beaconCheck, deckCheck, seedCheck, voidCheck } from "./dealing.js";
import { FormFailed, keysCheck, logCheck, otherVersion, recordsRead } from "./evidence.js";
import { NotStrict, isObject, jsonRead } from "./json.js";
import { moneyCheck, sharesOf } from "./money.js";
import { playCheck } from "./play.js";
import { Findings, Round } from "./round.js";
import { seatsCheck } from "./seats.js";
import { storyCheck } from "./story.js";
import { tablesCheck } from "./tables.js";
import { headCheck, transcriptRead } from "./transcript.js";

/** Codes after which a bundle's records say nothing about other bundles. */
const EVIDENCE = [
  "key_record", "key_unknown", "key_revoked", "record_signature", "checkpoint", "inclusion", "round_id",
];

/**
 * Check the bundles of one file, each alone and all against each other.
 *
 * @param {(Uint8Array|string)[]} lines one document for each round.
 * @param {object} settings trust: what trustRead gave, or null; complete: whether gaps are named; done: told how many.
 * @returns {Promise<object[]>} for each line round, status 0|1|2, verdict, codes, findings, notes, and `checked`: the
 *     round itself, null where it could not be read.
 */
export async function verifyBundles(lines, { trust = null, complete = false, done = () => {} } = {}) {
  const checked = [];
  for (const line of lines) {
    checked.push(await bundleCheck(line, trust));
    done(checked.length);
  }
  tablesCheck(checked, complete);
  return checked.map(({ findings, name, round }) => ({ ...findings.verdict(name), checked: round }));
}

async function bundleCheck(data, trust) {
  const findings = new Findings();
  const ended = (name = null) => ({ findings, name, round: null, place: null });
  let value;
  try {
    value = jsonRead(data);
  } catch (problem) {
    if (!(problem instanceof NotStrict)) throw problem;
    findings.fail("unreadable", "", problem.message);
    return ended();
  }
  if (isObject(value) && typeof value.format === "string" && value.format !== FORMAT) {
    findings.fail("version", "format", `the format is another one than ${FORMAT}`);
    return ended(roundNamed(value));
  }
  const round = new Round(value, trust, findings);
  try {
    bundleForm(value);
    if (otherVersion(value) !== null) {
      findings.fail("version", "records", "a record is of another version than sealdeck/1");
      return ended(roundNamed(value));
    }
    await recordsRead(round);
  } catch (problem) {
    if (problem instanceof BadForm) findings.fail("bundle_form", problem.where, problem.message);
    else if (!(problem instanceof FormFailed)) throw problem;
    return ended(roundNamed(value));
  }
  await allChecks(round);
  return { findings, name: round.open.round, round, place: placeOf(round) };
}

/** Return the round that a document names, without believing it. */
function roundNamed(value) {
  const named = Array.isArray(value?.records) ? value.records[0]?.body?.round : null;
  return typeof named === "string" ? [...named].slice(0, 64).join("") : null;
}

async function allChecks(round) {
  await keysCheck(round);
  await logCheck(round);
  await storyCheck(round);
  await seatsCheck(round);
  await beaconCheck(round);
  await seedCheck(round);
  voidCheck(round);
  await deckCheck(round);
  transcriptRead(round);
  await headCheck(round);
  if (round.play !== null) await playCheck(round);
  moneyCheck(round);
  if (round.terminal === null) round.fail("unfinished", "", "the round has no reveal and no void record yet");
  if (round.record("deck") !== null) {
    round.findings.notes.push("rules not replayed: whether every move was legal is not checked here");
  }
  if (round.trust === null) {
    round.findings.notes.push("no trust file: this shows only that the bundle agrees with itself");
  }
}

/** Return what the other bundles of a file need to know of a round. */
function placeOf(round) {
  const { table, index, prev, last_opener: lastOpener } = round.open;
  return {
    table,
    index,
    prev,
    lastOpener,
    round: round.open.round,
    opener: round.record("deck")?.body.opener ?? null,
    hashes: round.records.map((record) => [record.type, record.hash]),
    terminal: round.terminal?.hash ?? null,
    proven: !round.findings.failed(...EVIDENCE),
    match: matchOf(round),
  };
}

function matchOf(round) {
  const body = round.record("reveal")?.body;
  const { findings } = round;
  if (body === undefined || !round.isMatch || findings.failed("transcript_form", "start_event", "end_event")) {
    return null;
  }
  return {
    carryIn: round.bundle.transcript[0].events[0].carry ?? null,
    net: body.payouts.reduce((total, row) => total + BigInt(row.payout), 0n),
    shares: sharesOf(body.outcome),
    payouts: new Map(body.payouts.map((row) => [row.seat, row.payout])),
  };
}
