/**
 * entrupy-sim for tests: starts a server, makes a namespace for each test, and proves what was asked.
 *
 * Options are in camelCase. JSON that is sent or received, such as effects, settings, items and entries of the journal, keeps the
 * names of the control API.
 */

import type {
  AuditReport, ClockState, Coverage, Delivery, DeliveryStatus, Difference, DueWork, Explanation, FaultEffect, FaultRule, HeldRequest, Item,
  ItemSummary, JournalEntry, KeptMessage, LoggedEvent, OutcomeRule, Subscription,
} from "./answers.js";

export * from "./answers.js";

/** The version of entrupy-sim that this package belongs to. */
export const VERSION: string;

/** A duration: a number of seconds, or a text such as `"90s"`, `"1h30m"`, `"300ms"`, `"1.5d"`. At most 100 years. */
export type Duration = string | number;

/** A moment: ISO 8601 with an offset, such as `"2026-01-05T09:00:00Z"`, or epoch seconds. */
export type Moment = string | number;

/** The methods of requests. */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** JSON of the control API. Members that are not declared here may come with a later version. */
export interface JSONObject {
  [member: string]: unknown;
}

/** An expectation that does not hold. The message says what was expected, and what came nearest. */
export class ExpectationError extends Error {
  constructor(text: string);
}

/**
 * Anything else that is wrong: an option, a route that the platforms do not have, a server that does not answer. The message is one
 * sentence.
 */
export class SimulatorError extends Error {
  constructor(text: string, status?: number | null);
  /** The status of the server's answer; null if there was none. */
  readonly status: number | null;
}

/** What start() and connect() take alike. */
export interface CommonOptions {
  /** The token of the server's control API. The default is that of the server that is started, else `ENTRUPY_SIM_CONTROL_TOKEN`. */
  controlToken?: string;
  /**
   * Whether notes on rules and scenarios are errors. They name parts that nothing matches, such as a misspelt route. The default is
   * false.
   */
  strict?: boolean;
  /** Gets each note as a text. The default prints it to standard error. */
  onNote?: (text: string) => void;
  /**
   * The folder for the bundles and pages of tests that fail, or false for none. The default is `ENTRUPY_SIM_ARTIFACTS`, or
   * `.entrupy-sim`. A bundle holds tokens; only its owner can read it.
   */
  artifacts?: string | false;
  /**
   * Fails tests whose clients do what they should not: errors alone, or warnings too. The default is `ENTRUPY_SIM_AUDIT`, or no
   * judgement.
   */
  audit?: "error" | "warning" | false;
  /** The path of the program. The default is `ENTRUPY_SIM_BINARY`, the package of this platform, or `entrupy-sim` in `PATH`. */
  binary?: string;
}

/** What start() takes. */
export interface StartOptions extends CommonOptions {
  /** The address of a server that runs already; a namespace in it is cut off. The default is `ENTRUPY_SIM_URL`, or to start one. */
  url?: string;
  /**
   * More arguments of `entrupy-sim serve`. Without `--port` it takes a free one, without `--data-dir` or `--bundle` it keeps everything
   * in memory.
   */
  arguments?: ReadonlyArray<string | number>;
  /** The longest time until the server is open. The default is 60 s. */
  startWithin?: Duration;
}

/**
 * Starts a server in memory, on a free port of loopback, or connects to the one at `url` or `ENTRUPY_SIM_URL`.
 *
 * A server that was started ends with stop(), or with this process, also after `kill -9`. It does not keep the process alive. Of the
 * variables of servers in the environment only `ENTRUPY_SIM_LOG_LEVEL` counts.
 *
 * @throws SimulatorError if there is no program, it does not start in time, or it is of another version.
 */
export function start(options?: StartOptions): Promise<Simulator>;

/**
 * Connects to a server that runs already.
 *
 * @param url - the server's address; a namespace in it is cut off.
 * @throws SimulatorError if no server answers, or one of another minor version.
 */
