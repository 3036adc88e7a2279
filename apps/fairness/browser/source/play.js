/**
 * The cards of a transcript: generations, places, faces, and that every card left the deck from the top.
 *
 * Protocol: sections 6 and 7, section 17 points 14 to 18; codes start_event to opening.  Never asks whether a move was
 * legal: that needs the rules of the game.
 */

import { CardTree, openingHolds } from "./cards.js";
import { same } from "./json.js";
import { CARDS_MAX, isHash } from "./shapes.js";

const RESHUFFLE = "reshuffle";
const START_RETURN = "start-return";

/** Check what the events say about cards, the beginning and the end. */
export async function playCheck(round) {
  startCheck(round);
  const table = new Table(round);
  for (const [number, row] of round.play.entries()) {
    for (const [place, { event, places }] of row.entries()) {
      const where = `transcript[${number}].events[${place}]`;
      table.name(where, places);
      if ("gen" in event) await table.make(where, event);
    }
    table.entryDone(`transcript[${number}]`);
  }
  table.rowsDone();
  endCheck(round);
  await openingsCheck(round, table.generations);
}

function startCheck(round) {
  const { play, open } = round;
  if (!play.length && round.terminal?.type !== "reveal") return;
  const { game, rules, options } = open;
  const expected = { type: "round_started", game, rules, options, seats: round.seats };
  if (!round.isMatch) expected.opener = round.record("deck").body.opener;
  const first = play[0]?.[0]?.event ?? {};
  for (const [name, value] of Object.entries(expected)) {
    if (!(name in first) || !same(first[name], value)) {
      round.fail("start_event", `transcript[0].events[0].${name}`, `the first event does not repeat ${name}`);
    }
  }
}

function endCheck(round) {
  const { play, terminal } = round;
  if (terminal === null) return;
  const ends = play.flatMap((row, number) =>
    row.flatMap(({ event }, place) => (event.type === "round_over" ? [[number, place]] : [])));
  const at = ([number, place]) => `transcript[${number}].events[${place}]`;
  if (terminal.type === "void") {
    if (ends.length) round.fail("end_event", at(ends[0]), "the round was over and is voided all the same");
    return;
  }
  const last = [Math.max(play.length - 1, 0), (play.at(-1)?.length ?? 1) - 1];
  if (ends.length !== 1 || at(ends[0]) !== at(last)) {
    round.fail("end_event", at(last), "the last event, and no other, is round_over");
    return;
  }
  const { event } = play.at(-1).at(-1);
  for (const name of ["reason", "shares", "ranking"]) {
    if (!(name in event) || !same(event[name], terminal.body.outcome[name])) {
      round.fail("end_event", `${at(last)}.${name}`, `the ${name} of the last event is not the recorded one`);
    }
  }
}

/** One order of the draw deck; `order` is null where the seed does not give it. */
const generationOf = (n, root, order) => ({ n, root, order, named: new Set(), below: 0 });

/** The generations of the draw deck while the transcript is followed. */
class Table {
  constructor(round) {
    const { n, root } = round.record("deck").body;
    this.round = round;
    this.generations = [generationOf(n, root, round.trees.get(0)?.cards ?? null)];
    this.rows = round.bundle.generations;
    this.counts = new Map([[RESHUFFLE, 0], [START_RETURN, 0]]);
    this.shown = new Set(); // Cards shown since they were last put into a draw deck.
    this.touched = new Set();
  }

  /** Take in the places that an event names. */
  name(where, places) {
    const newest = this.generations.length - 1;
    for (const { gen, pos, card } of places) {
      const generation = this.generations[gen];
      if (generation === undefined || pos >= generation.n) {
        this.round.fail("card_place", where, `position ${pos} of generation ${gen} does not exist`);
        continue;
      }
      if (!generation.named.has(pos)) {
        if (gen !== newest) {
          const text = `a card is dealt from generation ${gen}, which is no longer the draw deck`;
          this.round.fail("deal_order", where, text);
        }
        generation.named.add(pos);
        generation.below = Math.max(generation.below, pos + 1);
        this.touched.add(generation);
      }
      if (card === null) continue;
      const lies = generation.order?.[pos] ?? card;
      this.shown.add(lies);
      if (lies !== card) {
        const text = `${card} is shown at position ${pos} of generation ${gen}, where ${lies} lies`;
        this.round.fail("card_face", where, text);
      }
    }
  }

