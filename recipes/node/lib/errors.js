"use strict";
// The errors of this package.

const folder = __dirname;

/** Shows the line of the test first, not those of this package. */
function withoutOwnFrames(error) {
  if (typeof error.stack === "string") {
    error.stack = error.stack.split("\n")
      .filter((line) => !line.includes(folder) && !line.includes("node:internal/process/task_queues")).join("\n");
  }
}

class SimulatorError extends Error {
  constructor(text, status = null) {
    super(text);
    this.name = "SimulatorError";
    // Not in the output of runners, where it is null most of the time.
    Object.defineProperty(this, "status", { value: status, enumerable: status !== null });
    withoutOwnFrames(this);
  }
}

class ExpectationError extends Error {
  constructor(text) {
    super(text);
    this.name = "ExpectationError";
    withoutOwnFrames(this);
  }
}

/** The error of a value that is undefined or null. */
function undefinedError(text) {
  const error = new TypeError(text);
  withoutOwnFrames(error);
  return error;
}

module.exports = { undefinedError, SimulatorError, ExpectationError };
