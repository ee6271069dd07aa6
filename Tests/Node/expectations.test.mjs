// What is expected of requests and webhooks, and what the failures say.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "entrupy-sim";
import { authorize, AUTHORIZE, problem, SEARCH, send } from "./support.mjs";

const simulator = await start({ artifacts: false });
after(() => simulator.stop());
const FROZEN = { frozenAt: "2026-01-05T09:00:00Z" };

const failure = (call) => problem(call, "ExpectationError");
const error = (call) => problem(call, "SimulatorError");

/** A test with three searches: one of 3, one of 3 with a filter, and one without JSON. */
const searched = (body) => simulator.test(async (sim, ...rest) => {
  await send(sim, "POST", SEARCH, { limit: 3 }, { "X-Shop": "one" });
  await send(sim, "POST", SEARCH, { limit: 3, filters: [{ key: "status.result.id", value: "unknown" }] }, { "X-Shop": "one" });
  await send(sim, "POST", SEARCH, "no json", { "X-Shop": "two" });
  await body(sim, ...rest);
});

test("requests are counted", searched(async (sim) => {
  await sim.expectRequest("POST", SEARCH);
  await sim.expectRequest("POST", SEARCH, { times: 3 });
  await sim.expectRequest("POST", "/v2/**", { atLeast: 2, atMost: 3 });
  await sim.expectRequest({ status: "2xx", atMost: 2 });
  await sim.expectRequest("POST", "/sdk/login", { times: 0 });
  await sim.expectRequest("POST", SEARCH, { test: sim.test, times: 3 });
  await sim.expectRequest("POST", SEARCH, { test: "another", times: 0, anyTest: true });
  for (const [options, name] of [[{ test: "another" }, "anyTest"], [{ username: "DemoOrg-nobdy" }, "anyUser"], [{ status: 418 }, "anyStatus"]]) {
    assert.match(await error(() => sim.expectRequest("POST", SEARCH, { ...options, times: 0 })), new RegExp(`\\{ ${name}: true \\} in expectRequest$`));
    await sim.expectRequest("POST", SEARCH, { ...options, times: 0, [name]: true });
  }
  // The journal does not show which token it was.
  for (const token of ["Token x", `Token ${sim.apiToken}`]) {
    assert.match(await error(() => sim.expectRequest("POST", SEARCH, { headers: { Authorization: token }, times: 0 })), /not known.*masks secrets/);
  }
  await sim.expectRequest("POST", SEARCH, { headers: { Authorization: "Bearer x" }, times: 0 });
  assert.match(await failure(() => sim.expectRequest("POST", SEARCH, { times: 2 })),
    /^POST \/v2\/search\/authentications: expected 2 such requests, found 3/);
  assert.match(await failure(() => sim.expectRequest("GET", "/v2/webhooks")), /; nearest:\n {2}POST \/v2\/search\/authentications /);
  assert.equal((await sim.requests({ route: SEARCH, status: 200 })).length, 2);
  assert.equal((await sim.requests({ text: "malformed" })).length, 1);
  const [last] = await sim.requests({ limit: 1 });
  assert.equal((await sim.request(last.sequence)).request.body, "no json");
  assert.equal((await sim.request(last.id)).request.body, "no json");
}));

for (const [match, count] of [
  [{ body: { limit: 3 } }, 2], [{ body: { filters: [{ key: /^stat/ }] } }, 1], [{ body: { filters: [] } }, 0], [{ body: "json" }, 1],
  [{ body: /"limit": ?3/g }, 2], [{ body: /"limit": ?3/y }, 2], [{ body: { limit: "3" } }, 0], [{ body: {} }, 2],
  [{ headers: { "x-shop": "one" } }, 2], [{ headers: { "X-Shop": /^t/ } }, 1], [{ headers: { "X-Shop": null } }, 0],
  [{ headers: { "X-Old": null } }, 3], [{ headers: { "X-Shop": "one" }, body: { limit: 3 }, status: 200 }, 2]]) {
  test(`headers and bodies: ${JSON.stringify(match, (_, value) => (value instanceof RegExp ? String(value) : value))} is ${count}`, searched(async (sim) => {
    await sim.expectRequest("POST", SEARCH, { ...match, times: count });
    if (count) await failure(() => sim.expectRequest("POST", SEARCH, { ...match, atMost: count - 1 }));
    await failure(() => sim.expectRequest("POST", SEARCH, { ...match, atLeast: count + 1 }));
  }));
}

