// A namespace: clock, rules, items, webhooks, waiting, held requests, evidence, snapshots.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { start } from "entrupy-sim";
import { authorize, folder, problem, SEARCH, send, until } from "./support.mjs";

const notes = [];
const simulator = await start({ onNote: (text) => notes.push(text), artifacts: false });
after(() => simulator.stop());
const FROZEN = { frozenAt: "2026-01-05T09:00:00Z" };

test("the clock is frozen, moved and resumed", simulator.test({ ...FROZEN, randomSeed: 7 }, async (sim) => {
  assert.deepEqual(await sim.clock.state(), { now: "2026-01-05T09:00:00.000000Z", epoch: 1767603600, mode: "frozen" });
  assert.deepEqual([(await sim.clock.advance("1h30m")).reached, (await sim.clock.state()).now], [true, "2026-01-05T10:30:00.000000Z"]);
  await sim.clock.advance(90);
  await sim.clock.advance({ to: "2026-01-06T00:00:00Z" });
  assert.equal((await sim.clock.state()).now, "2026-01-06T00:00:00.000000Z");
  assert.match(await problem(() => sim.clock.advance({ to: "2026-01-01T00:00:00Z" })), /POST \/_sim\/clock\/advance: /);
  assert.equal((await sim.clock.resume()).mode, "running");
  assert.equal((await sim.clock.freeze("2026-02-01T00:00:00Z")).now, "2026-02-01T00:00:00.000000Z");
}));

test("a loop through everything due ends", simulator.test(FROZEN, async (sim) => {
  await sim.control("POST", "/components/sessions", { validationCode: "IDV", networkEnvironment: "mock" });
  assert.ok((await sim.due()).length > 0);
  let stops = 0;
  while ((await sim.clock.advance({ to: "next" })).reached) stops += 1;
  assert.ok(stops > 0);
  assert.equal((await sim.clock.advance({ to: "next" })).nothing_due, true);
}));

test("the same seed gives the same ids", async () => {
  const ids = [];
  for (let run = 0; run < 2; run += 1) {
    await simulator.withNamespace({ ...FROZEN, randomSeed: 7 }, async (sim) => ids.push(await sim.insertItems({ result: "unknown" })));
  }
  assert.deepEqual(ids[0], ids[1]);
});

test("items are made, found and changed", simulator.test(FROZEN, async (sim) => {
  const [id] = await sim.insertItems({ result: "unknown", flag: "flagged", customer_item_id: "sku-1" });
  assert.deepEqual((await sim.items({ text: "sku-" })).map((item) => [item.entrupy_id, item.result.id]), [[id, "unknown"]]);
  await sim.resolveFlag(id, { note: "Seen again", result: "authentic" });
  await sim.wait(`item:${id}:result`);
  assert.equal((await sim.item(id)).result.id, "authentic");
  assert.equal((await sim.setResult(id, "invalid", { reason: "blurry_images" })).result.reason, "blurry_images");
  assert.equal((await sim.insertItems({ brand: "Jordan" }, { count: 30 })).length, 30);
  assert.equal((await sim.items()).length, 31);
  assert.equal((await sim.items({ limit: 27 })).length, 27);
  assert.deepEqual((await sim.events({ subject: id, kind: "result.*" })).map((event) => event.data.result), ["invalid", "authentic", "unknown"]);
  assert.match(await problem(() => sim.item("NOSUCH01"), "SimulatorError"), /GET \/_sim\/authentications\/NOSUCH01: /);
}));

