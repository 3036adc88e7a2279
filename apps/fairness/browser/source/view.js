/**
 * The result on the page: verdict, what failed, the deck, who got which card, and every check.
 *
 * Builds elements and texts only: nothing of a bundle is ever read as HTML.
 */

import { TIMES } from "./shapes.js";
import { CANNOT } from "./round.js";
import { MEANINGS } from "./meanings.js";
import { GROUPS, ON_KEYS, OWN_KEYS, REASONS, SAID_HERE, notMade, verdictWords } from "./words.js";

const CARDS_SHOWN_MAX = 1000;
const MARKS = { 0: ["pass", "✓"], 1: ["fail", "✗"], 2: ["part", "◐"] };

/** Make an element; attributes by name, children as elements or texts. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const time = (ms) => new Date(ms).toISOString().replace("T", " ").replace("Z", " UTC");
const face = (card) => {
  const [name, copy] = card.split("#");
  return make("span", { class: "card" }, name, make("small", {}, `#${copy}`));
};

/** Return what the page shows of one result. */
export function resultView(result, number, results, trusted) {
  const round = result.checked;
  const [heading, sentence] = verdictWords(result, trusted);
  const [kind, mark] = MARKS[!trusted && result.status === 0 ? 2 : result.status];
  const title = make("h3", {}, make("span", { class: "mark", "aria-hidden": "true" }, mark), ` ${heading}`);
  return make(
    "article", { class: `result ${kind}`, "aria-label": `Round ${number + 1} of ${results.length}: ${heading}` },
    title,
    make("p", {}, sentence),
    result.round === null ? null : make("p", { class: "id" }, "Round ", make("code", {}, result.round)),
    findingsView(result.findings),
    round === null ? null : factsView(round),
    notesView(result),
    round === null ? null : deckView(round),
    round === null ? null : dealsView(round),
    checksView(result, results.length),
  );
}

function findingsView(findings) {
  if (!findings.length) return null;
  const rows = findings.map(({ code, where, text }) => make(
    "li", { class: CANNOT.includes(code) ? "part" : "fail" },
    make("strong", {}, SAID_HERE[code] ?? MEANINGS[code]), " ", make("code", {}, code),
    make("span", { class: "detail" }, `${where || "the whole file"}: ${text}.`),
  ));
  return make("section", {}, make("h4", {}, "What was found"), make("ul", { class: "findings" }, ...rows));
}

function notesView({ notes, checked }) {
  const rows = notes.map((note) => {
    if (note.startsWith("no trust")) {
      return "Whose signatures count: no trust file was given, so the keys were taken from the file itself.";
    }
    return "Whether every move was legal: this page does not know the rules of the games.";
  });
  if (checked?.open.entropy === "none") {
    rows.push("Whether the seed was picked from many: nobody but the operator gave random bytes (mode none).");
  }
  rows.push("Whether somebody looked into the dealing program while the round ran. No check can show that.");
  const list = make("ul", {}, ...rows.map((row) => make("li", {}, row)));
  return make("section", {}, make("h4", {}, "What was not checked"), list);
}

const MODES = {
  none: "none: only the operator's seed",
  open: "open: each seat gave random bytes",
  sealed: "sealed: each seat committed to random bytes, then opened them",
};

function factsView(round) {
  const { open, terminal } = round;
  const { stake } = open;
  const rows = [
    ["Game", open.rules],
    ["Table", open.table],
    ["Index at the table", String(open.index)],
    ["Random bytes", MODES[open.entropy] + (open.beacon === null ? "" : ", and a public beacon")],
    ["Buy-in", `${stake.buy_in} ${stake.currency} minor units, fee ${stake.fee_bp / 100} %`],
    ["Seats", round.seats.length ? round.seats.join(", ") : "nothing was dealt"],
    ["Opened", time(open.opened_ms)],
  ];
  if (terminal !== null) rows.push(["Ended", time(terminal.body[TIMES[terminal.type]])]);
  if (terminal?.type === "void") rows.push(["Called off", `${terminal.body.reason}; every buy-in was given back`]);
  if (terminal?.type === "reveal") {
    const { payouts, outcome } = terminal.body;
    rows.push(["Outcome", outcome.reason]);
    rows.push(["Payouts", payouts.map((row) => `seat ${row.seat}: ${row.payout}`).join(", ") || "the match goes on"]);
  }
  const list = rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return make("dl", { class: "facts" }, ...list);
}

/**
 * Return how each card left a deck: generation, position, card, to whom, when, and when it was shown.
 *
 * Who got a card is the seat that the event names; without one it lay open on the table.
 */
