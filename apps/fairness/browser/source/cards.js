/**
 * Card commitments: canonical order, salts, leaves, the tree of a generation, and openings of single cards.
 *
 * Protocol: section 6; code opening.
 */

import { frame, hex, join, macWith, sha256, u16, unhex } from "./bytes.js";
import { leafHash, pathLength, rootFromPath, treeLevels } from "./merkle.js";

/** Return the hex of the hash of a canonical order of cards. */
export const orderHash = async (codes) => hex(await sha256(frame("sealdeck/1/order", ...codes)));

/** Return the leaf of one card at its place. */
export const cardLeaf = (round, gen, pos, card, salt) =>
  leafHash(frame("sealdeck/1/card", round, u16(gen), u16(pos), card, salt));

/** The commitment to the cards of one generation. */
export class CardTree {
  /**
   * @param {Uint8Array} saltKey key of the stream `card-salt`.
   * @param {string[]} cards the draw deck, top first.
   */
  static async build(round, gen, cards, saltKey) {
    const tree = new CardTree();
    const saltOf = await macWith(saltKey);
    tree.gen = gen;
    tree.cards = cards;
    tree.salts = await Promise.all(cards.map((_, pos) => saltOf(join(u16(gen), u16(pos)))));
    const leaves = await Promise.all(cards.map((card, pos) => cardLeaf(round, gen, pos, card, tree.salts[pos])));
    tree.levels = await treeLevels(leaves);
    tree.root = hex(tree.levels.at(-1)[0]);
    return tree;
  }

  /** Return the opening of one position as the bundle would show it. */
  opening(pos) {
    const path = [];
    let at = pos;
    for (const level of this.levels.slice(0, -1)) {
      if ((at ^ 1) < level.length) path.push(hex(level[at ^ 1]));
      at >>= 1;
    }
    return { gen: this.gen, pos, card: this.cards[pos], salt: hex(this.salts[pos]), path };
  }
}

/** Tell whether a well-formed opening leads to the root of its generation of n cards. */
export async function openingHolds(opening, round, root, n) {
  const { gen, pos, card, salt, path } = opening;
  if (pos >= n || path.length !== pathLength(pos, n)) return false;
  const leaf = await cardLeaf(round, gen, pos, card, unhex(salt));
  return (await rootFromPath(leaf, pos, n, path.map(unhex))) === root;
}
