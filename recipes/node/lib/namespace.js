"use strict";
// A namespace: a platform of its own, with its own clock, data, limits and journal.

const fs = require("node:fs");
const path = require("node:path");
const { randomUUID } = require("node:crypto");
const { Control, problem } = require("./client.js");
const { ExpectationError, SimulatorError, withFramesOf } = require("./errors.js");
const {
  ASK_OTHERWISE, Bounds, DELIVERY_STATES, MANY, NotKept, SAME, bodyDifferences, checkBody, checkDelivery, checkHeaders, checkRoute,
  deliveryDifferences, describeDelivery, headerDifferences, isDoubtful, named, nearestRequests, otherwise, step, unknownReceiver, wanted,
} = require("./expectations.js");
const { HEADER, VARIABLE, running } = require("./names.js");
const { now, sleep } = require("./real.js");
const { User } = require("./user.js");
const {
  checkDefined, checkFlags, checkOptions, durationText, epoch, given, headerText, query, seconds, short,
} = require("./text.js");

const REQUEST_FILTER = ["route", "method", "status", "delivered", "username", "since", "before", "test", "text", "trace", "limit"];
const VERIFY = "/_sim/requests/verify";
/** The options that allow names which nobody has, with the members of the server's. */
const ANY_NAMES = new Map(["route", "user", "test", "item", "region", "status"]
  .map((name) => [`any${name[0].toUpperCase()}${name.slice(1)}`, `any_${name}`]));

/** Has a list of requests take names that nobody has. */
const LISTED_ANYHOW = Object.fromEntries(["route", "user", "item", "region"].map((name) => [`any_${name}`, true]));

function allowedNames(options) {
  return Object.fromEntries([...ANY_NAMES].filter(([option]) => options[option]).map(([, name]) => [name, true]));
}

/** Beside rules of the audit, what may be ignored: requests that the journal has forgotten. The server's reason has the word. */
const FORGOTTEN = "forgotten";

/** The calls after which a namespace does not remember what happened before, beside its deletion. */
const LOSING = /^(POST \/_sim\/(reset|snapshots\/[^/]+\/restore|scenarios\/([^/]+\/)?start)|DELETE \/_sim\/requests)$/;

/** A promise that knows whether it was awaited. */
class Awaitable extends Promise {
  static get [Symbol.species]() {
    return Promise;
  }

  isAwaited = false;

  then(...handlers) {
    this.isAwaited = true;
    return super.then(...handlers);
  }
}

/**
 * Begins a call of a test, which fails if nothing has waited for the call.
 *
 * @param mustEnd - whether the call must have ended when the test does.
 */
function awaitable(name, call, mustEnd = true) {
  // Made here, so that its stack has the line of the test.
  const error = new SimulatorError(`nothing waited for ${name}, so that its result does not count: write await sim.${name}(…)`);
  const begun = call();
  const promise = new Awaitable((resolve, reject) => begun.then(resolve, (problem) => reject(withFramesOf(problem, error))));
  const made = { promise, error, mustEnd, isOver: false };
  const end = () => { made.isOver = true; };
  begun.then(end, end);
  running.getStore()?.calls.push(made);
  return promise;
}

class Clock {
  #control;

  constructor(control) {
    this.#control = control;
  }

  state() {
    return this.#control.object("GET", "/_sim/clock");
  }

  freeze(at) {
    return this.#control.object("POST", "/_sim/clock/freeze", given({ at }));
  }

  /** Moves the clock by a duration, or with `{ to }` to a moment or to what is due next. */
  advance(by) {
    const isTarget = by !== null && typeof by === "object";
    if (isTarget) checkOptions("advance", by, ["to"]);
    const body = isTarget ? given({ to: by.to }) : given({ by });
    if (!Object.keys(body).length) {
      throw new SimulatorError('advance takes a duration such as "3h" or a number of seconds, or { to: "next" }');
    }
    return this.#control.object("POST", "/_sim/clock/advance", body, { isLong: true });
  }

  resume() {
    return this.#control.object("POST", "/_sim/clock/resume");
  }
}

class Namespace {
  #control;
  /** The scenario that it was made with, if that expects something; null otherwise. */
  #scenario = null;
  /** Problems that were reported or thrown. */
  #reported = new Set();
  /** Notes that wait for the end of the test, with their subjects, by the id of the rule; null if none wait. */
  #deferred = null;
  /** The notes that stood when their rules were removed. */
  #left = [];
  #onNote;
  /** Called before what it remembers is lost. */
  #onLosing = null;
  /** Whether it was deleted here. */
  #isDeleted = false;
  /** The call after which deliveries from before it are forgotten, and the clock then; null if none are. */
  #forgot = null;
  /** The URLs of receivers by the ids of their subscriptions, which deliveries to deleted ones no longer have. */
  #urls = new Map();