test("rules decide results and failures", simulator.test(async (sim) => {
  const rule = await sim.outcome("invalid", { brand: "Nike", customerItemId: "late-*", reason: "blurry_images", after: "3h", times: 2 });
  assert.deepEqual([rule.match, rule.after, rule.times], [{ brand: "Nike", customer_item_id: "late-*" }, "3h", 2]);
  const fault = await sim.fault({ status: 503 }, { route: "/v2/**", method: "POST", header: { "X-Shop": "one" }, afterRequests: 1, times: 1 });
  assert.deepEqual([fault.match.method, fault.after_requests], ["POST", 1]);
  const statuses = [];
  for (let count = 0; count < 3; count += 1) statuses.push(await authorize(sim, "example-user", { "X-Shop": "one" }));
  assert.deepEqual(statuses, [200, 503, 200]);
  await sim.clearFaults();
  assert.deepEqual((await sim.control("GET", "/_sim/faults")).faults, []);
  const component = await sim.outcome("NoDocumentDetected", { component: "document", clientId: "jansen", documentType: "passport" });
  assert.deepEqual(component.match, { component: "document", client_id: "jansen", document_type: "passport" });
}));

test("webhooks are subscribed to, delivered and listed", simulator.test(FROZEN, async (sim) => {
  const made = await sim.subscribe("http://127.0.0.1:9/hooks", "a-secret-key", { events: ["session.completed"], organization: "OtherOrg", signature: "hex" });
  assert.deepEqual([made.organization, made.signature, made.events], ["OtherOrg", "hex", ["session.completed"]]);
  await sim.unsubscribe(made);
  assert.match(await problem(() => sim.unsubscribe(made.id)), /has no webhook/);
  await sim.subscribe("http://127.0.0.1:9/hooks", "a-secret-key");
  const [id] = await sim.insertItems();
  await sim.clock.advance("2s");
  const deliveries = await sim.deliveries({ entrupyId: id });
  assert.deepEqual(deliveries.map((delivery) => delivery.event).sort(), ["session.completed", "session.updated"]);
  assert.deepEqual(await sim.deliveries({ status: "delivered" }), []);
}));

test("waiting has an end", simulator.test(FROZEN, async (sim) => {
  const before = Date.now();
  assert.equal(await problem(() => sim.wait("webhook:session.completed", { within: "300ms" }), "SimulatorError"),
    "webhook:session.completed did not happen within 300ms. The clock is frozen at 2026-01-05T09:00:00.000000Z: advance it");
  assert.ok(Date.now() - before < 10_000);
  assert.match(await problem(() => sim.wait("nothing")), /^GET \/_sim\/events: /);
  await sim.settle({ within: "5s" });
  await sim.subscribe("http://127.0.0.1:9/hooks", "a-secret-key");
  await sim.insertItems();
  assert.match(await problem(() => sim.settle({ within: 1 })), /^POST \/_sim\/settle: /);
}));

test("a request is held until it is released", simulator.test(async (sim) => {
  await sim.fault({ hold: { for: "1m" } }, { route: SEARCH, times: 3 });
  const ask = async () => {
    const answer = send(sim, "POST", SEARCH, {});
    await until(async () => (await sim.held()).length, "the request is held");
    return { answer };
  };
  let { answer } = await ask();
  await sim.wait("request:held");
  const [held] = await sim.held();
  assert.deepEqual([held.request.path, held.when], [SEARCH, "before"]);
  const { sequence } = held.request;
  assert.match(await problem(() => sim.wait("request:held", { after: sequence, within: "100ms" })), /^request:held did not happen within 100ms/);
  await sim.wait("request:held", { after: sequence - 1 });
  await sim.release(held);
  assert.equal(await answer, 200);
  assert.match(await problem(() => sim.release(held.id)), /it was released already/);
  ({ answer } = await ask());
  await sim.wait("request:held", { after: sequence });
  await sim.release((await sim.held())[0], { status: 503, body: { a: 1 } });
  assert.equal(await answer, 503);
  ({ answer } = await ask());
  await sim.release();
  assert.equal(await answer, 200);
  await sim.fault({ hold: true }, { route: SEARCH, times: 1 });
  ({ answer } = await ask());
  await sim.release((await sim.held())[0], { dropConnection: true });
  assert.equal(await answer, null);
}));

test("a scenario is started and verified", simulator.test({ scenario: "late-result", verify: false }, async (sim) => {
  const text = await problem(() => sim.verifyScenario("late-result"), "ExpectationError");
  assert.match(text, /did not pass[^]*\n {2}/);
  assert.match(await problem(() => sim.verifyScenario("no-such"), "SimulatorError"), /was started from the scenario "late-result"/);
}));

