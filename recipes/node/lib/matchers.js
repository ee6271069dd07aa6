"use strict";
// Matchers for `expect.extend` of Vitest and Jest. Each is { pass, message() }.

const { ExpectationError, SimulatorError } = require("./errors.js");
const { Namespace } = require("./namespace.js");
const { given, short } = require("./text.js");
const { answerOf, named, step, wanted } = require("./expectations.js");

/**
 * A matcher of an expectation.
 *
 * @param describe - the sentence for a `.not` that fails.
 * @param check - throws if that the expectation does not hold says nothing, so that `.not` must not hold either.
 */
function matcher(name, expectation, describe, check = async () => {}) {
  return async function (received, ...rest) {
    if (!(received instanceof Namespace)) {
      throw new SimulatorError(`${name} is for a namespace: expect(sim).${name}(…), got ${short(received)}`);
    }
    try {
      await expectation(received, ...rest);
    } catch (error) {
      // Any other error, such as a misspelt route, fails with and without `.not`.
      if (!(error instanceof ExpectationError)) throw error;
      if (this?.isNot !== false) await check(received, ...rest);
      return { pass: false, message: () => error.message };
    }
    const text = await describe(received, ...rest);
    return { pass: true, message: () => text };
  };
}

async function came(sim, ...rest) {
  const options = named("expectRequest", ["method", "route"], rest);
  const words = wanted(options);
  const { method, route, status, username, test, anyRoute } = options;
  const list = await sim.requests(given({ method, route, status, username, test, anyRoute, limit: 3 }));
  return `${words}: expected that this does not hold, and it does${
    list.map((entry) => `\n  #${entry.sequence} ${entry.method} ${entry.path} ${answerOf(entry)}`).join("")}`;
}

const matchers = {
  toHaveReceivedRequest: matcher("toHaveReceivedRequest",
    (sim, ...rest) => sim.expectRequest(...rest), came,
    (sim, ...rest) => {
      const { method, route, status, username, since, test, delivered, ...options } = named("expectRequest", ["method", "route"], rest);
      return Namespace.checkAbsence(sim, [given({ method, route, status, username, since, test, delivered })], options, "expectRequest");
    }),
  toHaveReceivedRequests: matcher("toHaveReceivedRequests",
    (sim, steps, options) => sim.expectRequests(steps, options),
    (sim, steps) => `expected that these requests do not follow each other, and they do: ${short(steps, 300)}`,
    (sim, steps, options) => Namespace.checkAbsence(sim, steps.map(step), options, "expectRequests")),
  toHaveSentWebhook: matcher("toHaveSentWebhook",
    (sim, ...rest) => sim.expectWebhook(...rest),
    (sim, ...rest) => `webhook ${wanted(named("expectWebhook", ["event"], rest))}: expected that this does not hold, and it does`,
    (sim, ...rest) => Namespace.checkNoWebhook(sim, named("expectWebhook", ["event"], rest))),
  toHaveNoMisuse: matcher("toHaveNoMisuse",
    (sim, options) => sim.expectNoMisuse(options),
    () => "expected that the clients did what they should not, and they did not"),
  toHaveMetScenario: matcher("toHaveMetScenario",
    (sim, name, options) => sim.verifyScenario(name, options),
    (sim, name) => `expected that the scenario ${name} is not met, and it is`,
    (sim, name) => Namespace.checkScenario(sim, name)),
};

module.exports = { matchers };
