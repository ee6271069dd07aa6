"use strict";
// What tests expect of requests and webhooks, and the words for what came instead.

const { ExpectationError, SimulatorError, undefinedError } = require("./errors.js");
const { checkDefined, checkOptions, distance, epoch, given, short, shown, withoutSecrets } = require("./text.js");

/** The states of deliveries, and what stands for all. */
const DELIVERY_STATES = ["waiting", "sending", "retrying", "delivered", "failed", "cancelled", "any"];
/** The seconds by which two moments may differ that are the same: texts have microseconds. */
const SAME = 1e-6;
/** A number that no journal reaches. */
const MANY = 1_000_000_000;
/** What a step of a sequence may have. */
const STEP_MEMBERS = ["method", "route", "status", "delivered", "username", "test"];

/** How many are expected. Without a number one is enough. */
class Bounds {
  constructor({ times, atLeast, atMost }) {
    const numbers = given({ times, atLeast, atMost });
    for (const [name, value] of Object.entries(numbers)) {
      if (!Number.isInteger(value) || value < 0 || value > MANY) {
        throw new SimulatorError(`${name} must be a whole number from 0 to ${MANY}, got ${short(value)}`);
      }
    }
    const count = Object.keys(numbers).length;
    if (numbers.times !== undefined && count > 1) {
      throw new SimulatorError("times excludes atLeast and atMost: give one of them");
    }
    this.least = numbers.times ?? numbers.atLeast ?? (count ? 0 : 1);
    this.most = numbers.times ?? numbers.atMost ?? null;
    if (this.most !== null && this.least > this.most) {
      throw new SimulatorError(`atLeast must be at most atMost, got ${this.least} and ${this.most}`);
    }
    if (this.least === 0 && this.most === null) {
      throw new SimulatorError("atLeast: 0 matches whatever happened: give atMost too, or times");
    }
    this.members = given({ times: numbers.times, at_least: numbers.atLeast, at_most: numbers.atMost });
  }

  holds(count) {
    return this.least <= count && (this.most === null || count <= this.most);
  }

  /** Whether so many more, of which each counts or not, would change what holds. */
  dependsOn(doubtful, count) {
    return Array.from({ length: doubtful }).some((_, index) => this.holds(count + index + 1) !== this.holds(count));
  }

  /** Whether a larger count changes nothing. */
  isCertain(count) {
    return this.most === null ? count >= this.least : count > this.most;
  }

  toString() {
    if (this.most === null) return `at least ${this.least}`;
    if (this.least === this.most) return String(this.least);
    return this.least ? `${this.least} to ${this.most}` : `at most ${this.most}`;
  }
}

/**
 * The members of an expectation whose first parameters may be left out, or be among the options: `("POST", { times: 1 })`,
 * `({ route: "/sdk/login" })`.
 */
function named(caller, names, values) {
  const place = values.findIndex((value) => value !== null && typeof value === "object");
  const count = place < 0 ? names.length : Math.min(place, names.length);
  if (values.length > count + 1) throw new SimulatorError(`${caller} takes ${names.join(", ")} and an object of options, the options last`);
  const members = Object.fromEntries(values.slice(0, count).map((value, index) => [names[index], value]));
  const options = values[count] ?? (values[count] === undefined ? {} : null);
  const twice = Object.keys(members).find((name) => options !== null && typeof options === "object" && Object.hasOwn(options, name));
  if (twice) throw new SimulatorError(`${caller} has ${twice} twice`);
  return options !== null && typeof options === "object" && !Array.isArray(options) ? { ...members, ...options } : options;
}

/** A step of a sequence as the control API takes it. */
function step(value) {
  let made = value;
  if (Array.isArray(value) && value.length >= 1 && value.length <= 3) {
    made = Object.fromEntries(value.map((part, index) => [STEP_MEMBERS[index], part]));
  }
  if (made === null || typeof made !== "object" || Array.isArray(made)) {
    throw new SimulatorError(
      `a step must be [method, route], [method, route, status], or an object of ${STEP_MEMBERS.join(", ")}, got ${short(value)}`);
  }
  checkOptions("a step", made, STEP_MEMBERS);
  checkDefined("a step", made);
  checkRoute(made.route);
  return given(made);
}