test("a scenario and seed data come from files", async (t) => {
  const place = folder(t);
  const file = (name, text) => {
    fs.writeFileSync(path.join(place, name), text);
    return path.join(place, name);
  };
  const scenario = file("mine.yaml", "name: mine\ndescription: One search.\nclock: {freeze: 2026-01-01T00:00:00Z}\nexpect:\n  - {route: /v2/search/authentications, method: POST, times: 1}\n");
  await simulator.withNamespace({ scenario, ...FROZEN }, async (sim) => {
    assert.equal((await sim.clock.state()).now, "2026-01-05T09:00:00.000000Z");
    await problem(() => sim.verifyScenario("mine"), "ExpectationError");
    await send(sim, "POST", SEARCH, {});
    await sim.verifyScenario("mine");
  });
  const seed = file("seed.yaml", "organizations:\n- name: Fjord\n  api_tokens: [fjord-token]\n");
  await simulator.withNamespace({ seed }, async (sim) => {
    assert.equal(await send(sim, "POST", SEARCH, {}, { Authorization: "Token fjord-token" }), 200);
    assert.match(await sim.control("GET", "/_sim/export"), /- name: Fjord\n/);
  });
  await simulator.withNamespace({ seed: "empty" }, async (sim) => assert.deepEqual((await sim.control("GET", "/_sim/users")).users, []));
  const before = (await (await fetch(`${simulator.url}/_sim/namespaces`)).json()).namespaces.length;
  assert.match(await problem(() => simulator.makeNamespace({ seed: file("bad.yaml", "organisations: []\n") })), /organisations/);
  assert.match(await problem(() => simulator.makeNamespace({ scenario: file("latin.yaml", Buffer.from([0xff])) })), /is not UTF-8: save it/);
  const left = (await (await fetch(`${simulator.url}/_sim/namespaces`)).json()).namespaces.length;
  assert.equal(left, before, "a namespace that was not made right is deleted");
});

test("snapshots, settings, reset and bundle", simulator.test(async (sim, t) => {
  await sim.snapshot("before");
  assert.equal((await sim.diff("snapshot:before")).equal, true);
  assert.equal((await sim.settings({ quota: 3 })).quota, 3);
  const changed = await sim.diff("snapshot:before", `namespace:${sim.name}`);
  assert.deepEqual(changed.objects, [
    { kind: "setting", key: { name: "quota" }, change: "changed", members: [{ name: "value", from: null, to: 3 }] }]);
  assert.match(await problem(() => sim.diff("snapshot:befor")), /did you mean before\?/);
  await sim.restore("before");
  assert.equal((await sim.settings()).quota, null);
  await sim.insertItems();
  await sim.reset();
  assert.deepEqual(await sim.items(), []);
  const bundle = await sim.bundle();
  assert.ok(bundle.length > 10_000);
  const place = path.join(folder(t), "deep", "a.tar");
  assert.equal(await sim.saveBundle(place), place);
  assert.equal(fs.statSync(place).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(path.dirname(place)), ["a.tar"]);
}));

