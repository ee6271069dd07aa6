// Tests at the same time: in one process, and in several that share one server.

import assert from "node:assert/strict";
import { describe, test, after } from "node:test";
import fs from "node:fs";
import path from "node:path";
import { start } from "entrupy-sim";
import { folder, launcher, run } from "./support.mjs";

const simulator = await start({ artifacts: false });
after(() => simulator.stop());

describe("at the same time in one process", { concurrency: 8 }, () => {
  for (let number = 0; number < 20; number += 1) {
    test(`test ${number}`, simulator.test({ frozenAt: "2026-01-05T09:00:00Z" }, async (sim) => {
      await sim.insertItems({}, { count: number + 1 });
      await sim.clock.advance(number);
      await sim.fetch("/v2/webhooks");
      assert.equal((await sim.items()).length, number + 1);
      assert.equal((await sim.clock.state()).epoch, 1767603600 + number);
      await sim.expectRequest("GET", "/v2/webhooks", { times: 1, test: sim.test });
    }));
  }
});

const SUITE = `
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { start } from "entrupy-sim";

const simulator = await start();
assert.equal(simulator.url, process.env.ENTRUPY_SIM_SERVER);
describe("shared", { concurrency: 4 }, () => {
  for (let number = 0; number < 8; number += 1) {
    test("test " + number, simulator.test(async (sim) => {
      await sim.insertItems({}, { count: number + 1 });
      assert.equal((await sim.items()).length, number + 1);
    }));
  }
});
`;

test("workers share the server of `entrupy-sim run`", async (t) => {
  const place = folder(t);
  const files = [1, 2, 3, 4].map((number) => `shop${number}.test.mjs`);
  for (const name of files) fs.writeFileSync(path.join(place, name), SUITE);
  fs.symlinkSync(path.resolve("node_modules"), path.join(place, "node_modules"));
  const answer = await run(launcher, ["run", "--", process.execPath, "--test", "--test-concurrency=4", "--test-reporter=spec", ...files], { cwd: place });
  assert.equal(answer.status, 0, answer.out + answer.err);
  assert.match(answer.out, /pass 32\n/);
});
