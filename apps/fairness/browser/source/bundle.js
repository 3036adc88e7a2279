/**
 * The form of an audit bundle.
 *
 * Protocol: section 12; code bundle_form.  Says whether a document has the form, never whether it is true.
 */

import { isObject } from "./json.js";
import { NOTE_CHARACTERS_MAX, isOrigin } from "./notes.js";
import { CARDS_MAX, GENERATION_MAX, hasExactly, isCard, isCount, isHash } from "./shapes.js";

export const FORMAT = "sealdeck-round/1";
const MEMBERS = ["format", "records", "keys", "order", "generations", "transcript", "log"];
const KEYS_MAX = 4000;
const EVENTS_MAX = 4096;
const PROOF_MAX = 64;
const CARD_PATH_MAX = 16;

/** The document is not as section 12 says. */
export class BadForm extends Error {
  constructor(where, text) {
    super(text);
    this.where = where;
  }
}

function need(holds, where, text) {
  if (!holds) throw new BadForm(where, text);
}

/** Split a file into its documents: one over several lines, or one on each line. */
export function documents(bytes) {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const lines = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found + 1;
    const line = bytes.subarray(start, end);
    if (line.some((byte) => byte !== 32 && (byte < 9 || byte > 13))) lines.push(line);
    start = end;
  }
  if (lines.length < 2 || isJson(new TextDecoder().decode(lines[0])) || !isJson(text)) return lines;
  return [bytes];
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Check that a document has the form of a bundle.
 *
 * @throws {BadForm}
 */
export function bundleForm(value) {
  need(isObject(value), "", "the document is not an object");
  need(hasExactly(value, "openings" in value ? [...MEMBERS, "openings"] : MEMBERS), "",
    "a member is missing or one too many");
  need(value.format === FORMAT, "format", "format is not a text");
  list("records", value.records);
  list("keys", value.keys, KEYS_MAX);
  cards("order", value.order);
  list("transcript", value.transcript);
  value.transcript.forEach((entry, number) => {
    need(isObject(entry), `transcript[${number}]`, "not an object");
    const events = Array.isArray(entry.events) ? entry.events.length : 0;
    need(events <= EVENTS_MAX, `transcript[${number}].events`, `more than ${EVENTS_MAX} events`);
  });
  generations(value.generations);
  if ("openings" in value) {
    list("openings", value.openings);
    value.openings.forEach((row, number) => need(isOpening(row), `openings[${number}]`, "not an opening"));
  }
  log(value.log, value.keys.length + value.records.length);
  if (value.records.some((record) => isObject(record) && record.type === "deck")) return;
  for (const name of ["order", "transcript", "generations", "openings"]) {
    need(!value[name]?.length, name, "there is no deck record that this could belong to");
  }
}

function list(where, value, most = Infinity) {
  need(Array.isArray(value), where, "not a list");
  need(value.length <= most, where, `more than ${most} rows`);
}

function cards(where, value) {
  list(where, value);
  value.forEach((card, number) => need(isCard(card), `${where}[${number}]`, "not a card code"));
}

function generations(value) {
  list("generations", value);
  value.forEach((row, number) => {
    const where = `generations[${number}]`;
    need(hasExactly(row, ["gen", "stream", "from"]), where, "a row has exactly the members gen, stream and from");
    need(isCount(row.gen) && row.gen <= GENERATION_MAX, `${where}.gen`, "not the number of a generation");
    need(typeof row.stream === "string", `${where}.stream`, "not a text");
    cards(`${where}.from`, row.from);
  });
}

function isOpening(value) {
  return hasExactly(value, ["gen", "pos", "card", "salt", "path"])
    && isCount(value.gen) && value.gen <= GENERATION_MAX
    && isCount(value.pos) && value.pos < CARDS_MAX
    && isCard(value.card) && isHash(value.salt)
    && Array.isArray(value.path) && value.path.length <= CARD_PATH_MAX && value.path.every(isHash);
}

function log(value, entries) {
  need(hasExactly(value, ["origin", "checkpoint", "indexes", "proofs", "views", "close"]), "log",
    "log has exactly the members origin, checkpoint, indexes, proofs, views and close");
  need(isOrigin(value.origin), "log.origin", "not the name of a log");
  note("log.checkpoint", value.checkpoint);
  for (const name of ["indexes", "proofs"]) {
    const rows = Array.isArray(value[name]) ? value[name].length : -1;
    need(rows === entries, `log.${name}`, "not one row for each key and record");
  }
  value.indexes.forEach((index, number) => need(isCount(index), `log.indexes[${number}]`, "not an index"));
  value.proofs.forEach((path, number) => proof(`log.proofs[${number}]`, path));
  list("log.views", value.views);
  let size = -1;
  value.views.forEach((row, number) => {
    const where = `log.views[${number}]`;
    const sound = hasExactly(row, ["size", "proof"]) && isCount(row.size);
    need(sound, where, "a row has exactly the members size and proof");
    need(row.size > size, where, "the sizes do not ascend");
    size = row.size;
    proof(`${where}.proof`, row.proof);
  });
  if (value.close === null) return;
  need(hasExactly(value.close, ["checkpoint", "proof", "consistency"]), "log.close",
    "close has exactly the members checkpoint, proof and consistency");
  note("log.close.checkpoint", value.close.checkpoint);
  proof("log.close.proof", value.close.proof);
  proof("log.close.consistency", value.close.consistency);
}

function note(where, value) {
  const characters = typeof value === "string" ? [...value].length : Infinity;
  need(characters <= NOTE_CHARACTERS_MAX, where, `not a text of at most ${NOTE_CHARACTERS_MAX} characters`);
}

function proof(where, value) {
  need(Array.isArray(value) && value.length <= PROOF_MAX && value.every(isHash), where,
    `not a list of at most ${PROOF_MAX} hashes`);
}
