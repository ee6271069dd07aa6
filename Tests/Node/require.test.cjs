"use strict";
// CommonJS: the same package, and the same classes as from ES modules.

const assert = require("node:assert/strict");
const { test } = require("node:test");
const entrupySim = require("entrupy-sim");

test("a CommonJS test gets a namespace", async (t) => {
  const simulator = await entrupySim.start();
  t.after(() => simulator.stop());
  await simulator.withNamespace({ frozenAt: "2026-01-05T09:00:00Z" }, async (sim) => {
    assert.equal((await sim.clock.advance("1h")).now, "2026-01-05T10:00:00.000000Z");
    await sim.expectRequest("POST", "/sdk/login", { times: 0 });
  });
});

test("both kinds of modules have the same names and classes", async () => {
  const module = await import("entrupy-sim");
  assert.deepEqual(Object.keys(module).filter((name) => !["default", "module.exports"].includes(name)).sort(), Object.keys(entrupySim).sort());
  for (const name of Object.keys(entrupySim)) assert.equal(module[name], entrupySim[name]);
  assert.equal(module.default, entrupySim);
  assert.equal(require("entrupy-sim/jest").matchers, entrupySim.matchers);
  assert.equal((await import("entrupy-sim/vitest")).matchers, entrupySim.matchers);
  assert.throws(() => require("entrupy-sim/lib/client.js"), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
});