test("evidence: explain, audit and coverage", simulator.test(async (sim) => {
  const [id] = await sim.insertItems();
  assert.equal((await sim.explain(id)).subject.kind, "item");
  await sim.expectNoMisuse({ failingAt: "warning" });
  await send(sim, "GET", "/v1/health", undefined, { "Api-Version": "1.0" });
  await sim.expectNoMisuse();
  const text = await problem(() => sim.expectNoMisuse({ failingAt: "warning" }), "ExpectationError");
  assert.match(text, /^the clients did what they should not:\n {2}warning deprecated-version: GET \/v1\/health asks for version 1\.0 \(requests 1\)$/);
  await sim.expectNoMisuse({ failingAt: "warning", ignore: { "deprecated-version": "an old client" } });
  assert.equal((await sim.audit({ rule: "deprecated-version" })).findings[0].count, 1);
  assert.deepEqual((await sim.audit({ level: "error" })).findings, []);
  assert.match(await problem(() => sim.expectNoMisuse({ ignore: { "retry-to-soon": "x" } })), /^the audit has no rule retry-to-soon; its rules are retry-too-soon/);
  assert.match(await problem(() => sim.expectNoMisuse({ ignore: { "no-retry": " " } })), /^ignore needs a reason for no-retry/);
  assert.match(await problem(() => sim.expectNoMisuse({ failingAt: "never" })), /^failingAt must be/);
  await send(sim, "POST", SEARCH, { limit: 2 });
  const [answers] = (await sim.coverage()).axes;
  const met = answers.edges.filter((edge) => edge.reached).map((edge) => [edge.id, edge.tests]);
  assert.deepEqual(met, [["GET /v1/health 200", [sim.test]], ["POST /v2/search/authentications 200", [sim.test]]]);
  assert.ok((await simulator.coverage()).axes[0].reached >= 2);
  assert.equal((await simulator.coverage({ prefix: "no-such" })).axes[0].reached, 0);
}));

test("notes are reported, wait for the end, or fail a strict test", async () => {
  notes.length = 0;
  const own = await simulator.makeNamespace();
  await own.fault({ status: 503 }, { route: "/sdk/serch" });
  assert.match(notes.join(), /^the fault flt_\w+: match\.route: no route of the server matches \/sdk\/serch; the nearest is POST \/sdk\/search$/);
  const strict = await simulator.makeNamespace({ strict: true });
  assert.match(await problem(() => strict.fault({ status: 503 }, { route: "/sdk/serch" }), "ExpectationError"), /no route of the server matches/);
  notes.length = 0;
  // Without a user who comes later, a note that could be resolved fails a strict test at its end, also if the rule is removed.
  for (const end of [() => {}, (sim) => sim.clearFaults(), (sim) => sim.delete()]) {
    await assert.rejects(() => simulator.withNamespace({ strict: true }, async (sim) => {
      await sim.fault({ status: 503 }, { route: "/sdk/session", username: "DemoOrg-example-user" });
      await end(sim);
    }), { name: "ExpectationError", message: /^the fault flt_\w+: match\.username: there is no user "DemoOrg-example-user" yet/ });
  }
  assert.deepEqual(notes, []);
  await simulator.withNamespace({ strict: true }, async (sim) => {
    await sim.outcome("unknown", { username: "DemoOrg-example-user" });
    await authorize(sim);
  });
  assert.deepEqual(notes, []);
  await assert.rejects(() => simulator.withNamespace({ strict: true }, (sim) => sim.outcome("unknown", { username: "DemoOrg-nobody" })),
    { name: "ExpectationError", message: /^the outcome rule out_\w+: match\.username: there is no user "DemoOrg-nobody" yet/ });
  await simulator.withNamespace((sim) => sim.outcome("unknown", { username: "DemoOrg-nobody" }));
  assert.match(notes.join(), /^the outcome rule out_\w+: match\.username: there is no user "DemoOrg-nobody" yet$/);
  notes.length = 0;
  await simulator.withNamespace(async (sim) => {
    await sim.outcome("unknown", { username: "DemoOrg-example-user" });
    await authorize(sim);
  });
  assert.deepEqual(notes, []);
});

test("clients are judged at the end of a test where the run asks for it", async () => {
  const strict = await start({ url: simulator.url, audit: "warning", artifacts: false });
  const ask = (sim) => send(sim, "GET", "/v1/health", undefined, { "Api-Version": "1.0" });
  await assert.rejects(() => strict.withNamespace(ask), /^ExpectationError: the clients did what they should not:\n {2}warning deprecated-version/);
  assert.equal(await strict.withNamespace({ ignoreMisuse: { "deprecated-version": "an old client" } }, ask), 200);
  await strict.stop();
});