/** Throws if no request can have a route: a mistake would make an expectation of none worthless. */
function checkRoute(route) {
  if (route === undefined || route === null) return;
  if (typeof route !== "string" || !/^[/*]/.test(route) || route.startsWith("/ns/")) {
    throw new SimulatorError(
      `the route ${shown(route)} matches no request: write the path without the namespace, with its first slash, for instance `
      + "/sdk/results/*/flag");
  }
}

/** A condition in words: `POST /sdk/login 200, delivered: true`. */
function wanted(match) {
  const first = ["event", "method", "route", "status"];
  const words = first.map((name) => match[name]).filter((value) => value !== undefined && value !== null).join(" ");
  const others = Object.entries(match).filter(([name, value]) => !first.includes(name) && value !== undefined)
    .map(([name, value]) => `${name}: ${short(value, 300)}`);
  return [words, ...others].filter(Boolean).join(", ") || "any";
}

/** The answer of a request of the journal in words: `200`, or `200, not delivered`. */
function answerOf(entry) {
  return (entry.status === null ? "no answer" : String(entry.status)) + (entry.delivered === false ? ", not delivered" : "");
}

/** The nearest requests, each with its differences. */
function nearestRequests(list) {
  const lines = (list ?? []).map(({ request, differences }) =>
    `\n  ${request.method} ${request.path} ${answerOf(request)}${request.because ? ` (because ${request.because})` : ""}`
    + `${differences.length ? ": " : ""}${differences.join(", ")}`);
  return lines.length ? `; nearest:${lines.join("")}` : "";
}

/** Whether a pattern is found in a text. The state of a pattern with the flag g or y does not matter. */
function isFound(pattern, text) {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).test(text);
}

function matches(expected, text) {
  return expected instanceof RegExp ? isFound(expected, text) : expected === text;
}

/** The end of a difference from a text with a masked part: whether it is one is not known. */
const MASKED = " (the journal masks secrets)";

/** The end of a difference of a delivery to a deleted subscription. */
const DELETED = " (its subscription was deleted)";

/** How to ask for what is masked. */
const ASK_OTHERWISE = "Ask by route, username or test, by other members of the JSON, or for the text as the journal shows it, with ***";

/** Whether only what is not known differs. */
function isDoubtful(differences) {
  return differences.length > 0 && differences.every((part) => part.endsWith(MASKED) || part.endsWith(DELETED));
}

/** How to ask where the first difference is not known. */
function otherwise(difference) {
  return difference.endsWith(DELETED) ? "Ask without url" : ASK_OTHERWISE;
}

/** Whether what is expected may be what the journal shows masked: a text, a pattern, or a value under the name of a secret. */
function mayBe(expected, masked) {
  if (typeof masked !== "string" || !masked.includes("***")) return false;
  if (typeof expected === "string") return isMasked(expected, masked);
  // What a pattern would find in a secret is not known.
  return expected instanceof RegExp || (masked === "***" && expected !== null && typeof expected !== "boolean");
}

/** Whether a text is the masked one but for its masked parts. */
function isMasked(text, masked) {
  const [first, ...rest] = masked.split("***");
  const last = rest.pop();
  if (!text.startsWith(first)) return false;
  let place = first.length;
  for (const part of rest) {
    place = text.indexOf(part, place);
    if (place < 0) return false;
    place += part.length;
  }
  return text.length - place >= last.length && text.endsWith(last);
}

function instead(expected, actual, hasMasked = mayBe(expected, actual)) {
  const hint = hasMasked ? MASKED : "";
  return `${short(shown(actual))}, not ${short(shown(expected))}${hint}`;
}

function headerDifferences(expected, actual) {
  const found = [];
  for (const [name, value] of Object.entries(expected)) {
    const values = actual.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, text]) => text);
    const wantedText = value instanceof RegExp ? value : String(value);
    if (value === null) {
      found.push(...values.map((text) => `header ${name} is ${short(shown(text))}, not absent`));
    } else if (!values.some((text) => matches(wantedText, text))) {
      const hasMasked = values.some((text) => mayBe(wantedText, text));
      found.push(values.length ? `header ${name} is ${instead(value, values.join(", "), hasMasked)}` : `header ${name} is absent`);
    }
  }
  return found;
}

/** A name that a header can have. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Throws if no request can have the headers, or all have: a mistake would make the expectation worthless. */
function checkHeaders(caller, headers) {
  if (!isPlainObject(headers) || !Object.keys(headers).length) {
    throw new SimulatorError(
      `${caller}: headers must be an object that is not empty, such as { "Api-Version": "1.3" }, got ${short(shown(headers))}`);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) throw new SimulatorError(`${caller}: headers: ${shown(name)} is not the name of a header`);
    checkKnown(caller, value, `headers.${name}`);
    if (!(value === null || typeof value === "string" || Number.isFinite(value) || value instanceof RegExp)) {
      throw new SimulatorError(`${caller}: headers: ${name} must be a text, a number, a pattern or null, got ${short(shown(value))}`);
    }
    if (typeof value === "string" && (value !== value.trim() || /[\0-\x08\n-\x1f\x7f]/.test(value))) {
      throw new SimulatorError(
        `${caller}: headers: no ${name} can be ${short(shown(value))}: write it without spaces at its ends and without control characters`);
    }
  }
}

