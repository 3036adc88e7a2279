/**
 * The bundles of a file against each other: one chain for each table, no forks, no gaps.
 *
 * Protocol: section 13, section 17 points 20 and 23; codes opener, payout, chain, fork and gap.
 */

import { isSplit, split } from "./money.js";

/**
 * Add what the bundles of a file say about each other to the findings on each.
 *
 * @param {{findings, place}[]} checked place is null for a bundle that says nothing about others.
 * @param {boolean} complete whether a missing index between others is to be named.
 */
export function tablesCheck(checked, complete) {
  const results = checked.filter((result) => result.place !== null);
  forks(results);
  const tables = new Map();
  for (const result of results) {
    const { table, index } = result.place;
    if (!tables.has(table)) tables.set(table, new Map());
    const rounds = tables.get(table);
    rounds.set(index, [...(rounds.get(index) ?? []), result]);
  }
  for (const rounds of tables.values()) {
    const indexes = [...rounds.keys()].sort((a, b) => a - b);
    for (const [number, index] of indexes.entries()) {
      const missing = number ? index - indexes[number - 1] - 1 : 0;
      for (const result of rounds.get(index)) {
        chain(result, rounds);
        lastOpener(result, rounds);
        matchSplit(result, rounds);
        if (complete && missing) {
          result.findings.fail("gap", "", `${missing} rounds before index ${index} are missing from the file`);
        }
      }
    }
  }
}

const provenAt = (rounds, index) => (rounds.get(index) ?? []).map(({ place }) => place).filter(({ proven }) => proven);

function forks(results) {
  const seen = new Map();
  for (const { findings, place } of results.filter((result) => result.place.proven)) {
    for (const [number, [type, hash]] of place.hashes.entries()) {
      const kind = type === "reveal" || type === "void" ? "terminal" : type;
      const name = `${place.round} ${kind}`;
      const known = seen.get(name) ?? hash;
      seen.set(name, known);
      if (known !== hash) {
        findings.fail("fork", `records[${number}]`, `the file has another ${kind} record of this round, ${known}`);
      }
    }
  }
}

function chain({ findings, place }, rounds) {
  const before = provenAt(rounds, place.index - 1).map(({ terminal }) => terminal).filter((hash) => hash !== null);
  if (before.length && !before.includes(place.prev)) {
    const text = `the terminal record of index ${place.index - 1} has the hash ${before.sort()[0]}`;
    findings.fail("chain", "records[0].body.prev", text);
  }
}

function lastOpener({ findings, place }, rounds) {
  const fail = (text) => findings.fail("opener", "records[0].body.last_opener", text);
  for (let index = place.index - 1; index >= 0; index -= 1) {
    const earlier = provenAt(rounds, index);
    if (!earlier.length || earlier.some(({ terminal }) => terminal === null)) return;
    const openers = earlier.map(({ opener }) => opener).filter((opener) => opener !== null);
    if (!openers.length) continue;
    if (!openers.includes(place.lastOpener)) {
      fail(`the latest dealt round, index ${index}, was opened by seat ${openers[0]}`);
    }
    return;
  }
  if (place.lastOpener !== null) fail("no earlier round of the table was dealt");
}

/** Check who takes the units left over at the end of a match, where the file has all its rounds. */
function matchSplit({ findings, place }, rounds) {
  if (place.match === null || !place.match.shares.size) return;
  let first = place;
  while (first !== null && first.match !== null && first.match.carryIn !== null) first = before(first, rounds);
  if (first === null || first.match === null || first.opener === null) return;
  const { net, shares, payouts } = place.match;
  if (!isSplit(payouts, split(net, shares, first.opener))) {
    const text = `units left over go clockwise from seat ${first.opener}, who opened the match`;
    findings.fail("payout", "records", text);
  }
}

/** Return the one round of the table before this one, where the file has it and it is proven. */
function before(place, rounds) {
  const found = provenAt(rounds, place.index - 1);
  return new Set(found.map(({ terminal }) => terminal)).size === 1 ? found[0] : null;
}
