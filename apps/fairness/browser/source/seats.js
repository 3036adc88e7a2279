/**
 * The seats and what they contributed: rosters, commitments, openings, signatures and the checkpoints they quote.
 *
 * Protocol: section 3; codes roster to view_split.
 */

import { ed25519, frame, hex, sha256, u8, unhex, utf8 } from "./bytes.js";
import { jsonText } from "./json.js";
import { isConsistent } from "./merkle.js";
import { isAscending } from "./round.js";

/** Check rosters and contributions of the close, deck and void records. */
export async function seatsCheck(round) {
  for (const [type, name] of [["close", "roster"], ["deck", "roster"], ["void", "entropies"]]) {
    const record = round.record(type);
    if (record === null) continue;
    const rows = record.body[name];
    const where = round.where(type, name);
    rosterCheck(round, type, rows, where);
    presenceCheck(round, type, rows, where);
    repeatsCheck(round, rows, where);
    if (type !== "close") await openingsCheck(round, rows, where);
    await signaturesCheck(round, type, rows, where);
    await viewsCheck(round, type, rows, where);
  }
}

/** Return the row of `decks` for a number of seats, if there is one. */
export const deckFor = (round, seats) =>
  round.open.decks.find((row) => row.seats_min <= seats && seats <= row.seats_max) ?? null;

function rosterCheck(round, type, rows, where) {
  if (!isAscending(rows.map((row) => row.seat))) round.fail("roster", where, "the seats do not ascend");
  if (type !== "void" && deckFor(round, rows.length) === null) {
    round.fail("roster", where, `no row of decks is for ${rows.length} seats`);
  }
  const close = round.record("close");
  if (type === "close" || close === null) return;
  const names = (list) => list.map((row) => `${row.seat} ${row.pk}`);
  const closed = names(close.body.roster);
  const here = names(rows);
  if (type === "deck" && here.join() !== closed.join()) {
    round.fail("roster", where, "seats or keys are not those of the close record");
  }
  if (type === "void" && !here.every((name) => closed.includes(name))) {
    round.fail("roster", where, "a seat or its key is not in the close record");
  }
}

/** Code entropy_mode: what a row must hold, and what it may. */
function presenceCheck(round, type, rows, where) {
  const mode = round.open.entropy;
  const given = type === "close" ? "commit" : "entropy";
  const signs = mode === "sealed" || (mode === "open" && type !== "close");
  for (const [number, row] of rows.entries()) {
    const needed = new Set(mode === "none" ? [] : [given]);
    const allowed = new Set(mode === "none" ? [] : [given, "pk"]);
    if (signs && row.pk !== "") {
      needed.add("sig");
      allowed.add("sig").add("cp");
    }
    const wrong = ["pk", given, "sig", "cp"].filter((name) => {
      const present = name === "cp" ? row.cp !== null : row[name] !== "";
      return present ? !allowed.has(name) : needed.has(name);
    });
    if (wrong.length) {
      const text = `${wrong.join(", ")} is there or missing against entropy mode ${mode}`;
      round.fail("entropy_mode", `${where}[${number}]`, text);
    }
  }
}

function repeatsCheck(round, rows, where) {
  for (const name of ["pk", "commit", "entropy"]) {
    const values = rows.map((row) => row[name]).filter(Boolean);
    if (new Set(values).size !== values.length) {
      round.fail("entropy_repeated", where, `two rows have the same ${name}`);
    }
  }
}

/** Return the hex of a seat's commitment to its entropy. */
export async function commitment(round, openHash, seat, publicKey, entropy) {
  return hex(await sha256(frame("sealdeck/1/ecommit", round, openHash, u8(seat), publicKey, entropy)));
}

async function openingsCheck(round, rows, where) {
  const commits = new Map((round.record("close")?.body.roster ?? []).map((row) => [row.seat, row.commit]));
  for (const [number, row] of rows.entries()) {
    const committed = commits.get(row.seat);
    if (!committed || !row.entropy) continue;
    const made = await commitment(round.id, unhex(round.openHash), row.seat, unhex(row.pk), unhex(row.entropy));
    if (made !== committed) {
      const text = `the entropy of seat ${row.seat} does not give its commitment`;
      round.fail("entropy_opening", `${where}[${number}].entropy`, text);
    }
  }
}

/** Return the bytes that a seat signs. */
export const seatMessage = (kind, body) => frame("sealdeck/1/seat", kind, utf8(jsonText(body)));

async function signaturesCheck(round, type, rows, where) {
  for (const [number, row] of rows.entries()) {
    const said = row.pk && row.sig ? messageOf(round, type, row) : null;
    if (said === null) continue;
    const [kind, body] = said;
    if (!(await ed25519(unhex(row.pk), seatMessage(kind, body), unhex(row.sig)))) {
      const text = `not the signature of seat ${row.seat} over its ${kind} message`;
      round.fail("seat_signature", `${where}[${number}].sig`, text);
    }
  }
}

/** Return kind and body of what a seat signed for its row; null where it signs nothing. */
function messageOf(round, type, row) {
  const close = round.record("close");
  const { seat, pk, cp, entropy, commit } = row;
  const all = { v: "sealdeck/1", round: round.open.round, seat, cp };
  if (round.open.entropy === "sealed" && type === "close") {
    return ["commit", { ...all, open: round.openHash, pk, commit }];
  }
  if (round.open.entropy === "sealed" && close !== null) {
    return ["reveal", { ...all, close: close.hash, entropy }];
  }
  if (round.open.entropy === "open" && type !== "close") {
    return ["entropy", { ...all, open: round.openHash, pk, entropy }];
  }
  return null;
}

async function viewsCheck(round, type, rows, where) {
  const answersClose = round.open.entropy === "sealed" && type !== "close" && round.record("close") !== null;
  const answered = answersClose ? "close" : "open";
  const index = round.index(answered);
  const proofs = new Map(round.bundle.log.views.map((view) => [view.size, view.proof]));
  for (const [number, { cp }] of rows.entries()) {
    if (cp === null) continue;
    const place = `${where}[${number}].cp`;
    if (cp.size <= index) {
      round.fail("view_early", place, `a tree of size ${cp.size} has not the ${answered} record at ${index}`);
    }
    if (round.checkpoint === null) continue;
    const proof = proofs.get(cp.size);
    const { size, root } = round.checkpoint;
    if (proof === undefined || !(await isConsistent(cp.size, size, cp.root, root, proof.map(unhex)))) {
      round.fail("view_split", place, `the tree of size ${cp.size} is not proven to be part of the checkpoint's tree`);
    }
  }
}
