// The types: they declare what the package has, and describe what the server answers. TypeScript checks them where there is a tsc.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import * as entrupySim from "entrupy-sim";
import { folder, installed, run, send } from "./support.mjs";

const declared = ["index.d.ts", "answers.d.ts"].map((name) => fs.readFileSync(path.join(installed, name), "utf8")).join("\n");

/** The members of a declaration, each with whether it may be absent and its type. */
function members(kind, name) {
  const body = declared.match(new RegExp(`^export ${kind} ${name}(?: extends [\\w<>, ]+)? \\{\n([^]*?)^\\}`, "m"));
  assert.ok(body, `${name} is not declared`);
  return [...body[1].matchAll(/^ {2}(?:readonly )?(\w+)(\??)(?:<\w+>)?([:(].*)$/gm)]
    .map(([, member, optional, type]) => ({ name: member, isOptional: optional === "?", type: type.replace(/^: |;$/g, "") }));
}

const names = (list) => [...new Set(list.map((member) => member.name))].sort();

test("what the package exports is declared, and nothing else", () => {
  const values = [...declared.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual([...new Set(values)].sort(), Object.keys(entrupySim).filter((name) => !["default", "module.exports"].includes(name)).sort());
});

test("the members of the classes are declared, and nothing else", async (t) => {
  const simulator = await entrupySim.start();
  t.after(() => simulator.stop());
  const sim = await simulator.makeNamespace();
  for (const [name, value] of [["Simulator", simulator], ["Namespace", sim], ["Clock", sim.clock], ["User", sim.user()], ["SimulatorError", new entrupySim.SimulatorError("a")]]) {
    const own = Object.getOwnPropertyNames(value).filter((member) => !["stack", "message"].includes(member) && !(name === "SimulatorError" && member === "name"));
    const found = [...own, ...Object.getOwnPropertyNames(Object.getPrototypeOf(value))].filter((member) => member !== "constructor");
    assert.deepEqual(names(members("class", name)).filter((member) => member !== "constructor"), [...new Set(found)].sort(), name);
  }
});

test("the matchers are declared, in both forms", () => {
  const own = Object.keys(entrupySim.matchers).sort();
  assert.deepEqual(names(members("interface", "SimulatorMatchers")), own);
  assert.deepEqual(names(members("const", "matchers:")), own);
});

test("every declaration has a comment", () => {
  const lines = declared.split("\n");
  const bare = lines.filter((line, index) => /^export (class|function|interface|type|const)/.test(line) && !/\*\/$/.test(lines[index - 1])
    // Overloads and functions with the comment of the line before.
    && !/^export function/.test(lines[index - 1]));
  assert.deepEqual(bare, []);
});

test("the server answers what the types say", async (t) => {
  const simulator = await entrupySim.start({ artifacts: false, onNote: () => {} });
  t.after(() => simulator.stop());
  await simulator.withNamespace({ frozenAt: "2026-01-05T09:00:00Z" }, async (sim) => {
    await sim.subscribe("http://127.0.0.1:9", "a-secret-key");
    const [id] = await sim.insertItems();
    await send(sim, "POST", "/v2/search/authentications", {});
    const fault = await sim.fault({ hold: true }, { route: "/v2/webhooks", times: 1 });
    const held = send(sim, "GET", "/v2/webhooks");
    await sim.wait("request:held");
    const values = {
      ClockState: await sim.clock.state(), ClockAdvance: await sim.clock.advance("1s"), FaultRule: fault, OutcomeRule: await sim.outcome("unknown"),
      JournalEntry: (await sim.requests())[0], JournalExchange: await sim.request(1), KeptMessage: (await sim.request(1)).request,
      Delivery: (await sim.deliveries())[0], DeliveryAttempt: (await sim.deliveries()).at(-1).attempts[0],
      Subscription: (await sim.control("GET", "/_sim/webhooks")).webhooks[0], HeldRequest: (await sim.held())[0],
      ItemSummary: (await sim.items())[0], Item: await sim.item(id), LoggedEvent: (await sim.events())[0], DueWork: (await sim.due())[0],
      FlagState: await sim.user().flag(id), Explanation: await sim.explain(id), AuditReport: await sim.audit(), Coverage: await sim.coverage(),
    };
    const bases = { ClockAdvance: "ClockState", JournalExchange: "JournalEntry" };
    for (const [name, value] of Object.entries(values)) {
      assert.ok(value, name);
      for (const member of [...members("interface", name), ...bases[name] ? members("interface", bases[name]) : []]) {
        if (!Object.hasOwn(value, member.name)) assert.ok(member.isOptional, `${name}.${member.name} is absent`);
        else checkType(value[member.name], member.type, `${name}.${member.name}`);
      }
    }
    await sim.release();
    await held;
  });
});

/** Checks a value by the parts of a declared type that a value shows. */
function checkType(value, type, place) {
  if (value === null) assert.match(type, /\bnull\b/, `${place} is null`);
  else if (Array.isArray(value)) assert.match(type, /\[\]|Array</, `${place} is a list`);
  else if (typeof value === "string") assert.match(type, /string|"|Duration|DeliveryStatus/, `${place} is a text`);
  else if (typeof value === "number") assert.match(type, /number|Duration/, `${place} is a number`);
  else if (typeof value === "boolean") assert.match(type, /boolean/, `${place} is a boolean`);
  else assert.match(type, /JSONObject|KeptMessage|\{/, `${place} is an object`);
}

const tsc = process.env.TSC ?? "tsc";
const found = spawnSync(tsc, ["--version"], { encoding: "utf8" });
const skip = found.status === 0 ? false : "there is no tsc; TSC names one";

/** A project with the packages, and stand-ins for the types of Vitest and Jest by their documentation. */
function project(t, files) {
  const place = folder(t);
  const write = (name, text) => {
    fs.mkdirSync(path.dirname(path.join(place, name)), { recursive: true });
    fs.writeFileSync(path.join(place, name), text);
  };
  fs.mkdirSync(path.join(place, "node_modules"));
  // Not a link: its types look for those of Vitest beside it.
  fs.cpSync(installed, path.join(place, "node_modules/entrupy-sim"), { recursive: true });
  write("node_modules/vitest/package.json", '{"name": "vitest", "version": "0.0.0", "type": "module", "types": "./index.d.ts"}');
  write("node_modules/vitest/index.d.ts", `
    export interface Assertion<T = any> { toBe(expected: T): void; not: Assertion<T> }
    export interface ExpectStatic { <T>(actual: T): Assertion<T>; extend(matchers: Record<string, (this: any, received: any, ...expected: any[]) => { pass: boolean; message: () => string } | Promise<{ pass: boolean; message: () => string }>>): void }
    export const expect: ExpectStatic;
    export function test(name: string, body: (context: { task: { name: string } }) => any): void;
    export function afterAll(body: () => any): void;`);
  write("node_modules/@types/jest/index.d.ts", `
    declare namespace jest { interface Matchers<R, T = {}> { toBe(expected: T): R; not: Matchers<R, T> } }
    declare const expect: { <T>(actual: T): jest.Matchers<void, T>; extend(matchers: Record<string, (...given: any[]) => any>): void };`);
  for (const [name, text] of Object.entries(files)) write(name, text);
  return place;
}

/** Checks files of a project. Returns what TypeScript prints. */
async function check(place, files, options = {}) {
  fs.writeFileSync(path.join(place, "tsconfig.json"), JSON.stringify({
    files, compilerOptions: {
      noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: "es2022", lib: ["es2022", "dom"], types: [],
      skipDefaultLibCheck: true,
      module: "node16", moduleResolution: "node16", ...options } }));
  const answer = await run(tsc, ["--project", "."], { cwd: place });
  return answer.out + answer.err;
}

const USE = `
  export async function use(sim: entrupySim.Namespace) {
    const state: "running" | "frozen" = (await sim.clock.state()).mode;
    const { pending, nothing_due } = await sim.clock.advance({ to: "next" });
    await sim.expectRequest("POST", "/sdk/login", { times: 1, headers: { "X-A": /a/, "X-B": null }, body: { items: [{ id: /x/ }] } });
    await sim.expectRequest({ route: "/sdk/**" });
    await sim.expectRequest("POST", { times: 0, since: 7 });
    await sim.expectWebhook({ status: "any", since: "2026-01-05T09:00:00Z" });
    await sim.expectRequests([["POST", "/sdk/login", 429], { route: "/sdk/login", status: "2xx" }], { minGap: "2s" });
    await sim.expectWebhook("session.completed", { url: /hooks/, within: 5 });
    await sim.fault({ delay: { uniform: ["1s", 3] } }, { route: "/sdk/search" });
    const message: string | null | undefined = (await sim.user().flag("a", { reason: "other", message: "b" })).flag_status.flag_info?.message;
    await sim.requestRetake("a", { regions: ["heel"] });
    await sim.revokeSessions({ username: "a" });
    const error: number | null = new entrupySim.SimulatorError("a").status;
    const bytes: Uint8Array = await sim.bundle();
    const name: string | null = (await sim.requests())[0]!.test;
    return [state, pending, nothing_due, error, bytes, name, message];
  }
  export const body: () => Promise<number> = entrupySim.start().then.length ? async () => 1 : async () => 2;
`;

const WRONG = [
  'start({ prot: 1 })', 'start({ audit: "never" })', 'sim.expectRequest("FETCH", "/")', 'sim.expectRequest("POST", "/", { at_least: 1 })',
  'sim.fault({ stats: 503 })', 'sim.fault({ status: "503" })', 'sim.clock.advance({ by: "1h" })', 'sim.outcome("unknown", { customer_item_id: "x" })',
  'sim.expectRequest(null, "/")', 'sim.expectWebhook(null)', 'sim.expectRequest("POST", "/", { status: null })', 'sim.expectRequests([["POST"]])', 'sim.expectWebhook("a", { status: "lost" })', 'sim.resolveFlag("a", {})', 'new Simulator()', 'sim.name = "a"',
  'sim.user().flag("a", { note: "b" })', 'new User()', 'sim.requestRetake("a", { regions: "heel" })', 'sim.revokeSessions("a")',
  'sim.requests({ user: "x" })', 'simulator.test({ sed: "empty" }, () => {})'];

const JEST = `
  import type { Namespace } from "entrupy-sim";
  import { matchers } from "entrupy-sim/jest";
  expect.extend(matchers);
  export async function use(sim: Namespace) {
    await expect(sim).not.toHaveReceivedRequest("POST", "/sdk/login");
    await expect(sim).not.toHaveReceivedRequest({ route: "/sdk/login" });
    await expect(sim).toHaveNoMisuse({ failingAt: "warning" });
  }`;

// One run for all of them: TypeScript takes seconds to read its own library.
test("TypeScript takes the types from both kinds of modules, the matchers and the example of the page, and refuses what is wrong", { skip }, async (t) => {
  const page = fs.readFileSync("node.md", "utf8");
  const files = {
    "use.mts": `import * as entrupySim from "entrupy-sim";${USE}`, "use.cts": `import entrupySim = require("entrupy-sim");${USE}`,
    "vitest.mts": page.match(/^```js\n\/\/ matchers\.test\.mjs\n([^]*?)^```/m)[1], "example.mts": page.match(/^```ts\n([^]*?)^```/m)[1],
    "jest.mts": JEST,
    "wrong.mts": 'import { start, Simulator, User, type Namespace } from "entrupy-sim";\ndeclare const sim: Namespace;\ndeclare const simulator: Simulator;\n'
      + WRONG.map((line) => `// @ts-expect-error\n${line};`).join("\n"),
  };
  const place = project(t, { "package.json": '{"type": "module"}', ...files });
  assert.equal(await check(place, Object.keys(files), { types: ["jest"] }), "");
});

test("TypeScript takes the types with the older resolution of modules", { skip }, async (t) => {
  const place = project(t, { "use.ts": `import * as entrupySim from "entrupy-sim"; import { matchers } from "entrupy-sim/jest"; export { matchers };${USE}` });
  assert.equal(await check(place, ["use.ts"], { module: "commonjs", moduleResolution: "node", types: ["jest"] }), "");
});
