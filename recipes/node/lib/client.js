"use strict";
// Requests to the control API below one address. The server is not trusted: its answers have limits of time and size.

const http = require("node:http");
const https = require("node:https");
const { SimulatorError } = require("./errors.js");
const { clearTimeout, setTimeout } = require("./real.js");
const { durationText, shown, sizeText } = require("./text.js");
const { VERSION } = require("./program.js");

/** The most that a server may take of a test's time and memory. Times are in seconds, sizes in bytes. */
const LIMITS = {
  /** The longest time without a byte. */
  silence: 30,
  /** The longest time until the answer to a long operation begins: an advance waits for receivers of webhooks. */
  work: 600,
  /** The maximum size of an answer that is held in memory. */
  size: 64_000_000,
};

const UNREACHABLE = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"];

/** Cuts a request whose server is silent for too long. A time-out of the socket begins again with each byte, also of endless heads. */
class Watch {
  constructor(request) {
    this.expired = false;
    this.request = request;
  }

  /** The server now has so many seconds for its next bytes; null while none are awaited. */
  expect(seconds) {
    clearTimeout(this.timer);
    // A timer of more than 24 days would end at once.
    if (seconds !== null) this.timer = setTimeout(() => this.expire(), Math.min(seconds * 1000, 2 ** 31 - 1));
  }

  expire() {
    this.expired = true;
    this.request.destroy();
  }

  end() {
    clearTimeout(this.timer);
    this.request.destroy();
  }
}

class Control {
  constructor(address, token = null, why = async () => "", limits = {}, headers = {}) {
    this.address = address.replace(/\/+$/, "");
    this.token = token;
    /** Headers of each request. */
    this.headers = headers;
    this.limits = { ...LIMITS, ...limits };
    /** Why no server answers, if that is known: it was started here and has ended. */
    this.why = why;
  }

  /** Sends a request, and gives its answer, whose head was read, and the watch over its connection, which the caller ends. */
  async open(method, path, body, type = "application/json", isLong = false) {
    const target = this.target();
    const data = body === undefined || body instanceof Uint8Array || typeof body === "string" && type !== "application/json"
      ? body : JSON.stringify(body);
    const headers = { ...this.headers, Connection: "close" };
    if (data !== undefined) Object.assign(headers, { "Content-Type": type, "Content-Length": Buffer.byteLength(data) });
    if (this.token) headers["X-Sim-Control-Token"] = this.token;
    const seconds = isLong ? this.limits.work : this.limits.silence;
    let watch;
    let request;
    try {
      request = (target.protocol === "https:" ? https : http).request({
        host: target.hostname.replace(/^\[(.*)\]$/, "$1"), port: target.port || undefined, method, headers, agent: false,
        path: target.pathname.replace(/\/$/, "") + path,
      });
    } catch (error) {
      throw new SimulatorError(`${method} ${path} cannot be sent: ${error.message}`);
    }
    try {
      watch = new Watch(request);
      watch.expect(Math.min(seconds, this.limits.silence));
      const response = await new Promise((resolve, reject) => {
        request.on("socket", (socket) => {
          socket.once(target.protocol === "https:" ? "secureConnect" : "connect", () => watch.expired || watch.expect(seconds));
        });
        request.on("response", resolve);
        request.on("error", reject);
        request.on("close", () => reject(Object.assign(new Error("it closed the connection"), { code: "ECONNRESET" })));
        request.end(data);
      });
      // A failure of the body is that of the response.
      request.on("error", () => {});
      response.on("error", () => {});
      if (response.statusCode >= 300 && response.statusCode < 400 && response.headers.location) {
        throw new SimulatorError(
          `${this.address} redirects to ${shown(response.headers.location)}, and redirects are not followed: `
          + "use the address of the server itself", response.statusCode);
      }
      watch.expect(this.limits.silence);
      return { response, watch };
    } catch (error) {
      watch?.end();
      if (error instanceof SimulatorError) throw error;
      throw await this.unanswered(error, watch?.expired, seconds);
    }
  }

  target() {
    let target;
    try {
      target = new URL(this.address);
    } catch {
      // The sentence below says it.
    }
    if (!target || !["http:", "https:"].includes(target.protocol)) {
      throw new SimulatorError(`${this.address} is not an http or https URL`);
    }
    return target;
  }

  async unanswered(error, isLate, seconds) {
    const why = isLate ? "" : await this.why();
    if (why) return new SimulatorError(why);
    if (isLate) return new SimulatorError(`${this.address} did not answer within ${durationText(seconds)}`);
    if (UNREACHABLE.includes(error.code) || error instanceof AggregateError) {
      return new SimulatorError(
        `no server answers at ${this.address} (${error.code ?? error.message}): start one with \`entrupy-sim serve\`, or let start() do it`);
    }
    if (String(error.code).startsWith("HPE_")) {
      return new SimulatorError(`${this.address} does not answer with HTTP (${error.message}): check the address`);
    }
    return new SimulatorError(`the connection to ${this.address} was lost before its answer (${error.code ?? error.message})`);
  }

