/**
 * Beacon, seed, void, order, opener and root: whether the deck is the one that the committed seed gives.
 *
 * Protocol: sections 4, 5, 6 and 9; codes beacon_round to root.  The beacon's own signature (BLS) is not checked here:
 * browsers have no such cryptography, and the result says so.
 */

import { join, sha256, u64, unhex } from "./bytes.js";
import { CardTree, orderHash } from "./cards.js";
import { checkpointBelieved } from "./evidence.js";
import { isConsistent, leafHash, rootFromPath } from "./merkle.js";
import { BadNote, cosignatures } from "./notes.js";
import { QUICKNET, beaconRoundFor } from "./round.js";
import { deckFor } from "./seats.js";
import { seedCommit } from "./shapes.js";
import { KeySchedule, openerOf } from "./streams.js";

/** Codes beacon_round, close_late and beacon_signature. */
export async function beaconCheck(round) {
  const [close, deck] = [round.record("close"), round.record("deck")];
  const { beacon } = round.open;
  const known = beacon?.chain === QUICKNET;
  if (close !== null) {
    beaconRoundCheck(round, close, known);
    if (known) await closeInTime(round, close);
    else if (beacon !== null) round.fail("beacon_unchecked", "", "the beacon's chain is not one that is known here");
  }
  if (deck === null) return;
  const where = round.where("deck", "beacon");
  if (beacon === null) {
    if (deck.body.beacon !== "") {
      round.fail("beacon_signature", where, "a beacon is used that the open record does not bind");
    }
  } else if (deck.body.beacon === "") {
    round.fail("beacon_signature", where, "the bound beacon is missing");
  } else if (close !== null && close.body.beacon_round !== null) {
    round.fail("beacon_unchecked", where, "browsers cannot check beacon signatures; sealdeck-verify can");
  }
}

function beaconRoundCheck(round, close, known) {
  const number = close.body.beacon_round;
  const where = round.where("close", "beacon_round");
  const { beacon } = round.open;
  if (beacon === null) {
    if (number !== null) round.fail("beacon_round", where, "a beacon round is bound, but no beacon");
  } else if (number === null) {
    round.fail("beacon_round", where, "no beacon round is bound");
  } else if (known) {
    const expected = beaconRoundFor(close.body.closed_ms, beacon.margin);
    if (BigInt(number) !== expected) {
      round.fail("beacon_round", where, `the round bound is ${number}, by the rule it is ${expected}`);
    }
  }
}

/** Check that witnesses saw the close record before the beacon was out: code close_late. */
async function closeInTime(round, close) {
  const quorum = round.trust?.quorum ?? 0;
  const given = round.bundle.log.close;
  const late = (path, text) => round.fail("close_late", `log.close${path}`, text);
  const dealt = round.record("deck") !== null;
  if (given === null) {
    if (quorum && dealt) late("", "there is no checkpoint that was cosigned in time");
    return;
  }
  let seen;
  try {
    seen = await checkpointBelieved(round, given.checkpoint);
  } catch (problem) {
    if (!(problem instanceof BadNote)) throw problem;
    late(".checkpoint", problem.message);
    return;
  }
  const leaf = await leafHash(close.entry);
  if ((await rootFromPath(leaf, round.index("close"), seen.size, given.proof.map(unhex))) !== seen.root) {
    late(".proof", "the close record is not in that checkpoint");
  }
  const whole = round.checkpoint;
  const path = given.consistency.map(unhex);
  if (whole !== null && !(await isConsistent(seen.size, whole.size, seen.root, whole.root, path))) {
    late(".consistency", "that checkpoint is not part of the log's tree");
  }
  if (!quorum || round.beaconMs === null || !dealt) return;
  const times = await cosignatures(seen, round.trust.witnesses);
  const inTime = times.filter((timeS) => timeS * 1000n < round.beaconMs).length;
  if (inTime < quorum) late(".checkpoint", `${inTime} of ${quorum} witnesses cosigned it before the beacon was out`);
}

/** Return B, what the beacon adds to the key schedule. */
export const beaconBytes = async (chain, number, signature) => join(chain, u64(number), await sha256(signature));

