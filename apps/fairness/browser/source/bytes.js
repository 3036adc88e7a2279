/**
 * Bytes, hex, frames, hashes, MACs and signatures.
 *
 * Protocol: section 1.  All cryptography is the browser's own (WebCrypto); nothing here makes or holds a key.
 */

const encoder = new TextEncoder();

/** Return the UTF-8 bytes of a text. */
export const utf8 = (text) => encoder.encode(text);

/** Return the lowercase hex of bytes. */
export function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** Return the bytes of a hex text that was checked before. */
export function unhex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/** Return the parts one after the other. */
export function join(...parts) {
  const result = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

export const u8 = (value) => Uint8Array.of(value);
export const u16 = (value) => Uint8Array.of(value >> 8, value & 255);

/** Return four bytes, big-endian. */
export function u32(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Return eight bytes, big-endian, of a number or a BigInt. */
export function u64(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** Join a label and fields, bytes or ASCII texts, so that no two different lists give the same bytes. */
export function frame(label, ...fields) {
  const parts = [u8(label.length), utf8(label)];
  for (const field of fields) {
    const data = typeof field === "string" ? utf8(field) : field;
    parts.push(u32(data.length), data);
  }
  return join(...parts);
}

/** Return H(bytes), SHA-256. */
export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Return a function that gives MAC(key, message), HMAC-SHA-256. */
export async function macWith(key) {
  // WebCrypto takes no empty key; one zero byte is padded to the very same one.
  const raw = key.length ? key : new Uint8Array(1);
  const made = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (message) => new Uint8Array(await crypto.subtle.sign("HMAC", made, message));
}

/** Return MAC(key, message). */
export async function mac(key, message) {
  return (await macWith(key))(message);
}

/** Tell whether a signature is that of the Ed25519 key over the message. */
export async function ed25519(publicKey, message, signature) {
  try {
    const key = await crypto.subtle.importKey("raw", publicKey, { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify({ name: "Ed25519" }, key, signature, message);
  } catch {
    return false; // Not a point of the curve, or a signature of another length.
  }
}

/** RFC 8032, test 1: a signature that every right implementation accepts. */
const KNOWN_KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const KNOWN_SIGNATURE =
  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
  + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

/** Return what this browser lacks for the check, in words; an empty text where it lacks nothing. */
export async function browserLacks() {
  if (globalThis.crypto?.subtle === undefined) {
    return "This page was opened over an insecure connection, where browsers switch their cryptography off. "
      + "Save it and open the saved file, or open it over https.";
  }
  if (!(await ed25519(unhex(KNOWN_KEY), new Uint8Array(0), unhex(KNOWN_SIGNATURE)))) {
    return "This browser cannot check Ed25519 signatures, so it cannot tell whether a record is genuine. "
      + "Use a newer one (Chrome or Edge 137, Firefox 130, Safari 17, or later), or the program sealdeck-verify.";
  }
  return "";
}