  constructor(name, address, { token = null, strict = false, onNote = printNote, test = null, why, limits = {} } = {}) {
    this.name = name;
    this.strict = strict;
    this.test = test;
    this.server = address.replace(/\/+$/, "");
    this.url = `${this.server}/ns/${name}`;
    this.apiToken = "demo-api-token";
    this.#onNote = onNote;
    this.#control = new Control(this.url, token, why, limits);
    this.clock = new Clock(this.#control);
  }

  /** For this package: the client of the namespace. */
  static controlOf(namespace) {
    return namespace.#control;
  }

  /** For this package: has notes that a later event can resolve wait for `verifyRules()`. */
  static deferNotes(namespace) {
    namespace.#deferred = new Map();
  }

  /** For this package: `judge(namespace, isDeletion)` is called, and waited for, before what the namespace remembers is lost. */
  static onLosing(namespace, judge) {
    namespace.#onLosing = judge;
  }

  get environment() {
    return given({
      ENTRUPY_SIM_URL: this.url, ENTRUPY_SIM_SERVER: this.server, ENTRUPY_SIM_NAMESPACE: this.name,
      ENTRUPY_SIM_API_TOKEN: this.apiToken, ENTRUPY_SIM_TOKEN: this.apiToken,
      ENTRUPY_SIM_CONTROL_TOKEN: this.#control.token, [VARIABLE]: this.test === null ? null : headerText(this.test),
    });
  }

  get headers() {
    return this.test === null ? {} : { [HEADER]: headerText(this.test) };
  }

  fetch(target, options = {}) {
    const url = typeof target === "string" && target.startsWith("/") ? this.url + target : String(target);
    if (!url.startsWith(`${this.url}/`)) {
      throw new SimulatorError(`fetch takes a path that begins with a slash, or an address below ${this.url}, got ${short(url)}`);
    }
    const headers = new Headers(options.headers);
    for (const [name, value] of Object.entries(this.headers)) if (!headers.has(name)) headers.set(name, value);
    return fetch(url, { ...options, headers });
  }

  async control(method, target, body, { contentType = "application/json" } = {}) {
    const call = `${method} ${target.split("?")[0]}`;
    const isDeletion = ["DELETE /_sim/namespaces", `DELETE /_sim/namespaces/${this.name}`].includes(call);
    if (call.startsWith("DELETE /_sim/webhooks/")) await this.#subscriptions();
    if (!isDeletion && !LOSING.test(call)) return this.#control.send(method, target, body, contentType, true);
    if (isDeletion) await this.#keepNotes();
    await this.#onLosing?.(this, isDeletion);
    // The journal alone has no deliveries.
    const losesDeliveries = !isDeletion && method === "POST" && (await this.deliveries({ limit: 1 })).length > 0;
    const answer = await this.#control.send(method, target, body, contentType, true);
    this.#isDeleted = isDeletion;
    if (method === "POST") this.#urls.clear();
    if (losesDeliveries) this.#forgot = { call, clock: await this.clock.state() };
    return answer;
  }

  // MARK: Rules

  async outcome(result, options = {}) {
    const match = {
      brand: "brand", username: "username", productCategory: "product_category", configType: "config_type",
      customerItemId: "customer_item_id", component: "component", workflow: "workflow", clientId: "client_id",
      documentType: "document_type", issuingCountry: "issuing_country",
    };
    checkOptions("outcome", options, [...Object.keys(match), "reason", "after", "times"]);
    checkDefined("outcome", options);
    const { reason, after, times } = options;
    return this.#reportRule("outcome rule", await this.#control.object("POST", "/_sim/outcomes", given({
      result, reason, after, times,
      match: given(Object.fromEntries(Object.entries(match).map(([name, member]) => [member, options[name]]))),
    })));
  }

  async fault(effect, options = {}) {
    checkOptions("fault", options, [
      "route", "method", "webhook", "username", "header", "times", "afterRequests", "probability"]);
    checkDefined("fault", options);
    const { route, method, webhook, username, header, times, afterRequests, probability } = options;
    checkRoute(route);
    return this.#reportRule("fault", await this.#control.object("POST", "/_sim/faults", given({
      effect, match: given({ route, method, webhook, username, header }), times, after_requests: afterRequests, probability,
    })));
  }

  async clearFaults() {
    await this.#keepNotes(["faults"]);
    await this.#control.send("DELETE", "/_sim/faults");
  }

  #report(subject, note) {
    this.#reported.add(note.problem);
    this.#onNote(noted(subject, note));
  }

  /** Reports the notes of a rule. Those that no later event can resolve fail a strict test. */
  #reportRule(kind, rule) {
    const subject = `the ${kind} ${rule.id}`;
    const notes = notesOf(rule);
    const wrong = notes.filter((note) => this.strict && !note.may_change);
    for (const note of notes) {
      if (note.may_change && this.#deferred) {
        this.#deferred.set(rule.id, [...(this.#deferred.get(rule.id) ?? []), [subject, note]]);
      } else if (!wrong.includes(note)) {
        this.#report(subject, note);
      }
    }
    if (wrong.length) {
      for (const note of wrong) this.#reported.add(note.problem);
      throw new ExpectationError(wrong.map((note) => noted(subject, note)).join("; "));
    }
    return rule;
  }

  /** The notes of all rules, with their subjects, but for those of rules that a request or item met. */
  async #standingNotes(kinds = ["faults", "outcomes"]) {
    const standing = [];
    for (const [kind, name] of [["faults", "fault"], ["outcomes", "outcome rule"]]) {
      if (!kinds.includes(kind)) continue;
      for (const rule of (await this.#control.object("GET", `/_sim/${kind}`, undefined, { list: kind }))[kind]) {
        this.#deferred?.delete(rule.id);
        if (rule.hits || rule.seen) continue;
        standing.push(...notesOf(rule).filter((note) => note.may_change || !this.#wasReported(note))
          .map((note) => [`the ${name} ${rule.id}`, note]));
      }
    }
    return standing;
  }

  /** Keeps the notes of rules that are about to be removed. */
  async #keepNotes(kinds) {
    if (!this.#deferred) return;
    try {
      this.#left.push(...await this.#standingNotes(kinds));
    } catch (error) {
      // The removal says what is wrong.
      if (!(error instanceof SimulatorError)) throw error;
    }
  }

  #wasReported(note) {
    // A scenario's note has the line before the problem.
    return [...this.#reported].some((text) => text === note.problem || text.endsWith(`: ${note.problem}`));
  }

  async verifyRules() {
    let standing = this.#left;
    try {
      standing = [...standing, ...await this.#standingNotes()];
    } catch (error) {
      if (error.status !== 404) throw error;
      this.#reportGone();
    }
    // Whether the notes of rules that were removed in another way, as by a reset, were resolved before is not known.
    const unknown = [...(this.#deferred?.values() ?? [])].flat();
    this.#deferred = null;
    this.#left = [];
    for (const [subject, note] of this.strict ? unknown : [...standing, ...unknown]) {
      if (!this.#wasReported(note)) this.#report(subject, note);
    }
    if (this.strict && standing.length) throw new ExpectationError(standing.map((pair) => noted(...pair)).join("\n"));
  }

  /** Reports that the namespace is gone. One that was not deleted here fails a strict test: nothing judged it before. */
  #reportGone() {
    if (this.#isDeleted) return;
    const text = `the namespace ${this.name} is gone, so it was not judged: delete it with delete(), which judges it first`;
    if (this.strict) throw new ExpectationError(text);
    this.#onNote(text);
  }

  /** For this package: starts a scenario by its name, or the one in `document`, the bytes of its file. */
  static async startScenario(namespace, scenario, document) {
    const strict = namespace.strict ? "?strict=true" : "";
    const run = await namespace.#control.object("POST",
      (document === null ? `/_sim/scenarios/${encodeURIComponent(scenario)}/start` : "/_sim/scenarios/start") + strict,
      document === null ? {} : { scenario: document }, { list: "notes", isLong: true });
    for (const note of run.notes) namespace.#report(`the scenario ${run.name}`, note);
    if (run.expectations?.length) namespace.#scenario = run.name;
  }

  /** For this package: verifies what the scenario that the namespace was made with expects, at the end of a test. */
  static async verifyScenario(namespace) {
    const name = namespace.#scenario;
    if (name === null) return;
    try {
      await namespace.verifyScenario(name);
    } catch (error) {
      if (error.status !== 404) throw error;
      namespace.#onNote(`what the scenario ${name} expects is not verified: ${error.message}`);
    }
  }

  /**
   * For this package: throws if requests can match nothing, or the journal has forgotten some. That they did not come says nothing
   * then.
   */
  static async checkAbsence(namespace, matches, options = {}, caller) {
    for (const match of matches) {
      await namespace.#askJournal({ match, at_most: MANY, ...allowedNames(options) }, caller);
    }
  }

  /** For this package: throws if deliveries were forgotten that may have matched: how many there were is not known then. */
  static async checkRemembered(namespace, { since }) {
    const known = namespace.#forgot ? [{ ...namespace.#forgot, from: namespace.#forgot.clock.now }] : [];
    // Another program may have restored the namespace.
    const restored = (await namespace.#control.object("GET", "/_sim/webhook-deliveries?limit=1")).forgotten_before;
    if (restored !== undefined) known.push({ call: "the namespace was restored", clock: { epoch: restored }, from: restored });
    for (const { call, clock, from } of known) {
      if (since !== undefined && epoch(since) >= clock.epoch - SAME) continue;
      throw new SimulatorError(
        `deliveries before ${call} are forgotten, so this cannot be checked; all from ${from} on are remembered: `
        + `{ since: ${JSON.stringify(from)} } in expectWebhook`);
    }
  }

  /** For this package: throws if that no delivery matches says nothing. */
  static async checkNoWebhook(namespace, { event, entrupyId, status = "delivered", url, attempts, body, since, anyUrl = false }) {
    await Namespace.checkRemembered(namespace, { since });
    const match = given({ event, entrupy_id: entrupyId, status, url, attempts, body, since });
    const [found, others] = await namespace.#countDeliveries(match);
    if (!found) await namespace.#checkPossible(match, others, anyUrl);
  }

  /** For this package: throws if it cannot be told of an expectation of a scenario whether it is met. */
  static async checkScenario(namespace, name) {
    const { data } = await namespace.#control.answer("POST", `/_sim/scenarios/${encodeURIComponent(name)}/verify`);
    const unknown = namespace.#control.json(data)?.scenario?.expectations?.find((one) => one.unknown);
    if (unknown) throw new SimulatorError(`the scenario ${name}: ${unknown.expectation}: ${unknown.problem}`);
  }

  // MARK: Held requests

  async held() {
    return (await this.#control.object("GET", "/_sim/held", undefined, { list: "held" })).held;
  }

  async release(held, options = {}) {
    checkOptions("release", options, ["status", "body", "dropConnection"]);
    const { status, body, dropConnection } = options;
    if (held === undefined || held === null) {
      if (Object.keys(given(options)).length) {
        throw new SimulatorError("status, body and dropConnection are for one held request: release((await sim.held())[0], { status: 503 })");
      }
      await this.#control.send("DELETE", "/_sim/held");
      return;
    }
    const id = typeof held === "string" ? held : held.id;
    await this.#control.send("POST", `/_sim/held/${encodeURIComponent(id)}/release`, given({
      status, body, drop_connection: dropConnection || undefined }));
  }

  // MARK: Data

  settings(changes = {}) {
    return this.#control.object("PATCH", "/_sim/settings", changes);
  }

  async insertItems(template = {}, options = {}) {
    checkOptions("insertItems", options, ["count"]);
    const made = await this.#control.object("POST", "/_sim/authentications",
      given({ count: options.count, template: { brand: "Nike", ...template } }), { list: "entrupy_ids", isLong: true });
    return made.entrupy_ids;
  }

  async items(filter = {}) {
    checkOptions("items", filter, ["text", "brand", "category", "result", "flag", "username", "limit"]);
    checkDefined("items", filter);
    return this.#pages("/_sim/authentications", "authentications", filter, 25);
  }

  item(entrupyId) {
    return this.#control.object("GET", `/_sim/authentications/${encodeURIComponent(entrupyId)}`);
  }

  setResult(entrupyId, result, options = {}) {
    checkOptions("setResult", options, ["reason"]);
    return this.#control.object("PATCH", `/_sim/authentications/${encodeURIComponent(entrupyId)}`,
      given({ result, reason: options.reason }));
  }

  user(username = "DemoOrg-sim-test-user") {
    return new User(this, this.#control, username);
  }

  resolveFlag(entrupyId, options) {
    checkOptions("resolveFlag", options, ["note", "result"]);
    return this.#control.object("POST", `/_sim/authentications/${encodeURIComponent(entrupyId)}/flag/resolve`,
      given({ note: options.note, result: options.result }));
  }

  requestRetake(entrupyId, options = {}) {
    checkOptions("requestRetake", options, ["regions", "message"]);
    return this.#control.object("POST", `/_sim/authentications/${encodeURIComponent(entrupyId)}/retake`,
      given({ regions: options.regions, message: options.message }));
  }

  async revokeSessions(options = {}) {
    checkOptions("revokeSessions", options, ["username"]);
    checkDefined("revokeSessions", options);
    await this.#control.send("DELETE", `/_sim/sessions${query({ username: options.username })}`);
  }

  async subscribe(url, secret, options = {}) {
    checkOptions("subscribe", options, ["events", "organization", "username", "channel", "format", "signature"]);
    const made = await this.#control.object("POST", "/_sim/webhooks", given({ ...options, url, secret_key: secret }));
    this.#urls.set(made.id, made.url);
    return made;
  }

  async unsubscribe(subscription) {
    const id = typeof subscription === "string" ? subscription : subscription.id;
    await this.control("DELETE", `/_sim/webhooks/${encodeURIComponent(id)}`);
  }

  /** The subscriptions, whose URLs are remembered. */
  async #subscriptions() {
    const { webhooks } = await this.#control.object("GET", "/_sim/webhooks", undefined, { list: "webhooks" });
    for (const { id, url } of webhooks) this.#urls.set(id, url);
    return webhooks;
  }

  async deliveries(filter = {}) {
    checkOptions("deliveries", filter, ["entrupyId", "status", "limit"]);
    checkDefined("deliveries", filter);
    const { entrupyId, ...others } = filter;
    return this.#pages("/_sim/webhook-deliveries", "deliveries", { ...others, entrupy_id: entrupyId }, 100);
  }

  async events(filter = {}) {
    checkOptions("events", filter, ["subject", "kind", "limit"]);
    checkDefined("events", filter);
    return this.#pages("/_sim/event-log", "events", filter, 1000);
  }

  async due() {
    return (await this.#control.object("GET", "/_sim/due", undefined, { list: "due" })).due;
  }

  /** The entries of a list, page by page, at most `limit` or 1,000 of them. */
  async #pages(target, list, { limit = 1000, ...filter }, perPage) {
    if (!Number.isInteger(limit) || limit < 1) throw new SimulatorError(`limit must be a whole number of at least 1, got ${short(limit)}`);
    const found = [];
    let cursor;
    do {
      const page = await this.#control.object(
        "GET", target + query({ ...filter, limit: Math.min(perPage, limit - found.length), cursor }), undefined, { list });
      found.push(...page[list]);
      cursor = page.next_cursor;
    } while (cursor && found.length < limit);
    return found;
  }

  // MARK: Waiting

  settle(options) {
    return awaitable("settle", () => this.#settle(options), false);
  }

  async #settle(options = {}) {
    checkOptions("settle", options, ["within"]);
    await this.#control.send("POST", "/_sim/settle", { within: options.within ?? "5s" }, undefined, true);
  }

  wait(event, options) {
    return awaitable("wait", () => this.#wait(event, options), false);
  }

  async #wait(event, options = {}) {
    checkOptions("wait", options, ["within", "after"]);
    checkDefined("wait", options);
    if (typeof event !== "string") throw new SimulatorError(`wait takes the name of an event, got ${short(event)}`);
    const within = options.within ?? "5s";
    const end = now() + seconds(within) * 1000;
    const left = () => Math.max((end - now()) / 1000, 0.001);
    const silence = this.#control.limits.silence;
    // Subscribes to the topic that the awaited event does not have. So the only event of its topic is the one that ends the stream.
    const [topic, other] = event.startsWith("webhook:") ? ["webhook", "state"] : ["state", "webhook"];
    const opened = await this.#control.open("GET", `/_sim/events${query({ until: event, after: options.after, types: other })}`);
    const { response, watch } = opened;
    if (response.statusCode !== 200) {
      const data = await this.#control.whole(opened);
      throw new SimulatorError(problem("GET", "/_sim/events", response.statusCode, data), response.statusCode);
    }
    let isSilent = left() > silence;
    let text = "";
    let isDeleted = false;
    try {
      watch.expect(Math.min(left(), silence));
      // Heartbeats come every 15 s.
      for await (const part of response) {
        // A line may come in two parts.
        text = text.slice(-40) + part.toString("latin1");
        if (text.includes(`\nevent: ${topic}\n`)) return;
        isDeleted ||= text.includes("\nevent: world.deleted\n");
        isSilent = left() > silence;
        watch.expect(Math.min(left(), silence));
      }
    } catch {
      // What the watch says decides.
    } finally {
      watch.end();
    }
    if (isDeleted) throw new SimulatorError(`${event} did not happen: the namespace ${this.name} was deleted`);
    if (response.complete && !watch.expired) {
      throw new SimulatorError(`${event} did not happen: ${await this.#control.why() || `the server at ${this.server} stopped`}`);
    }
    if (!watch.expired || isSilent) throw await this.#control.broken(watch);
    const clock = await this.clock.state();
    const hint = clock.mode === "frozen" ? `. The clock is frozen at ${clock.now}: advance it` : "";
    throw new SimulatorError(`${event} did not happen within ${durationText(within)}${hint}`);
  }

  // MARK: Requests

  async requests(filter = {}) {
    checkOptions("requests", filter, [...REQUEST_FILTER, "anyRoute"]);
    checkDefined("requests", filter);
    checkFlags("requests", filter, ["anyRoute"]);
    const { anyRoute, ...others } = filter;
    checkRoute(others.route);
    if (others.route !== undefined && !anyRoute) {
      await this.#judged({ match: { route: others.route } }, "requests");
    }
    return this.#pages("/_sim/requests", "requests", { ...others, ...given({ any_route: anyRoute || undefined }) }, 1000);
  }

  request(id) {
    return this.#control.object("GET", typeof id === "number"
      ? `/_sim/requests/sequence:${id}` : `/_sim/requests/${encodeURIComponent(id)}`);
  }

  expectRequest(...values) {
    return awaitable("expectRequest", () => this.#expectRequest(values));
  }

  async #expectRequest(values) {
    const options = named("expectRequest", ["method", "route"], values);
    checkOptions("expectRequest", options, [
      "method", "route", "status", "username", "since", "times", "atLeast", "atMost", "delivered", "test", "headers", "body",
      ...ANY_NAMES.keys()]);
    checkDefined("expectRequest", options);
    checkFlags("expectRequest", options, ANY_NAMES.keys());
    const { method, route, status, username, since, delivered, test, headers, body } = options;
    const allowed = allowedNames(options);
    if (headers !== undefined) checkHeaders("expectRequest", headers);
    if (body !== undefined) checkBody("expectRequest", body);
    const bounds = new Bounds(options);
    checkRoute(route);
    const match = given({ method, route, status, delivered, username, since, test });
    if (headers || body !== undefined) return this.#expectMessage(match, allowed, bounds, headers ?? {}, body);
    const answer = await this.#verify(match, allowed, bounds.members);
    if (answer.error) throw new ExpectationError(`${wanted(match)}: ${answer.error}${nearestRequests(answer.nearest)}`);
  }

  expectRequests(steps, options) {
    return awaitable("expectRequests", () => this.#expectRequests(steps, options));
  }

  async #expectRequests(steps, options = {}) {
    checkOptions("expectRequests", options, ["minGap", "maxGap", "anyRoute"]);
    checkDefined("expectRequests", options);
    if (!Array.isArray(steps)) throw new SimulatorError(`expectRequests takes a list of steps, got ${short(steps)}`);
    const answer = await this.#askJournal({
      sequence: steps.map(step), ...given({ min_gap: options.minGap, max_gap: options.maxGap, any_route: options.anyRoute || undefined }),
    }, "expectRequests");
    if (answer.error) throw new ExpectationError(answer.error + nearestRequests(answer.nearest));
  }

  #verify(match, allowed, bounds) {
    return this.#askJournal({ match, ...allowed, ...bounds }, "expectRequest");
  }

  /** The answer of a verification. One that does not hold has `error`. */
  async #askJournal(body, caller) {
    const { status, data } = await this.#judged(body, caller);
    const answer = this.#control.checked(this.#control.json(data));
    if (status === 409 && typeof answer.error !== "string") throw this.#control.notUnderstood("its 409 has no error");
    // Any other conflict is no verification that failed.
    if (status === 409 && !Array.isArray(answer.nearest)) throw new SimulatorError(problem("POST", VERIFY, status, data), status);
    // Neither so nor otherwise: `.not` must not hold either.
    if (answer.code === "forgotten") throw new SimulatorError(`${answer.error}: { since } in ${caller}`, status);
    return status === 200 ? { ...answer, error: undefined } : answer;
  }

  /** The answer, 200 or 409, of a verification whose names are known. */
  async #judged(body, caller) {
    const { status, data } = await this.#control.answer("POST", VERIFY, body);
    if (status !== 200 && status !== 409) {
      const text = problem("POST", VERIFY, status, data);
      const [option] = [...ANY_NAMES].find(([, name]) => text.includes(`"${name}"`)) ?? [];
      throw new SimulatorError(text + (option ? `: { ${option}: true } in ${caller}` : ""), status);
    }
    return { status, data };
  }

  /** The part of `expectRequest` that needs headers and bodies, at which the server's own verification does not look. */
  async #expectMessage(match, allowed, bounds, headers, body) {
    // The server alone knows routes, and with a maximum whether the journal dropped some.
    const checked = await this.#verify(match, allowed, bounds.most === null ? { at_least: 1 } : { at_most: MANY });
    const words = wanted({ ...match, headers: Object.keys(headers).length ? headers : undefined, body });
    if (checked.error && bounds.most !== null) throw new ExpectationError(`${words}: ${checked.error}${nearestRequests(checked.nearest)}`);
    let found = 0;
    const doubtful = [];
    const near = [];
    for await (const entry of this.#journal({ delivered: match.status === undefined ? undefined : true, ...match })) {
      const kept = await this.#control.object(
        "GET", `/_sim/requests/${encodeURIComponent(entry.id)}${query({ sequence: entry.sequence })}`);
      const differences = headerDifferences(headers, kept.request.headers);
      try {
        differences.push(...bodyDifferences(body, kept.request));
      } catch (error) {
        if (!(error instanceof NotKept)) throw error;
        // Without the body this one counts or not.
        if (!differences.length) {
          doubtful.push(`${error.message}. The journal keeps more with settings({ journal: { body_bytes: … } })`);
          continue;
        }
      }
      if (isDoubtful(differences)) doubtful.push(`${differences[0]}. ${ASK_OTHERWISE}`);
      if (!differences.length) found += 1;
      else if (near.length < 3) near.push({ request: entry, differences });
      if (bounds.isCertain(found)) break;
    }
    // A secret that is not seen is not one that was not sent.
    if (bounds.dependsOn(doubtful.length, found)) {
      throw new SimulatorError(`${words}: whether these requests match is not known: ${doubtful[0]}`);
    }
    if (bounds.holds(found)) return;
    const shownNear = near.length || found
      ? nearestRequests(near) : nearestRequests((await this.#verify(match, { any_route: true }, { at_least: MANY })).nearest);
    throw new ExpectationError(`${words}: expected ${bounds} such requests, found ${found}${shownNear}`);
  }

  /** The requests that match, newest first, page by page. Names that nobody has were judged before. */
  async* #journal(match) {
    let cursor;
    do {
      const page = await this.#control.object(
        "GET", `/_sim/requests${query({ ...match, ...LISTED_ANYHOW, limit: 1000, cursor })}`, undefined, { list: "requests" });
      yield* page.requests;
      cursor = page.next_cursor;
    } while (cursor);
  }

  // MARK: Webhooks

  expectWebhook(...values) {
    return awaitable("expectWebhook", () => this.#expectWebhook(values));
  }

  async #expectWebhook(values) {
    const options = named("expectWebhook", ["event"], values);
    checkOptions("expectWebhook", options, [
      "event", "entrupyId", "status", "url", "attempts", "body", "times", "atLeast", "atMost", "within", "since", "anyUrl"]);
    checkDefined("expectWebhook", options);
    checkFlags("expectWebhook", options, ["anyUrl"]);
    const { event, entrupyId, status = "delivered", url, attempts, body, within = 0, since, anyUrl = false } = options;
    checkDelivery("expectWebhook", { since, body, url, attempts, entrupyId, status });
    if (seconds(within) < 0) throw new SimulatorError(`expectWebhook: within must not be negative, got ${short(within)}`);
    const bounds = new Bounds(options);
    const match = given({ event, entrupy_id: entrupyId, status, url, attempts, body, since });
    if (!DELIVERY_STATES.includes(status)) {
      throw new SimulatorError(`status must be ${DELIVERY_STATES.slice(0, -1).join(", ")} or any, got ${short(status)}`);
    }
    await this.#checkEvent(event);
    if (url !== undefined) await this.#subscriptions();
    const end = now() + seconds(within) * 1000;
    for (;;) {
      const isLast = now() >= end;
      const [found, others, doubtful] = await this.#countDeliveries(match);
      // More can come while it waits, and fewer cannot: what is too many stays so, and what is not too many holds at the end alone.
      if (!isLast && !bounds.isCertain(found)) {
        await sleep(Math.min(50, Math.max(end - now(), 1)));
        continue;
      }
      // That an item which does not exist has no webhook says nothing: this throws then.
      if (!found && match.entrupy_id !== undefined) await this.item(match.entrupy_id);
      if (bounds.dependsOn(doubtful.length, found)) {
        throw new SimulatorError(
          `webhook ${wanted(match)}: whether these deliveries match is not known: ${doubtful[0]}. ${otherwise(doubtful[0])}`);
      }
      if (bounds.most !== null && found <= bounds.most) {
        await Namespace.checkRemembered(this, options);
        if (!found) await this.#checkPossible(match, others, anyUrl);
      }
      if (bounds.holds(found)) return;
      throw new ExpectationError(
        `webhook ${wanted(match)}: expected ${bounds} such deliveries, found ${found}${await this.#webhookHint(others, url)}`);
    }
  }

  /** Throws or notes if no delivery could match: that none did proves nothing then. */
  async #checkPossible(match, others, anyUrl) {
    if (match.since !== undefined) {
      const clock = await this.clock.state();
      if (epoch(match.since) > clock.epoch + SAME) {
        throw new SimulatorError(
          `since lies in the future, so that no delivery can match: ${match.since} is after the namespace's time, ${clock.now}`);
      }
    }
    const subscriptions = await this.#subscriptions();
    const unknown = unknownReceiver(match.url, [...this.#urls.values()]);
    if (unknown && !anyUrl) throw new SimulatorError(`${unknown}. If it is meant: { anyUrl: true } in expectWebhook`);
    if (unknown || match.event === "verification") return;
    let problem = null;
    if (!this.#urls.size && !others.length) problem = "there is no subscription: make one with subscribe()";
    else if (match.event !== undefined && subscriptions.length && !subscriptions.some(({ events }) => events.includes(match.event))) {
      problem = `no subscription has the event ${match.event}`;
    }
    if (!problem) return;
    const text = `webhook ${wanted(match)}: that none came proves nothing, since ${problem}`;
    if (this.strict) throw new SimulatorError(text);
    this.#onNote(text);
  }

  /** Throws if there is no such event: a mistake would make an expectation of none worthless. */
  async #checkEvent(event) {
    if (event === undefined) return;
    const choices = await this.#control.object("GET", "/_sim/choices");
    const known = (choices.lists?.webhook_events ?? []).map((entry) => entry.id);
    if (![...known, "verification"].includes(event)) {
      throw new SimulatorError(`there is no event ${short(event)}: use one of ${known.join(", ")}, or verification`);
    }
  }

  /** The number of deliveries that match, the newest three that do not, with their differences, and what is masked in others. */
  async #countDeliveries(match) {
    let found = 0;
    const others = [];
    const doubtful = [];
    let cursor;
    do {
      const page = await this.#control.object("GET",
        `/_sim/webhook-deliveries${query({ limit: 100, cursor, entrupy_id: match.entrupy_id })}`, undefined, { list: "deliveries" });
      for (const delivery of page.deliveries) {
        const differences = deliveryDifferences(match, delivery, delivery.url ?? this.#urls.get(delivery.subscription_id));
        if (isDoubtful(differences)) doubtful.push(differences[0]);
        if (!differences.length) found += 1;
        else if (others.length < 3) others.push(`\n  ${describeDelivery(delivery)}: ${differences.join(", ")}`);
      }
      cursor = page.next_cursor;
    } while (cursor);
    return [found, others, doubtful];
  }

  async #webhookHint(others, url) {
    const webhooks = await this.#subscriptions();
    const unknown = webhooks.length ? unknownReceiver(url, [...this.#urls.values()]) : null;
    const hint = unknown ? `; ${unknown}` : "";
    if (others.length || hint) return hint + (others.length ? `; nearest:${others.join("")}` : "");
    if (!webhooks.length) return "; there is no subscription: make one with subscribe(), or POST /v2/webhooks";
    const clock = await this.clock.state();
    const isDue = clock.mode === "frozen" && (await this.due()).length > 0;
    return isDue ? `; the clock is frozen at ${clock.now} and something is due: advance it` : "";
  }

  // MARK: Evidence

  verifyScenario(name, options) {
    return awaitable("verifyScenario", () => this.#verifyScenario(name, options));
  }

  async #verifyScenario(name, options = {}) {
    checkOptions("verifyScenario", options, ["strict"]);
    const target = `/_sim/scenarios/${encodeURIComponent(name)}/verify${options.strict ?? this.strict ? "?strict=true" : ""}`;
    const { status, data } = await this.#control.answer("POST", target);
    if (status !== 200 && status !== 409) throw new SimulatorError(problem("POST", target, status, data), status);
    const answer = this.#control.checked(this.#control.json(data), status === 200 ? "notes" : "details");
    if (status === 200) {
      for (const note of answer.notes) this.#report(`the scenario ${name}`, note);
      return;
    }
    // Without its state, the scenario was not started here.
    if (!answer.scenario) throw new SimulatorError(problem("POST", target, status, data), status);
    throw new ExpectationError([answer.error, ...answer.details.map((part) => `${part.field}: ${part.problem}`)].join("\n  "));
  }

  explain(id) {
    return this.#control.object("GET", `/_sim/explain/${encodeURIComponent(id)}`);
  }

  audit(options = {}) {
    checkOptions("audit", options, ["rule", "level"]);
    return this.#audit(options);
  }

  #audit(options) {
    return this.#control.object("GET", `/_sim/audit${query(options)}`, undefined, { list: "findings" });
  }

  expectNoMisuse(options) {
    return awaitable("expectNoMisuse", () => this.#expectNoMisuse(options));
  }

  async #expectNoMisuse(options = {}) {
    checkOptions("expectNoMisuse", options, ["failingAt", "ignore"]);
    checkDefined("expectNoMisuse", options);
    const { failingAt = "error", ignore = {} } = options;
    if (!["error", "warning"].includes(failingAt)) {
      throw new SimulatorError(`failingAt must be "error" or "warning", got ${short(failingAt)}`);
    }
    // A run of all tests does not say again what fails here.
    const report = await this.#audit({ told: failingAt });
    const rules = (report.rules ?? []).map((rule) => rule.id);
    for (const [name, reason] of Object.entries(ignore)) {
      if (![...rules, FORGOTTEN].includes(name)) throw new SimulatorError(`the audit has no rule ${short(name)}; its rules are ${rules.join(", ")}`);
      if (typeof reason !== "string" || !reason.trim()) {
        throw new SimulatorError(`ignore needs a reason for ${name}: a sentence that says why it is meant`);
      }
    }
    const isAsked = (rule, level) => !Object.hasOwn(ignore, rule) && (failingAt === "warning" || level === "error");
    const found = report.findings.filter((finding) => isAsked(finding.rule, finding.level));
    if (!found.length) return this.#reportUnjudged((report.rules ?? []).filter((rule) => isAsked(rule.id, rule.level)), ignore);
    throw new ExpectationError(`the clients did what they should not:${found.map((finding) =>
      `\n  ${finding.level} ${finding.rule}: ${finding.text}`
      + (finding.requests.length ? ` (requests ${finding.requests.map((request) => request.sequence).join(", ")})` : "")).join("")}`);
  }

  /** Reports what rules could not judge. Throws where the journal has forgotten it or the namespace is strict: nothing found says nothing. */
  #reportUnjudged(rules, ignore) {
    for (const { id, not_judged: reason } of rules.filter((rule) => rule.not_judged)) {
      const text = `${id} could not judge everything: ${reason}`;
      if (!reason.includes(FORGOTTEN)) {
        if (this.strict) throw new SimulatorError(`${text}; if that is meant, ignore has the rule`);
        this.#onNote(text);
      } else if (!Object.hasOwn(ignore, FORGOTTEN)) throw new SimulatorError(`${text}; if that is meant, ignore has { ${FORGOTTEN}: "why" }`);
    }
  }

  coverage() {
    return this.#control.object("GET", "/_sim/coverage", undefined, { list: "axes" });
  }

  // MARK: State

  async snapshot(name) {
    await this.#control.send("PUT", `/_sim/snapshots/${encodeURIComponent(name)}`, undefined, undefined, true);
  }

  async restore(name) {
    await this.control("POST", `/_sim/snapshots/${encodeURIComponent(name)}/restore`);
  }

  diff(before, after = "now") {
    const query = new URLSearchParams({ from: before, to: after });
    return this.#control.object("GET", `/_sim/diff?${query}`, undefined, { list: "objects" });
  }

  async reset() {
    await this.control("POST", "/_sim/reset");
  }

  async delete() {
    try {
      await this.control("DELETE", `/_sim/namespaces/${this.name}`);
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }

  async bundle(options = {}) {
    checkOptions("bundle", options, ["maxBytes"]);
    const parts = [];
    await this.#control.download("/_sim/bundle", options.maxBytes ?? 1_000_000_000, (part) => void parts.push(part));
    return Buffer.concat(parts);
  }

  async saveBundle(file, options = {}) {
    checkOptions("saveBundle", options, ["maxBytes"]);
    const place = path.resolve(file);
    await fs.promises.mkdir(path.dirname(place), { recursive: true });
    // Its own name, and for its owner alone: another run may save a bundle of the same test now.
    const part = path.join(path.dirname(place), `${path.basename(place).slice(0, 100)}.${randomUUID()}.part`);
    try {
      const handle = await fs.promises.open(part, "wx", 0o600);
      try {
        await this.#control.download("/_sim/bundle", options.maxBytes ?? 16_000_000_000, (bytes) => handle.writeFile(bytes));
      } finally {
        await handle.close();
      }
      await fs.promises.rename(part, place);
    } finally {
      await fs.promises.rm(part, { force: true });
    }
    return place;
  }
}

function printNote(text) {
  process.stderr.write(`entrupy-sim: note: ${text}\n`);
}

/** The notes of a rule. A server of before `note_details` has only their texts: those that may change end with "yet". */
function notesOf(rule) {
  return rule.note_details?.length ? rule.note_details
    : (rule.notes ?? []).map((text) => ({ field: null, problem: text, may_change: text.endsWith(" yet") }));
}

function noted(subject, note) {
  return [subject, note.field, note.problem].filter(Boolean).join(": ");
}

module.exports = { Clock, Namespace, notesOf, printNote };