export function connect(url: string | URL, options?: CommonOptions): Promise<Simulator>;

/**
 * Has `fetch`, `node:http` and `node:https` send the name of the running test as `X-Sim-Test` to the origin of `url`, and to no other
 * one, also not by a redirect. A request that has the header keeps it. start() and connect() do this; call it in a process that a test
 * starts: there the name is that in `ENTRUPY_SIM_TEST`.
 *
 * @param url - the default is `ENTRUPY_SIM_URL`.
 * @returns a function that ends it.
 * @throws SimulatorError if `url` is not an http or https URL.
 */
export function nameRequests(url?: string): () => void;

/** How a namespace is made. */
export interface NamespaceOptions {
  /** The beginning of its name. The default is `test`. */
  prefix?: string;
  /** A scenario to start: the name of one that the server has, or the path of a YAML file. */
  scenario?: string;
  /** `standard` (the default), `empty`, or the path of a file of seed data, which is added to `empty`. */
  seed?: "standard" | "empty" | (string & {});
  /** Freezes the clock at this moment. */
  frozenAt?: Moment;
  /** Fixes all ids and tokens: 0 to 9,007,199,254,740,991. */
  randomSeed?: number;
  /** The time without use after which the server deletes it. The default is `30m`. */
  ttl?: Duration;
  /** `strict` of this namespace. The default is that of start(). */
  strict?: boolean;
  /** `onNote` of this namespace. The default is that of start(). */
  onNote?: (text: string) => void;
  /** The name of the test, for `X-Sim-Test` and the bundle. The default is what the runner says, where that is known. */
  test?: string;
}

/** How the namespace of a test is made, and how the test is judged. */
export interface TestOptions extends NamespaceOptions {
  /** Rules of the audit whose findings are meant in this test, with the reason for each. `forgotten`: that the journal is emptied. */
  ignoreMisuse?: Record<string, string>;
  /** Whether the test, if it passes, fails where the scenario expects something that did not happen. The default is true. */
  verify?: boolean;
}

/** A running server. start() and connect() make it. */
export class Simulator {
  private constructor();
  /** The server's address, without a namespace. */
  readonly url: string;
  /** The token of its control API; null if it has none. */
  readonly controlToken: string | null;
  /** The server's version. */
  readonly version: string;

  /**
   * Gives a test a namespace of its own: `test("a late result", simulator.test({ frozenAt }, async (sim) => { … }))`.
   *
   * The function that it returns is for `test` of node:test, Vitest and Jest, and hands what the runner gives to `body` after the
   * namespace. If `body` fails, its error says what the namespace saw, and bundle and page are saved. At the end the rules and
   * what the scenario expects are verified and, with `audit`, the clients are judged; then the namespace is deleted.
   */
  test<Result>(body: (sim: Namespace, ...given: any[]) => Result | Promise<Result>): () => Promise<Result>;
  test<Result>(options: TestOptions, body: (sim: Namespace, ...given: any[]) => Result | Promise<Result>): () => Promise<Result>;

  /** Does at once what test() does for a runner, and returns what `body` returns. Without the option `test` no bundle is saved. */
  withNamespace<Result>(body: (sim: Namespace) => Result | Promise<Result>): Promise<Result>;
  withNamespace<Result>(options: TestOptions, body: (sim: Namespace) => Result | Promise<Result>): Promise<Result>;

  /**
   * Makes a namespace, which lives until it is deleted or was not used for `ttl`.
   *
   * @throws SimulatorError if a scenario or seed data is wrong; then there is no namespace.
   */
  makeNamespace(options?: NamespaceOptions): Promise<Namespace>;

  /** Which documented answers, errors, states and limits were met, over all namespaces, or those whose names begin with `prefix`. */
  coverage(options?: { prefix?: string }): Promise<Coverage>;

