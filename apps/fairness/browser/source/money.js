/**
 * Settlement: buy-ins, fee, sum and split of the pot.
 *
 * Protocol: section 8, section 17 points 19 and 20; codes money and payout.  Amounts are BigInts: sums and products go
 * beyond 2^53.
 */

import { isAscending } from "./round.js";

const BASIS_POINTS = 10000n;

/** Return the fee on a pot, rounded down. */
export const feeOn = (pot, feeBp) => (pot * BigInt(feeBp)) / BASIS_POINTS;

/** Split what is left after the fee: a Map of seat to weight gives one of seat to amount. */
export function split(net, shares, opener) {
  const whole = BigInt([...shares.values()].reduce((sum, weight) => sum + weight, 0));
  const parts = new Map([...shares].map(([seat, weight]) => [seat, (net * BigInt(weight)) / whole]));
  let left = net - sum(parts.values());
  const clockwise = [...shares.keys()].sort((a, b) => (a < opener) - (b < opener) || a - b);
  for (const seat of clockwise) {
    if (!left) break;
    parts.set(seat, parts.get(seat) + 1n);
    left -= 1n;
  }
  return parts;
}

const sum = (amounts) => [...amounts].reduce((total, amount) => total + BigInt(amount), 0n);

/** Return the shares of an outcome, seat to weight, ascending. */
export const sharesOf = (outcome) =>
  new Map(Object.entries(outcome.shares).map(([seat, weight]) => [Number(seat), weight]).sort(([a], [b]) => a - b));

/** Tell whether payouts, seat to amount, are just these parts. */
export const isSplit = (payouts, parts) =>
  [...payouts].every(([seat, amount]) => BigInt(amount) === (parts.get(seat) ?? 0n));

/** Check the settlement of a finished round. */
export function moneyCheck(round) {
  const body = round.record("reveal")?.body;
  if (body === undefined) return;
  const where = round.where("reveal", "payouts");
  const shares = sharesOf(body.outcome);
  const goesOn = round.isMatch && !shares.size;
  if (goesOn) {
    if (body.payouts.length || body.fee !== 0) round.fail("money", where, "the match goes on, and money is moved");
  } else {
    rowsCheck(round, body, where);
    sumsCheck(round, body);
  }
  outcomeCheck(round, body, shares);
  if (!goesOn) splitCheck(round, body, shares, where);
}

function rowsCheck(round, body, where) {
  const paid = body.payouts.map((row) => row.seat);
  const { seats } = round;
  const all = round.isMatch ? seats.every((seat) => paid.includes(seat)) : paid.join() === seats.join();
  if (!all || !isAscending(paid)) round.fail("money", where, "not one row, in order, for each seat that paid");
  const due = round.open.stake.buy_in;
  for (const [number, row] of body.payouts.entries()) {
    if (row.buy_in !== due) round.fail("money", `${where}[${number}].buy_in`, `the buy-in of this round is ${due}`);
  }
}

function sumsCheck(round, body) {
  const pot = sum(body.payouts.map((row) => row.buy_in));
  const due = feeOn(pot, round.open.stake.fee_bp);
  if (BigInt(body.fee) !== due) {
    round.fail("money", round.where("reveal", "fee"), `the fee on a pot of ${pot} is ${due}`);
  }
  const paid = sum(body.payouts.map((row) => row.payout));
  if (paid + BigInt(body.fee) !== pot) {
    const text = `payouts ${paid} and fee ${body.fee} do not add up to the pot ${pot}`;
    round.fail("money", round.where("reveal", "payouts"), text);
  }
}

function outcomeCheck(round, body, shares) {
  const seats = new Set(round.seats);
  if (round.isMatch) for (const row of body.payouts) seats.add(row.seat);
  const strange = [...shares.keys()].find((seat) => !seats.has(seat));
  if (strange !== undefined) {
    round.fail("payout", round.where("reveal", `outcome.shares.${strange}`), "not a seat of this round");
  }
  const where = round.where("reveal", "outcome.ranking");
  const ranked = body.outcome.ranking.flat();
  if (!ranked.every((seat) => seats.has(seat)) || new Set(ranked).size !== ranked.length) {
    round.fail("payout", where, "names another seat, or a seat twice");
  } else if (!body.outcome.ranking.every(isAscending)) {
    round.fail("payout", where, "the seats of a group do not ascend");
  }
}

function splitCheck(round, body, shares, where) {
  if (!shares.size) {
    round.fail("payout", where, "nobody has a share of the pot");
    return;
  }
  const pot = sum(body.payouts.map((row) => row.buy_in));
  const net = pot - feeOn(pot, round.open.stake.fee_bp);
  const given = new Map(body.payouts.map((row) => [row.seat, row.payout]));
  // The opener of a match's first round is not in the bundle of its last one: any seat may have been it.
  const openers = round.isMatch ? [...shares.keys()] : [round.record("deck").body.opener];
  const fits = openers.some((opener) => {
    const parts = split(net, shares, opener);
    return isSplit(given, parts) && [...parts.keys()].every((seat) => given.has(seat));
  });
  if (fits) return;
  const parts = split(net, shares, openers[0]);
  const due = [...parts].map(([seat, amount]) => `seat ${seat} ${amount}`).join(", ");
  round.fail("payout", where, `by the shares the payouts are: ${due}; every other seat 0`);
}