test("what the journal has forgotten was not judged", async () => {
  const notes = [];
  const judged = await start({ url: simulator.url, audit: "error", artifacts: false, onNote: (text) => notes.push(text) });
  const forget = async (sim) => {
    await send(sim, "GET", "/v1/health");
    await sim.control("DELETE", "/_sim/requests");
  };
  await assert.rejects(() => judged.withNamespace(forget),
    /^SimulatorError: retry-too-soon could not judge everything: the journal has forgotten requests.*ignore has \{ forgotten: "why" \}/);
  await judged.withNamespace({ ignoreMisuse: { forgotten: "this test empties the journal" } }, forget);
  const rules = Object.fromEntries((await judged.withNamespace((sim) => sim.audit())).rules
    .filter((rule) => rule.level === "error").map((rule) => [rule.id, "not asked about"]));
  await judged.withNamespace({ ignoreMisuse: rules }, forget);
  await judged.stop();
  assert.deepEqual(notes, []);
});

test("what a test has its namespace forget is judged before", async () => {
  const judged = await start({ url: simulator.url, audit: "error", artifacts: false, onNote: (text) => notes.push(text) });
  const ask = (sim) => send(sim, "GET", "/v1/health?token=0123456789");
  const found = /^ExpectationError: the clients did what they should not:\n {2}error token-in-url: /;
  const ignoreMisuse = { forgotten: "these tests are about it" };
  for (const lose of [
    (sim) => sim.delete(), (sim) => sim.control("DELETE", `/_sim/namespaces/${sim.name}`), (sim) => sim.reset(), (sim) => sim.restore("before"),
    (sim) => sim.control("DELETE", "/_sim/requests"), (sim) => sim.control("POST", "/_sim/scenarios/late-result/start", {})]) {
    await assert.rejects(() => judged.withNamespace({ ignoreMisuse }, async (sim) => {
      await sim.snapshot("before");
      await ask(sim);
      await lose(sim);
    }), found, String(lose));
  }
  await assert.rejects(() => judged.withNamespace(async () => {
    const sim = await judged.makeNamespace();
    await ask(sim);
    await sim.delete();
  }), found);
  await judged.withNamespace({ ignoreMisuse: { "token-in-url": "this test is about it" } }, async (sim) => {
    await ask(sim);
    await sim.delete();
  });
  // Behind its back.
  notes.length = 0;
  const drop = async (sim) => {
    await ask(sim);
    await fetch(`${simulator.url}/_sim/namespaces/${sim.name}`, { method: "DELETE" });
  };
  await judged.withNamespace(drop);
  assert.match(notes.join(), /^the namespace test-\w+ is gone, so it was not judged/);
  await assert.rejects(() => judged.withNamespace({ strict: true }, drop), /^ExpectationError: the namespace test-\w+ is gone/);
  await judged.stop();
});

test("what an audit could not judge fails a strict test", async () => {
  const judged = await start({ url: simulator.url, audit: "warning", artifacts: false, onNote: (text) => notes.push(text) });
  const cut = async (sim) => {
    await sim.settings({ journal: { body_bytes: 10 } });
    await send(sim, "POST", SEARCH, { limit: 2, text: "x".repeat(200) });
  };
  notes.length = 0;
  await judged.withNamespace(cut);
  assert.match(notes.join(), /^unread-member could not judge everything: /);
  await assert.rejects(() => judged.withNamespace({ strict: true }, cut), /^SimulatorError: unread-member could not judge everything: /);
  await judged.stop();
});

test("an audit that judged nobody says so", async () => {
  const notes = [];
  const options = { url: simulator.url, audit: "error", artifacts: false, onNote: (text) => notes.push(text) };
  await (await start(options)).stop();
  const other = await start(options);
  await (await other.makeNamespace()).delete();
  await other.withNamespace(() => {});
  await other.stop();
  await other.stop();
  const judged = await start(options);
  await judged.withNamespace(() => judged.makeNamespace());
  await judged.stop();
  await (await start({ ...options, audit: false })).stop();
  const strict = await start({ ...options, strict: true });
  await assert.rejects(() => strict.stop(), /^ExpectationError: audit: no client was judged: no test ran/);
  await strict.stop();
  assert.deepEqual(notes, [
    "audit: no client was judged: no test ran with test() or withNamespace()",
    "audit: the clients of 1 namespace were not judged: makeNamespace() made them outside of test() and withNamespace()"]);
});

