/**
 * Forms, keys, signatures and the log: whether what a bundle shows was signed and logged.
 *
 * Protocol: section 13, codes record_form to log_order.  Never looks at what a record means.
 */

import { ed25519, unhex } from "./bytes.js";
import { isObject } from "./json.js";
import { KeyRing } from "./keyring.js";
import { leafHash, rootFromPath } from "./merkle.js";
import { BadNote, checkpointRead, checkpointSigned, cosignatures, logKey } from "./notes.js";
import { isAscending } from "./round.js";
import { BadRecord, recordRead } from "./shapes.js";

const SEQUENCES = [
  "open", "open void", "open deck", "open deck void", "open deck reveal", "open close", "open close void",
  "open close deck", "open close deck void", "open close deck reveal",
];

/** The records cannot be read; the check ends here. */
export class FormFailed extends Error {}

/** Return the version that a record or key of the bundle names, where it is another one; null else. */
export function otherVersion(bundle) {
  for (const entry of [...bundle.records, ...bundle.keys]) {
    const version = isObject(entry) && isObject(entry.body) ? entry.body.v : undefined;
    if (typeof version === "string" && version !== "sealdeck/1") return version;
  }
  return null;
}

/** Read keys and records: codes record_form and record_set. */
export async function recordsRead(round) {
  const { keys, records, log } = round.bundle;
  let where = "keys";
  try {
    round.keys = await Promise.all(keys.map(recordRead));
    if (round.keys.some((key) => key.type !== "key")) throw new BadRecord("another record stands among the keys");
    for (const [number, entry] of records.entries()) {
      where = `records[${number}]`;
      const record = await recordRead(entry);
      if (record.type === "key") throw new BadRecord("a key record stands among the records of the round");
      round.records.push(record);
    }
  } catch (problem) {
    if (!(problem instanceof BadRecord)) throw problem;
    ended(round, "record_form", where, problem.message);
  }
  const types = round.records.map((record) => record.type);
  if (!SEQUENCES.includes(types.join(" "))) {
    ended(round, "record_set", "records", `the records are ${types.join(", ") || "missing"}`);
  }
  const closes = round.open.entropy === "sealed" || round.open.beacon !== null;
  if (types.length > 1 && types[1] !== "void" && (types[1] === "close") !== closes) {
    const text = closes ? "the close record is missing" : "there is a close record, but nothing to close";
    ended(round, "record_set", "records[1]", text);
  }
  if (log.close !== null && (round.open.beacon === null || !types.includes("close"))) {
    ended(round, "bundle_form", "log.close", "there is no close record that binds a beacon");
  }
}

function ended(round, code, where, text) {
  round.fail(code, where, text);
  throw new FormFailed(text);
}

/** Follow the key records: codes key_record, key_unknown, key_revoked and record_signature. */
export async function keysCheck(round) {
  const { indexes } = round.bundle.log;
  const known = round.keys.length;
  round.ring = new KeyRing(round.trust?.root ?? null);
  if (!known) round.fail("key_record", "keys", "there is no key record");
  for (const [number, record] of round.keys.entries()) {
    const problem = await round.ring.apply(record, indexes[number]);
    if (problem !== null) round.fail("key_record", `keys[${number}]`, problem);
  }
  for (const [number, record] of round.records.entries()) {
    const where = `records[${number}]`;
    const [key, wrong] = round.ring.recordsKey(record.kid, indexes[known + number]);
    if (wrong !== null) round.fail(wrong, `${where}.kid`, `no key ${record.kid} was live at this index of the log`);
    if (key !== null && !(await ed25519(key, record.message, record.sig))) {
      round.fail("record_signature", `${where}.sig`, `not the signature of key ${record.kid} over this body`);
    }
  }
}

/** Read a note of the bundle and check that it is of its log and signed by it; `read` is told of it in between. */
export async function checkpointBelieved(round, note, read = () => {}) {
  const checkpoint = checkpointRead(note);
  read(checkpoint);
  if (checkpoint.origin !== round.bundle.log.origin) throw new BadNote("the checkpoint is of another log");
  const keys = round.trust === null
    ? await Promise.all(round.ring.logKeys().map((key) => logKey(checkpoint.origin, key)))
    : [round.trust.log];
  await checkpointSigned(checkpoint, keys);
  return checkpoint;
}

/** Check the checkpoint and the way of each entry to it: codes checkpoint to log_order. */
export async function logCheck(round) {
  const { log } = round.bundle;
  try {
    await checkpointBelieved(round, log.checkpoint, (checkpoint) => {
      round.checkpoint = checkpoint;
    });
  } catch (problem) {
    if (!(problem instanceof BadNote)) throw problem;
    round.fail("checkpoint", "log.checkpoint", problem.message);
  }
  const quorum = round.trust?.quorum ?? 0;
  if (quorum) {
    const have = round.checkpoint ? (await cosignatures(round.checkpoint, round.trust.witnesses)).length : 0;
    if (have < quorum) {
      round.fail("witness_quorum", "log.checkpoint", `${have} of ${quorum} trusted witnesses cosigned it`);
    }
  }
  if (round.checkpoint !== null) await inclusionCheck(round);
  const known = round.keys.length;
  for (const [name, indexes] of [["keys", log.indexes.slice(0, known)], ["records", log.indexes.slice(known)]]) {
    if (!isAscending(indexes)) round.fail("log_order", "log.indexes", `the indexes of the ${name} do not ascend`);
  }
}

async function inclusionCheck(round) {
  const { indexes, proofs } = round.bundle.log;
  const { root, size } = round.checkpoint;
  for (const [number, record] of [...round.keys, ...round.records].entries()) {
    const leaf = await leafHash(record.entry);
    if ((await rootFromPath(leaf, indexes[number], size, proofs[number].map(unhex))) !== root) {
      const text = `the ${record.type} entry is not at index ${indexes[number]} of the tree of size ${size}`;
      round.fail("inclusion", `log.proofs[${number}]`, text);
    }
  }
}
