/**
 * The page: where bundles and the trust file come from, and what happens on each button.
 *
 * Asks no other host than the one that served the page, and that one only when told to.  Opened from disk it asks
 * nobody.
 */

import { browserLacks, utf8 } from "./bytes.js";
import { documents } from "./bundle.js";
import { BadNote, trustRead } from "./notes.js";
import { make, resultView } from "./view.js";
import { verifyBundles } from "./verify.js";

const FILE_BYTES_MAX = 256 * 1024 * 1024;
const RESULTS_SHOWN_MAX = 50;
const RESULTS_TOLD_EVERY = 10;

const byId = (id) => document.getElementById(id);
const served = location.protocol === "http:" || location.protocol === "https:";
let running = 0;

/** Say something where a screen reader hears it. */
function say(text, kind = "") {
  byId("verdict").textContent = text;
  byId("verdict").className = kind;
}

/** Ask the server of this page for a document. */
async function ask(path) {
  const answer = await fetch(path, { credentials: "omit", redirect: "error", cache: "no-store" });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Run an action of the page; whatever goes wrong is said in words. */
function on(id, event, action) {
  byId(id).addEventListener(event, async (happened) => {
    try {
      await action(happened);
    } catch (problem) {
      say(`That did not work: ${problem.message}.`, "fail");
      byId("verdict").focus();
    }
  });
}

async function filesRead(files) {
  const lines = [];
  for (const file of files) {
    if (file.size > FILE_BYTES_MAX) throw new Error(`${file.name} is larger than this page reads`);
    lines.push(...documents(new Uint8Array(await file.arrayBuffer())));
  }
  return lines;
}

async function trustGiven() {
  const text = byId("trust").value.trim();
  if (!text) return null;
  try {
    return await trustRead(text);
  } catch (problem) {
    if (!(problem instanceof BadNote)) throw problem;
    throw new Error(`the trust file cannot be used: ${problem.message}`);
  }
}

/** Check documents and show the results; only the newest call is shown. */
async function check(lines) {
  running += 1;
  const mine = running;
  byId("results").replaceChildren();
  if (!lines.length) {
    say("There is nothing to check yet: paste, choose or fetch the file of a round first.");
    byId("verdict").focus();
    return;
  }
  const trust = await trustGiven();
  say(`Checking ${lines.length === 1 ? "the round" : `${lines.length} rounds`} …`);
  const results = await verifyBundles(lines, {
    trust,
    complete: byId("complete").checked,
    done: (count) => {
      if (mine === running && lines.length > 1 && count % RESULTS_TOLD_EVERY === 0) {
        byId("progress").textContent = `${count} of ${lines.length}`;
      }
    },
  });
  if (mine !== running) return;
  byId("progress").textContent = "";
  show(results, trust !== null);
}

function show(results, trusted) {
  const counts = [0, 1, 2].map((status) => results.filter((result) => result.status === status).length);
  const passed = trusted ? "in order" : "in order as far as they tell about themselves (no trust file was given)";
  if (results.length === 1) {
    const label = byId("results").appendChild(resultView(results[0], 0, results, trusted)).getAttribute("aria-label");
    say(`${label.replace(/^[^:]*: /, "")}.`, ["pass", "fail", "part"][!trusted && counts[0] ? 2 : results[0].status]);
  } else {
    const said = [`${counts[1]} with something wrong`, `${counts[2]} not fully checked`, `${counts[0]} ${passed}`];
    say(`${results.length} rounds: ${said.filter((text) => !text.startsWith("0 ")).join(", ")}.`,
      counts[1] ? "fail" : counts[2] || !trusted ? "part" : "pass");
    const worstFirst = [1, 2, 0].flatMap((status) =>
      results.map((result, number) => [result, number]).filter(([result]) => result.status === status));
    for (const [result, number] of worstFirst.slice(0, RESULTS_SHOWN_MAX)) {
      const view = resultView(result, number, results, trusted);
      const name = `Round ${number + 1} of the file: ${view.querySelector("h3").textContent.trim()}`;
      const open = result.status === 1 ? { open: "" } : {};
      byId("results").append(make("details", { class: "one", ...open }, make("summary", {}, name), view));
    }
    const more = results.length - RESULTS_SHOWN_MAX;
    if (more > 0) byId("results").append(make("p", {}, `${more} more rounds are counted above and not shown.`));
  }
  byId("verdict").focus();
}

/** Take the round's number from the address: `/verify/#NUMBER` is a link to a round. */
function roundFromAddress() {
  const [, id] = /^#([0-9a-f]{32})$/.exec(location.hash) ?? [];
  if (id !== undefined) byId("round").value = id;
}

function wire() {
  window.addEventListener("hashchange", roundFromAddress);
  on("fetch-form", "submit", async (event) => {
    event.preventDefault();
    const id = byId("round").value.trim().toLowerCase().replaceAll("-", "");
    if (!/^[0-9a-f]{32}$/.test(id)) throw new Error("the number of a round has 32 digits and letters a to f");
    say("Fetching the round …");
    await check(documents(await ask(`/v1/fairness/rounds/${id}/bundle`)));
  });
  on("files", "change", async (event) => check(await filesRead(event.target.files)));
  on("files", "click", (event) => {
    event.target.value = ""; // Choosing the same file again is a wish to check it again.
  });
  on("paste-form", "submit", async (event) => {
    event.preventDefault();
    await check(documents(utf8(byId("paste").value)));
  });
  on("trust-fetch", "click", async () => {
    byId("trust").value = new TextDecoder().decode(await ask("/v1/fairness/trust.json"));
    byId("trust-said").textContent =
      "Taken from the server that is being judged. Compare it with a copy from elsewhere.";
  });
  on("trust-file", "change", async (event) => {
    byId("trust").value = await event.target.files[0].text();
    byId("trust-said").textContent = `Read from ${event.target.files[0].name}.`;
  });
  const drop = byId("drop");
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  document.addEventListener("dragleave", () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => event.preventDefault());
  on("page", "drop", async (event) => {
    drop.classList.remove("over");
    const { files } = event.dataTransfer;
    await check(files.length ? await filesRead(files) : documents(utf8(event.dataTransfer.getData("text"))));
  });
}

async function begin() {
  for (const element of document.querySelectorAll(served ? ".from-disk" : ".served")) element.hidden = true;
  roundFromAddress();
  const lacks = await browserLacks();
  if (lacks) {
    byId("lacks").hidden = false;
    byId("lacks").append(lacks);
    byId("inputs").disabled = true;
    return;
  }
  wire();
}

begin();