test("a test with a scenario verifies what it expects", async (t) => {
  const scenario = "late-result";
  await assert.rejects(() => simulator.withNamespace({ scenario }, () => {}), /^ExpectationError: the scenario late-result did not pass: 2 of 2 checks failed/);
  await simulator.withNamespace({ scenario, verify: false }, () => {});
  // The error of the test counts.
  await assert.rejects(() => simulator.withNamespace({ scenario }, () => { throw new Error("mine"); }), /^Error: mine/);
  // One that expects nothing, though its actions are not done.
  const notes = [];
  const plain = path.join(folder(t), "plain.yaml");
  fs.writeFileSync(plain, "name: plain\ndescription: Nothing.\nclock: {freeze: 2026-01-01T00:00:00Z}\ntimeline:\n  - {at: 1h, revoke_sessions: {}}\n");
  await simulator.withNamespace({ scenario: plain, onNote: (text) => notes.push(text) }, () => {});
  assert.deepEqual(notes, []);
  // It is verified before the test deletes the namespace.
  const unmet = /^ExpectationError: the scenario late-result did not pass: 2 of 2 checks failed/;
  await assert.rejects(() => simulator.withNamespace({ scenario }, (sim) => sim.delete()), unmet);
  await simulator.withNamespace({ scenario, verify: false }, (sim) => sim.delete());
  const one = path.join(folder(t), "one.yaml");
  fs.writeFileSync(one, "name: one\ndescription: One.\nclock: {freeze: 2026-01-01T00:00:00Z}\nexpect:\n  - {route: /v1/health, times: 1}\n");
  await simulator.withNamespace({ scenario: one }, async (sim) => {
    await send(sim, "GET", "/v1/health");
    await sim.delete();
  });
  // Behind its back.
  const drop = (sim) => fetch(`${simulator.url}/_sim/namespaces/${sim.name}`, { method: "DELETE" });
  await simulator.withNamespace({ scenario, onNote: (text) => notes.push(text) }, drop);
  assert.match(notes[0], /^the namespace test-\w+ is gone, so it was not judged: delete it with delete\(\), which judges it first$/);
  assert.match(notes[1], /^what the scenario late-result expects is not verified: /);
  assert.equal(notes.length, 2);
  await assert.rejects(() => simulator.withNamespace({ scenario, strict: true }, drop), /^ExpectationError: the namespace test-\w+ is gone, so it was not judged/);
});

test("the environment of a process names the namespace and the test", simulator.test(async (sim) => {
  assert.deepEqual(sim.environment, {
    ENTRUPY_SIM_URL: sim.url, ENTRUPY_SIM_SERVER: simulator.url, ENTRUPY_SIM_NAMESPACE: sim.name,
    ENTRUPY_SIM_API_TOKEN: "demo-api-token", ENTRUPY_SIM_TOKEN: "demo-api-token",
    ENTRUPY_SIM_TEST: "Node/namespace.test.mjs > the environment of a process names the namespace and the test" });
  assert.equal((await simulator.makeNamespace({ test: "mine" })).environment.ENTRUPY_SIM_TEST, "mine");
}));

test("what a test returns and gets is handed on, and its namespace is deleted", async () => {
  let seen;
  const body = simulator.test(function (sim, ...rest) {
    seen = [sim.name, this, rest];
    return "result";
  });
  // Jest hands a callback to functions with parameters, and waits for it.
  assert.equal(body.length, 0);
  assert.equal(await body.call("self", 1, 2), "result");
  assert.deepEqual([String(seen[1]), seen[2]], ["self", [1, 2]]);
  assert.equal((await fetch(`${simulator.url}/ns/${seen[0]}/_sim/clock`)).status, 404);
});