  /** Hands the parts of the answer to `write`, at most so many bytes. */
  async read({ response, watch }, maxBytes, write) {
    let size = 0;
    watch.expect(this.limits.silence);
    try {
      for await (const part of response) {
        size += part.length;
        if (size > maxBytes) throw new SimulatorError(`the answer of ${this.address} is larger than ${sizeText(maxBytes)}`);
        // A slow disk is not the server's silence.
        watch.expect(null);
        await write(part);
        watch.expect(this.limits.silence);
      }
    } catch (error) {
      if (error instanceof SimulatorError || error.syscall === "write" || error.code === "ENOSPC") throw error;
      throw await this.broken(watch);
    } finally {
      watch.end();
    }
    if (!response.complete) throw await this.broken(watch);
  }

  async broken(watch) {
    const why = watch.expired ? "" : await this.why();
    if (why) return new SimulatorError(why);
    return new SimulatorError(watch.expired
      ? `${this.address} sent nothing for ${durationText(this.limits.silence)}, and its answer is not complete`
      : `the connection to ${this.address} was lost before its answer was complete`);
  }

  async whole(opened) {
    const parts = [];
    await this.read(opened, this.limits.size, (part) => void parts.push(part));
    return Buffer.concat(parts);
  }

  /** The status, the kind and the bytes of an answer. */
  async answer(method, path, body, type, isLong) {
    const opened = await this.open(method, path, body, type, isLong);
    const data = await this.whole(opened);
    return { status: opened.response.statusCode, type: String(opened.response.headers["content-type"] ?? ""), data };
  }

  /** The answer's JSON, its text if it is another kind of text, else its bytes; undefined if it is empty. Throws for every status but 2xx. */
  async send(method, path, body, type, isLong = false) {
    const answer = await this.answer(method, path, body, type, isLong);
    if (answer.status < 200 || answer.status > 299) {
      throw new SimulatorError(problem(method, path, answer.status, answer.data), answer.status);
    }
    if (!answer.data.length) return undefined;
    if (answer.type.startsWith("application/json")) return this.json(answer.data);
    return /^text\/|yaml|xml|json/.test(answer.type) ? answer.data.toString() : answer.data;
  }

  json(data) {
    try {
      return JSON.parse(data.toString());
    } catch {
      throw this.notUnderstood(`it sent ${shown(data.toString().slice(0, 80))} as JSON`);
    }
  }

  /** A request whose answer must be an object, with a list under `list` if that is given. */
  async object(method, path, body, { list, type, isLong } = {}) {
    const value = await this.send(method, path, body, type, isLong);
    return this.checked(value, list);
  }

  checked(value, list) {
    if (value === null || typeof value !== "object" || Buffer.isBuffer(value) || list && !Array.isArray(value[list])) {
      throw this.notUnderstood(list ? `its answer has no list "${list}"` : "its answer is no JSON object");
    }
    return value;
  }

  notUnderstood(reason) {
    return new SimulatorError(
      `${this.address} does not answer like entrupy-sim ${VERSION} (${reason}): check its version with \`entrupy-sim --version\`, or the address`);
  }

  /** Hands the parts of a download to `write`. Throws for every status but 200. */
  async download(path, maxBytes, write) {
    const opened = await this.open("GET", path, undefined, undefined, true);
    if (opened.response.statusCode === 200) return this.read(opened, maxBytes, write);
    const data = await this.whole(opened);
    throw new SimulatorError(problem("GET", path, opened.response.statusCode, data), opened.response.statusCode);
  }
}

/** An error answer in one sentence. */
function problem(method, path, status, data) {
  let envelope;
  let details;
  try {
    envelope = JSON.parse(data.toString());
    if (typeof envelope.error !== "string") throw new TypeError("no envelope");
    details = (envelope.details ?? []).filter((detail) => !envelope.error.includes(detail.problem))
      .map((detail) => `${detail.field}: ${detail.problem}`);
  } catch {
    return `${method} ${path}: the server answered ${status}`;
  }
  const text = [envelope.error, ...details].join("; ");
  if (envelope.code === "unknown_namespace") return `${text}. The namespace was deleted, or its time to live is over`;
  // The platform's own 401 and 403 are about its tokens.
  if (["forbidden", "unauthorized"].includes(envelope.code) && path.startsWith("/_sim")) {
    return `${text}. A server that does not listen on loopback requires its control token: set ENTRUPY_SIM_CONTROL_TOKEN`;
  }
  return `${method} ${path}: ${text}`;
}

module.exports = { Control, problem };
