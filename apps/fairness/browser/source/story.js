/**
 * Identity, links and times: whether the records of a round make up one story.
 *
 * Protocol: sections 3 and 9; codes round_id, prev, link, times and deadline.  Times are BigInts: a sum may pass 2^53.
 */

import { hex, unhex } from "./bytes.js";
import { TIMES, roundId } from "./shapes.js";

const OPEN_MS = 24n * 60n * 60n * 1000n;
const CLOSE_MS = 60n * 1000n;
const DECK_MS = 6n * 60n * 60n * 1000n;

export async function storyCheck(round) {
  const { open } = round;
  round.id = await roundId(unhex(open.table), open.index);
  if (hex(round.id) !== open.round) {
    round.fail("round_id", round.where("open", "round"), "not the id of this index at this table");
  }
  for (const record of round.records.slice(1)) {
    if (record.body.round !== open.round) {
      round.fail("round_id", round.where(record.type, "round"), "names another round than the open record");
    }
  }
  if ((open.index === 0) !== (open.prev === "")) {
    const text = open.index === 0 ? "index 0 names a predecessor" : "no predecessor is named";
    round.fail("prev", round.where("open", "prev"), text);
  }
  linksCheck(round);
  timesCheck(round);
  deadlinesCheck(round);
}

function linksCheck(round) {
  const before = round.records.at(-2)?.hash ?? "";
  const expected = {
    close: { open: round.openHash },
    deck: { open: round.openHash, close: round.record("close")?.hash ?? "" },
    reveal: { deck: before },
    void: { last: before },
  };
  for (const record of round.records.slice(1)) {
    for (const [name, value] of Object.entries(expected[record.type])) {
      if (record.body[name] !== value) {
        round.fail("link", round.where(record.type, name), `not the hash of that record, ${value || "empty"}`);
      }
    }
  }
}

function timesCheck(round) {
  let latest = 0;
  for (const record of round.records) {
    const name = TIMES[record.type];
    const time = record.body[name];
    if (time < latest) {
      round.fail("times", round.where(record.type, name), `${latest - time} ms before the record before`);
    }
    latest = time;
  }
  const deck = round.record("deck");
  if (deck !== null && round.beaconMs !== null && BigInt(deck.body.dealt_ms) < round.beaconMs) {
    round.fail("times", round.where("deck", "dealt_ms"), "dealt before the beacon was published");
  }
}

function deadlinesCheck(round) {
  const [close, deck, reveal, end] = ["close", "deck", "reveal", "void"].map((type) => round.record(type));
  const timeOf = (record) => BigInt(record.body[TIMES[record.type]]);
  const steps = []; // Each a record and when it was due; a void for which the operator is at fault may be late.
  const terminal = reveal ?? (end !== null && end.body.fault !== "operator" ? end : null);
  if (close !== null) {
    steps.push([close, timeOf(round.records[0]) + OPEN_MS]);
    // With a chain that is not known here nobody can say when the beacon was out.
    const from = round.open.beacon === null ? timeOf(close) : round.beaconMs;
    if (from !== null) steps.push([deck ?? terminal, (from > timeOf(close) ? from : timeOf(close)) + CLOSE_MS]);
  } else if (deck !== null) {
    steps.push([deck, timeOf(round.records[0]) + OPEN_MS]);
  }
  if (deck !== null) steps.push([terminal, timeOf(deck) + DECK_MS]);
  for (const [record, due] of steps) {
    if (record !== null && timeOf(record) > due) {
      round.fail("deadline", round.where(record.type, TIMES[record.type]), `${timeOf(record) - due} ms past it`);
    }
  }
}
