"use strict";
// Durations, sizes and texts, as the simulator reads and prints them.

const { createHash } = require("node:crypto");
const { inspect } = require("node:util");
const { SimulatorError, undefinedError } = require("./errors.js");

const UNITS = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 };

/** The seconds of a duration: a number of them, or a text such as "1h30m" or "300ms". */
function seconds(duration) {
  if (typeof duration === "number" && Number.isFinite(duration)) return duration;
  const parts = typeof duration === "string" ? [...duration.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|[dhms])/g)] : [];
  const order = parts.map((part) => Object.keys(UNITS).indexOf(part[2]));
  const isSorted = order.every((unit, index) => index === 0 || order[index - 1] < unit);
  const isWhole = parts.slice(0, -1).every((part) => !part[1].includes("."));
  if (!parts.length || parts.map((part) => part[0]).join("") !== duration || !isSorted || !isWhole) {
    throw new SimulatorError(
      `${shown(duration)} is not a duration such as 90s, 1h30m, 300ms, 1.5d, or a number of seconds`);
  }
  return parts.reduce((sum, part) => sum + Number(part[1]) * UNITS[part[2]], 0);
}

/** The text of a duration: `1h30m` for 5400 seconds, `300ms`, `1m0.5s`. */
function durationText(duration) {
  const count = Math.round(seconds(duration) * 1e6);
  if (count < 0) return `-${durationText(-count / 1e6)}`;
  if (count > 0 && count < 1e6 && count % 1000 === 0) return `${count / 1000}ms`;
  const whole = Math.floor(count / 1e6);
  const fraction = count % 1e6;
  const parts = [["d", Math.floor(whole / 86_400)], ["h", Math.floor(whole / 3600) % 24], ["m", Math.floor(whole / 60) % 60]];
  let text = parts.map(([unit, number]) => (number ? `${number}${unit}` : "")).join("");
  if (whole % 60 || fraction || !text) {
    const digits = fraction ? String(fraction).padStart(6, "0").replace(/0+$/, "") : "";
    text += `${whole % 60}${digits ? "." : ""}${digits}s`;
  }
  return text;
}

/** The text of a size in bytes: `512 B`, `1.5 kB`, `64 MB`. */
function sizeText(count) {
  for (const [name, unit] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    // 999,950 bytes are 1 MB, not 1000 kB.
    if (count >= 1000 && count >= unit * 0.99995) return `${Number((count / unit).toFixed(1))} ${name}`;
  }
  return `${count} B`;
}

/** The first 16 hexadecimal digits of a text's SHA-256. */
function shortHash(text, length = 16) {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/** A text as the value of a header: percent signs for what is not ASCII, and at most 200 characters. */
function headerText(text) {
  const safe = [...text.trim().toWellFormed?.() ?? text.trim()]
    .map((c) => (c >= " " && c <= "~" ? c : encodeURIComponent(/[\ud800-\udfff]/.test(c) && c.length === 1 ? "\ufffd" : c))).join("");
  return safe.length <= 200 ? safe : `${safe.slice(0, 183)}-${shortHash(text)}`;
}

/** A text with control characters, invisible ones and halves of characters as `\x1b`. */
function printable(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (c) => {
    const code = c.codePointAt(0);
    return code > 0xffff ? `\\u{${code.toString(16)}}`
      : code > 0xff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\x${code.toString(16).padStart(2, "0")}`;
  });
}

/** A value in one line of at most `length` characters. */
function short(value, length = 120) {
  const text = typeof value === "string" ? value : shown(value);
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** A value as JavaScript shows it, in one line. */
function shown(value) {
  return inspect(value, { breakLength: Infinity, depth: 6, maxStringLength: 1000 });
}

/** A receiver's URL without a password, and without the values of its query. */
function withoutSecrets(url) {
  let parts;
  try {
    parts = new URL(url);
  } catch {
    return url ? "***" : "";
  }
  const host = parts.username || parts.password ? `***@${parts.host}` : parts.host;
  const query = parts.search.slice(1).split("&").filter(Boolean)
    .map((part) => (part.includes("=") ? `${part.split("=", 1)[0]}=***` : "***")).join("&");
  const path = parts.pathname === "/" && !/^[a-z]+:\/\/[^/?#]*\//.test(url) ? "" : parts.pathname;
  return `${parts.protocol}//${host}${path}${query ? `?${query}` : ""}`;
}

/** The known name that an unknown one is nearly, or null. */
function nearest(name, known) {
  const plain = (text) => text.replace(/[_-]/g, "").toLowerCase();
  const same = known.find((other) => plain(other) === plain(name));
  if (same) return same;
  const [best] = known.map((other) => [distance(plain(name), plain(other)), other]).sort((a, b) => a[0] - b[0]);
  return best && best[0] <= Math.min(2, Math.floor(name.length / 3)) ? best[1] : null;
}

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

/** Checks that an object has no member but the known ones. A misspelt option would look as if it counted. */
function checkOptions(caller, options, known) {
  if (options === null || typeof options !== "object" || Array.isArray(options)) {
    throw new SimulatorError(`${caller} takes an object of options, got ${short(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new SimulatorError(
      `${caller} does not know the option ${name}${meant ? `; did you mean ${meant}?` : `: it takes ${known.join(", ")}`}`);
  }
}

/**
 * Throws TypeError for members that are undefined or null, which are mostly mistakes: without them more would match than is meant.
 * Throws SimulatorError for those that JSON leaves out.
 */
function checkDefined(caller, members) {
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === null) throw undefinedError(`${caller}: ${name} is ${value}: leave it out if it does not matter`);
    if (["function", "symbol"].includes(typeof value) || typeof value === "number" && !Number.isFinite(value)) {
      throw new SimulatorError(`${caller}: ${name} must be a value that JSON has, got ${short(value)}`);
    }
  }
}

/** Throws if an option is neither true nor false: "no" and "false" are texts, and would count as true. */
function checkFlags(caller, options, names) {
  for (const name of names) {
    if (options[name] !== undefined && typeof options[name] !== "boolean") {
      throw new SimulatorError(`${caller}: ${name} must be true or false, got ${short(shown(options[name]))}`);
    }
  }
}

/** The epoch seconds of a moment: a number of them, or ISO 8601 with an offset. */
function epoch(moment) {
  // Date.parse takes milliseconds alone.
  const text = typeof moment === "string" && moment.match(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
  const found = text ? Date.parse(text[1] + text[3]) / 1000 + Number(text[2] ?? 0) : moment;
  if (typeof found === "number" && Number.isFinite(found)) return found;
  throw new SimulatorError(`since must be ISO 8601 with an offset, such as 2026-01-05T09:00:00Z, or epoch seconds, got ${shown(moment)}`);
}

/** The members that are given: neither undefined nor null. */
function given(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** A query with the members that are given, or nothing. */
function query(members) {
  const text = new URLSearchParams(Object.entries(given(members)).map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : "";
}

module.exports = {
  checkDefined, checkFlags, checkOptions, distance, durationText, epoch, given, headerText, nearest, printable, query, seconds, short, shortHash, shown, sizeText, withoutSecrets,
};
