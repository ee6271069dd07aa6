// What tests do with users, flags, retakes and sessions.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { start } from "entrupy-sim";
import { folder } from "./support.mjs";

const simulator = await start({ artifacts: false });
after(() => simulator.stop());

/** The status and the message of the SimulatorError that a call throws. */
async function refusal(call) {
  try {
    await call();
  } catch (error) {
    if (error.name !== "SimulatorError") throw error;
    return [error.status, error.message];
  }
  throw new Error("nothing was thrown");
}

test("a user flags an item and takes the flag back", simulator.test(async (sim) => {
  const [item] = await sim.insertItems({ result: "authentic" });
  const user = sim.user();
  assert.equal((await user.flag(item)).id, "flagged");
  const { flag } = await sim.item(item);
  assert.deepEqual([flag.id, flag.flag_info.id, flag.flag_info.message], ["flagged", "wrong_result", null]);
  assert.equal((await user.unflag(item)).id, "none");
  const { flag_info: info } = (await user.flag(item, { reason: "wrong_photos", message: "Those are of another shoe" })).flag_status;
  assert.deepEqual([info.id, info.message], ["wrong_photos", "Those are of another shoe"]);
  // It is the user's request, with one session for all of them.
  await sim.expectRequest("PUT", `/sdk/results/${item}/flag`, { status: 200, username: "DemoOrg-sim-test-user", times: 3, test: sim.test });
  await sim.expectRequest("POST", "/sdk/login", { status: 200, times: 1, test: sim.test });
  await sim.resolveFlag(item, { note: "Seen again" });
  assert.equal((await sim.item(item)).flag.id, "resolved");
  await sim.expectNoMisuse({ failingAt: "warning" });
}));

test("what the platform refuses comes through", simulator.test(async (sim) => {
  const [item, other] = await sim.insertItems({ result: "authentic" }, { count: 2 });
  const [wrong] = await sim.insertItems({ result: "invalid" });
  const user = sim.user();
  assert.equal((await refusal(() => user.unflag(item)))[0], 409);
  await user.flag(item);
  assert.deepEqual(await refusal(() => user.flag(item)),
    [409, `PUT /sdk/results/${item}/flag: the item is flagged already; flag: is flagged; clear it first`]);
  for (const [call, status] of [
    [() => user.flag(wrong), 400], [() => user.flag(other, { reason: "no_such_reason" }), 400], [() => user.flag("NOSUCH01"), 404],
    [() => sim.user("DemoOrg-someone-else").flag(other), 404],
  ]) assert.equal((await refusal(call))[0], status);
  await sim.settings({ flagging: { sdk: false } });
  const [status, text] = await refusal(() => user.flag(other));
  // The platform's refusal is not one of the control API.
  assert.ok(status === 403 && !text.includes("control token"), text);
  assert.throws(() => user.flag(other, { note: "x" }), /flag does not know the option note: it takes reason, message/);
  assert.throws(() => sim.user(null), { name: "TypeError", message: /username must be a text/ });
}));

test("a session that ended is 401 until the next login", simulator.test(async (sim) => {
  const [item] = await sim.insertItems({ result: "authentic" });
  const user = sim.user("sim-test-user");
  const first = await user.login();
  assert.equal(user.username, "DemoOrg-sim-test-user");
  assert.notEqual(await user.login(), first);
  await sim.revokeSessions({ username: user.username });
  const [status, text] = await refusal(() => user.flag(item));
  assert.ok(status === 401 && !text.includes("control token"), text);
  await user.login();
  assert.equal((await user.flag(item)).id, "flagged");
  assert.match((await refusal(() => sim.revokeSessions({ username: "DemoOrg-nobody" })))[1], /nobody/);
  await assert.rejects(sim.revokeSessions({ username: undefined }), TypeError);
  await sim.revokeSessions();
  assert.deepEqual((await sim.control("GET", "/_sim/sessions")).sessions, []);
}));

test("users of other organizations and with an email log in", simulator.test(async (sim) => {
  const [item] = await sim.insertItems({ username: "OtherOrg-example-user", result: "authentic" });
  assert.equal((await sim.user("OtherOrg-example-user").flag(item)).id, "flagged");
  await sim.control("PATCH", "/_sim/users/OtherOrg-example-user", { email: "her@example.com" });
  assert.equal((await sim.user("OtherOrg-example-user").unflag(item)).id, "none");
  await sim.expectRequest("POST", "/v2/integrations/authorize-user", { status: 200, times: 2 });
  assert.equal((await sim.control("GET", "/_sim/users/OtherOrg-example-user")).email, "her@example.com");
}));

test("an organization without a token logs nobody in", async (t) => {
  const seed = path.join(folder(t), "seed.yaml");
  fs.writeFileSync(seed, "organizations: [{name: Mute, api_tokens: []}]\n");
  await simulator.withNamespace({ seed }, async (sim) => {
    assert.equal((await refusal(() => sim.user("Mute-example-user").login()))[1],
      "Mute-example-user cannot log in: the organization Mute has no API token; load seed data with one");
  });
});

test("support asks for new pictures", simulator.test(async (sim) => {
  const [item] = await sim.insertItems({ result: "unknown" });
  await sim.requestRetake(item, { regions: ["heel"], message: "Sharper, please" });
  assert.deepEqual((await sim.events({ subject: item, kind: "retake.*" })).map((event) => event.kind), ["retake.requested"]);
  assert.equal((await refusal(() => sim.requestRetake(item)))[0], 409);
  assert.throws(() => sim.requestRetake(item, { region: "heel" }), /did you mean regions/);
}));