test("the differences of the nearest are named", searched(async (sim) => {
  let text = await failure(() => sim.expectRequest("POST", SEARCH, { headers: { "X-Shop": "two", "X-More": "1" }, body: { limit: 4, user: { name: "x" } } }));
  assert.match(text, /^POST \/v2\/search\/authentications, headers: /);
  for (const part of ["header X-Shop is 'one', not 'two'", "header X-More is absent", "body.limit is 3, not 4", "body.user is absent",
    "body is no JSON: 'no json'"]) assert.ok(text.includes(part), text);
  // Where no request fits without its message, the server knows the nearest.
  text = await failure(() => sim.expectRequest("GET", "/v2/webhooks", { body: { limit: 4 } }));
  assert.match(text, /found 0; nearest:[^]*method is POST, not GET/);
  text = await error(() => sim.expectRequest("POST", SEARCH, { headers: { Authorization: "Token x" } }));
  assert.ok(text.includes("not 'Token x' (the journal masks secrets)") && !text.includes(sim.apiToken), text);
  assert.equal(await send(sim, "GET", "/v2/authentications/NONE"), 404);
  text = await failure(() => sim.expectRequest("GET", "/v2/authentications/*", { status: 200 }));
  assert.match(text, /404 \(because the namespace has no item with this id\): status is 404/);
}));

test("a body that the journal did not keep is no proof", simulator.test(async (sim) => {
  await sim.settings({ journal: { body_bytes: 100 } });
  await send(sim, "POST", SEARCH, { limit: 2, text: "x".repeat(200) });
  for (const match of [{ body: { limit: 3 } }, { body: "y" }, { body: /y/ }]) {
    for (const bounds of [{ times: 0 }, { times: 1 }, { atLeast: 1 }, { atMost: 0 }, {}]) {
      assert.match(await error(() => sim.expectRequest("POST", SEARCH, { ...match, ...bounds })),
        /100 characters of a body of 2.. bytes were kept.*body_bytes/);
    }
    // It changes nothing here.
    await sim.expectRequest("POST", SEARCH, { ...match, atMost: 1 });
  }
  await sim.expectRequest("POST", SEARCH, { body: '"limit":2', times: 1 });
  // Its headers decide without the body.
  await sim.expectRequest("POST", SEARCH, { body: { limit: 3 }, headers: { "X-Shop": "one" }, times: 0 });
  await send(sim, "POST", SEARCH, new Uint8Array([0xff, 0xfe]));
  assert.match(await error(() => sim.expectRequest("POST", SEARCH, { body: "y", times: 0 })), /a body of 2 bytes is not text/);
}));

test("requests that the journal dropped are no proof", simulator.test(async (sim) => {
  await sim.settings({ journal: { entries: 1 } });
  for (const limit of [1, 2]) await send(sim, "POST", SEARCH, { limit });
  await sim.expectRequest("POST", SEARCH, { body: { limit: 2 } });
  for (const bounds of [{ times: 0 }, { times: 1 }, { atMost: 3 }]) {
    assert.match(await error(() => sim.expectRequest("POST", SEARCH, { body: { limit: 1 }, ...bounds })), /the journal has forgotten requests/);
  }
}));

test("of requests before a restore nothing can be said", simulator.test(async (sim) => {
  await sim.snapshot("before");
  await send(sim, "POST", SEARCH, { limit: 1 });
  await sim.restore("before");
  for (const more of [{}, { body: { limit: 1 } }]) {
    const text = await error(() => sim.expectRequest("POST", SEARCH, { ...more, times: 0 }));
    const since = text.match(/"since": "(sequence:\d+)"/)?.[1];
    assert.ok(since && text.includes("{ since } in expectRequest"), text);
    await sim.expectRequest("POST", SEARCH, { ...more, times: 0, since });
  }
}));

test("a status counts delivered answers alone, with a body too", simulator.test(async (sim) => {
  await sim.fault({ drop_connection: true }, { route: SEARCH, times: 1 });
  assert.equal(await send(sim, "POST", SEARCH, { limit: 2 }), null);
  await send(sim, "POST", SEARCH, { limit: 2 });
  for (const more of [{}, { body: { limit: 2 } }]) {
    await sim.expectRequest("POST", SEARCH, { ...more, times: 2 });
    await sim.expectRequest("POST", SEARCH, { ...more, status: 200, times: 1 });
    await sim.expectRequest("POST", SEARCH, { ...more, delivered: false, times: 1 });
    await sim.expectRequest("POST", SEARCH, { ...more, status: 200, delivered: "any", times: 2 });
  }
}));