  /**
   * Stops a server that start() started. One that does not end within 30 s is killed. Another server goes on.
   *
   * Where the audit is on and judged nobody, or not the clients of some namespaces, a note says so; with `strict`, it fails with
   * ExpectationError, once the server is stopped.
   */
  stop(): Promise<void>;
}

/** What an advance came to. */
export interface ClockAdvance extends ClockState {
  reached: boolean;
}

/** The clock of a namespace. Advancing it makes everything happen that falls due. */
export class Clock {
  private constructor();
  /** The time and whether the clock is frozen. */
  state(): Promise<ClockState>;
  /** Stops the clock, at a moment or now. */
  freeze(at?: Moment): Promise<ClockState>;
  /**
   * Moves the clock by a duration, to a moment, or to what is due next. Whatever falls due on the way has happened when it returns:
   * results, time-outs, webhook attempts. At most ten minutes of real time.
   *
   * With `{ to: "next" }` and nothing due, `reached` is false, so `while ((await sim.clock.advance({ to: "next" })).reached);` ends.
   */
  advance(by: Duration | { to: Moment | "next" }): Promise<ClockAdvance>;
  /** Lets the clock run again, from where it is. */
  resume(): Promise<ClockState>;
}

/** What a fault rule matches, and when it counts. */
export interface FaultOptions {
  /** A glob over the path, without the namespace: `/sdk/results/*`. */
  route?: string;
  method?: Method;
  /** The event of webhooks that fail, or `*`. */
  webhook?: string;
  username?: string;
  /** Names of headers, each with a glob for its value. */
  header?: Record<string, string>;
  /** How often it decides at most. The default is always. */
  times?: number;
  /** How many matches pass first. */
  afterRequests?: number;
  /** 0 to 1. */
  probability?: number;
}

/** What an outcome rule matches, and when its result comes. */
export interface OutcomeOptions {
  brand?: string;
  username?: string;
  productCategory?: string;
  configType?: string;
  /** A glob: `late-*`. */
  customerItemId?: string;
  /** A component of App Components: the rule then decides what happens there. */
  component?: "session" | "document" | "biometrics";
  workflow?: string;
  clientId?: string;
  documentType?: string;
  issuingCountry?: string;
  /** The reason of an invalid result. */
  reason?: string;
  /** The time from the submission to the result. The default is the namespace's `result.delay`. */
  after?: Duration;
  /** How many items it decides at most. The default is all. */
  times?: number;
}

/** A request with headers and bodies. */
export interface JournalExchange extends JournalEntry {
  request: KeptMessage;
  response: KeptMessage;
}

/** Which requests to list. */
export interface RequestFilter {
  /** A glob over the path, without the namespace. One that the platforms do not have is an error. */
  route?: string;
  method?: Method;
  /** A status or a class of them: `429`, `"4xx"`. */
  status?: number | string;
  delivered?: boolean | "any";
  username?: string;
  /** The earliest time by the namespace's clock, or `sequence:N`, the number of the first request. */
  since?: Moment;
  /** The first time that is too late. */
  before?: Moment;
  /** The name in `X-Sim-Test`. */
  test?: string;
  /** Up to 10 words that the request shows. */
  text?: string;
  trace?: string;
  /** The most entries. The default is 1,000. */
  limit?: number;
  /** Allows a route that the platforms do not have. */
  anyRoute?: boolean;
}

/** How many are expected. Without any of these, one is enough; `times` excludes the others. 0 to 1,000,000,000. */
export interface Count {
  times?: number;
  atLeast?: number;
  atMost?: number;
}

