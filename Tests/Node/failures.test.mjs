// What a failed test says, in node:test and with what Vitest and Jest hand to a test, and the bundles that it leaves.

import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, test } from "node:test";
import { start } from "entrupy-sim";
import { authorize, begin, folder, plain, program, run, SEARCH, send, until } from "./support.mjs";

const simulator = await start({ artifacts: false, onNote: () => {} });
after(() => simulator.stop());
const FROZEN = { frozenAt: "2026-01-05T09:00:00Z" };

/** The text of the error of a test that fails. */
async function told(options, body) {
  const error = await simulator.withNamespace(options, body).then(() => assert.fail("it did not fail"), (caught) => caught);
  assert.ok(error.stack.includes(error.message), "the stack has the message");
  return error.message;
}

const fail = () => { throw new Error("mine"); };

/** A receiver of webhooks that answers 401 with a secret and an escape sequence. */
async function receiver(t) {
  const server = http.createServer((request, answer) => answer.writeHead(401).end("bad signature: \x1b[31mdemo-api-token"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/hook?key=hidden`;
}

for (const [name, options, act, expected] of [
  ["a short user", {}, (sim) => authorize(sim, "u1"),
    ["#1 POST /v2/integrations/authorize-user 400: unique_user_id must be 8 to 40 characters, got 2"]],
  ["a wrong token", {}, (sim) => authorize(sim, "example-user", { Authorization: "Token wrong" }), ["#1 POST /v2/integrations/authorize-user 401: "]],
  ["a misspelt path", {}, (sim) => send(sim, "POST", "/v2/serch/authentications?token=demo-api-token", {}),
    ["404: there is no route /v2/serch/authentications", "the nearest is POST /v2/search/authentications", "token=***"]],
  ["a fault", {}, async (sim) => {
    await sim.fault({ status: 503 }, { route: "/v2/search/*", times: 1 });
    await send(sim, "POST", SEARCH, {});
  }, ["503, by the fault flt_", '{"status":503} on /v2/search/*']],
  ["a lost answer", {}, async (sim) => {
    await sim.fault({ drop_connection: true }, { route: "/v2/integrations/*", times: 1 });
    await authorize(sim);
  }, ["200, not delivered, by the fault flt_", '{"drop_connection":true} on /v2/integrations/*']],
  ["a limit", FROZEN, async (sim) => {
    await sim.settings({ rate_limits: { api_per_second: 1 } });
    for (const user of ["example-user", "example-user-2"]) await authorize(sim, user);
  }, ["#2 POST /v2/integrations/authorize-user 429, by the limit "]],
  ["a clock that stands", FROZEN, (sim) => sim.control("POST", "/components/sessions", { validationCode: "IDV", networkEnvironment: "mock" }),
    ["clock frozen at 2026-01-05T09:00:00", " due later, first ", "nothing happens until the clock is advanced"]],
  ["a misspelt rule", {}, (sim) => sim.fault({ status: 503 }, { route: "/v2/serch/*" }),
    ["rules that met nothing:", '({"status":503} on /v2/serch/*): match.route: no route of the server matches /v2/serch/*']],
  ["an outcome of another brand", {}, (sim) => sim.outcome("unknown", { brand: "Nkie" }), ["rules that met nothing:", "(unknown on brand Nkie): match.brand: "]],
  ["another base URL", {}, (sim) => fetch(`${simulator.url}/v2/webhooks`),
    ["no request came: the base URL of clients is http://127.0.0.1:", "/ns/test-", "is the namespace default, and has requests, the last GET /v2/webhooks"]],
  ["a dropped webhook", FROZEN, async (sim) => {
    await sim.fault({ drop: true }, { webhook: "session.completed" });
    await sim.subscribe("http://127.0.0.1:9/hook", "a-secret-key", { events: ["session.completed"] });
    await sim.insertItems({ result: "unknown" });
    await sim.clock.advance("12h");
  }, ["dropped by a fault rule: it was not sent, by the fault flt_"]],
  ["a namespace that was deleted", {}, (sim) => sim.delete(), ["  namespace test-", " was deleted"]],
  ["twelve requests", {}, async (sim) => {
    for (let count = 0; count < 12; count += 1) await send(sim, "POST", SEARCH, { limit: 2 });
  }, ["the last 10 requests, oldest first:", "#3 POST /v2/search/authentications ", "#12 POST"]],
]) {
  test(`what happened is said: ${name}`, async () => {
    const text = await told(options, async (sim) => {
      await act(sim);
      fail();
    });
    assert.ok(text.startsWith("mine\n\nentrupy-sim:\n"), text);
    for (const part of expected) assert.ok(text.includes(part), text);
    assert.ok(!text.includes("demo-api-token"), text);
  });
}

test("webhooks that did not arrive are named, with secrets and control characters masked", async (t) => {
  const url = await receiver(t);
  const text = await told(FROZEN, async (sim) => {
    await sim.subscribe(url, "a-secret-key", { events: ["session.completed"] });
    await sim.subscribe("http://127.0.0.1:9/hook", "a-secret-key", { events: ["session.completed"] });
    await sim.insertItems({ result: "unknown" });
    await sim.clock.advance("12h");
    fail();
  });
  for (const part of ["deliveries that failed, oldest first:", "/hook?key=***", "the receiver answered 401: bad signature: \\x1b[31m***",
    "connection refused", " attempts, ", "next attempt at 20"]) assert.ok(text.includes(part), `${part}: ${text}`);
});

test("namespaces that the test made are shown too, and the server that died", async (t) => {
  const pid = path.join(folder(t), "pid");
  fs.writeFileSync(path.join(path.dirname(pid), "program"), `#!/bin/sh\necho $$ > ${pid}\nexec ${program} "$@"\n`, { mode: 0o755 });
  const mortal = await start({ binary: path.join(path.dirname(pid), "program"), artifacts: path.dirname(pid) });
  await assert.rejects(() => mortal.withNamespace(async () => {
    await mortal.makeNamespace({ prefix: "second" });
    fail();
  }), /namespace test-[^]*namespace second-/);
  await assert.rejects(() => mortal.withNamespace({ test: "dies" }, async (sim) => {
    process.kill(Number(fs.readFileSync(pid, "utf8")), "SIGKILL");
    await until(() => sim.clock.state().then(() => false, () => true), "the server ends");
    fail();
  }), /mine\n\nentrupy-sim:\n {2}the clock: not known: the server that start\(\) started has ended by SIGKILL: .*\n {2}no bundle: the server does not answer/);
});

test("what is thrown is thrown on, whatever it is", async () => {
  for (const thrown of ["text", null, undefined, 3, Object.freeze(new Error("frozen"))]) {
    await simulator.withNamespace(() => { throw thrown; }).then(() => assert.fail("it did not fail"), (caught) => assert.equal(caught, thrown));
  }
});

const SUITE = `
import { test } from "node:test";
import { start } from "entrupy-sim";

const simulator = await start();
test("sells a bag", simulator.test(async (sim) => {
  await sim.fetch("/v2/webhooks");
  if (process.env.BROKEN) throw new Error("broken");
}));
test("is late", { timeout: process.env.LATE ? 2000 : 600_000 }, simulator.test(async (sim) => {
  if (process.env.LATE) await new Promise((resolve) => setTimeout(resolve, 6000));
}));
test.skip("is skipped", simulator.test(() => { throw new Error("never"); }));
`;

test("a run leaves the bundle and the page of a failed test, and the next one that passes removes them", async (t) => {
  const place = folder(t);
  fs.writeFileSync(path.join(place, "shop.test.mjs"), SUITE);
  fs.symlinkSync(path.resolve("node_modules"), path.join(place, "node_modules"));
  const go = (more) => run(process.execPath, ["--test", "--test-reporter=spec", "shop.test.mjs"], { cwd: place, env: plain(more) });
  const artifacts = () => fs.readdirSync(path.join(place, ".entrupy-sim")).sort();
  let answer = await go({ BROKEN: "1" });
  assert.equal(answer.status, 1);
  for (const part of ["broken", "#1 GET /v2/webhooks 401", "the page is .entrupy-sim/shop.test.mjs-sells-a-bag-", ".entrupy-bundle.html",
    "the bundle, which holds tokens, is .entrupy-sim/shop.test.mjs-sells-a-bag-", "docs/node.md#when-a-test-fails"]) {
    assert.ok(answer.out.includes(part), answer.out);
  }
  assert.equal(artifacts().length, 2);
  const [html, bundle] = artifacts().map((name) => path.join(place, ".entrupy-sim", name));
  assert.equal(fs.statSync(bundle).mode & 0o777, 0o600);
  const page = fs.readFileSync(html, "utf8");
  assert.match(page, /<!doctype html>/i);
  const before = artifacts();
  // Nothing else is left: a second failure replaces the files.
  await go({ BROKEN: "1" });
  assert.deepEqual(artifacts(), before);
  answer = await go({});
  assert.equal(answer.status, 0, answer.out);
  assert.deepEqual(artifacts(), []);
  // A test that the runner gave up says it, too.
  answer = await go({ LATE: "1", ENTRUPY_SIM_ARTIFACTS: path.join(place, "elsewhere") });
  assert.equal(answer.status, 1);
  assert.match(answer.out + answer.err, /entrupy-sim: the test shop\.test\.mjs > is late was aborted/);
  assert.match(fs.readdirSync(path.join(place, "elsewhere")).join(), /shop\.test\.mjs-is-late-\w+\.entrupy-bundle\.tar/);
});

test("what Vitest and Jest hand to a test names it", async () => {
  const file = { name: "shop.test.ts", filepath: path.resolve("src/shop.test.ts") };
  const suite = { name: "the shop", suite: file };
  const context = { task: { name: "sells", suite, file } };
  assert.equal(await simulator.test((sim) => sim.test)(context), "src/shop.test.ts > the shop > sells");
  globalThis.expect = { getState: () => ({ currentTestName: "the shop sells", testPath: path.resolve("src/shop.test.js") }) };
  try {
    assert.equal(await simulator.test((sim) => sim.test)(), "src/shop.test.js > the shop sells");
    globalThis.expect = { getState: () => { throw new Error("outside"); } };
    assert.equal(await simulator.test((sim) => sim.test)(), null);
  } finally {
    delete globalThis.expect;
  }
  assert.equal(await simulator.test({ test: "mine" }, (sim) => sim.test)(context), "mine");
});

test("a bundle that cannot be saved, and a page that cannot be made, are said", async (t) => {
  const place = folder(t);
  fs.writeFileSync(path.join(place, "file"), "");
  const wrong = await start({ url: simulator.url, artifacts: path.join(place, "file") });
  await assert.rejects(() => wrong.withNamespace({ test: "a" }, fail), /the bundle cannot be saved: /);
  const pageless = await start({ url: simulator.url, artifacts: place, binary: "/bin/false" });
  await assert.rejects(() => pageless.withNamespace({ test: "b" }, fail), /it has no page: \/bin\/false report ended with 1: it printed nothing/);
  assert.equal(fs.readdirSync(place).filter((name) => name.endsWith(".tar")).length, 1);
  assert.equal(fs.readdirSync(place).filter((name) => name.endsWith(".part") || name.endsWith(".html")).length, 0);
});

test("skipping a test in its body is no failure", async () => {
  const skip = Object.assign(new Error("skipped"), { code: "VITEST_PENDING" });
  await assert.rejects(() => simulator.withNamespace(() => { throw skip; }), { message: "skipped" });
});

test("processes that fail at the same time do not disturb each other", async (t) => {
  const place = folder(t);
  fs.writeFileSync(path.join(place, "shop.test.mjs"), SUITE);
  fs.symlinkSync(path.resolve("node_modules"), path.join(place, "node_modules"));
  const runs = [1, 2, 3].map(() => begin(process.execPath, ["shop.test.mjs"], { cwd: place, env: plain({ BROKEN: "1" }) }).ended);
  for (const answer of await Promise.all(runs)) assert.match(answer.out, /the page is /);
  assert.equal(fs.readdirSync(path.join(place, ".entrupy-sim")).length, 2);
});
