/**
 * Trees: roots, inclusion and consistency, of the log and of a generation of cards.
 *
 * Protocol: sections 6 and 11 (RFC 6962 hashing, RFC 9162 algorithms).  Sizes of a log go up to 2^53-1, beyond the
 * reach of JavaScript's bit operations, so positions are BigInts.
 */

import { hex, join, sha256, u8, unhex } from "./bytes.js";

export const EMPTY_ROOT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const LEAF = u8(0);
const NODE = u8(1);

export const leafHash = (data) => sha256(join(LEAF, data));
export const nodeHash = (left, right) => sha256(join(NODE, left, right));

/** Return the levels of the tree over leaf hashes, the leaves first and the root last. */
export async function treeLevels(leaves) {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) {
    const above = [];
    for (let at = 0; at + 1 < level.length; at += 2) above.push(nodeHash(level[at], level[at + 1]));
    if (level.length % 2) above.push(level[level.length - 1]);
    level = await Promise.all(above);
  }
  return levels;
}

/** Return the hex of the root of a tree. */
export async function treeRoot(leaves) {
  return leaves.length ? hex((await treeLevels(leaves)).at(-1)[0]) : EMPTY_ROOT;
}

/** Return how many hashes the path of a card has. */
export function pathLength(position, size) {
  const inner = 32 - Math.clz32(position ^ (size - 1));
  let length = inner;
  for (let rest = inner < 32 ? position >>> inner : 0; rest; rest >>>= 1) length += rest & 1;
  return length;
}

/** Move up to where the node is a left child again. */
function climb(position, last) {
  while (position && !(position & 1n)) {
    position >>= 1n;
    last >>= 1n;
  }
  return [position, last];
}

/** Return the hex of the root to which an inclusion path leads; null where it cannot be a path of this leaf. */
export async function rootFromPath(leaf, index, size, path) {
  if (index >= size) return null;
  let position = BigInt(index);
  let last = BigInt(size) - 1n;
  let node = leaf;
  for (const sibling of path) {
    if (last === 0n) return null;
    if (position & 1n || position === last) {
      node = await nodeHash(sibling, node);
      [position, last] = climb(position, last);
    } else {
      node = await nodeHash(node, sibling);
    }
    position >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? hex(node) : null;
}

/**
 * Tell whether a path proves that one tree extends another; roots are hex.
 *
 * A tree without leaves is extended by every tree (section 17, point 7).
 */
export async function isConsistent(oldSize, newSize, oldRoot, newRoot, path) {
  if (oldSize > newSize) return false;
  if (oldSize === 0) return !path.length && oldRoot === EMPTY_ROOT && (newSize > 0 || newRoot === EMPTY_ROOT);
  if (oldSize === newSize) return !path.length && oldRoot === newRoot;
  let position = BigInt(oldSize);
  const nodes = [...path];
  if ((position & (position - 1n)) === 0n) nodes.unshift(unhex(oldRoot));
  if (!nodes.length) return false;
  position -= 1n;
  let last = BigInt(newSize) - 1n;
  while (position & 1n) {
    position >>= 1n;
    last >>= 1n;
  }
  let first = nodes[0];
  let second = nodes[0];
  for (const sibling of nodes.slice(1)) {
    if (last === 0n) return false;
    if (position & 1n || position === last) {
      [first, second] = await Promise.all([nodeHash(sibling, first), nodeHash(sibling, second)]);
      [position, last] = climb(position, last);
    } else {
      second = await nodeHash(second, sibling);
    }
    position >>= 1n;
    last >>= 1n;
  }
  return last === 0n && hex(first) === oldRoot && hex(second) === newRoot;
}
