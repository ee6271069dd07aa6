"use strict";
// The matchers, with their types for Jest: expect.extend(matchers).

const { matchers } = require("./lib/matchers.js");

module.exports = { matchers };