test("requests are expected in an order, and with gaps", simulator.test(FROZEN, async (sim) => {
  await sim.fault({ status: 429 }, { route: SEARCH, times: 1 });
  for (let count = 0; count < 2; count += 1) await send(sim, "POST", SEARCH, {});
  const steps = [["POST", SEARCH, 429], { method: "POST", route: SEARCH, status: 200 }];
  await sim.expectRequests(steps, { maxGap: 600 });
  let text = await failure(() => sim.expectRequests(steps, { minGap: "1h" }));
  assert.ok(text.startsWith(`sequence[1] (POST ${SEARCH} -> 200) followed sequence[0], but not with the expected gap (min_gap 1h)`), text);
  assert.match(text, /after the previous step \(request 1\), min_gap is 1h/);
  text = await failure(() => sim.expectRequests([...steps].reverse()));
  assert.match(text, /did not follow sequence\[0\][^]*nearest:/);
  await sim.clock.advance("1h");
  await send(sim, "POST", SEARCH, {});
  await sim.expectRequests(steps, { minGap: "1h" });
}));

test("wrong expectations are errors", simulator.test(async (sim) => {
  for (const [steps, expected] of [
    [[], /1 to 100 steps/], [[[]], /^a step must be/], [[{ headers: {} }], /^a step does not know the option headers/], [["POST"], /^a step must be/],
    [[["POST", "sdk"]], /matches no request/], [[["POST", "/sdk/serch"]], /the nearest is POST \/sdk\/search.*\{ anyRoute: true \} in expectRequests/],
    [[["POST", SEARCH, 700]], /must be a status/], ["POST", /^expectRequests takes a list of steps/]]) {
    assert.match(await error(() => sim.expectRequests(steps)), expected);
  }
  for (const [bounds, expected] of [
    [{ times: -1 }, /^times must be a whole number/], [{ times: true }, /^times must be a whole number/], [{ times: 1.5 }, /got 1\.5$/],
    [{ atMost: "2" }, /^atMost must be a whole number/], [{ times: 1, atLeast: 1 }, /^times excludes atLeast and atMost/],
    [{ atLeast: 2, atMost: 1 }, /^atLeast must be at most atMost, got 2 and 1$/],
    [{ atLeast: 0 }, /^atLeast: 0 matches whatever happened: give atMost too, or times$/]]) {
    assert.match(await error(() => sim.expectRequest("POST", SEARCH, bounds)), expected);
    assert.match(await error(() => sim.expectRequest("POST", SEARCH, { ...bounds, body: {} })), expected);
    assert.match(await error(() => sim.expectWebhook(bounds)), expected);
  }
  for (const more of [{}, { body: {} }]) {
    assert.match(await error(() => sim.expectRequest("POST", "/sdk/serch", { ...more, times: 0 })),
      /the nearest is POST \/sdk\/search.*\{ anyRoute: true \} in expectRequest$/);
    await sim.expectRequest("POST", "/sdk/serch", { ...more, times: 0, anyRoute: true });
  }
  assert.match(await error(() => sim.expectRequest("PUT", AUTHORIZE, { times: 0 })), /PUT/);
  assert.match(await error(() => sim.requests({ route: "/sdk/serch" })), /\{ anyRoute: true \} in requests$/);
  assert.deepEqual(await sim.requests({ route: "/sdk/serch", anyRoute: true }), []);
  assert.match(await error(() => sim.requests({ user: "x" })), /^requests does not know the option user: it takes /);
  assert.match(await error(() => sim.expectRequest("POST", SEARCH, { at_least: 1 })), /did you mean atLeast\?$/);
}));

