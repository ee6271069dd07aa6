// The name of a test, which requests to the simulator carry as X-Sim-Test.

import assert from "node:assert/strict";
import http from "node:http";
import { after, describe, test } from "node:test";
import { nameRequests, start } from "entrupy-sim";
import { plain, problem, run, SEARCH } from "./support.mjs";

const simulator = await start({ artifacts: false });
after(() => simulator.stop());

/** Sends a request with `node:http`. */
function get(url, options = {}) {
  return new Promise((resolve, reject) => {
    http.get(url, options, (answer) => answer.resume().on("end", () => resolve(answer.statusCode))).on("error", reject);
  });
}

/** A server that answers with the name in a request, or redirects. */
async function echo(t, location) {
  const names = [];
  const server = http.createServer((request, answer) => {
    names.push(request.headers["x-sim-test"] ?? null);
    if (location) answer.writeHead(307, { Location: location });
    answer.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/`, names };
}

const names = async (sim) => (await sim.requests()).map((entry) => entry.test).reverse();

describe("requests", () => {
  test("carry the name of the test", simulator.test(async (sim) => {
    await fetch(`${sim.url}/v2/webhooks`);
    await fetch(new Request(`${sim.url}/v2/webhooks`, { headers: { Accept: "*/*" } }));
    await get(`${sim.url}/v2/webhooks`);
    await get(`${sim.url}/v2/webhooks`, { headers: { "X-Sim-Test": "own" } });
    await fetch(`${sim.url}/v2/webhooks`, { headers: { "x-sim-test": "own" } });
    await sim.fetch("/v2/webhooks");
    await sim.fetch(`${sim.url}/v2/webhooks`, { headers: { "X-Sim-Test": "own" } });
    const name = "Node/names.test.mjs > carry the name of the test";
    assert.equal(sim.test.replace("requests > ", ""), name);
    assert.deepEqual(await names(sim), [name, name, name, "own", "own", name, "own"].map((text) => (text === name ? sim.test : text)));
    assert.deepEqual(sim.headers, { "X-Sim-Test": sim.test });
    await sim.expectRequest("GET", "/v2/webhooks", { test: sim.test, times: 4 });
  }));
});

test("other servers do not get the name, also not by a redirect", async (t) => {
  const other = await echo(t);
  await simulator.withNamespace({ test: "secret" }, async (sim) => {
    await fetch(other.url);
    await get(other.url);
    const moved = await echo(t, `${sim.url}/v2/webhooks`);
    await fetch(moved.url);
    assert.deepEqual(moved.names, [null]);
    assert.deepEqual(await names(sim), ["secret"]);
    const end = nameRequests(moved.url);
    const back = await echo(t, other.url);
    const endBack = nameRequests(back.url);
    await fetch(back.url);
    assert.deepEqual(back.names, ["secret"]);
    end();
    end();
    endBack();
    await fetch(moved.url);
    assert.deepEqual(moved.names, [null, null]);
  });
  assert.deepEqual(other.names, [null, null, null]);
});

test("tests at the same time in one process have their own names", async () => {
  await Promise.all(["one", "two", "three"].map((name) => simulator.withNamespace({ test: name }, async (sim) => {
    for (let count = 0; count < 5; count += 1) {
      await (count % 2 ? fetch(`${sim.url}/v2/webhooks`) : get(`${sim.url}/v2/webhooks`));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.deepEqual(await names(sim), Array(5).fill(name));
  })));
});

test("a name that is no header is made one", async () => {
  const seen = [];
  for (const name of ["ü € 😀", "a\r\nX-Evil: 1", "\ud800", "x".repeat(300)]) {
    await simulator.withNamespace({ test: name }, async (sim) => {
      await fetch(`${sim.url}/v2/webhooks`);
      await sim.fetch("/v2/webhooks");
      const [first, second] = await names(sim);
      assert.equal(first, second);
      seen.push(first);
    });
  }
  assert.deepEqual(seen.slice(0, 3), ["%C3%BC %E2%82%AC %F0%9F%98%80", "a%0D%0AX-Evil: 1", "%EF%BF%BD"]);
  assert.match(seen[3], /^x{183}-[0-9a-f]{16}$/);
});

test("without a name nothing is sent, and a wrong address is an error", async () => {
  const sim = await simulator.makeNamespace();
  await fetch(`${sim.url}/v2/webhooks`);
  assert.deepEqual([await names(sim), sim.headers, sim.test], [[null], {}, null]);
  for (const wrong of ["nowhere", "file:///tmp"]) assert.match(await problem(() => nameRequests(wrong)), /is not an http or https URL: give the server's/);
  assert.match(await problem(() => nameRequests()), /set ENTRUPY_SIM_URL$/);
});

test("a process that a test starts sends the name", simulator.test(async (sim) => {
  const answer = await run(process.execPath, ["--input-type=module", "--eval", `
    import { nameRequests } from "entrupy-sim";
    nameRequests();
    await fetch(process.env.ENTRUPY_SIM_URL + "${SEARCH}", { method: "POST" });`], { env: { ...plain(), ...sim.environment } });
  assert.equal(answer.err, "");
  assert.deepEqual(await names(sim), [sim.test]);
}));