test("a call for which nothing waits fails its test", async () => {
  for (const [name, body] of [
    ["expectRequest", (sim) => { sim.expectRequest("POST", SEARCH, { times: 0 }); }],
    ["expectRequests", async (sim) => { sim.expectRequests([["POST", SEARCH]]); }],
    ["expectWebhook", async (sim) => { sim.expectWebhook({ status: "any", times: 0, within: "1m" }); }],
    // It has not ended, although something waits.
    ["expectWebhook", async (sim) => { sim.expectWebhook({ status: "any", times: 0, within: "1m" }).then(() => {}, () => {}); }],
    // It has ended.
    ["expectNoMisuse", async (sim) => {
      sim.expectNoMisuse();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }],
    ["verifyScenario", async (sim) => { sim.verifyScenario("late-result"); }], ["settle", async (sim) => { sim.settle(); }],
    ["wait", async (sim) => { sim.wait("request:held"); }]]) {
    const error = await simulator.withNamespace(body).then(() => assert.fail(`${name} did not fail`), (caught) => caught);
    assert.equal(error.name, "SimulatorError", error.stack);
    assert.ok(error.message.startsWith(`nothing waited for ${name}, so that its result does not count: write await sim.${name}(…)`), error.message);
    assert.match(error.stack.split("\n").find((line) => line.startsWith("    at ")), /namespace\.test\.mjs/);
  }
});

test("a call for which something waits later does not", async () => {
  for (const body of [
    (sim) => sim.expectRequest("POST", SEARCH, { times: 0 }), async (sim) => sim.expectRequest("POST", SEARCH, { times: 0 }),
    (sim) => Promise.all([sim.expectRequest("POST", SEARCH, { times: 0 }), sim.settle()]),
    (sim) => assert.rejects(sim.expectRequest("POST", SEARCH)), (sim) => Promise.race([sim.settle(), sim.wait("request:held", { within: 0.1 })]),
    async (sim) => {
      const expected = sim.expectRequest("POST", SEARCH, { times: 0 });
      await sim.clock.state();
      await expected;
    }]) await simulator.withNamespace(body);
});

test("a test that nothing calls or waits for fails", async () => {
  const text = await problem(async () => simulator.test(() => {}), "SimulatorError");
  assert.match(text, /^simulator\.test\(\) gives the function of a test, which nothing has called: write test\(name, simulator\.test\(…\)\)/);
  const other = await start({ artifacts: false });
  let release;
  const run = other.withNamespace(() => new Promise((resolve) => { release = resolve; }));
  for (let count = 0; !release && count < 500; count += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.match(await problem(() => other.stop(), "SimulatorError"), /^stop\(\) was called while 1 test ran, whose result does not count/);
  release();
  await run.catch(() => {});
  await other.stop();
});

test("an option that is missing by mistake is an error", async () => {
  for (const name of ["scenario", "seed", "frozenAt", "randomSeed", "ttl", "prefix", "verify", "ignoreMisuse"]) {
    for (const value of [undefined, null]) {
      assert.equal(await problem(() => simulator.withNamespace({ [name]: value }, () => {}), "TypeError"),
        `withNamespace: ${name} is ${value}: leave it out if it does not matter`);
      await assert.rejects(async () => simulator.test({ [name]: value }, () => {}), TypeError);
    }
  }
  for (const name of ["scenario", "seed", "frozenAt", "prefix", "ttl"]) {
    assert.match(await problem(() => simulator.makeNamespace({ [name]: "" }), "SimulatorError"), new RegExp(`^makeNamespace: ${name} must not be empty`));
  }
  for (const value of ["false", 0]) {
    assert.match(await problem(() => simulator.withNamespace({ scenario: "late-result", verify: value }, () => {}), "SimulatorError"),
      /^withNamespace: verify must be true or false/);
  }
  assert.match(await problem(() => simulator.withNamespace({ frozenAt: NaN }, () => {}), "SimulatorError"), /^withNamespace: frozenAt must be a value that JSON has/);
});