/** Which requests are expected, and how many. */
export interface RequestExpectation extends Count {
  /** A status or a class of them: `429`, `"4xx"`. Then only answers that were delivered count, unless `delivered` says otherwise. */
  status?: number | string;
  username?: string;
  /** The earliest time by the namespace's clock, or `sequence:N`, the number in the journal of the first request that counts. */
  since?: Moment;
  /** Whether the answer reached the client. */
  delivered?: boolean | "any";
  /** The name in `X-Sim-Test`: `sim.test` is that of this test. */
  test?: string;
  /**
   * For each name a text, a pattern that is found in it, or null: the request does not have it. The journal masks secrets as `***`:
   * where it is not known whether a masked value, here or in the body, is the expected one, and that would decide, it is a SimulatorError.
   */
  headers?: Record<string, string | RegExp | null>;
  /**
   * A text that the body contains, a pattern, or an object or list that is a part of its JSON: members may be beside those that are
   * given, lists have the same length, and patterns work inside too.
   */
  body?: unknown;
  /** Allows a route that the platforms do not have, or not with this method. */
  anyRoute?: boolean;
  /** Allows a user that there is not. As the next ones, for an expectation that no request came. */
  anyUser?: boolean;
  /** Allows a test that has sent no request. */
  anyTest?: boolean;
  /** Allows an item or a capture in the route that there is not. */
  anyItem?: boolean;
  /** Allows a region in the route that no workflow has. */
  anyRegion?: boolean;
  /** Allows a status that the routes do not answer. */
  anyStatus?: boolean;
  /** The method, where it is no parameter. */
  method?: Method;
  /** The route, where it is no parameter. */
  route?: string;
}

/** A step of a sequence. */
export type Step = readonly [method: Method, route: string, status?: number | string] | {
  method?: Method;
  route?: string;
  status?: number | string;
  delivered?: boolean | "any";
  username?: string;
  test?: string;
};

/** How long the client waited between neighbours: real time, or the namespace's where it was moved, whichever is longer. */
export interface Gaps {
  minGap?: Duration;
  maxGap?: Duration;
  /** Allows routes that the platforms do not have. */
  anyRoute?: boolean;
}

/** Which webhooks are expected, and how many. */
export interface WebhookExpectation extends Count {
  /** The item. */
  entrupyId?: string;
  /** The default is `delivered`. */
  status?: DeliveryStatus | "any";
  /** The receiver's URL. That none came to one that no subscription has or had is a SimulatorError. */
  url?: string | RegExp;
  /** The number of attempts. */
  attempts?: number;
  /** As of a request. */
  body?: unknown;
  /**
   * How long to wait for them, in real time. The default is not to wait: settle() or advance the clock first. `times` and `atMost` wait
   * for all of it, unless too many come.
   */
  within?: Duration;
  /**
   * The earliest time of a delivery that counts, by the namespace's clock: ISO 8601 with an offset, or epoch seconds. After reset(),
   * restore() or the start of a scenario `times` and `atMost` need it, since deliveries before are forgotten.
   */
  since?: Moment;
  /** The event, where it is no parameter. */
  event?: string;
  /** Allows a `url` that no subscription has or had, for an expectation that no webhook came. */
  anyUrl?: boolean;
}

/** What a subscription is for. */
export interface SubscriptionOptions {
  /** The names of events. The default is all. */
  events?: string[];
  /** The default is the first organization of the seed data. */
  organization?: string;
  username?: string;
  channel?: string;
  format?: "items" | "event";
  signature?: "sha256-base64" | "sha256-hex" | "hex";
}

/** How a held request goes on. */
export interface Release {
  /** Answers it so. A request that was held before it was handled is then not handled. */
  status?: number;
  /** The body of that answer, as JSON. */
  body?: unknown;
  /** Resets its connection instead. */
  dropConnection?: boolean;
}

/** What an item is made of, beside other members of an item. */
export interface ItemTemplate extends JSONObject {
  /** The default is Nike. */
  brand?: string;
  /** The default is `authentic`. */
  result?: string;
  flag?: string;
  username?: string;
  customer_item_id?: string;
}