test("a masked value is neither there nor absent", simulator.test(async (sim) => {
  const login = { signed_authorization_request: "abcdefgh", secret_key: 12345, "demo-api-token": 1, limit: 2 };
  await send(sim, "POST", "/sdk/login", login, { "X-Api-Key": "12345", "X-Several": "demo-api-token" });
  for (const match of [
    { headers: { Authorization: "Token demo-api-token" } }, { headers: { Authorization: /demo-api/ } }, { headers: { authorization: /^Bearer / } },
    { headers: { "X-Api-Key": 12345 } }, { headers: { "X-Several": "demo-api-token" } }, { body: "abcdefgh" }, { body: /abcd/ },
    { body: { signed_authorization_request: "abcdefgh" } }, { body: { signed_authorization_request: /abcd/ } }, { body: { secret_key: 12345 } },
    { body: { secret_key: { a: 1 } } }, { body: { "demo-api-token": 1 } }]) {
    for (const bounds of [{ times: 0 }, { atMost: 0 }, { times: 1 }, { atLeast: 1 }, {}]) {
      assert.match(await error(() => sim.expectRequest("POST", "/sdk/login", { ...match, ...bounds })),
        /not known: .*\(the journal masks secrets\)\. Ask by route, username or test/, JSON.stringify([match, bounds]));
    }
    // It changes nothing here.
    await sim.expectRequest("POST", "/sdk/login", { ...match, atMost: 1 });
  }
  // What is not masked decides.
  await sim.expectRequest("POST", "/sdk/login", { body: { limit: 3, secret_key: 1 }, times: 0 });
  await sim.expectRequest("POST", "/sdk/login", { headers: { Authorization: "Bearer x" }, times: 0 });
  await sim.expectRequest("POST", "/sdk/login", { headers: { Authorization: "Token ***" }, body: { secret_key: "***", limit: 2 }, times: 1 });
  await sim.control("DELETE", "/_sim/requests");
  await send(sim, "POST", "/sdk/login", '{"limit": 2, "a": demo-api-token}');
  assert.match(await error(() => sim.expectRequest("POST", "/sdk/login", { body: { limit: 2 }, times: 0, since: "sequence:2" })),
    /body is no JSON: .*\(the journal masks secrets\)/);
}));

test("a masked value of a webhook is neither there nor absent", simulator.test(FROZEN, async (sim) => {
  await sim.subscribe("http://127.0.0.1:9/one?secret=abc", "a-secret-key", { events: ["session.completed"] });
  await sim.insertItems({ result: "authentic", customer_item_id: "demo-api-token" });
  await sim.clock.advance("2s");
  const body = { items: [{ text_fields: { customer_item_id: "demo-api-token" } }] };
  for (const bounds of [{ times: 0 }, { atLeast: 1 }]) {
    assert.match(await error(() => sim.expectWebhook("session.completed", { status: "any", body, ...bounds })),
      /whether these deliveries match is not known: .*masks secrets/);
  }
  // The receiver's URL is known.
  await sim.expectWebhook("session.completed", { status: "any", url: "http://127.0.0.1:9/one?secret=abc", times: 1 });
}));