/** Throws if no body can be as expected, or all are: a mistake would make the expectation worthless. */
function checkBody(caller, body) {
  checkKnown(caller, body, "body");
  if (Array.isArray(body) || isPlainObject(body)) return checkJSON(caller, body, "body");
  if (typeof body !== "string" && !(body instanceof RegExp)) {
    throw new SimulatorError(`${caller}: body must be an object, a list, a text or a pattern, got ${short(shown(body))}`);
  }
  if (body === "" || body.source === "(?:)") {
    throw new SimulatorError(`${caller}: body is an empty text, which every body contains: leave it out if it does not matter`);
  }
}

/** Throws if a value inside of an expected body is none that JSON has, and no pattern. */
function checkJSON(caller, value, place) {
  checkKnown(caller, value, place);
  // Not forEach, which passes over holes.
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) checkJSON(caller, value[index], `${place}[${index}]`);
  else if (isPlainObject(value)) for (const [name, part] of Object.entries(value)) checkJSON(caller, part, `${place}.${name}`);
  else if (!(value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value) || value instanceof RegExp)) {
    throw new SimulatorError(`${caller}: ${place} must be a value that JSON has, or a pattern, got ${short(shown(value))}`);
  }
}

/** Throws TypeError for undefined, which would match everything. */
function checkKnown(caller, value, place) {
  if (value === undefined) throw undefinedError(`${caller}: ${place} is undefined: leave it out if it does not matter`);
}

/** Throws if no delivery can be as expected: a mistake would make the expectation worthless. */
function checkDelivery(caller, { since, body, url, attempts = 1, entrupyId = "", status }) {
  if (since !== undefined) epoch(since);
  if (body !== undefined) checkBody(caller, body);
  if (url !== undefined && !(url instanceof RegExp) && (typeof url !== "string" || !url)) {
    throw new SimulatorError(`${caller}: url must be the text of a receiver's URL, or a pattern, got ${short(shown(url))}`);
  }
  if (!Number.isInteger(attempts) || attempts < 0) {
    throw new SimulatorError(`${caller}: attempts must be a whole number of at least 0, got ${short(shown(attempts))}`);
  }
  if (attempts === 0 && status === "delivered") {
    throw new SimulatorError(`${caller}: attempts must be at least 1 where the status is delivered, as without one: give another status`);
  }
  if (typeof entrupyId !== "string") throw new SimulatorError(`${caller}: entrupyId must be a text, got ${short(shown(entrupyId))}`);
}

/** The sentence about a URL that none of the known ones is; null for another one. */
function unknownReceiver(url, urls) {
  if (url === undefined || urls.some((known) => matches(url, known) || mayBe(url, known))) return null;
  // What is not a URL is shown without what may be its query.
  const show = (value) => (value instanceof RegExp ? String(value) : URL.canParse(value) ? withoutSecrets(value) : short(value.split("?")[0]));
  const known = [...new Set(urls)].sort();
  if (!known.length) return `no subscription has the url ${show(url)}: there is none`;
  if (typeof url === "string") known.sort((a, b) => distance(url, a) - distance(url, b));
  const shownURLs = known.slice(0, 5).map(show);
  const more = known.length > 5 ? ` and ${known.length - 5} more` : "";
  const order = typeof url === "string" && known.length > 1 ? ", the nearest first" : "";
  const hidden = shownURLs[0] === show(url) ? "; the values behind *** differ" : "";
  return `no subscription has the url ${show(url)}; subscriptions have ${shownURLs.join(", ")}${more}${order}${hidden}`;
}

/** The journal lacks a part of a body that decides. */
class NotKept extends Error {}

/** The differences of a kept body from an expected one. Throws NotKept if they are not known. */
function bodyDifferences(expected, message) {
  if (expected === undefined) return [];
  const text = message.body;
  if (text === null) throw new NotKept(`a body of ${message.bytes} bytes is not text`);
  if (typeof expected === "string" || expected instanceof RegExp) {
    if (expected instanceof RegExp ? isFound(expected, text) : text.includes(expected)) return [];
    // The text may be in a secret, or reach into it.
    if (!message.truncated) return [`body is ${instead(expected, text, text.includes("***"))}`];
  }
  if (message.truncated) throw new NotKept(`${text.length} characters of a body of ${message.bytes} bytes were kept`);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return [text ? `body is no JSON: ${short(shown(text))}${text.includes("***") ? MASKED : ""}` : "body is empty"];
  }
  return jsonDifferences(expected, value, "body");
}