/** The state of a flag, as the SDK's API has it. */
export interface FlagState extends JSONObject {
  /** `none`, `flagged` or `resolved`. */
  id: string;
  /** Whether the user may flag the item. */
  is_flaggable: boolean;
  flag_status: JSONObject & {
    id: string;
    is_flaggable: boolean;
    /** null if there is no flag. Times are in epoch seconds. */
    flag_info: (JSONObject & {
      /** The id of the reason. */
      id: string; label: string; message: string | null; flagged_at: number; resolved_at: number | null; note: string | null;
    }) | null;
  };
  supported_flag_reasons: Array<{ id: string; label: string }>;
}

/**
 * A user of the app, with a session of the SDK's API. `sim.user()` makes one.
 *
 * These are requests of the platform, as an app and its back end send them: they are in the journal, rules and limits count, and a
 * refusal is a SimulatorError with the platform's status. The first one logs the user in. A session that has ended is 401 then: login()
 * makes another one.
 */
export class User {
  private constructor();
  /** The username, such as `DemoOrg-sim-test-user`; before the login what `sim.user()` was given. */
  readonly username: string;
  /**
   * Logs the user in as the app and its back end would, and returns the token of the new session, for `Authorization: Token TOKEN` in
   * requests below `/sdk`. A user who does not exist is made.
   *
   * @throws SimulatorError if the organization has no API token, or the platform refuses.
   */
  login(): Promise<string>;
  /**
   * Flags an item, as the user does in the app.
   *
   * @param item - the item's id.
   * @param options - `reason` is the id of a reason, such as `wrong_result`; without it, the platform takes the first one. `message` is the
   *   user's text.
   * @throws SimulatorError with the status 400 for a result that may not be flagged or a reason that does not exist, 403 where the
   *   organization does not flag through the SDK, 404 for an item of another user, 409 for one that is flagged already.
   */
  flag(item: string, options?: { reason?: string; message?: string }): Promise<FlagState>;
  /**
   * Takes the user's flag from an item.
   *
   * @throws SimulatorError as flag() does: 409 for an item without a flag.
   */
  unflag(item: string): Promise<FlagState>;
}

/** A namespace: a platform of its own, with its own clock, data, limits and journal. test() and makeNamespace() make it. */
export class Namespace {
  private constructor();
  readonly name: string;
  /** The base URL for clients. */
  readonly url: string;
  /** The server's address, without the namespace. */
  readonly server: string;
  /** The API token of the seed data's organization DemoOrg. */
  readonly apiToken: string;
  /** The name of the test; null if it has none. */
  readonly test: string | null;
  /** Whether notes on rules and scenarios are errors. */
  readonly strict: boolean;
  readonly clock: Clock;
  /** The variables for a process that a test starts: `spawn("my-backend", { env: { ...process.env, ...sim.environment } })`. */
  readonly environment: Record<string, string>;
  /** `X-Sim-Test` with the name of the test, for clients that do not use `fetch`, `node:http` or `node:https`. Empty without a name. */
  readonly headers: Record<string, string>;

  /** `fetch` of a path of this namespace, or of an address below it, with `X-Sim-Test`. */
  fetch(target: string | URL, options?: RequestInit): Promise<Response>;
  /**
   * Sends any request to the control API of this namespace.
   *
   * @param body - a value to send as JSON; with another `contentType` a text or bytes.
   * @returns the answer's JSON, its text if it is another kind of text, else its bytes; undefined if it is empty.
   * @throws SimulatorError for every status but 2xx. An answer may take ten minutes to begin, and has at most 64 MB.
   */
  control(method: string, path: string, body?: unknown, options?: { contentType?: string }): Promise<any>;

