"use strict";
// The matchers, with their types for Vitest: expect.extend(matchers).

const { matchers } = require("./lib/matchers.js");

module.exports = { matchers };
