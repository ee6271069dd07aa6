// `npx entrupy-sim`: arguments, input and output, exit codes, signals, and what it says without a program.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { begin, folder, installed, isAlive, launcher, nodeAlone, plain, program, run, script, until, version } from "./support.mjs";

/** A copy of the package without that of the platform. */
function alone(t) {
  const place = path.join(folder(t), "node_modules", "entrupy-sim");
  fs.cpSync(installed, place, { recursive: true });
  return path.join(place, "bin", "entrupy-sim.js");
}

test("npx runs the program of the platform's package", async () => {
  const answer = await run("npx", ["--offline", "entrupy-sim", "--version"], { cwd: path.dirname(path.dirname(installed)) });
  assert.deepEqual([answer.status, answer.out.trim()], [0, version]);
});

test("exit codes are those of the program", async () => {
  const cases = [
    [["clock", "show", "--url", "http://127.0.0.1:9"], 69, "no server answers at http://127.0.0.1:9"],
    [["clok"], 64, "clok"], [["run", "--", "sh", "-c", "exit 7"], 7, "sh exited with 7"], [["--help"], 0, ""]];
  for (const [args, status, text] of cases) {
    const [direct, answer] = [await run(program, args), await run(launcher, args)];
    assert.equal(answer.status, status, args.join(" "));
    assert.equal(direct.status, status);
    assert.ok(answer.err.includes(text), answer.err);
  }
});

for (const signal of ["SIGTERM", "SIGINT"]) {
  test(`${signal} ends the server, and the launcher as the server ends`, async () => {
    const ends = [];
    for (const command of [program, launcher]) {
      const { child, ended, said } = begin(command, ["serve", "--in-memory", "--port", "0", "--ready-json"], { input: null });
      const { pid } = JSON.parse(await until(() => said.out.includes("\n") && said.out, "the server is open"));
      child.kill(signal);
      const end = await ended;
      ends.push([end.status, end.signal]);
      assert.ok(!isAlive(pid), `${command} leaves the server`);
      if (command === launcher) assert.notEqual(pid, child.pid);
    }
    assert.deepEqual(ends[1], ends[0]);
  });
}

test("the signal that ends the program ends the launcher", async (t) => {
  for (const signal of ["KILL", "TERM", "INT"]) {
    const answer = await run(launcher, [], { env: plain({ ENTRUPY_SIM_BINARY: script(t, `kill -${signal} $$`) }) });
    assert.deepEqual([answer.status, answer.signal], [null, `SIG${signal}`]);
  }
});

test("Ctrl-C on a terminal reaches the program once", { skip: fs.existsSync("/usr/bin/script") ? false : "needs script" }, async (t) => {
  const counting = script(t, "n=0; trap 'n=$((n + 1))' INT; echo ready; i=0; while [ $i -lt 20 ]; do sleep 0.1; i=$((i + 1)); done; echo signals $n");
  const { child, ended, said } = begin("script", ["-qec", `${process.execPath} ${launcher}`, "/dev/null"], {
    env: plain({ ENTRUPY_SIM_BINARY: counting }), input: null });
  await until(() => said.out.includes("ready"), "the program runs");
  child.stdin.write("\x03");
  const end = await ended;
  assert.match(end.out, /signals 1\r?\n/);
});

test("without the platform's package one sentence says what to do", async (t) => {
  const copy = alone(t);
  const env = plain({ PATH: nodeAlone(t) });
  const answer = await run(process.execPath, [copy, "serve"], { env });
  assert.equal(answer.status, 69);
  assert.equal(answer.out, "");
  assert.match(answer.err, /^error: the package @entrupy-sim\/\S+, which has the program, is not installed: .*--omit=optional.*ENTRUPY_SIM_BINARY.*\n$/);
  const json = await run(process.execPath, [copy, "clock", "show", "--json"], { env });
  assert.equal(json.status, 69);
  const envelope = JSON.parse(json.out);
  assert.deepEqual(Object.keys(envelope), ["code", "details", "error", "request_id", "sdk_error"]);
  assert.equal(envelope.code, "no_server");
  assert.ok(json.err.includes(envelope.error));
  const other = await run(process.execPath, [copy, "run", "--", "npm", "--json"], { env });
  assert.equal(other.out, "", "an option of the command is not the launcher's");
});

test("a platform's package of another version is named", async (t) => {
  const copy = alone(t);
  const place = path.join(path.dirname(path.dirname(path.dirname(copy))), "@entrupy-sim", `${process.platform}-${process.arch}`);
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, "package.json"), '{"version": "0.1.0"}');
  const answer = await run(process.execPath, [copy, "serve"]);
  assert.equal(answer.status, 69);
  assert.match(answer.err, /^error: @entrupy-sim\/\S+ has version 0\.1\.0, and entrupy-sim \S+: install both in the same version\n$/);
});

test("ENTRUPY_SIM_BINARY names another program, whose arguments and input these are", async (t) => {
  const env = plain({ ENTRUPY_SIM_BINARY: script(t, 'printf "<%s>" "$@"; cat; echo problem >&2; exit 3') });
  const answer = await run(launcher, ["a b", "", "*"], { env, input: "typed" });
  assert.deepEqual(answer, { out: "<a b><><*>typed", err: "problem\n", status: 3, signal: null });
});

test("an ENTRUPY_SIM_BINARY that is the launcher does not start it for ever", async () => {
  for (const own of [launcher, fs.realpathSync(launcher)]) {
    const answer = await run(launcher, ["--version"], { env: plain({ ENTRUPY_SIM_BINARY: own }) });
    assert.deepEqual([answer.status, answer.out.trim()], [0, version]);
  }
});

test("an ENTRUPY_SIM_BINARY that is no program is named", async (t) => {
  const place = folder(t);
  const text = path.join(place, "text");
  fs.writeFileSync(text, "text", { mode: 0o644 });
  // Root may execute what anybody may.
  for (const wrong of [path.join(place, "absent"), place, text]) {
    const answer = await run(launcher, ["serve"], { env: plain({ ENTRUPY_SIM_BINARY: wrong }) });
    assert.equal(answer.status, 64);
    assert.equal(answer.err, `error: ENTRUPY_SIM_BINARY: ${wrong} is not a program: give the path of entrupy-sim\n`);
  }
});

test("a program whose loader is missing is explained", async (t) => {
  const file = path.join(folder(t), "program");
  fs.writeFileSync(file, "#!/no/such/loader\n", { mode: 0o755 });
  const answer = await run(launcher, ["serve"], { env: plain({ ENTRUPY_SIM_BINARY: file }) });
  assert.equal(answer.status, 69);
  assert.match(answer.err, /^error: \S+ cannot be started: this system lacks what it needs, such as glibc \(Alpine has musl\)\n$/);
});