  /** Decides the results of items that are submitted from now on: `outcome("unknown", { customerItemId: "late-*", after: "3h" })`. */
  outcome(result: string, options?: OutcomeOptions): Promise<OutcomeRule>;
  /** Makes requests or webhooks fail: `fault({ status: 503 }, { route: "/sdk/search", times: 2 })`. */
  fault(effect: FaultEffect, options?: FaultOptions): Promise<FaultRule>;
  /** Removes every fault. */
  clearFaults(): Promise<void>;
  /**
   * Reports the notes of rules that still stand, such as a user who was never created; where the namespace is strict, they fail with
   * ExpectationError. A rule that was met has none. test() calls it at the end.
   */
  verifyRules(): Promise<void>;

  /** The requests that faults hold, oldest first. `wait("request:held")` waits for one. */
  held(): Promise<HeldRequest[]>;
  /**
   * Lets a held request go on, or all of them. The answer of the request comes a moment later.
   *
   * @throws SimulatorError with the status 409 if it went on before.
   */
  release(held?: HeldRequest | string, options?: Release): Promise<void>;

  /** Changes settings by a JSON merge patch, and returns all of them: `settings({ rate_limits: "off", result: { delay: "3h" } })`. */
  settings(changes?: JSONObject): Promise<JSONObject>;
  /**
   * Makes items without captures, and returns the ids of the first 1,000. Without `count` it is one item, which sends its webhooks.
   * With `count`, even with 1, none are sent.
   */
  insertItems(template?: ItemTemplate, options?: { count?: number }): Promise<string[]>;
  /** The items, newest first. The default of `limit` is 1,000. */
  items(filter?: {
    text?: string; brand?: string; category?: string; result?: string; flag?: string; username?: string; limit?: number;
  }): Promise<ItemSummary[]>;
  /** An item with its timeline, and as the SDK and versions 1 and 2 of the partner API have it. */
  item(entrupyId: string): Promise<Item>;
  /** Sets the result of an item, as the platform would. `reason` is only for `invalid`. */
  setResult(entrupyId: string, result: string, options?: { reason?: string }): Promise<Item>;
  /**
   * A user of the app, who can flag items: `sim.user().flag(item)`. Sends nothing yet.
   *
   * @param username - a username, or the `unique_user_id` of a user of the first organization. The default is the user of the items that
   *   insertItems() makes, `DemoOrg-sim-test-user`. Each call gives a user who is not logged in.
   */
  user(username?: string): User;
  /** Answers a flag, as support would. `result` is the new result; without it, the result stays. */
  resolveFlag(entrupyId: string, options: { note: string; result?: string }): Promise<JSONObject>;
  /** Asks for new pictures of an item, as support would. `regions` are ids; the default is all that the workflow requires. */
  requestRetake(entrupyId: string, options?: { regions?: string[]; message?: string }): Promise<Item>;
  /** Ends the sessions of a user, or of all: their next request is 401. */
  revokeSessions(options?: { username?: string }): Promise<void>;
  /** Subscribes a receiver to webhooks. Each call makes a subscription, also for the same URL. */
  subscribe(url: string, secret: string, options?: SubscriptionOptions): Promise<Subscription>;
  /** Deletes a subscription. Its open deliveries are not sent. */
  unsubscribe(subscription: Subscription | string): Promise<void>;
  /** The deliveries of webhooks, newest first. The default of `limit` is 1,000. */
  deliveries(filter?: { entrupyId?: string; status?: DeliveryStatus; limit?: number }): Promise<Delivery[]>;
  /** The event log, newest first. `kind` is a glob: `result.*`. The default of `limit` is 1,000. */
  events(filter?: { subject?: string; kind?: string; limit?: number }): Promise<LoggedEvent[]>;
  /** What is scheduled, the next first. */
  due(): Promise<DueWork[]>;

  /**
   * Waits until no result and no webhook is pending, in real time.
   *
   * @param options - `within` is the longest time; the default is 5 s.
   * @throws SimulatorError with the status 409 and the way out if a frozen clock holds something back, or the time has passed.
   */
  settle(options?: { within?: Duration }): Promise<void>;
  /**
   * Waits for an event such as `item:5ISJEYOQ:result`, `webhook:session.completed` or `request:held`. One that has happened already counts.
   *
   * @param options - `within` is the longest real time; the default is 5 s. `after`, with `request:held`, is the number of a request:
   *   only later ones count, `wait("request:held", { after: held.request.sequence })`.
   * @throws SimulatorError if it does not happen in time, the namespace is deleted or the server stops.
   */
  wait(event: string, options?: { within?: Duration; after?: number }): Promise<void>;

