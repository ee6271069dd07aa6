"use strict";
// entrupy-sim for tests: starts a server, makes a namespace for each test, and proves what was asked. docs/node.md has examples.

const { ExpectationError, SimulatorError } = require("./lib/errors.js");
const { matchers } = require("./lib/matchers.js");
const { Clock, Namespace } = require("./lib/namespace.js");
const { nameRequests } = require("./lib/names.js");
const { VERSION } = require("./lib/program.js");
const { Simulator, connect, start } = require("./lib/simulator.js");
const { User } = require("./lib/user.js");

module.exports = {
  Clock, ExpectationError, Namespace, Simulator, SimulatorError, User, VERSION, connect, matchers, nameRequests, start,
};
