// The matchers, by the contract of `expect.extend`: { pass, message() }, also through an `expect` that keeps it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { matchers, start } from "entrupy-sim";
import * as jest from "entrupy-sim/jest";
import * as vitest from "entrupy-sim/vitest";
import { problem, SEARCH, send } from "./support.mjs";

const simulator = await start({ artifacts: false });
after(() => simulator.stop());

/** What `expect` of Vitest and Jest does with a matcher. */
function expect(received) {
  const call = (isNot) => Object.fromEntries(Object.entries(matchers).map(([name, matcher]) => [name, async (...rest) => {
    const result = await matcher.call({ isNot }, received, ...rest);
    assert.deepEqual([Object.keys(result).sort(), typeof result.pass, typeof result.message], [["message", "pass"], "boolean", "function"]);
    // Vitest and Jest ask for the text in both cases.
    const text = result.message();
    assert.equal(typeof text, "string");
    if (result.pass === isNot) throw Object.assign(new Error(text), { name: "MatcherError" });
  }]));
  return { ...call(false), not: call(true) };
}

const failure = (call) => problem(call, "MatcherError");

test("they are the same from each entry", () => {
  assert.equal(jest.matchers, matchers);
  assert.equal(vitest.matchers, matchers);
});

test("requests", simulator.test(async (sim) => {
  await expect(sim).not.toHaveReceivedRequest("POST", SEARCH);
  assert.match(await failure(() => expect(sim).toHaveReceivedRequest("POST", SEARCH)), /expected at least 1 such request, found 0/);
  await send(sim, "POST", SEARCH, { limit: 2 });
  await expect(sim).toHaveReceivedRequest("POST", SEARCH, { times: 1, body: { limit: 2 } });
  await expect(sim).not.toHaveReceivedRequest("POST", SEARCH, { times: 2 });
  assert.match(await failure(() => expect(sim).not.toHaveReceivedRequest("POST", SEARCH, { status: 200 })),
    /^POST \/v2\/search\/authentications 200: expected that this does not hold, and it does\n {2}#1 POST \/v2\/search\/authentications 200$/);
  // A misspelt route is neither there nor absent.
  for (const call of [() => expect(sim).toHaveReceivedRequest("POST", "/sdk/serch"), () => expect(sim).not.toHaveReceivedRequest("POST", "/sdk/serch")]) {
    assert.match(await problem(call, "SimulatorError"), /the nearest is POST \/sdk\/search/);
  }
  await expect(sim).toHaveReceivedRequests([["POST", SEARCH, 200]]);
  await expect(sim).not.toHaveReceivedRequests([["POST", SEARCH, 200], ["POST", SEARCH, 200]]);
  assert.match(await failure(() => expect(sim).toHaveReceivedRequests([["POST", SEARCH, 200], ["POST", SEARCH, 200]], { minGap: "2s" })), /^sequence\[1\]/);
  assert.match(await failure(() => expect(sim).not.toHaveReceivedRequests([["POST", SEARCH, 200]])), /and they do/);
}));

test("what says nothing holds neither with .not nor without", simulator.test(async (sim) => {
  const both = async (call, text) => {
    for (const side of [expect(sim), expect(sim).not]) assert.match(await problem(() => call(side), "SimulatorError"), text);
  };
  // A method that the route does not have: it was never expected, and is no proof of absence.
  assert.match(await failure(() => expect(sim).toHaveReceivedRequest("PATCH", SEARCH)), /found 0/);
  for (const more of [{}, { status: 200 }, { body: { limit: 1 } }, { headers: { "X-Shop": "one" } }]) {
    assert.match(await problem(() => expect(sim).not.toHaveReceivedRequest("PATCH", SEARCH, more), "SimulatorError"), /accepts PATCH.*anyRoute: true/);
    await expect(sim).not.toHaveReceivedRequest("PATCH", SEARCH, { ...more, anyRoute: true });
  }
  assert.match(await problem(() => expect(sim).not.toHaveReceivedRequests([["POST", SEARCH], ["PATCH", SEARCH]]), "SimulatorError"), /accepts PATCH/);
  await expect(sim).not.toHaveReceivedRequests([["POST", SEARCH], ["PATCH", SEARCH]], { anyRoute: true });
  for (const name of ["no-such", "late-result"]) await both((side) => side.toHaveMetScenario(name), /no scenario was started in this namespace/);
  assert.match(await problem(() => expect(sim).not.toHaveReceivedRequest("POST", undefined), "TypeError"), /route is undefined/);
  // Requests that the journal has forgotten.
  await send(sim, "POST", SEARCH, { limit: 2 });
  await sim.control("DELETE", "/_sim/requests");
  for (const more of [{}, { body: { limit: 2 } }, { status: 200 }]) {
    assert.match(await problem(() => expect(sim).not.toHaveReceivedRequest("POST", SEARCH, more), "SimulatorError"), /the journal has forgotten requests/);
    await expect(sim).not.toHaveReceivedRequest("POST", SEARCH, { ...more, since: "sequence:2" });
  }
  assert.match(await problem(() => expect(sim).not.toHaveReceivedRequests([["POST", SEARCH]]), "SimulatorError"), /the journal has forgotten requests/);
  await both((side) => side.toHaveNoMisuse(), /^retry-too-soon could not judge everything: the journal has forgotten requests/);
}));

test("a masked secret holds neither with .not nor without", simulator.test(async (sim) => {
  await send(sim, "POST", SEARCH, { limit: 2, secret_key: "abcdefgh" });
  for (const more of [{ headers: { Authorization: "Token demo-api-token" } }, { headers: { Authorization: /demo-api/ } }, { body: { secret_key: "abcdefgh" } },
    { body: "abcdefgh" }, { body: /abcd/, times: 1 }]) {
    for (const side of [expect(sim), expect(sim).not]) {
      assert.match(await problem(() => side.toHaveReceivedRequest("POST", SEARCH, more), "SimulatorError"), /the journal masks secrets/, JSON.stringify(more));
    }
  }
  await expect(sim).not.toHaveReceivedRequest({ route: SEARCH, body: { limit: 3 } });
  assert.match(await failure(() => expect(sim).not.toHaveReceivedRequest({ route: SEARCH, body: { limit: 2 } })), /and it does\n {2}#1 POST/);
}));

test("forgotten webhooks hold neither with .not nor without", simulator.test(async (sim) => {
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key");
  await sim.snapshot("before");
  await sim.insertItems();
  await sim.restore("before");
  assert.match(await problem(() => expect(sim).not.toHaveSentWebhook("session.completed", { status: "any" }), "SimulatorError"), /are forgotten/);
  assert.match(await problem(() => expect(sim).not.toHaveSentWebhook({ status: "any" }), "SimulatorError"), /are forgotten/);
  await expect(sim).not.toHaveSentWebhook("session.completed", { status: "any", since: (await sim.clock.state()).now });
}));

test("webhooks that cannot come hold neither with .not nor without", simulator.test({ frozenAt: "2026-01-05T09:00:00Z" }, async (sim) => {
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", { events: ["session.completed"] });
  for (const [options, text] of [[{ url: "http://127.0.0.1:9/y" }, /^no subscription has the url/], [{ since: "2026-01-05T09:00:01Z" }, /^since lies in the future/]]) {
    for (const more of [{}, { times: 2 }]) {
      assert.match(await problem(() => expect(sim).not.toHaveSentWebhook({ status: "any", ...options, ...more }), "SimulatorError"), text);
    }
    assert.match(await problem(() => expect(sim).toHaveSentWebhook({ status: "any", times: 0, ...options }), "SimulatorError"), text);
  }
  await expect(sim).not.toHaveSentWebhook({ status: "any", url: "http://127.0.0.1:9/y", anyUrl: true });
  await expect(sim).not.toHaveSentWebhook({ status: "any", url: "http://127.0.0.1:9/x" });
}));

test("webhooks that another program's restore took away hold neither with .not nor without", simulator.test(async (sim) => {
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key");
  await sim.snapshot("before");
  await sim.insertItems();
  assert.equal(await send(sim, "POST", "/_sim/snapshots/before/restore"), 200);
  const text = /^SimulatorError: deliveries before the namespace was restored are forgotten.*: \{ since: [0-9.]+ \} in expectWebhook$/;
  assert.match(await problem(() => expect(sim).not.toHaveSentWebhook({ status: "any" }), "SimulatorError"), /before the namespace was restored are forgotten/);
  await assert.rejects(expect(sim).toHaveSentWebhook({ status: "any", times: 0 }), (error) => text.test(`${error}`));
  await expect(sim).toHaveSentWebhook({ status: "any", times: 0, since: (await sim.clock.state()).now });
}));

test("a scenario of which nothing can be said is met neither with .not nor without", simulator.test(async (sim) => {
  const start = (route) => sim.control("POST", "/_sim/scenarios/start", { scenario: `{name: w, description: w, expect: [{route: ${route}, times: 0}]}` });
  await start("/v1/health");
  await sim.snapshot("a");
  await send(sim, "GET", "/v1/health");
  await sim.restore("a");
  assert.match(await problem(() => expect(sim).not.toHaveMetScenario("w"), "SimulatorError"), /the journal has forgotten requests/);
  await start("/v1/helth");
  assert.match(await problem(() => expect(sim).not.toHaveMetScenario("w"), "SimulatorError"), /v1\/helth/);
  // What is simply not met is not.
  await start("/v1/health");
  await send(sim, "GET", "/v1/health");
  await expect(sim).not.toHaveMetScenario("w");
}));

test("an audit that could not judge holds neither with .not nor without", simulator.test({ strict: true }, async (sim) => {
  await sim.settings({ journal: { body_bytes: 10 } });
  await send(sim, "POST", SEARCH, { limit: 2, text: "x".repeat(200) });
  for (const side of [expect(sim), expect(sim).not]) {
    assert.match(await problem(() => side.toHaveNoMisuse({ failingAt: "warning" }), "SimulatorError"),
      /^unread-member could not judge everything: .*; if that is meant, ignore has the rule$/);
  }
  await expect(sim).toHaveNoMisuse({ failingAt: "warning", ignore: { "unread-member": "bodies are long here" } });
}));

test("webhooks, misuse and scenarios", simulator.test({ scenario: "late-result", verify: false }, async (sim) => {
  await expect(sim).not.toHaveSentWebhook("session.completed");
  assert.match(await failure(() => expect(sim).toHaveSentWebhook("session.completed")), /there is no subscription/);
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", { events: ["session.completed"] });
  await sim.insertItems();
  await sim.clock.advance("1s");
  await expect(sim).toHaveSentWebhook("session.completed", { status: "retrying" });
  assert.match(await failure(() => expect(sim).not.toHaveSentWebhook("session.completed", { status: "any" })), /^webhook session\.completed any: expected that/);
  await expect(sim).toHaveNoMisuse();
  assert.match(await failure(() => expect(sim).not.toHaveNoMisuse()), /^expected that the clients did/);
  await send(sim, "GET", "/v1/health", undefined, { "Api-Version": "1.0" });
  assert.match(await failure(() => expect(sim).toHaveNoMisuse({ failingAt: "warning" })), /deprecated-version/);
  await expect(sim).not.toHaveMetScenario("late-result");
  assert.match(await failure(() => expect(sim).toHaveMetScenario("late-result")), /did not pass/);
}));

test("something else than a namespace is an error", async () => {
  assert.equal(await problem(() => expect(simulator.url).toHaveReceivedRequest("POST", SEARCH), "SimulatorError"),
    `toHaveReceivedRequest is for a namespace: expect(sim).toHaveReceivedRequest(…), got ${simulator.url}`);
});