export function dealsOf(round) {
  const deals = new Map();
  for (const [number, row] of (round.play ?? []).entries()) {
    const { at } = round.bundle.transcript[number];
    for (const { event, places } of row) {
      for (const { gen, pos, card } of places) {
        const name = `${gen}/${pos}`;
        const known = deals.get(name);
        if (known === undefined) {
          const lies = round.trees.get(gen)?.cards[pos] ?? card;
          const seat = event.seat ?? null;
          deals.set(name, { gen, pos, card: lies, seat, seq: number, at, type: event.type, shown: card && number });
        } else if (card !== null && known.shown === null) {
          known.shown = number;
          known.card ??= card;
        }
      }
    }
  }
  return [...deals.values()];
}

const toWhom = (deal) => (deal.seat === null ? "the table" : `seat ${deal.seat}`);

function deckView(round) {
  if (round.record("deck") === null) return null;
  if (!round.trees.size) {
    const text = round.terminal === null
      ? "The deck is fixed but secret: it can be shown when the round has ended and the seed is published."
      : "The deck cannot be shown: the seed does not give one that can be compared.";
    return make("section", {}, make("h4", {}, "The deck as it was committed"), make("p", {}, text));
  }
  const deals = new Map(dealsOf(round).map((deal) => [`${deal.gen}/${deal.pos}`, deal]));
  const decks = [...round.trees.values()].map((tree) => {
    const shown = tree.cards.slice(0, CARDS_SHOWN_MAX).map((card, pos) => {
      const deal = deals.get(`${tree.gen}/${pos}`);
      return make("li", { class: deal ? "dealt" : "left" },
        make("span", { class: "pos" }, String(pos)), face(card),
        make("span", { class: "who" }, deal ? toWhom(deal) : "not dealt"));
    });
    const more = tree.cards.length - shown.length;
    const label = tree.gen ? `Deck after re-ordering ${tree.gen}` : "Opening deck";
    return make("details", tree.gen ? {} : { open: "" },
      make("summary", {}, `${label}: ${tree.cards.length} cards, the top one first`),
      make("ol", { class: "deck", "aria-label": label }, ...shown),
      more > 0 ? make("p", {}, `and ${more} more`) : null);
  });
  const failed = round.findings.failed("root", "generation");
  const about = failed
    ? "This is the order that seed and random bytes give. It is not the one that was committed to: see above."
    : "This order was committed to before the first card was dealt. Number, card, and who got it.";
  return make("section", {}, make("h4", {}, "The deck as it was committed"), make("p", {}, about), ...decks);
}

function dealsView(round) {
  const deals = dealsOf(round);
  if (!deals.length) return null;
  const head = ["Move", "Time", "Card", "To", "How", "From", "Shown to all"];
  const rows = deals.slice(0, CARDS_SHOWN_MAX).map((deal) => make(
    "tr", {},
    make("td", {}, String(deal.seq)),
    make("td", {}, time(deal.at).slice(11, 23)),
    make("th", { scope: "row" }, deal.card === null ? "hidden" : face(deal.card)),
    make("td", {}, toWhom(deal)),
    make("td", {}, deal.type.replaceAll("_", " ")),
    make("td", {}, deal.gen ? `${deal.pos} of deck ${deal.gen}` : String(deal.pos)),
    make("td", {}, deal.shown === null ? "never" : `move ${deal.shown}`),
  ));
  const table = make("table", {},
    make("caption", { class: "hidden" }, "Cards in the order in which they left the deck"),
    make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows));
  return make("section", {}, make("h4", {}, "Who got which card when"),
    make("details", {},
      make("summary", {}, `${deals.length} cards left the deck, in this order`),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Who got which card when" }, table)));
}

function checksView(result, rounds) {
  const found = new Map(result.findings.map((finding) => [finding.code, finding]));
  const groups = GROUPS.map(([title, checks]) => {
    const counts = { passed: 0, failed: 0, "not made": 0 };
    const rows = Object.entries(checks).map(([code, about]) => {
      const reason = notMade(code, result.checked, rounds);
      const state = found.has(code) ? "failed" : reason === null ? "passed" : "not made";
      counts[state] += 1;
      const kind = { passed: "pass", failed: "fail", "not made": "none" }[state];
      const own = result.checked?.trust === null && ON_KEYS.includes(code) ? `${OWN_KEYS}.` : null;
      const why = state === "failed" ? MEANINGS[code] : state === "not made" ? `${REASONS[reason]}.` : own;
      return make("li", { class: kind },
        make("span", { class: "state" }, state), make("span", { class: "about" }, about, " ", make("code", {}, code)),
        why === null ? null : make("span", { class: "detail" }, why));
    });
    const said = Object.entries(counts).filter(([, count]) => count).map(([state, count]) => `${count} ${state}`);
    const open = counts.failed ? { open: "" } : {};
    return make("details", { class: "group", ...open },
      make("summary", {}, `${title}: ${said.join(", ")}`), make("ul", { class: "checks" }, ...rows));
  });
  return make("section", {}, make("h4", {}, "Every check"), ...groups);
}
