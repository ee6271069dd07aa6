"use strict";
// What a failed test prints about its namespaces, and the page of its bundle.

const fs = require("node:fs");
const path = require("node:path");
const { randomUUID } = require("node:crypto");
const { spawn } = require("node:child_process");
const { Control } = require("./client.js");
const { SimulatorError } = require("./errors.js");
const { answerOf, describeDelivery } = require("./expectations.js");
const { Namespace, notesOf } = require("./namespace.js");
const { findProgram, serverEnvironment, startProblem } = require("./program.js");
const { Date, clearTimeout, now, setImmediate, setTimeout } = require("./real.js");
const { durationText, given, printable, query, short, shortHash } = require("./text.js");

/** The most requests, deliveries and rules that are printed. */
const MAX_LINES = 10;
/** The maximum length of a line. */
const MAX_LENGTH = 400;
/** The longest time, in seconds, that the server gets for all questions about a failure. */
const PATIENCE = 20;
/** The longest time, in seconds, that the program gets for a page. */
const PAGE_PATIENCE = 60;

/** What happened in a namespace until its test failed. */
class Failure {
  #namespace;
  /** What the error of the test says already. */
  #message;
  #end = now() + PATIENCE * 1000;

  constructor(namespace, message = "") {
    this.#namespace = namespace;
    this.#message = message;
    /** Whether the server answered. */
    this.isReachable = true;
  }

  /** The lines about the namespace. Control characters and secrets are masked. */
  async lines() {
    const found = [];
    const parts = [["the clock", this.#head], ["the requests", this.#requests], ["the deliveries", this.#deliveries], ["the rules", this.#rules]];
    for (const [name, part] of parts) {
      try {
        found.push(...await part.call(this));
      } catch (error) {
        if (error.status === 404 && !found.length) return [`namespace ${this.#namespace.name} was deleted`];
        // A server of another version may answer anything.
        found.push(`${name}: not known: ${error instanceof SimulatorError
          ? error.message : `the server's answer is not understood (${error.message})`}`);
        // A server that does not answer once makes no test wait four times.
        this.isReachable = !(error instanceof SimulatorError) || error.status !== null;
        if (!this.isReachable) break;
      }
    }
    return found.map((line) => this.#safe(line));
  }

  #ask(target, list) {
    const left = (this.#end - now()) / 1000;
    if (left <= 0) throw new SimulatorError(`the server at ${this.#namespace.url} takes longer than ${durationText(PATIENCE)}`);
    return asking(this.#namespace, Math.min(left, 10)).object("GET", target, undefined, { list });
  }

  /** A line that a terminal, a log and a file of XML can hold. */
  #safe(line) {
    let text = line;
    const own = this.#namespace;
    for (const secret of [Namespace.controlOf(own).token, own.apiToken, process.env.ENTRUPY_SIM_CONTROL_TOKEN, process.env.ENTRUPY_SIM_TOKEN]) {
      if (secret && secret.length >= 4) text = text.replaceAll(secret, "***");
    }
    const indent = text.length - text.trimStart().length;
    return " ".repeat(indent) + short(printable(text.slice(indent)), MAX_LENGTH);
  }

  async #head() {
    const clock = await this.#ask("/_sim/clock");
    let text = `namespace ${this.#namespace.name}, clock ${clock.mode} at ${clock.now}`;
    const due = await this.#ask("/_sim/due?limit=1", "due");
    if (due.due.length && clock.mode === "frozen") {
      const [first] = due.due;
      text += `; ${due.total} due later, first ${first.kind} of ${first.subject} in ${durationText(first.seconds_left)}: `
        + "nothing happens until the clock is advanced";
    }
    return [text];
  }

  async #requests() {
    const page = await this.#ask(`/_sim/requests?limit=${MAX_LINES}`, "requests");
    if (!page.requests.length) return this.#elsewhere();
    const { faults } = await this.#ask("/_sim/faults", "faults");
    const isAll = !page.next_cursor && page.requests.at(-1).sequence === 1;
    const lines = [isAll ? "all requests, oldest first:" : `the last ${page.requests.length} requests, oldest first:`];
    for (const entry of page.requests.reverse()) lines.push(`  ${await this.#request(entry, faults)}`);
    return lines;
  }

  /** A client that leaves the namespace out of its base URL reaches the namespace `default`. */
  async #elsewhere() {
    const own = this.#namespace;
    const lines = [`no request came: the base URL of clients is ${own.url}`];
    try {
      const other = asking(own, 5, own.server);
      const [last] = (await other.object("GET", "/_sim/requests?limit=1", undefined, { list: "requests" })).requests;
      if (last) {
        lines.push(`  ${own.server} itself is the namespace default, and has requests, the last ${last.method} ${last.path}: `
          + "does a client use it?");
      }
    } catch {
      // It is a hint alone.
    }
    return lines;
  }

  async #request(entry, faults) {
    let text = `#${entry.sequence} ${entry.method} ${short(entry.path + (entry.query ? `?${entry.query}` : ""), 160)} ${answerOf(entry)}`;
    for (const words of causes(entry, faults)) text += `, ${words}`;
    if (entry.username) text += `, user ${entry.username}`;
    if (entry.status !== null && entry.status >= 400) text += await this.#said(entry);
    // The fact behind a 403, 404 or 409, which the caller does not learn.
    if (entry.because) text += ` (because ${entry.because})`;
    return text;
  }