  /** Check after an entry that the places named so far are the topmost ones. */
  entryDone(where) {
    for (const { named, below } of this.touched) {
      if (named.size !== below) this.round.fail("deal_order", where, `position ${below - 1} is dealt before its turn`);
    }
    this.touched.clear();
  }

  /** Take in an event that makes a generation. */
  async make(where, { gen, n, root }) {
    if (gen !== this.generations.length) {
      this.round.fail("generation", `${where}.gen`, `the next generation is ${this.generations.length}`);
      return;
    }
    if (typeof n !== "number" || n < 1 || n > CARDS_MAX || !isHash(root)) {
      this.round.fail("generation", where, "n or root of the new generation is missing or malformed");
      return;
    }
    const made = generationOf(n, root, null);
    if (this.round.terminal !== null) await this.row(where, gen, made);
    this.generations.push(made);
  }

  /** Compare a generation with its row, and work out its order. */
  async row(where, gen, made) {
    const place = `generations[${gen - 1}]`;
    const fail = (path, text) => this.round.fail("generation", path, text);
    const row = this.rows[gen - 1];
    if (row === undefined || row.gen !== gen) return fail(place, `there is no row for generation ${gen}`);
    const [kind] = row.stream.split("/");
    const source = row.from;
    if (!this.counts.has(kind)) return fail(`${place}.stream`, "not a stream that makes a generation");
    const stream = `${kind}/${this.counts.get(kind)}`;
    this.counts.set(kind, this.counts.get(kind) + 1);
    if (row.stream !== stream) fail(`${place}.stream`, `the next stream of this kind is ${stream}`);
    if (source.length !== made.n || new Set(source).size !== source.length) {
      return fail(`${place}.from`, `not ${made.n} different cards`);
    }
    if (kind === RESHUFFLE) this.reshuffleCheck(place, source);
    else this.returnCheck(place, source);
    for (const card of source) this.shown.delete(card);
    const { schedule } = this.round;
    if (schedule === null) return undefined;
    const chance = await schedule.stream(stream);
    made.order = kind === RESHUFFLE ? await chance.shuffle(source) : await chance.insertBack(source);
    const tree = await CardTree.build(this.round.id, gen, made.order, await schedule.key("card-salt"));
    this.round.trees.set(gen, tree);
    if (tree.root !== made.root) fail(`${where}.root`, `these cards and the seed give the root ${tree.root}`);
    return undefined;
  }

  reshuffleCheck(place, source) {
    const newest = this.generations.at(-1);
    const left = newest.n - newest.named.size;
    if (left) this.round.fail("generation", place, `a reshuffle while ${left} cards are left in the draw deck`);
    const hidden = source.find((card) => !this.shown.has(card));
    if (hidden !== undefined) {
      this.round.fail("generation", `${place}.from`, `${hidden} was not shown before it was shuffled in`);
    }
  }

  returnCheck(place, source) {
    const { order, named, below } = this.generations.at(-1);
    const back = source.at(-1);
    if (!this.shown.has(back)) {
      this.round.fail("generation", `${place}.from`, `${back} was not shown before it went back`);
    }
    if (order === null || named.size !== below || !below) return;
    if (!same(source.slice(0, -1), order.slice(below)) || back !== order[below - 1]) {
      this.round.fail("generation", `${place}.from`, "not the rest of the draw deck and the card just shown");
    }
  }

  /** Check that no row is left over, and that there is none while the round runs. */
  rowsDone() {
    const made = this.generations.length - 1;
    if (this.rows.length && this.round.terminal === null) {
      this.round.fail("generation", "generations", "rows of a round that still runs");
    } else if (this.rows.length > made) {
      this.round.fail("generation", "generations", `${this.rows.length} rows, but the transcript made ${made}`);
    }
  }
}

async function openingsCheck(round, generations) {
  for (const [number, opening] of (round.bundle.openings ?? []).entries()) {
    const where = `openings[${number}]`;
    const generation = generations[opening.gen];
    const tree = round.trees.get(opening.gen);
    if (generation === undefined) {
      round.fail("opening", where, `there is no generation ${opening.gen}`);
    } else if (!(await openingHolds(opening, round.id, generation.root, generation.n))) {
      round.fail("opening", where, "the path does not lead to the committed root");
    } else if (tree !== undefined) {
      const { card, salt } = tree.opening(opening.pos);
      if (opening.card !== card || opening.salt !== salt) {
        round.fail("opening", where, "the card or its salt is not the one the seed gives");
      }
    }
  }
}
