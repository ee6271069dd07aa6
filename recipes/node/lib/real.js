"use strict";
// The clock and the timers of the process as they were when this file was loaded. Tests replace those of the process, and a wait for
// real time must not hang or end early then.

const { performance } = require("node:perf_hooks");
const { clearTimeout, setImmediate, setTimeout } = require("node:timers");

const { Date } = globalThis;
/** Real milliseconds that only grow. */
const now = performance.now.bind(performance);

/** Waits so many real milliseconds. */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

module.exports = { Date, clearTimeout, now, setImmediate, setTimeout, sleep };