  /** The requests of clients, newest first. */
  requests(filter?: RequestFilter): Promise<JournalEntry[]>;
  /** A request with headers and bodies, by its id or its number. */
  request(id: string | number): Promise<JournalExchange>;
  /**
   * Fails unless so many requests came. Without a number, one is enough.
   *
   * What does not matter is left out. Here and in other expectations, filters and rules, undefined and null are a TypeError: a value that
   * is missing by mistake would match everything.
   *
   * @param method - for any, leave it out, and give the route in `options`: `expectRequest({ route: "/sdk/login" })`.
   * @param route - a glob over the path, without the namespace.
   * @throws ExpectationError with the nearest requests. SimulatorError for a route that the platforms do not have, or not with this
   *   method, since none would be expected of it in vain; if a part of a body that the journal did not keep, or masked, would decide;
   *   and for `atLeast: 0` alone, which matches whatever happened.
   */
  expectRequest(method: Method, route: string, options?: RequestExpectation): Promise<void>;
  expectRequest(method: Method, options?: RequestExpectation): Promise<void>;
  expectRequest(options?: RequestExpectation): Promise<void>;
  /**
   * Fails unless requests came in this order, with any others between them. At most 100 steps.
   *
   * @throws ExpectationError with the step that was not found, counted from 0, and the nearest requests.
   */
  expectRequests(steps: ReadonlyArray<Step>, options?: Gaps): Promise<void>;
  /**
   * Fails unless so many webhooks were delivered. Without a number, one is enough.
   *
   * @param event - for instance `session.completed`; for any, leave it out.
   * @throws ExpectationError with the nearest deliveries, or what keeps them. SimulatorError for an event that does not exist, and for a
   *   maximum of deliveries of which some are forgotten.
   */
  expectWebhook(event: string, options?: WebhookExpectation): Promise<void>;
  expectWebhook(options?: WebhookExpectation): Promise<void>;

  /**
   * Fails unless the expectations of the scenario that was started here are met. test() does so at the end of a test that passes.
   *
   * @param options - with `strict` notes are failures too; the default is that of the namespace.
   * @throws SimulatorError if the namespace was not started from this scenario.
   */
  verifyScenario(name: string, options?: { strict?: boolean }): Promise<void>;
  /**
   * Why something happened. `id` is that of a request, an item, a capture, a session or a delivery, or `sequence:N`, `event:N`,
   * `due:N`, `control:N`.
   */
  explain(id: string): Promise<Explanation>;
  /** What the clients did that the vendor or HTTP asks them not to do. */
  audit(options?: { rule?: string; level?: "error" | "warning" }): Promise<AuditReport>;
  /**
   * Fails if the clients did what they should not.
   *
   * @param options - `failingAt` is `error`, the default, or `warning`; `ignore` has rules whose findings are meant, with the reason
   *   for each.
   * @throws SimulatorError if a rule could not judge requests because the journal has forgotten them. `ignore: { forgotten: "why" }`
   *   says that it is meant. What could not be judged for another reason is a note, and with `strict` a SimulatorError; the rule in
   *   `ignore` says that it is meant.
   */
  expectNoMisuse(options?: { failingAt?: "error" | "warning"; ignore?: Record<string, string> }): Promise<void>;
  /** Which documented answers, errors, states and limits this namespace has met. */
  coverage(): Promise<Coverage>;

