// The examples of docs/node.md and of the package's README: each block of JavaScript is a file, and is run.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { folder, installed, run, version } from "./support.mjs";

const page = fs.readFileSync("node.md", "utf8");

/** The blocks of a language, with their files. */
function blocks(text, language) {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"))]
    .map(([, code]) => ({ code, name: code.match(/^\/\/ (\S+)$/m)?.[1] ?? "example.test.mjs" }));
}

/** A folder with the packages, and a Vitest that keeps the contract of what the page uses. */
function project(t) {
  const place = folder(t);
  fs.mkdirSync(path.join(place, "node_modules/vitest"), { recursive: true });
  for (const name of ["entrupy-sim", "@entrupy-sim"]) {
    fs.symlinkSync(path.resolve("node_modules", name), path.join(place, "node_modules", name));
  }
  fs.writeFileSync(path.join(place, "node_modules/vitest/package.json"), '{"name": "vitest", "type": "module", "exports": "./index.js"}');
  fs.writeFileSync(path.join(place, "node_modules/vitest/index.js"), `
    export { test, after as afterAll } from "node:test";
    const known = {};
    export function expect(received) {
      const call = (isNot) => Object.fromEntries(Object.entries(known).map(([name, matcher]) => [name, async (...rest) => {
        const result = await matcher.call({ isNot }, received, ...rest);
        if (result.pass === isNot) throw new Error(result.message());
      }]));
      return { ...call(false), not: call(true) };
    }
    expect.extend = (matchers) => Object.assign(known, matchers);`);
  return place;
}

const examples = [...blocks(page, "js"), ...blocks(fs.readFileSync(path.join(installed, "README.md"), "utf8"), "js")];

test("the examples are found", () => {
  assert.ok(examples.length >= 5, `${examples.length} blocks`);
  assert.ok(blocks(page, "ts").length === 1);
});

for (const { code, name } of examples) {
  test(`the example ${name} runs`, async (t) => {
    const place = project(t);
    fs.writeFileSync(path.join(place, name), code);
    const answer = await run(process.execPath, ["--test", "--test-reporter=tap", name], { cwd: place });
    assert.equal(answer.status, 0, answer.out + answer.err);
    assert.match(answer.out, /^# pass [1-9]/m);
  });
}

test("the calls of the table are those of a namespace", async () => {
  const { Namespace, Simulator, Clock } = await import("entrupy-sim");
  const own = new Namespace("a", "http://127.0.0.1:9");
  const calls = [...page.matchAll(/\b(sim|simulator|sim\.clock)\.(\w+)\(/g)];
  assert.ok(calls.length > 40);
  for (const [text, owner, name] of calls) {
    const holder = { sim: own, simulator: Simulator.prototype, "sim.clock": Clock.prototype }[owner];
    assert.equal(typeof holder[name], "function", text);
  }
});

test("the archives of the page are those that are installed", () => {
  const { devDependencies } = JSON.parse(fs.readFileSync("package.json", "utf8"));
  const archives = Object.values(devDependencies).map((file) => path.basename(file)).sort();
  const named = [...page.matchAll(/\.\/dist\/(\S+\.tgz)/g)].map(([, name]) => name.replace("linux-x64", `${process.platform}-${process.arch}`)).sort();
  assert.deepEqual(named, archives);
  assert.ok(named[0].includes(version));
});