/** The differences of a value from an expected part of it: an object may have more members. */
function jsonDifferences(expected, actual, place) {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) return [`${place} has ${actual.length} elements, not ${expected.length}`];
    return expected.flatMap((value, index) => jsonDifferences(value, actual[index], `${place}[${index}]`));
  }
  if (isPlainObject(expected) && isPlainObject(actual)) {
    return Object.entries(expected).flatMap(([name, value]) => {
      if (Object.hasOwn(actual, name)) return jsonDifferences(value, actual[name], `${place}.${name}`);
      return [`${place}.${name} is absent${Object.keys(actual).some((key) => mayBe(name, key)) ? MASKED : ""}`];
    });
  }
  if (expected instanceof RegExp && ["number", "boolean"].includes(typeof actual) && isFound(expected, String(actual))) {
    throw new SimulatorError(`${place} is ${actual}, which is not a text, and a pattern is found in texts alone: expect the value`);
  }
  const isEqual = expected instanceof RegExp && typeof actual === "string" ? isFound(expected, actual) : expected === actual;
  return isEqual ? [] : [`${place} is ${instead(expected, actual)}`];
}

/** Whether a value is an object with members: a Map, a Headers, a Date or a Promise has none that count. */
function isPlainObject(value) {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** The differences of a delivery from an expected one. `url` is the receiver's; undefined if it is not known. */
function deliveryDifferences(match, delivery, url) {
  const found = [];
  for (const name of ["event", "entrupy_id"]) {
    if (match[name] !== undefined && delivery[name] !== match[name]) found.push(`${name} is ${delivery[name]}, not ${match[name]}`);
  }
  // A verification of the receiver's domain is no event.
  if (match.event === undefined && delivery.event === "verification") found.push("it verifies the domain");
  if (!["any", delivery.status].includes(match.status)) found.push(`status is ${delivery.status}, not ${match.status}`);
  if (match.url !== undefined && url === undefined) found.push(`its url is not known${DELETED}`);
  else if (match.url !== undefined && !matches(match.url, url)) {
    found.push(`url is ${instead(match.url, withoutSecrets(url), mayBe(match.url, url))}`);
  }
  if (match.since !== undefined && delivery.created_at < epoch(match.since) - SAME) found.push("it is from before since");
  if (match.attempts !== undefined && delivery.attempts.length !== match.attempts) {
    found.push(`attempts are ${delivery.attempts.length}, not ${match.attempts}`);
  }
  if (match.body !== undefined) {
    const text = JSON.stringify(delivery.body);
    found.push(...bodyDifferences(match.body, { body: text, bytes: text.length, truncated: false }));
  }
  return found;
}

/** A delivery in words: `session.completed of QZ5HXWOU to http://a/hook, retrying after 2 attempts, connection refused`. */
function describeDelivery(delivery) {
  const count = delivery.attempts.length;
  const words = [
    delivery.event + (delivery.entrupy_id ? ` of ${delivery.entrupy_id}` : "")
      + (delivery.url ? ` to ${withoutSecrets(delivery.url)}` : " to a deleted subscription"),
    delivery.status + (count ? ` after ${count} attempt${count === 1 ? "" : "s"}` : "")];
  if (delivery.status !== "delivered") {
    const last = delivery.attempts[count - 1] ?? {};
    if (last.status !== undefined && last.status !== null) {
      words.push(`the receiver answered ${last.status}${last.answer ? `: ${short(last.answer, 160)}` : ""}`);
    }
    if (last.error) words.push(last.error);
    const fault = last.fault ?? delivery.fault;
    if (fault) words.push(`by the fault ${fault}`);
    if (delivery.held_back) words.push(delivery.held_back);
  }
  return words.join(", ");
}

module.exports = {
  ASK_OTHERWISE, Bounds, DELIVERY_STATES, ExpectationError, MANY, NotKept, SAME, answerOf, bodyDifferences, checkBody, checkDelivery,
  checkHeaders, checkRoute, deliveryDifferences, describeDelivery, headerDifferences, isDoubtful, named, nearestRequests, otherwise, step,
  unknownReceiver, wanted,
};