  /** Saves the whole state under a name. */
  snapshot(name: string): Promise<void>;
  /** Goes back to a snapshot. As with reset(), what happened is forgotten; test() judges it before. */
  restore(name: string): Promise<void>;
  /**
   * Compares two states, object by object: `now`, the default of `after`, `snapshot:NAME` of this namespace, or `namespace:NAME`. Ids,
   * tokens and times are compared by whether there is one: a client that runs twice, in namespaces that were made alike, leaves equal
   * states.
   */
  diff(before: string, after?: string): Promise<Difference>;
  /** Goes back to the seed data. */
  reset(): Promise<void>;
  /** Deletes the namespace. One that is gone already is no error. test() judges it, and what its scenario expects, before. */
  delete(): Promise<void>;
  /** Everything for a post-mortem: `entrupy-sim serve --bundle FILE` opens it. It holds tokens. The default of `maxBytes` is 1 GB. */
  bundle(options?: { maxBytes?: number }): Promise<Uint8Array>;
  /**
   * Writes the bundle to a file that only its owner can read, and returns its path. A download that fails leaves none. The default of
   * `maxBytes` is 16 GB.
   */
  saveBundle(file: string, options?: { maxBytes?: number }): Promise<string>;
}

/** What a matcher answers to Vitest and Jest. */
export interface MatcherResult {
  pass: boolean;
  message: () => string;
}

/** Matchers for `expect.extend`. Each waits, so write `await expect(sim).toHaveReceivedRequest("POST", "/sdk/login", { times: 1 })`. */
export const matchers: {
  /** As `sim.expectRequest`. */
  toHaveReceivedRequest(sim: Namespace, method: Method, route: string, options?: RequestExpectation): Promise<MatcherResult>;
  toHaveReceivedRequest(sim: Namespace, method: Method, options?: RequestExpectation): Promise<MatcherResult>;
  toHaveReceivedRequest(sim: Namespace, options?: RequestExpectation): Promise<MatcherResult>;
  /** As `sim.expectRequests`. */
  toHaveReceivedRequests(sim: Namespace, steps: ReadonlyArray<Step>, options?: Gaps): Promise<MatcherResult>;
  /** As `sim.expectWebhook`. */
  toHaveSentWebhook(sim: Namespace, event: string, options?: WebhookExpectation): Promise<MatcherResult>;
  toHaveSentWebhook(sim: Namespace, options?: WebhookExpectation): Promise<MatcherResult>;
  /** As `sim.expectNoMisuse`. */
  toHaveNoMisuse(sim: Namespace, options?: { failingAt?: "error" | "warning"; ignore?: Record<string, string> }): Promise<MatcherResult>;
  /** As `sim.verifyScenario`. */
  toHaveMetScenario(sim: Namespace, name: string, options?: { strict?: boolean }): Promise<MatcherResult>;
};

/** The matchers as `expect` has them. */
export interface SimulatorMatchers {
  /** As `sim.expectRequest`: with `.not`, that it fails. A misspelt route, and what is forgotten or masked, fail both ways. */
  toHaveReceivedRequest(method: Method, route: string, options?: RequestExpectation): Promise<void>;
  toHaveReceivedRequest(method: Method, options?: RequestExpectation): Promise<void>;
  toHaveReceivedRequest(options?: RequestExpectation): Promise<void>;
  /** As `sim.expectRequests`. */
  toHaveReceivedRequests(steps: ReadonlyArray<Step>, options?: Gaps): Promise<void>;
  /** As `sim.expectWebhook`. */
  toHaveSentWebhook(event: string, options?: WebhookExpectation): Promise<void>;
  toHaveSentWebhook(options?: WebhookExpectation): Promise<void>;
  /** As `sim.expectNoMisuse`. */
  toHaveNoMisuse(options?: { failingAt?: "error" | "warning"; ignore?: Record<string, string> }): Promise<void>;
  /** As `sim.verifyScenario`. */
  toHaveMetScenario(name: string, options?: { strict?: boolean }): Promise<void>;
}
