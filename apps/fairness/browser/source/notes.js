/**
 * Checkpoints of the log, the keys that verify them, the cosignatures of witnesses, and trust files.
 *
 * Protocol: section 11 (C2SP signed-note, tlog-checkpoint, tlog-cosignature v1), section 17 points 5 and 6.
 */

import { ed25519, hex, join, sha256, u8, utf8 } from "./bytes.js";
import { INTEGER_MAX, NotStrict, jsonRead } from "./json.js";
import { hasExactly, isHash } from "./shapes.js";

export const NOTE_CHARACTERS_MAX = 8192;
const LOG_KEY = 1;
const WITNESS_KEY = 4;
const WITNESSES_MAX = 256;
const SPACE = /[\s+\u001c-\u001f\u0085]/;

/** A note, a key or a trust file is malformed, or a signature does not verify. */
export class BadNote extends Error {}

export const isOrigin = (value) => typeof value === "string" && /^[!-*,-~]{1,128}$/.test(value);

/** Return the bytes of base64 that is written in the one canonical way. */
function base64(text) {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new BadNote("not base64");
  const raw = atob(text);
  if (btoa(raw) !== text) throw new BadNote("not canonical base64");
  return Uint8Array.from(raw, (character) => character.charCodeAt(0));
}

/** Return a key with the name under which it signs, and the four bytes that its signature lines carry. */
export async function noteKey(name, type, publicKey) {
  const id = (await sha256(join(utf8(`${name}\n`), u8(type), publicKey))).subarray(0, 4);
  return { name, publicKey, id: hex(id) };
}

export const logKey = (origin, publicKey) => noteKey(origin, LOG_KEY, publicKey);

/** Read `name+hex(key id)+base64(type || pk)`. */
async function vkeyRead(text, type) {
  if (typeof text !== "string" || text.length > 512) throw new BadNote("a verifier key is a text");
  const [, name, id, data] = /^([^+]*)\+?([^+]*)\+?([^]*)$/.exec(text);
  const raw = base64(data);
  if (!name || SPACE.test(name) || raw.length !== 33 || raw[0] !== type) {
    throw new BadNote("a verifier key is name+hex+base64 of its type and 32 bytes");
  }
  const key = await noteKey(name, type, raw.subarray(1));
  if (key.id !== id) throw new BadNote("the id of a verifier key is not that of its key");
  return key;
}

/**
 * Read a trust file.
 *
 * @throws {BadNote} saying what is wrong with it.
 */
export async function trustRead(data) {
  let value;
  try {
    value = jsonRead(data);
  } catch (problem) {
    if (problem instanceof NotStrict) throw new BadNote(problem.message);
    throw problem;
  }
  if (!hasExactly(value, ["log", "root", "witnesses", "quorum"])) {
    throw new BadNote("a trust file has exactly the members log, root, witnesses and quorum");
  }
  if (!Array.isArray(value.witnesses) || value.witnesses.length > WITNESSES_MAX) {
    throw new BadNote("witnesses is not a list of keys");
  }
  const log = await vkeyRead(value.log, LOG_KEY);
  const witnesses = await Promise.all(value.witnesses.map((text) => vkeyRead(text, WITNESS_KEY)));
  if (!isOrigin(log.name)) throw new BadNote("the name of the log is not 1 to 128 printable characters");
  if (!isHash(value.root)) throw new BadNote("root is not the hex of a key");
  if (new Set(witnesses.map((key) => hex(key.publicKey))).size !== witnesses.length) {
    throw new BadNote("a witness is named twice");
  }
  const { quorum, root } = value;
  if (typeof quorum !== "number" || quorum < 0 || quorum > witnesses.length) {
    throw new BadNote("quorum is not between 0 and the number of witnesses");
  }
  return { log, root, witnesses, quorum };
}

/**
 * Read a checkpoint without believing it.
 *
 * @throws {BadNote}
 */
export function checkpointRead(note) {
  if (/[\x00-\x09\x0b-\x1f]/.test(note)) throw new BadNote("a checkpoint holds a control character");
  const blank = note.lastIndexOf("\n\n");
  const tail = note.slice(blank + 2);
  if (blank < 0 || !tail.endsWith("\n")) throw new BadNote("a note is a text, an empty line and signature lines");
  const text = note.slice(0, blank);
  const fields = text.split("\n");
  const [origin, size, root] = fields;
  if (fields.length !== 3 || !isOrigin(origin) || !/^(?:0|[1-9][0-9]{0,15})$/.test(size) || size > INTEGER_MAX) {
    throw new BadNote("the text of a checkpoint is origin, size and root");
  }
  const raw = base64(root);
  if (raw.length !== 32) throw new BadNote("the root of a checkpoint has 32 bytes");
  const lines = tail.slice(0, -1).split("\n").map(lineRead);
  return { origin, size: Number(size), root: hex(raw), body: utf8(`${text}\n`), text: `${text}\n`, lines };
}

function lineRead(line) {
  const found = /^\u2014 ([^ ]+) (.*)$/.exec(line);
  if (found === null || SPACE.test(found[1])) throw new BadNote("a signature line is a dash, a name and base64");
  const raw = base64(found[2]);
  if (raw.length < 5) throw new BadNote("a signature line holds a key id and a signature");
  return { name: found[1], id: hex(raw.subarray(0, 4)), signature: raw.subarray(4) };
}

const isOf = (line, key) => line.name === key.name && line.id === key.id;

/**
 * Check that one of a log's keys signed a checkpoint, and that every line of theirs verifies.
 *
 * @throws {BadNote}
 */
export async function checkpointSigned(checkpoint, keys) {
  let signed = false;
  for (const key of keys) {
    if (keys.length === 1 && checkpoint.origin !== key.name) throw new BadNote("the checkpoint is of another log");
    for (const line of checkpoint.lines.filter((each) => isOf(each, key))) {
      if (!(await ed25519(key.publicKey, checkpoint.body, line.signature))) {
        throw new BadNote("a signature of the log does not verify");
      }
      signed = true;
    }
  }
  if (!signed) throw new BadNote("the checkpoint is not signed with a key of the log");
}

/** Return what a witness signs. */
export const cosignatureMessage = (text, timeS) => utf8(`cosignature/v1\ntime ${timeS}\n${text}`);

/** Return the earliest valid cosignature of each of the witnesses: its Unix time in seconds, a BigInt. */
export async function cosignatures(checkpoint, witnesses) {
  const times = [];
  for (const witness of witnesses) {
    let earliest = null;
    for (const line of checkpoint.lines) {
      if (!isOf(line, witness) || line.signature.length !== 72) continue;
      const timeS = BigInt(`0x${hex(line.signature.subarray(0, 8))}`);
      if (earliest !== null && earliest <= timeS) continue;
      const message = cosignatureMessage(checkpoint.text, timeS);
      if (await ed25519(witness.publicKey, message, line.signature.subarray(8))) earliest = timeS;
    }
    if (earliest !== null) times.push(earliest);
  }
  return times;
}