for (const [name, lose] of [
  ["restore", (sim) => sim.restore("before")], ["reset", (sim) => sim.reset()],
  ["start of a scenario", (sim) => sim.control("POST", "/_sim/scenarios/late-result/start", {})]]) {
  test(`of webhooks before a ${name} nothing can be said`, simulator.test(async (sim) => {
    await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key");
    await sim.snapshot("before");
    await sim.insertItems();
    // The journal has no deliveries.
    await sim.control("DELETE", "/_sim/requests");
    await sim.expectWebhook({ status: "any", atLeast: 1, atMost: 9 });
    await lose(sim);
    let since;
    for (const bounds of [{ times: 0 }, { times: 1 }, { atMost: 3 }]) {
      const text = await error(() => sim.expectWebhook({ status: "any", ...bounds }));
      assert.match(text, /^deliveries before POST .* are forgotten.*: \{ since: .* in expectWebhook$/);
      since = text.match(/since: "(.*?)"/)[1];
      assert.match(await error(() => sim.expectWebhook({ status: "any", since: "2020-01-01T00:00:00Z", ...bounds })), /are forgotten/);
    }
    await sim.expectWebhook({ status: "any", times: 0, since });
    // What is there is there.
    await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key");
    await sim.insertItems();
    await sim.expectWebhook({ status: "any" });
    assert.match(await failure(() => sim.expectWebhook({ status: "any", times: 0, since })), /found/);
  }));
}

test("a restore before any webhook forgets none", simulator.test(FROZEN, async (sim) => {
  await sim.reset();
  await sim.expectWebhook({ status: "any", times: 0 });
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key");
  await sim.insertItems();
  await sim.clock.advance("2h");
  const { epoch } = await sim.clock.state();
  await sim.expectWebhook({ status: "any", times: 0, since: epoch - 60 });
  assert.match(await error(() => sim.expectWebhook({ status: "any", times: 0, since: epoch + 60 })),
    /^since lies in the future, so that no delivery can match: .* is after the namespace's time, 2026-01-05T11:00:00/);
  for (const since of ["2026-01-05", "2026-01-05T09:00:00", "soon", true]) {
    assert.match(await error(() => sim.expectWebhook({ since })), /^since must be ISO 8601 with an offset/);
  }
}));

test("webhooks are expected", simulator.test(FROZEN, async (sim) => {
  assert.match(await failure(() => sim.expectWebhook("session.completed")), /found 0; there is no subscription: make one/);
  for (const target of ["one?secret=abc", "two"]) await sim.subscribe(`http://127.0.0.1:9/${target}`, "a-secret-key", { events: ["session.completed"] });
  assert.equal(await failure(() => sim.expectWebhook()), "webhook delivered: expected at least 1 such deliveries, found 0");
  const [item] = await sim.insertItems({ result: "unknown" });
  await sim.clock.advance("2s");
  await sim.expectWebhook("session.completed", { entrupyId: item, status: "retrying", times: 2, attempts: 2 });
  await sim.expectWebhook({ status: "any", url: /\/two$/, times: 1 });
  await sim.expectWebhook({ status: "any", url: "http://127.0.0.1:9/two", body: { items: [{ entrupy_id: item }] }, times: 1 });
  await sim.expectWebhook({ status: "any", body: { items: [{ status: { result: { id: "authentic" } } }] }, times: 0 });
  await sim.expectWebhook("session.updated", { times: 0 });
  await sim.expectWebhook("session.updated", { entrupyId: item, times: 0 });
  assert.match(await error(() => sim.expectWebhook("session.updated", { entrupyId: "NOITEM00", times: 0 })), /no item/);
  const text = await failure(() => sim.expectWebhook("session.completed", { body: { items: [{ status: { result: { id: "no" } } }] } }));
  for (const part of ["body.items[0].status.result.id is 'unknown', not 'no'", "status is retrying, not delivered", "connection refused", "secret=***"]) {
    assert.ok(text.includes(part), text);
  }
  assert.ok(!text.includes("abc"));
  assert.match(await error(() => sim.expectWebhook("session.complete", { times: 0 })), /^there is no event session\.complete: use one of session\.completed, /);
  assert.match(await error(() => sim.expectWebhook({ status: "lost" })), /^status must be waiting, sending.* or any, got lost$/);
}));

test("a verification of a domain is no event", simulator.test(FROZEN, async (sim) => {
  await sim.settings({ webhooks: { domain_verification: true } });
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key");
  assert.deepEqual((await sim.deliveries()).map((delivery) => delivery.event), ["verification"]);
  await sim.expectWebhook({ status: "any", times: 0 });
  await sim.expectWebhook("verification", { status: "any", times: 1 });
}));

test("a webhook is waited for", simulator.test(async (sim) => {
  for (const target of ["one", "two"]) await sim.subscribe(`http://127.0.0.1:9/${target}`, "a-secret-key", { events: ["session.completed"] });
  await sim.insertItems({ result: "unknown" });
  await sim.expectWebhook("session.completed", { status: "retrying", times: 2, within: 20 });
  // One too many is known at once, and one too few at the end.
  assert.match(await failure(() => sim.expectWebhook({ status: "retrying", times: 1, within: 600 })), /found 2/);
  assert.match(await failure(() => sim.expectWebhook({ status: "retrying", times: 3, within: "200ms" })), /found 2/);
}));

test("an upper bound of webhooks waits for all of its time", simulator.test(async (sim) => {
  await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", { events: ["session.completed"] });
  for (const bounds of [{ times: 0 }, { atMost: 0 }]) {
    const begin = performance.now();
    await sim.expectWebhook("session.completed", { status: "any", within: "300ms", ...bounds });
    assert.ok(performance.now() - begin >= 300, JSON.stringify(bounds));
  }
  // One that comes while it waits counts, and is known at once.
  const expected = failure(() => sim.expectWebhook("session.completed", { status: "any", times: 0, within: "10m" }));
  await sim.insertItems({ result: "unknown" });
  assert.match(await expected, /expected 0 such deliveries, found 1/);
  const begin = performance.now();
  await sim.expectWebhook("session.completed", { status: "any", times: 1, within: "300ms" });
  assert.ok(performance.now() - begin >= 300);
  await sim.expectWebhook("session.completed", { status: "any", atLeast: 1, within: "10m" });
  // Without a time it judges at once.
  await sim.expectWebhook("session.completed", { status: "any", times: 1 });
}));

test("what is undefined does not match everything", searched(async (sim) => {
  for (const [call, name] of [
    [() => sim.expectRequest("POST", undefined), "expectRequest: route"], [() => sim.expectRequest(undefined, SEARCH), "expectRequest: method"],
    [() => sim.expectRequest("POST", undefined, { times: 3 }), "expectRequest: route"],
    [() => sim.expectRequest("POST", SEARCH, { status: undefined }), "expectRequest: status"],
    [() => sim.expectRequest("POST", SEARCH, { times: undefined }), "expectRequest: times"],
    [() => sim.expectRequest("POST", SEARCH, { body: undefined }), "expectRequest: body"],
    [() => sim.expectRequest("POST", SEARCH, { body: { limit: 3, user: undefined } }), "expectRequest: body.user"],
    [() => sim.expectRequest("POST", SEARCH, { body: { filters: [{ key: undefined }] } }), "expectRequest: body.filters[0].key"],
    [() => sim.expectRequest("POST", SEARCH, { headers: { "X-Shop": undefined } }), "expectRequest: headers.X-Shop"],
    [() => sim.expectRequests([["POST", undefined]]), "a step: route"], [() => sim.expectRequests([{ route: SEARCH, status: undefined }]), "a step: status"],
    [() => sim.expectRequests([["POST", SEARCH]], { minGap: undefined }), "expectRequests: minGap"],
    [() => sim.expectWebhook(undefined), "expectWebhook: event"], [() => sim.expectWebhook({ entrupyId: undefined, times: 0 }), "expectWebhook: entrupyId"],
    [() => sim.expectWebhook({ body: { items: [undefined] }, times: 0 }), "expectWebhook: body.items[0]"],
    [() => sim.requests({ route: undefined }), "requests: route"], [() => sim.deliveries({ entrupyId: undefined }), "deliveries: entrupyId"],
    [() => sim.fault({ status: 503 }, { route: undefined }), "fault: route"], [() => sim.outcome("unknown", { brand: undefined }), "outcome: brand"],
    [() => sim.wait("request:held", { after: undefined }), "wait: after"]]) {
    assert.ok((await problem(call, "TypeError")).startsWith(`${name} is undefined: leave it out if it does not matter`), name);
  }
  for (const [call, name] of [
    [() => sim.expectRequest("POST", null), "expectRequest: route"], [() => sim.expectRequest(null, SEARCH), "expectRequest: method"],
    [() => sim.expectRequest({ route: null }), "expectRequest: route"], [() => sim.expectRequest("POST", SEARCH, { status: null }), "expectRequest: status"],
    [() => sim.expectRequest("POST", SEARCH, { times: null }), "expectRequest: times"], [() => sim.expectRequest("POST", SEARCH, { body: null }), "expectRequest: body"],
    [() => sim.expectRequest("POST", SEARCH, { headers: null }), "expectRequest: headers"], [() => sim.expectRequests([[null, SEARCH]]), "a step: method"],
    [() => sim.expectRequests([{ route: SEARCH, status: null }]), "a step: status"], [() => sim.expectWebhook(null), "expectWebhook: event"],
    [() => sim.expectWebhook({ entrupyId: null, times: 0 }), "expectWebhook: entrupyId"], [() => sim.requests({ route: null }), "requests: route"],
    [() => sim.fault({ status: 503 }, { route: null }), "fault: route"], [() => sim.outcome("unknown", { brand: null }), "outcome: brand"]]) {
    assert.equal(await problem(call, "TypeError"), `${name} is null: leave it out if it does not matter`);
  }
  // What does not matter is left out.
  await sim.expectRequest("POST", { times: 3 });
  await sim.expectRequest({ route: SEARCH, times: 3 });
  await sim.expectRequest("POST", { route: SEARCH, body: { limit: 3 }, times: 2 });
  await sim.expectRequest("POST");
  await sim.expectRequest();
  await sim.expectRequests([{ route: SEARCH }]);
  await sim.expectWebhook({ event: "session.completed", times: 0 });
  assert.equal(await error(() => sim.expectRequest("POST", SEARCH, { route: SEARCH })), "expectRequest has route twice");
  assert.equal(await error(() => sim.expectRequest("POST", { times: 0 }, SEARCH)), "expectRequest takes method, route and an object of options, the options last");
  assert.match(await error(() => sim.expectWebhook("session.completed", null)), /^expectWebhook takes an object of options, got null/);
}));

test("what no request or webhook can be is an error", searched(async (sim) => {
  const request = (options) => () => sim.expectRequest("POST", SEARCH, { times: 0, ...options });
  const webhook = (options) => () => sim.expectWebhook({ status: "any", times: 0, ...options });
  for (const headers of [{}, [], 0, "", "X-Shop", new Headers({ "X-Shop": "nine" }), new Map([["X-Shop", "nine"]])]) {
    assert.match(await error(request({ headers })), /^expectRequest: headers must be an object that is not empty/);
  }
  for (const name of ["", "X Shop", "X-Shop:"]) assert.match(await error(request({ headers: { [name]: null } })), /is not the name of a header$/);
  for (const value of [{}, ["one"], true, NaN, Symbol("one"), () => "one"]) {
    assert.match(await error(request({ headers: { "X-Shop": value } })), /^expectRequest: headers: X-Shop must be a text, a number, a pattern or null/);
  }
  assert.match(await error(request({ headers: { "X-Shop": "one " } })), /^expectRequest: headers: no X-Shop can be 'one '/);
  for (const make of [request, webhook]) {
    for (const body of [5, true, new Map(), new Date(), Buffer.from("x"), Promise.resolve({})]) {
      assert.match(await error(make({ body })), /: body must be an object, a list, a text or a pattern, got /);
    }
    for (const body of [NaN, () => ({})]) assert.match(await error(make({ body })), /: body must be a value that JSON has, got /);
    for (const body of ["", new RegExp("")]) assert.match(await error(make({ body })), /: body is an empty text, which every body contains/);
    for (const value of [NaN, Infinity, 2n, new Map(), new Set([3]), Promise.resolve(3), () => 3, Buffer.from("3")]) {
      assert.match(await error(make({ body: { filters: [{ limit: value }] } })), /: body\.filters\[0\]\.limit must be a value that JSON has, or a pattern, got /);
    }
  }
  assert.match(await problem(request({ body: { filters: [,] } }), "TypeError"), /body\.filters\[0\] is undefined/);
  assert.equal(await error(request({ body: { limit: /3/ } })), "body.limit is 3, which is not a text, and a pattern is found in texts alone: expect the value");
  for (const [options, name] of [[{ status: () => 200 }, "status"], [{ status: Symbol("200") }, "status"], [{ username: NaN }, "username"]]) {
    assert.match(await error(request(options)), new RegExp(`^expectRequest: ${name} must be a value that JSON has`));
  }
  for (const name of ["anyRoute", "anyUser", "anyTest", "anyItem", "anyRegion", "anyStatus"]) {
    for (const value of ["false", 1]) assert.match(await error(request({ [name]: value })), new RegExp(`^expectRequest: ${name} must be true or false`));
  }
  assert.match(await error(() => sim.requests({ route: "/sdk/serch", anyRoute: "no" })), /^requests: anyRoute must be true or false/);
  assert.match(await error(() => sim.expectRequests([["POST", SEARCH]], { minGap: NaN })), /^expectRequests: minGap must be a value that JSON has/);
  assert.match(await error(() => sim.expectRequests([["POST", SEARCH, NaN]])), /^a step: status must be a value that JSON has/);
  for (const url of ["", 5, [], new URL("http://127.0.0.1:9/x"), Promise.resolve("http://127.0.0.1:9/x")]) {
    assert.match(await error(webhook({ url })), /^expectWebhook: url must be the text of a receiver's URL, or a pattern/);
  }
  for (const attempts of ["2", -1, 2.5, true]) assert.match(await error(webhook({ attempts })), /^expectWebhook: attempts must be a whole number of at least 0/);
  assert.match(await error(() => sim.expectWebhook({ attempts: 0, times: 0 })), /^expectWebhook: attempts must be at least 1 where the status is delivered/);
  assert.match(await error(webhook({ entrupyId: ["ABCD2345"] })), /^expectWebhook: entrupyId must be a text/);
  assert.match(await error(webhook({ within: -1 })), /^expectWebhook: within must not be negative/);
  assert.match(await error(webhook({ anyUrl: "no" })), /^expectWebhook: anyUrl must be true or false/);
  assert.match(await error(() => sim.fault({ status: 503 }, { route: SEARCH, times: NaN })), /^fault: times must be a value that JSON has/);
  assert.match(await problem(() => sim.expectNoMisuse({ failingAt: undefined }), "TypeError"), /^expectNoMisuse: failingAt is undefined/);
}));

test("a receiver that no subscription has proves no absence", simulator.test(FROZEN, async (sim) => {
  const one = "http://127.0.0.1:9/one?secret=abc";
  for (const bounds of [{ times: 0 }, { atMost: 2 }]) {
    assert.match(await error(() => sim.expectWebhook({ status: "any", url: one, ...bounds })), /^no subscription has the url http:\/\/127\.0\.0\.1:9\/one\?secret=\*\*\*: there is none\. If it is meant: \{ anyUrl: true \}/);
  }
  await sim.expectWebhook({ status: "any", url: one, times: 0, anyUrl: true });
  const made = await sim.subscribe(one, "a-secret-key", { events: ["session.completed"] });
  await sim.subscribe("http://127.0.0.1:9/a-third-hook", "a-secret-key", { events: ["session.completed"] });
  await sim.expectWebhook({ status: "any", url: one, times: 0 });
  await sim.insertItems({ result: "unknown" });
  await sim.clock.advance("2s");
  for (const url of ["http://127.0.0.1:9/onee", /\/fourth$/, made.id]) {
    const text = await error(() => sim.expectWebhook({ status: "any", url, times: 0 }));
    assert.ok(text.startsWith("no subscription has the url ") && text.includes("http://127.0.0.1:9/a-third-hook") && text.includes("/one?secret=***"), text);
    assert.ok(!text.includes("abc"), text);
    await sim.expectWebhook({ status: "any", url, times: 0, anyUrl: true });
    // That it came is not so, and the failure says why.
    assert.match(await failure(() => sim.expectWebhook({ status: "any", url })), /found 0; no subscription has the url .*; subscriptions have .*\n {2}session\.completed/s);
  }
  assert.match(await error(() => sim.expectWebhook({ status: "any", url: "http://127.0.0.1:9/onee", times: 0 })),
    /subscriptions have http:\/\/127\.0\.0\.1:9\/one\?secret=\*\*\*, http:\/\/127\.0\.0\.1:9\/a-third-hook, the nearest first\. /);
  assert.match(await error(() => sim.expectWebhook({ url: "http://127.0.0.1:9/one?secret=abd", times: 0 })), /; the values behind \*\*\* differ\. /);
  // A subscription that was deleted is known, with its deliveries.
  await sim.unsubscribe(made);
  await sim.expectWebhook({ status: "any", url: one, times: 1 });
  assert.match(await failure(() => sim.expectWebhook({ status: "any", url: one, times: 0 })), /expected 0 such deliveries, found 1/);
}));

test("a receiver of a deleted subscription that is not known is neither one nor none", simulator.test(FROZEN, async (sim) => {
  assert.equal(await send(sim, "POST", "/v2/webhooks", { url: "http://127.0.0.1:9/one", secret_key: "a-secret-key", events: ["session.completed"] }), 201);
  await sim.insertItems({ result: "unknown" });
  const [{ subscription_id: id }] = await sim.deliveries();
  assert.equal(await send(sim, "DELETE", `/v2/webhooks/${id}`), 204);
  for (const bounds of [{ times: 0 }, { times: 1 }, {}]) {
    assert.match(await error(() => sim.expectWebhook({ status: "any", url: "http://127.0.0.1:9/one", ...bounds })),
      /not known: its url is not known \(its subscription was deleted\)\. Ask without url$/);
  }
  await sim.expectWebhook({ status: "any", times: 1 });
}));

for (const strict of [false, true]) {
  test(`that no webhook comes where none can is ${strict ? "an error" : "a note"}`, async () => {
    const notes = [];
    await simulator.withNamespace({ strict, onNote: (text) => notes.push(text) }, async (sim) => {
      const none = async (event, text) => {
        if (strict) assert.match(await error(() => sim.expectWebhook(event, { times: 0 })), text);
        else {
          await sim.expectWebhook(event, { times: 0 });
          assert.match(notes.pop(), text);
        }
      };
      await none("session.completed", /^webhook session\.completed delivered: that none came proves nothing, since there is no subscription: make one/);
      const made = await sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", { events: ["session.completed"] });
      await none("session.updated", /, since no subscription has the event session\.updated$/);
      await sim.expectWebhook("session.completed", { times: 0 });
      // Where one was deleted, none is expected.
      await sim.unsubscribe(made);
      await sim.expectWebhook("session.completed", { times: 0 });
      assert.deepEqual(notes, []);
    });
  });
}

test("a missing webhook says what keeps it", simulator.test(FROZEN, async (sim) => {
  await sim.subscribe("http://127.0.0.1:9", "a-secret-key", { events: ["session.updated"] });
  await sim.control("POST", "/components/sessions", { validationCode: "IDV", networkEnvironment: "mock" });
  assert.match(await failure(() => sim.expectWebhook("session.completed")),
    /; the clock is frozen at 2026-01-05T09:00:00\.000000Z and something is due: advance it$/);
}));

test("the line of a failure is the test's", simulator.test(async (sim) => {
  await authorize(sim);
  const found = await sim.expectRequest("POST", AUTHORIZE, { times: 2 }).catch((caught) => caught);
  const [first] = found.stack.split("\n").filter((line) => line.startsWith("    at "));
  assert.match(first, /expectations\.test\.mjs/);
}));
