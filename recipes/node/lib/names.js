"use strict";
// The name of the running test, which requests to the simulator carry as X-Sim-Test.

const { AsyncLocalStorage } = require("node:async_hooks");
const channels = require("node:diagnostics_channel");
const http = require("node:http");
const { SimulatorError } = require("./errors.js");
const { headerText } = require("./text.js");

const HEADER = "X-Sim-Test";
const VARIABLE = "ENTRUPY_SIM_TEST";
/** The test whose code runs: `{ name, made }`. Tests that run at the same time in one process do not see each other's. */
const running = new AsyncLocalStorage();
/** The origins that get the header, each with the number of callers that asked for it. */
const origins = new Map();

/** The name of the running test as the header has it; null outside of a test. */
function currentTest() {
  const name = running.getStore()?.name ?? process.env[VARIABLE];
  return name ? headerText(name) : null;
}

function originOf(url) {
  try {
    const { origin, protocol } = new URL(url);
    return ["http:", "https:"].includes(protocol) ? origin : null;
  } catch {
    return null;
  }
}

/** Has `fetch`, `node:http` and `node:https` send the name of the test to the origin of `url`. Returns a function that ends it. */
function nameRequests(url = process.env.ENTRUPY_SIM_URL) {
  const origin = originOf(url);
  if (!origin) throw new SimulatorError(`${url} is not an http or https URL: give the server's, or set ENTRUPY_SIM_URL`);
  if (!origins.size) begin();
  origins.set(origin, (origins.get(origin) ?? 0) + 1);
  let isEnded = false;
  return () => {
    if (isEnded) return;
    isEnded = true;
    origins.set(origin, origins.get(origin) - 1);
    if (!origins.get(origin)) origins.delete(origin);
    if (!origins.size) end();
  };
}

/** The request of `fetch`, each time that it is sent to a server, so also after a redirect. */
function onFetch({ request }) {
  const isNamed = [request.headers].flat().some((part) => String(part).toLowerCase().includes(HEADER.toLowerCase()));
  const name = origins.has(String(request.origin)) && !isNamed ? currentTest() : null;
  if (name) request.addHeader(HEADER, name);
}

let original = null;

function begin() {
  channels.subscribe("undici:request:create", onFetch);
  // The last moment at which a request can get a header. Each request of a redirect is one of its own.
  original = http.ClientRequest.prototype._implicitHeader;
  http.ClientRequest.prototype._implicitHeader = function () {
    const host = this.getHeader("host");
    const name = host && !this.hasHeader(HEADER) && origins.has(originOf(`${this.protocol}//${host}`)) ? currentTest() : null;
    if (name) this.setHeader(HEADER, name);
    return original.call(this);
  };
}

function end() {
  channels.unsubscribe("undici:request:create", onFetch);
  http.ClientRequest.prototype._implicitHeader = original;
}

module.exports = { HEADER, VARIABLE, currentTest, nameRequests, running };
