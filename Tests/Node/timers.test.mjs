// Tests that replace the clock and the timers of their process: what waits for real time goes on, and ends.

import assert from "node:assert/strict";
import { after, mock, test } from "node:test";
import { start } from "entrupy-sim";
import { problem, script } from "./support.mjs";

const simulator = await start({ artifacts: false });
after(() => simulator.stop());

/** What Vitest and Jest do with fake timers: nothing runs, and no time passes. */
function standStill() {
  const names = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate", "Date", "performance"];
  const kept = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  const { now } = performance;
  performance.now = () => 0;
  for (const name of names) Object.defineProperty(globalThis, name, { value: () => 0, configurable: true, writable: true });
  globalThis.performance = { now: () => 0 };
  globalThis.Date = class { constructor() { throw new Error("no Date"); } };
  return () => {
    for (const [name, descriptor] of kept) Object.defineProperty(globalThis, name, descriptor);
    performance.now = now;
  };
}

function mocked() {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate", "Date"] });
  return () => mock.timers.reset();
}

for (const [name, replace] of [["mock timers of node:test", mocked], ["replaced globals", standStill]]) {
  test(name, { timeout: 60_000 }, async (t) => {
    const silent = script(t, "exec sleep 60");
    const restore = replace();
    try {
      await simulator.withNamespace(async (sim) => {
        assert.match(await problem(() => sim.wait("request:held", { within: "200ms" })), /did not happen within 200ms$/);
        assert.match(await problem(() => sim.expectWebhook("session.completed", { within: "200ms" })), /found 0/);
        await sim.expectWebhook("session.completed", { times: 0, within: "200ms" });
        await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", { events: ["session.completed"] });
        await sim.insertItems();
        await sim.wait("webhook:session.completed");
        await sim.expectWebhook("session.completed", { status: "any", times: 1, within: "200ms" });
      });
      // What happened is said with dates of deliveries.
      await assert.rejects(() => simulator.withNamespace(async (sim) => {
        await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", { events: ["session.completed"] });
        await sim.insertItems();
        await sim.wait("webhook:session.completed");
        throw new Error("mine");
      }), /^Error: mine[^]*next attempt at 2/);
      const other = await start({ artifacts: false });
      await other.stop();
      assert.match(await problem(() => other.makeNamespace()), /the server was stopped/);
      assert.match(await problem(() => start({ binary: silent, startWithin: "200ms" })), /did not start within 200ms/);
    } finally {
      restore();
    }
  });
}
