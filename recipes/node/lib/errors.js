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

/** Gives an error the frames of another one, which was made where the test made the call. A promise that is not native loses them. */
function withFramesOf(error, other) {
  const [, ...frames] = other.stack.split("\n    at ");
  if (frames.length && error instanceof Error && typeof error.stack === "string") {
    error.stack = [error.stack.split("\n    at ", 1)[0], ...frames].join("\n    at ");
  }
  return error;
}

/** The error of a value that is undefined or null. */
function undefinedError(text) {
  const error = new TypeError(text);
  withoutOwnFrames(error);
  return error;
}

module.exports = { undefinedError, withFramesOf, SimulatorError, ExpectationError };
