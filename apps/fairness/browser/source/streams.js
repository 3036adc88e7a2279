/**
 * The key schedule of a round and its streams: every random choice, derived and repeatable.
 *
 * Protocol: section 5.  Nothing here makes randomness.
 */

import { frame, join, mac, macWith, sha256, u64, u8 } from "./bytes.js";

const WORDS = 65536;
const WORDS_A_BLOCK = 16;
const BLOCKS_AT_ONCE = 16;

/** Return E, the digest of what the seats contributed; rows of seat, key and entropy as numbers and bytes. */
export function entropyDigest(rows) {
  const fields = rows.flatMap(([seat, publicKey, entropy]) => [u8(seat), publicKey, entropy]);
  return sha256(frame("sealdeck/1/entropy", u8(rows.length), ...fields));
}

/** Return the salt that ties the schedule to the round's public records. */
export const scheduleSalt = (round, openHash, closeHash, beacon) =>
  sha256(frame("sealdeck/1/salt", round, openHash, closeHash, beacon));

export class KeySchedule {
  constructor(prk, round) {
    this.prk = prk;
    this.round = round;
  }

  static async derive({ seed, rows, round, openHash, closeHash, beacon }) {
    const salt = await scheduleSalt(round, openHash, closeHash, beacon);
    return new KeySchedule(await mac(salt, join(seed, await entropyDigest(rows))), round);
  }

  /** Return the key of a stream; HKDF-Expand to 32 bytes is its first block alone. */
  key(name) {
    return mac(this.prk, join(frame("sealdeck/1/stream", name, this.round), u8(1)));
  }

  /** Return a stream at its beginning. */
  async stream(name) {
    return new Stream(await this.key(name));
  }
}

/** One stream of 16-bit words with its position. */
export class Stream {
  constructor(key, words = []) {
    this.key = key;
    this.words = words;
    this.blocks = 0;
    this.used = 0; // Refused words included.
  }

  async word() {
    if (this.used >= this.words.length) await this.more();
    this.used += 1;
    return this.words[this.used - 1];
  }

  async more() {
    this.mac ??= await macWith(this.key);
    const counters = Array.from({ length: BLOCKS_AT_ONCE }, (_, number) => u64(this.blocks + number));
    this.blocks += BLOCKS_AT_ONCE;
    for (const block of await Promise.all(counters.map(this.mac))) {
      for (let at = 0; at < 2 * WORDS_A_BLOCK; at += 2) this.words.push((block[at] << 8) | block[at + 1]);
    }
  }

  /** Draw an integer in [0, m), each as likely as the other. */
  async uniform(m) {
    if (m === 1) return 0;
    const limit = WORDS - (WORDS % m);
    let word = await this.word();
    while (word >= limit) word = await this.word();
    return word % m;
  }

  /** Return the items in shuffled order, the top first. */
  async shuffle(items) {
    const result = [...items];
    for (let last = result.length - 1; last > 0; last -= 1) {
      const chosen = await this.uniform(last + 1);
      [result[last], result[chosen]] = [result[chosen], result[last]];
    }
    return result;
  }

  /** Return the items with the last one put back at a drawn place. */
  async insertBack(items) {
    const index = await this.uniform(items.length);
    const rest = items.slice(0, -1);
    return [...rest.slice(0, index), items.at(-1), ...rest.slice(index)];
  }
}

/** Return the first of the seats met clockwise from `start`, itself included. */
export function nextClockwise(seats, start) {
  const ordered = [...seats].sort((a, b) => a - b);
  return ordered.find((seat) => seat >= start) ?? ordered[0];
}

/** Return the seat that opens a round. */
export async function openerOf(seats, lastOpener, schedule) {
  if (lastOpener !== null) return nextClockwise(seats, lastOpener + 1);
  return seats[await (await schedule.stream("first-seat")).uniform(seats.length)];
}