  /** The error in the body of an answer. */
  async #said(entry) {
    let body;
    try {
      ({ response: { body } } = await this.#ask(`/_sim/requests/${encodeURIComponent(entry.id)}${query({ sequence: entry.sequence })}`));
    } catch {
      return "";
    }
    if (!body) return "";
    let text = body;
    try {
      const envelope = JSON.parse(body);
      if (typeof envelope.error === "string") {
        text = [envelope.error, ...(envelope.details ?? [])
          .filter((detail) => !envelope.error.includes(detail.problem) && detail.field !== "fault")
          .map((detail) => (detail.field === "path" ? detail.problem : `${detail.field}: ${detail.problem}`))].join("; ");
      }
    } catch {
      // The text is shown as it is.
    }
    return text.startsWith("answered by the fault rule") ? "" : `: ${short(text, 240)}`;
  }

  /** The deliveries that did not arrive, with the reason. */
  async #deliveries() {
    const page = await this.#ask("/_sim/webhook-deliveries?limit=100", "deliveries");
    const lost = page.deliveries.filter((delivery) => delivery.status !== "delivered"
      && (delivery.attempts.length || delivery.fault || delivery.held_back || ["failed", "cancelled"].includes(delivery.status)))
      .map((delivery) => `  ${describeDelivery(delivery)}${nextAttempt(delivery)}`);
    if (!lost.length) return [];
    const more = lost.length > MAX_LINES ? `, the last ${MAX_LINES} of ${lost.length}` : "";
    return [`deliveries that failed${more}, oldest first:`, ...lost.slice(0, MAX_LINES).reverse()];
  }

  /** The rules that met nothing, with their notes. */
  async #rules() {
    const found = [];
    for (const [kind, name] of [["faults", "fault"], ["outcomes", "outcome rule"]]) {
      for (const rule of (await this.#ask(`/_sim/${kind}`, kind))[kind]) {
        if (rule.hits) continue;
        const notes = notesOf(rule)
          // The failure itself may be this note.
          .filter((note) => !this.#message.includes(note.problem)).map((note) => [note.field, note.problem].filter(Boolean).join(": "));
        if (rule.seen) notes.push(`it matched ${rule.seen} requests and was not triggered`);
        const effect = rule.effect === undefined ? String(rule.result) : JSON.stringify(rule.effect);
        const text = `  the ${name} ${rule.id} (${effect} on ${condition(rule.match)})`;
        found.push(notes.length ? `${text}: ${notes.join("; ")}` : text);
      }
    }
    const more = found.length > MAX_LINES ? `, ${MAX_LINES} of ${found.length}` : "";
    return found.length ? [`rules that met nothing${more}:`, ...found.slice(0, MAX_LINES)] : [];
  }
}