/** Check the revealed seed, code seed, and work out the key schedule of a dealt round. */
export async function seedCheck(round) {
  const { terminal, open } = round;
  if (terminal === null) return;
  const seed = unhex(terminal.body.seed);
  if ((await seedCommit(unhex(open.table), open.index, seed)) !== open.seed_commit) {
    round.fail("seed", round.where(terminal.type, "seed"), "does not give the commitment of the open record");
    return;
  }
  const [close, deck] = [round.record("close"), round.record("deck")];
  if (deck === null || round.findings.failed("roster")) return;
  const number = close?.body.beacon_round ?? null;
  const bound = deck.body.beacon && open.beacon && number !== null;
  round.schedule = await KeySchedule.derive({
    seed,
    rows: deck.body.roster.map((row) => [row.seat, unhex(row.pk), unhex(row.entropy)]),
    round: round.id,
    openHash: unhex(round.openHash),
    closeHash: unhex(close?.hash ?? ""),
    beacon: bound ? await beaconBytes(unhex(open.beacon.chain), number, unhex(deck.body.beacon)) : new Uint8Array(0),
  });
}

/** Reason of a void to the stage it may have, null for any, and the fault it names, null for a seat. */
const REASONS = {
  not_started: ["open", "none"],
  entropy_missing: ["close", null],
  beacon_missing: ["close", "none"],
  operator_fault: [null, "operator"],
};

/** Codes void_stage and void_fault. */
export function voidCheck(round) {
  const body = round.record("void")?.body;
  if (body === undefined) return;
  const last = round.records.at(-2).type;
  const known = Object.hasOwn(REASONS, body.reason) ? REASONS[body.reason] : null;
  const stage = (name, text) => round.fail("void_stage", round.where("void", name), text);
  const mode = round.open.entropy;
  if (body.stage !== last) stage("stage", `the last record of the round is ${last}`);
  if (known === null) stage("reason", "there is no such reason");
  else if (known[0] !== null && known[0] !== last) stage("reason", `not a reason after the ${last} record`);
  else if (body.reason === "entropy_missing" && mode !== "sealed") stage("reason", "nothing had to be opened");
  else if (body.reason === "beacon_missing" && round.open.beacon === null) stage("reason", "no beacon was bound");
  const empty = last === "deck" || mode === "none" || (last === "open" && mode === "sealed");
  if (empty && body.entropies.length) stage("entropies", "no entropies belong to a void at this stage");
  if (last !== "deck" && body.entries !== 0) stage("entries", "nothing was dealt");
  if (last !== "deck" && body.head !== "") stage("head", "nothing was dealt");
  if (known !== null) faultCheck(round, body, known[1]);
}

function faultCheck(round, body, fault) {
  const fail = (text) => round.fail("void_fault", round.where("void", "fault"), text);
  if (fault !== null) {
    if (body.fault !== fault) fail(`the fault of ${body.reason} is ${fault}`);
    return;
  }
  const seat = body.fault.startsWith("seat:") ? Number(body.fault.slice(5)) : null;
  const isIn = (rows) => rows.some((row) => row.seat === seat);
  const close = round.record("close");
  if (seat === null) fail("no seat is named");
  else if (close !== null && !isIn(close.body.roster)) fail(`seat ${seat} is not in the close record`);
  else if (isIn(body.entropies)) fail(`seat ${seat} did open`);
}

/** Check the deck record against order, opener and seed: codes order, opener and root. */
export async function deckCheck(round) {
  const body = round.record("deck")?.body;
  if (body === undefined) return;
  const { order } = round.bundle;
  const row = deckFor(round, body.roster.length);
  if (row !== null && (body.n !== row.n || body.order_hash !== row.order_hash)) {
    round.fail("order", round.where("deck", "order_hash"), "not the deck that the open record binds");
  }
  const given = order.length === body.n && (await orderHash(order)) === body.order_hash;
  if (!given) round.fail("order", "order", "the codes do not give n and order_hash of the deck record");
  if (new Set(order).size !== order.length) round.fail("order", "order", "a code is there twice");
  await openerCheck(round, body);
  if (round.schedule === null || !given) return;
  const cards = await (await round.schedule.stream("deck")).shuffle(order);
  const tree = await CardTree.build(round.id, 0, cards, await round.schedule.key("card-salt"));
  round.trees.set(0, tree);
  if (tree.root !== body.root) {
    round.fail("root", round.where("deck", "root"), `the seed gives another deck, of root ${tree.root}`);
  }
}

async function openerCheck(round, body) {
  const { seats } = round;
  const lastOpener = round.open.last_opener;
  const where = round.where("deck", "opener");
  if (!seats.includes(body.opener)) {
    round.fail("opener", where, "not a seat of the deck record");
    return;
  }
  if (round.isMatch || round.findings.failed("roster") || (lastOpener === null && round.schedule === null)) return;
  const expected = await openerOf(seats, lastOpener, round.schedule);
  if (body.opener !== expected) round.fail("opener", where, `by the rule seat ${expected} opens`);
}
