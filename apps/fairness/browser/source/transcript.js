/**
 * The form of transcript entries, the places of cards that their events name, and the chain of heads.
 *
 * Protocol: section 7, section 17 points 13 and 16; codes transcript_form and transcript_head.
 */

import { frame, hex, sha256, unhex, utf8 } from "./bytes.js";
import { isObject, jsonText } from "./json.js";
import { CARDS_MAX, GENERATION_MAX, TIMES, hasExactly, isCard, isCode, isCount } from "./shapes.js";

const MEMBERS = ["seq", "at", "kind", "seat", "input", "events"];
const LEAVE_REASONS = ["left", "timeouts", "connection"];

class BadTranscript extends Error {
  constructor(where, text) {
    super(text);
    this.where = where;
  }
}

/**
 * Check the form of the transcript.
 *
 * Sets round.play: for each entry its events with the places they name; left null where the form is broken.
 */
export function transcriptRead(round) {
  if (round.record("deck") === null) return;
  try {
    round.play = read(round);
  } catch (problem) {
    if (!(problem instanceof BadTranscript)) throw problem;
    round.fail("transcript_form", problem.where, problem.message);
  }
}

function read(round) {
  const { seats, terminal } = round;
  let earliest = round.record("deck").body.dealt_ms;
  const play = round.bundle.transcript.map((entry, number) => {
    const need = (holds, path, text) => {
      if (!holds) throw new BadTranscript(`transcript[${number}]${path}`, text);
    };
    need(hasExactly(entry, MEMBERS), "", "an entry has exactly the members seq, at, kind, seat, input and events");
    need(entry.seq === number, ".seq", `not ${number}`);
    need(isCount(entry.at) && entry.at >= earliest, ".at", "not a time, or earlier than what came before");
    earliest = entry.at;
    inputCheck(need, number, entry, seats);
    need(Array.isArray(entry.events), ".events", "not a list");
    return entry.events.map((event, place) => {
      const where = `.events[${place}]`;
      need(isObject(event) && isCode(event.type), where, "not an object whose type is a code");
      const seat = event.seat ?? null;
      need(seat === null || seats.includes(seat), where, "seat is not a seat of the roster");
      need(!("gen" in event && "pos" in event), where, "an event has both gen and pos");
      const places = [];
      for (const value of Object.values(event)) need(placesIn(value, places), where, "a card's place is malformed");
      return { event, places };
    });
  });
  if (terminal !== null && play.length && earliest > terminal.body[TIMES[terminal.type]]) {
    throw new BadTranscript(`transcript[${play.length - 1}].at`, "later than the end of the round");
  }
  return play;
}

function inputCheck(need, number, { kind, seat, input }, seats) {
  need(typeof kind === "string" && (kind === "start") === (number === 0), ".kind", "the first entry alone is start");
  need(isObject(input), ".input", "not an object");
  if (kind === "start" || kind === "wake") {
    need(seat === null && !Object.keys(input).length, "", `${kind} has neither a seat nor an input`);
    return;
  }
  need(typeof seat === "number" && seats.includes(seat), ".seat", "not a seat of the roster");
  const sound = {
    act: () => typeof input.type === "string",
    leave: () => hasExactly(input, ["reason"]) && LEAVE_REASONS.includes(input.reason),
    connection: () => hasExactly(input, ["connected"]) && typeof input.connected === "boolean",
  };
  need(Object.hasOwn(sound, kind) && sound[kind](), ".input", `not an input of a kind that there is`);
}

/** Collect the places in a value of an event; tell whether all of them are well formed. */
function placesIn(value, places) {
  if (Array.isArray(value)) return value.every((item) => placesIn(item, places));
  if (!isObject(value)) return true;
  if (!("gen" in value && "pos" in value)) return Object.values(value).every((item) => placesIn(item, places));
  const { gen, pos } = value;
  const shown = "card" in value;
  if (!isCount(gen) || gen > GENERATION_MAX || !isCount(pos) || pos >= CARDS_MAX) return false;
  if (!hasExactly(value, shown ? ["gen", "pos", "card"] : ["gen", "pos"])) return false;
  if (shown && !isCard(value.card)) return false;
  places.push({ gen, pos, card: shown ? value.card : null });
  return true;
}

/** Return the hex of the head before the first entry and of that after each one. */
export async function heads(deckHash, entries) {
  const result = [hex(await sha256(frame("sealdeck/1/ev0", unhex(deckHash))))];
  for (const entry of entries) {
    result.push(hex(await sha256(frame("sealdeck/1/ev", unhex(result.at(-1)), utf8(jsonText(entry))))));
  }
  return result;
}

/** Check that the terminal record binds this transcript. */
export async function headCheck(round) {
  const { terminal, bundle } = round;
  const deck = round.record("deck");
  if (terminal === null || deck === null) return;
  if (terminal.body.entries !== bundle.transcript.length) {
    const text = `${terminal.body.entries} entries are recorded, ${bundle.transcript.length} are here`;
    round.fail("transcript_head", round.where(terminal.type, "entries"), text);
  }
  const head = (await heads(deck.hash, bundle.transcript)).at(-1);
  if (head !== terminal.body.head) {
    const text = `the transcript and its recorded head differ; the head of these entries is ${head}`;
    round.fail("transcript_head", round.where(terminal.type, "head"), text);
  }
}