/** A client that waits only so many seconds. */
function asking(namespace, seconds, address = namespace.url) {
  const own = Namespace.controlOf(namespace);
  const control = new Control(address, own.token, own.why);
  control.limits = { silence: Math.max(seconds, 0.1), work: Math.max(seconds, 0.1), size: 8 << 20 };
  return control;
}

/** What decided an answer. */
function causes(entry, faults) {
  const found = [];
  const { fault, limits, outcome } = entry.decided_by;
  if (fault || entry.effect) {
    const match = faults.find((rule) => rule.id === fault)?.match;
    found.push(["by the fault", fault, entry.effect ? JSON.stringify(entry.effect) : "", match ? `on ${condition(match)}` : ""]
      .filter(Boolean).join(" "));
  }
  if (limits?.length) found.push(`by the limit ${limits.join(", ")}`);
  if (outcome) found.push(`result by the outcome rule ${outcome}`);
  return found;
}

/** The condition of a rule in words: `POST /sdk/login, username DemoOrg-x`. */
function condition(match) {
  const { method, route, ...others } = given(match ?? {});
  const words = [method, route].filter(Boolean).join(" ");
  return [words, ...Object.entries(others).map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)]
    .filter(Boolean).join(", ") || "everything";
}

function nextAttempt(delivery) {
  const at = delivery.next_attempt_at;
  return typeof at === "number" ? `, next attempt at ${new Date(at * 1000).toISOString().replace(/\.\d+/, "")}` : "";
}

/** Why no more pages are made: one that took too long makes no other test wait. */
let pageProblem = null;

/** Writes the page of a bundle beside it, with the program's `report`, and returns its path. */
async function makePage(bundle, binary) {
  if (pageProblem) throw new SimulatorError(pageProblem);
  const program = findProgram(binary);
  const page = pageOf(bundle);
  // Its own name: another run may write the page of the same test now.
  const part = path.join(path.dirname(page), `${path.basename(page).slice(0, 100)}.${randomUUID()}.part`);
  try {
    await fs.promises.writeFile(part, "", { mode: 0o600, flag: "wx" });
    await runReport(program, ["report", "--output", part, "--", bundle]);
    if (!(await fs.promises.stat(part)).size) throw new SimulatorError(`${program} report wrote no page`);
    await fs.promises.rename(part, page);
  } finally {
    await fs.promises.rm(part, { force: true });
  }
  return page;
}

function runReport(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: serverEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (part) => { said = (said + part).slice(0, 4000); });
    const late = setTimeout(() => {
      pageProblem = `${program} report did not end within ${durationText(PAGE_PATIENCE)}`;
      child.kill("SIGKILL");
      reject(new SimulatorError(pageProblem));
    }, PAGE_PATIENCE * 1000);
    child.on("error", (error) => {
      clearTimeout(late);
      reject(new SimulatorError(startProblem(program, error)));
    });
    // Not "close": a process that it leaves would hold the pipes open.
    child.on("exit", (status) => {
      clearTimeout(late);
      if (status === 0) return resolve();
      setImmediate(() => reject(new SimulatorError(
        `${program} report ended with ${status}: ${said.trim().split("\n")[0] || "it printed nothing"}`)));
    });
  });
}

/** The file of a bundle's page, beside it. */
function pageOf(bundle) {
  return bundle.replace(/\.tar$/, ".html");
}

/**
 * The file for the bundle of a test that failed. Equal tests have equal names in each run, and different ones different names: the
 * readable part is cut, the hash is not. The working directory tells projects apart that share a folder.
 */
function bundleFile(folder, test) {
  const readable = test.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(-80).replace(/^[-.]+|[-.]+$/g, "");
  return path.join(folder, `${readable}-${shortHash(`${process.cwd()}\0${test}`, 12)}.entrupy-bundle.tar`);
}

module.exports = { Failure, bundleFile, makePage, pageOf };
