"use strict";
// A namespace: a platform of its own, with its own clock, data, limits and journal.

const fs = require("node:fs");
const path = require("node:path");
const { randomUUID } = require("node:crypto");
const { Control, problem } = require("./client.js");
const { ExpectationError, SimulatorError } = require("./errors.js");
const {
  Bounds, DELIVERY_STATES, MANY, NotKept, bodyDifferences, checkRoute, deliveryDifferences, describeDelivery, headerDifferences,
  nearestRequests, step, wanted,
} = require("./expectations.js");
const { HEADER, VARIABLE } = require("./names.js");
const { checkOptions, durationText, given, headerText, query, seconds, short } = require("./text.js");

const REQUEST_FILTER = ["route", "method", "status", "delivered", "username", "since", "before", "test", "text", "trace", "limit"];
const VERIFY = "/_sim/requests/verify";

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
  /** Problems that were reported or thrown. */
  #reported = new Set();
  /** Notes that wait for the end of the test, with their subjects, by the id of the rule; null if none wait. */
  #deferred = null;
  /** The notes that stood when their rules were removed. */
  #left = [];
  #onNote;

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

  control(method, target, body, { contentType = "application/json" } = {}) {
    return this.#control.send(method, target, body, contentType, true);
  }

  // MARK: Rules

  async outcome(result, options = {}) {
    const match = {
      brand: "brand", username: "username", productCategory: "product_category", configType: "config_type",
      customerItemId: "customer_item_id", component: "component", workflow: "workflow", clientId: "client_id",
      documentType: "document_type", issuingCountry: "issuing_country",
    };
    checkOptions("outcome", options, [...Object.keys(match), "reason", "after", "times"]);
    const { reason, after, times } = options;
    return this.#reportRule("outcome rule", await this.#control.object("POST", "/_sim/outcomes", given({
      result, reason, after, times,
      match: given(Object.fromEntries(Object.entries(match).map(([name, member]) => [member, options[name]]))),
    })));
  }

  async fault(effect, options = {}) {
    checkOptions("fault", options, [
      "route", "method", "webhook", "username", "header", "times", "afterRequests", "probability"]);
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
      // The namespace was deleted.
      if (error.status !== 404) throw error;
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

  /** For this package: starts a scenario by its name, or the one in `document`, the bytes of its file. */
  static async startScenario(namespace, scenario, document) {
    const strict = namespace.strict ? "?strict=true" : "";
    const run = await namespace.#control.object("POST",
      (document === null ? `/_sim/scenarios/${encodeURIComponent(scenario)}/start` : "/_sim/scenarios/start") + strict,
      document === null ? {} : { scenario: document }, { list: "notes", isLong: true });
    for (const note of run.notes) namespace.#report(`the scenario ${run.name}`, note);
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

  resolveFlag(entrupyId, options) {
    checkOptions("resolveFlag", options, ["note", "result"]);
    return this.#control.object("POST", `/_sim/authentications/${encodeURIComponent(entrupyId)}/flag/resolve`,
      given({ note: options.note, result: options.result }));
  }

  subscribe(url, secret, options = {}) {
    checkOptions("subscribe", options, ["events", "organization", "username", "channel", "format", "signature"]);
    return this.#control.object("POST", "/_sim/webhooks", given({ ...options, url, secret_key: secret }));
  }

  async unsubscribe(subscription) {
    const id = typeof subscription === "string" ? subscription : subscription.id;
    await this.#control.send("DELETE", `/_sim/webhooks/${encodeURIComponent(id)}`);
  }

  async deliveries(filter = {}) {
    checkOptions("deliveries", filter, ["entrupyId", "status", "limit"]);
    const { entrupyId, ...others } = filter;
    return this.#pages("/_sim/webhook-deliveries", "deliveries", { ...others, entrupy_id: entrupyId }, 100);
  }

  async events(filter = {}) {
    checkOptions("events", filter, ["subject", "kind", "limit"]);
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

  async settle(options = {}) {
    checkOptions("settle", options, ["within"]);
    await this.#control.send("POST", "/_sim/settle", { within: options.within ?? "5s" }, undefined, true);
  }

  async wait(event, options = {}) {
    checkOptions("wait", options, ["within"]);
    const within = options.within ?? "5s";
    const end = performance.now() + seconds(within) * 1000;
    const left = () => Math.max((end - performance.now()) / 1000, 0.001);
    const silence = this.#control.limits.silence;
    const opened = await this.#control.open("GET", `/_sim/events${query({ until: event })}`);
    const { response, watch } = opened;
    if (response.statusCode !== 200) {
      const data = await this.#control.whole(opened);
      throw new SimulatorError(problem("GET", "/_sim/events", response.statusCode, data), response.statusCode);
    }
    let isSilent = left() > silence;
    try {
      watch.expect(Math.min(left(), silence));
      // The server ends the stream once the event has come. Heartbeats come every 15 s.
      for await (const part of response) {
        void part;
        isSilent = left() > silence;
        watch.expect(Math.min(left(), silence));
      }
      if (response.complete) return;
    } catch {
      // What the watch says decides.
    } finally {
      watch.end();
    }
    if (!watch.expired || isSilent) throw await this.#control.broken(watch);
    const clock = await this.clock.state();
    const hint = clock.mode === "frozen" ? `. The clock is frozen at ${clock.now}: advance it` : "";
    throw new SimulatorError(`${event} did not happen within ${durationText(within)}${hint}`);
  }

  // MARK: Requests

  async requests(filter = {}) {
    checkOptions("requests", filter, [...REQUEST_FILTER, "anyRoute"]);
    const { anyRoute, ...others } = filter;
    checkRoute(others.route);
    if (others.route !== undefined && !anyRoute) {
      await this.#askJournal({ match: { route: others.route }, at_least: 0 }, "requests");
    }
    return this.#pages("/_sim/requests", "requests", others, 1000);
  }

  request(id) {
    return this.#control.object("GET", typeof id === "number"
      ? `/_sim/requests/sequence:${id}` : `/_sim/requests/${encodeURIComponent(id)}`);
  }

  async expectRequest(method, route, options = {}) {
    checkOptions("expectRequest", options, [
      "status", "username", "since", "times", "atLeast", "atMost", "anyRoute", "delivered", "test", "headers", "body"]);
    const { status, username, since, anyRoute, delivered, test, headers, body } = options;
    const bounds = new Bounds(options);
    checkRoute(route);
    const match = given({ method, route, status, delivered, username, since, test });
    if (headers || body !== undefined) return this.#expectMessage(match, anyRoute, bounds, headers ?? {}, body);
    const answer = await this.#verify(match, anyRoute, bounds.members);
    if (answer.error) throw new ExpectationError(`${wanted(match)}: ${answer.error}${nearestRequests(answer.nearest)}`);
  }

  async expectRequests(steps, options = {}) {
    checkOptions("expectRequests", options, ["minGap", "maxGap", "anyRoute"]);
    if (!Array.isArray(steps)) throw new SimulatorError(`expectRequests takes a list of steps, got ${short(steps)}`);
    const answer = await this.#askJournal({
      sequence: steps.map(step), ...given({ min_gap: options.minGap, max_gap: options.maxGap, any_route: options.anyRoute || undefined }),
    }, "expectRequests");
    if (answer.error) throw new ExpectationError(answer.error + nearestRequests(answer.nearest));
  }

  #verify(match, anyRoute, bounds) {
    return this.#askJournal({ match, ...given({ any_route: anyRoute || undefined }), ...bounds }, "expectRequest");
  }

  /** The answer of a verification. One that does not hold has `error`. */
  async #askJournal(body, caller) {
    const { status, data } = await this.#control.answer("POST", VERIFY, body);
    if (status !== 200 && status !== 409) {
      const text = problem("POST", VERIFY, status, data);
      throw new SimulatorError(text + (text.includes("any_route") ? `: { anyRoute: true } in ${caller}` : ""), status);
    }
    const answer = this.#control.checked(this.#control.json(data));
    if (status === 409 && typeof answer.error !== "string") throw this.#control.notUnderstood("its 409 has no error");
    // Neither so nor otherwise: `.not` must not hold either.
    if (answer.code === "forgotten") throw new SimulatorError(`${answer.error}: { since } in ${caller}`, status);
    return status === 200 ? { ...answer, error: undefined } : answer;
  }

  /** The part of `expectRequest` that needs headers and bodies, at which the server's own verification does not look. */
  async #expectMessage(match, anyRoute, bounds, headers, body) {
    // The server alone knows routes, and with a maximum whether the journal dropped some.
    const checked = await this.#verify(match, anyRoute, bounds.most === null ? { at_least: 0 } : { at_most: MANY });
    const words = wanted({ ...match, headers: Object.keys(headers).length ? headers : undefined, body });
    if (checked.error) throw new ExpectationError(`${words}: ${checked.error}${nearestRequests(checked.nearest)}`);
    let found = 0;
    let unknown = [];
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
          unknown.push(error.message);
          continue;
        }
      }
      if (!differences.length) found += 1;
      else if (near.length < 3) near.push({ request: entry, differences });
      if (bounds.isCertain(found)) break;
    }
    if (unknown.length && bounds.holds(found) !== bounds.holds(found + unknown.length)) {
      throw new SimulatorError(
        `${words}: whether these requests match is not known: ${unknown[0]}. The journal keeps more with `
        + "settings({ journal: { body_bytes: … } })");
    }
    if (bounds.holds(found)) return;
    const shownNear = near.length || found
      ? nearestRequests(near) : nearestRequests((await this.#verify(match, true, { at_least: MANY })).nearest);
    throw new ExpectationError(`${words}: expected ${bounds} such requests, found ${found}${shownNear}`);
  }

  /** The requests that match, newest first, page by page. */
  async* #journal(match) {
    let cursor;
    do {
      const page = await this.#control.object(
        "GET", `/_sim/requests${query({ ...match, limit: 1000, cursor })}`, undefined, { list: "requests" });
      yield* page.requests;
      cursor = page.next_cursor;
    } while (cursor);
  }

  // MARK: Webhooks

  async expectWebhook(event, options = {}) {
    checkOptions("expectWebhook", options, [
      "entrupyId", "status", "url", "attempts", "body", "times", "atLeast", "atMost", "within"]);
    const { entrupyId, status = "delivered", url, attempts, body, within = 0 } = options;
    const bounds = new Bounds(options);
    const match = given({ event, entrupy_id: entrupyId, status, url, attempts, body });
    if (!DELIVERY_STATES.includes(status)) {
      throw new SimulatorError(`status must be ${DELIVERY_STATES.slice(0, -1).join(", ")} or any, got ${short(status)}`);
    }
    await this.#checkEvent(event);
    const end = performance.now() + seconds(within) * 1000;
    for (;;) {
      const [found, others] = await this.#countDeliveries(match);
      if (bounds.holds(found)) return;
      // More can come while it waits, and fewer cannot.
      if ((bounds.most !== null && found > bounds.most) || performance.now() >= end) {
        throw new ExpectationError(
          `webhook ${wanted(match)}: expected ${bounds} such deliveries, found ${found}${await this.#webhookHint(others)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Throws if there is no such event: a mistake would make an expectation of none worthless. */
  async #checkEvent(event) {
    if (event === undefined || event === null) return;
    const choices = await this.#control.object("GET", "/_sim/choices");
    const known = (choices.lists?.webhook_events ?? []).map((entry) => entry.id);
    if (![...known, "verification"].includes(event)) {
      throw new SimulatorError(`there is no event ${short(event)}: use one of ${known.join(", ")}, or verification`);
    }
  }

  /** The number of deliveries that match, and the newest three that do not, with their differences. */
  async #countDeliveries(match) {
    let found = 0;
    const others = [];
    let cursor;
    do {
      const page = await this.#control.object("GET",
        `/_sim/webhook-deliveries${query({ limit: 100, cursor, entrupy_id: match.entrupy_id })}`, undefined, { list: "deliveries" });
      for (const delivery of page.deliveries) {
        const differences = deliveryDifferences(match, delivery);
        if (!differences.length) found += 1;
        else if (others.length < 3) others.push(`\n  ${describeDelivery(delivery)}: ${differences.join(", ")}`);
      }
      cursor = page.next_cursor;
    } while (cursor);
    return [found, others];
  }

  async #webhookHint(others) {
    if (others.length) return `; nearest:${others.join("")}`;
    const { webhooks } = await this.#control.object("GET", "/_sim/webhooks", undefined, { list: "webhooks" });
    if (!webhooks.length) return "; there is no subscription: make one with subscribe(), or POST /v2/webhooks";
    const clock = await this.clock.state();
    const isDue = clock.mode === "frozen" && (await this.due()).length > 0;
    return isDue ? `; the clock is frozen at ${clock.now} and something is due: advance it` : "";
  }

  // MARK: Evidence

  async verifyScenario(name, options = {}) {
    checkOptions("verifyScenario", options, ["strict"]);
    const target = `/_sim/scenarios/${encodeURIComponent(name)}/verify${options.strict ?? this.strict ? "?strict=true" : ""}`;
    const { status, data } = await this.#control.answer("POST", target);
    if (status !== 200 && status !== 409) throw new SimulatorError(problem("POST", target, status, data), status);
    const answer = this.#control.checked(this.#control.json(data), status === 200 ? "notes" : "details");
    if (status === 200) {
      for (const note of answer.notes) this.#report(`the scenario ${name}`, note);
      return;
    }
    throw new ExpectationError([answer.error, ...answer.details.map((part) => `${part.field}: ${part.problem}`)].join("\n  "));
  }

  explain(id) {
    return this.#control.object("GET", `/_sim/explain/${encodeURIComponent(id)}`);
  }

  audit(options = {}) {
    checkOptions("audit", options, ["rule", "level"]);
    return this.#control.object("GET", `/_sim/audit${query(options)}`, undefined, { list: "findings" });
  }

  async expectNoMisuse(options = {}) {
    checkOptions("expectNoMisuse", options, ["failingAt", "ignore"]);
    const { failingAt = "error", ignore = {} } = options;
    if (!["error", "warning"].includes(failingAt)) {
      throw new SimulatorError(`failingAt must be "error" or "warning", got ${short(failingAt)}`);
    }
    const report = await this.audit();
    const rules = (report.rules ?? []).map((rule) => rule.id);
    for (const [name, reason] of Object.entries(ignore)) {
      if (!rules.includes(name)) throw new SimulatorError(`the audit has no rule ${short(name)}; its rules are ${rules.join(", ")}`);
      if (typeof reason !== "string" || !reason.trim()) {
        throw new SimulatorError(`ignore needs a reason for ${name}: a sentence that says why it is meant`);
      }
    }
    const found = report.findings.filter(
      (finding) => !Object.hasOwn(ignore, finding.rule) && (failingAt === "warning" || finding.level === "error"));
    if (!found.length) return;
    throw new ExpectationError(`the clients did what they should not:${found.map((finding) =>
      `\n  ${finding.level} ${finding.rule}: ${finding.text}`
      + (finding.requests.length ? ` (requests ${finding.requests.map((request) => request.sequence).join(", ")})` : "")).join("")}`);
  }

  coverage() {
    return this.#control.object("GET", "/_sim/coverage", undefined, { list: "axes" });
  }

  // MARK: State

  async snapshot(name) {
    await this.#control.send("PUT", `/_sim/snapshots/${encodeURIComponent(name)}`, undefined, undefined, true);
  }

  async restore(name) {
    await this.#control.send("POST", `/_sim/snapshots/${encodeURIComponent(name)}/restore`, undefined, undefined, true);
  }

  async reset() {
    await this.#control.send("POST", "/_sim/reset", undefined, undefined, true);
  }

  async delete() {
    await this.#keepNotes();
    try {
      await this.#control.send("DELETE", `/_sim/namespaces/${this.name}`, undefined, undefined, true);
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
