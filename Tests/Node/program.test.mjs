// Where the program is: ENTRUPY_SIM_BINARY, the platform's package, PATH; and what is said without one. NPM_PY is packaging/npm.py.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { begin, folder, inPath, installed, plain, program, run, version } from "./support.mjs";

const BUG = "https://github.com/npm/cli/issues/4828";
const ELSEWHERE = "put entrupy-sim in PATH, or set ENTRUPY_SIM_BINARY to its path";
const MISSING = "the package @entrupy-sim/linux-x64, which has the program, is not installed";
const OMITTED = `${MISSING}: npm leaves it out with --omit=optional and --no-optional. Install entrupy-sim without them, or ${ELSEWHERE}`;
/** The keys of a lock file. */
const LOCKED = ["", "node_modules/entrupy-sim", "node_modules/@entrupy-sim/darwin-arm64"];

/** A project with a copy of the package, and packages of platforms whose program is `text`. */
function project(t, { platforms = [], text = "echo package", lock = null, isGlobal = false, place = "node_modules" } = {}) {
  const made = fs.realpathSync(folder(t));
  const modules = path.join(made, place);
  fs.cpSync(installed, path.join(modules, "entrupy-sim"), { recursive: true });
  for (const platform of platforms) {
    const bin = path.join(modules, "@entrupy-sim", platform, "bin");
    fs.mkdirSync(bin, { recursive: true });
    fs.writeFileSync(path.join(bin, "../package.json"), JSON.stringify({ version }));
    fs.writeFileSync(path.join(bin, "entrupy-sim"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  if (!isGlobal) fs.writeFileSync(path.join(made, "package.json"), "{}");
  if (lock) fs.writeFileSync(path.join(made, "package-lock.json"), lock);
  return { made, package: path.join(modules, "entrupy-sim"), launcher: path.join(modules, "entrupy-sim/bin/entrupy-sim.js") };
}

/** A lock file with these keys. */
const lockOf = (keys) => JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries(keys.map((key) => [key, {}])) });

/** A module that makes Node another platform's. */
function pretend(t, { platform = "linux", arch = "x64", glibc = "2.39" } = {}) {
  const file = path.join(folder(t), "pretend.cjs");
  fs.writeFileSync(file, `
    for (const [name, value] of Object.entries({ platform: "${platform}", arch: "${arch}", report: {
      getReport: () => ({ header: { glibcVersionRuntime: ${JSON.stringify(glibc)} } }) } })) Object.defineProperty(process, name, { value });`);
  return ["--require", file];
}

/** Runs a launcher on linux-x64, or on `options.host`, with nothing but `folders` in PATH. */
function launch(t, launcher, folders, args = [], { host, env, ...options } = {}) {
  return run(process.execPath, [...pretend(t, host), launcher, ...args], {
    ...options, env: plain({ PATH: folders.join(path.delimiter), ...env }) });
}

/** What a launcher says where it finds no program. */
async function refusal(t, launcher, host, folders = []) {
  const answer = await launch(t, launcher, folders, [], { host });
  assert.deepEqual([answer.status, answer.out], [69, ""], answer.err);
  return answer.err.replace(/^error: |\n$/g, "");
}

test("the program is ENTRUPY_SIM_BINARY, else that of the platform's package, else entrupy-sim in PATH", async (t) => {
  const own = project(t, { platforms: ["linux-x64"] });
  const bare = project(t);
  const [first, second] = [inPath(t, 'echo "first $*"; exit 3'), inPath(t, "echo second")];
  const env = { ENTRUPY_SIM_BINARY: path.join(inPath(t, "echo variable"), "entrupy-sim") };
  for (const [owner, more, expected] of [
    [own, env, "variable"], [bare, env, "variable"], [own, {}, "package"], [own, { ENTRUPY_SIM_BINARY: "" }, "package"], [bare, {}, "first a b c"]]) {
    const answer = await launch(t, owner.launcher, [first, second], ["a b", "c"], { env: more });
    assert.deepEqual([answer.out, answer.err, answer.status], [`${expected}\n`, "", expected.startsWith("first") ? 3 : 0]);
  }
});

test("start() takes its option, and then what the command takes", async (t) => {
  const bare = project(t);
  const env = { ENTRUPY_SIM_BINARY: path.join(inPath(t, "echo variable >&2"), "entrupy-sim") };
  const option = path.join(inPath(t, "echo option >&2"), "entrupy-sim");
  const start = (binary) => `require(${JSON.stringify(bare.package)}).start({ artifacts: false, binary: ${JSON.stringify(binary)} })`
    + ".then((simulator) => simulator.stop().then(() => console.log('started')), (error) => console.log(error.message))";
  const said = async (folders, more, binary) => {
    const answer = await run(process.execPath, [...pretend(t), "--eval", start(binary)], { env: plain({ PATH: folders.join(path.delimiter), ...more }) });
    return answer.out.trim() + answer.err;
  };
  const real = folder(t);
  fs.symlinkSync(program, path.join(real, "entrupy-sim"));
  assert.equal(await said([real], env, option), `${option} did not start: option`);
  assert.equal(await said([real], env), `${env.ENTRUPY_SIM_BINARY} did not start: variable`);
  assert.equal(await said([real], {}), "started");
  assert.equal(await said([], {}), OMITTED);
});

test("a wrong ENTRUPY_SIM_BINARY is an error, also with a program in PATH", async (t) => {
  const answer = await launch(t, project(t).launcher, [inPath(t, "echo first")], [], { env: { ENTRUPY_SIM_BINARY: "/no/such/program" } });
  assert.deepEqual([answer.status, answer.err], [64, "error: ENTRUPY_SIM_BINARY: /no/such/program is not a program: give the path of entrupy-sim\n"]);
});

test("relative and empty folders of PATH, and what is not a program, do not count", async (t) => {
  const { launcher } = project(t);
  const right = inPath(t, "echo right");
  const cwd = inPath(t, "echo wrong");
  fs.mkdirSync(path.join(cwd, "bin"));
  fs.copyFileSync(path.join(cwd, "entrupy-sim"), path.join(cwd, "bin/entrupy-sim"));
  const [nothing, directory, text, dangling] = [folder(t), folder(t), folder(t), folder(t)];
  fs.mkdirSync(path.join(directory, "entrupy-sim"));
  fs.writeFileSync(path.join(text, "entrupy-sim"), "#!/bin/sh\n", { mode: 0o644 });
  fs.symlinkSync("/no/such/program", path.join(dangling, "entrupy-sim"));
  for (const wrong of ["", ".", "bin", "./bin", nothing, directory, text, dangling, "/no/such/folder", path.join(cwd, "entrupy-sim")]) {
    assert.equal(await refusalIn(wrong), OMITTED, wrong);
    const answer = await launch(t, launcher, [wrong, right], [], { cwd });
    assert.deepEqual([answer.out, answer.status], ["right\n", 0], wrong);
  }
  async function refusalIn(entry) {
    const answer = await launch(t, launcher, [entry, nothing], [], { cwd });
    return answer.err.replace(/^error: |\n$/g, "");
  }
});

test("without PATH nothing is looked for there", async (t) => {
  const env = plain();
  delete env.PATH;
  const answer = await run(process.execPath, [...pretend(t), project(t).launcher], { env });
  assert.equal(answer.err, `error: ${OMITTED}\n`);
});

test("a program that may be executed and not read is one", { skip: process.getuid() === 0 ? "root reads everything" : false }, async (t) => {
  const place = folder(t);
  fs.copyFileSync("/bin/echo", path.join(place, "entrupy-sim"));
  fs.chmodSync(path.join(place, "entrupy-sim"), 0o111);
  assert.equal((await launch(t, project(t).launcher, [place], ["echoed"])).out, "echoed\n");
});

test("launchers in PATH are passed over", async (t) => {
  const [own, other] = [project(t), project(t)];
  const scripted = inPath(t, `exec "${process.execPath}" "${own.package}/bin/entrupy-sim.js" "$@"`);
  const linked = (owner) => {
    const bin = path.join(owner.made, "node_modules/.bin");
    fs.mkdirSync(bin);
    fs.symlinkSync("../entrupy-sim/bin/entrupy-sim.js", path.join(bin, "entrupy-sim"));
    fs.chmodSync(owner.launcher, 0o755);
    return bin;
  };
  const launchers = [linked(own), linked(other), scripted];
  assert.equal(await refusal(t, own.launcher, {}, launchers), OMITTED);
  const answer = await launch(t, own.launcher, [...launchers, inPath(t, "echo right")]);
  assert.deepEqual([answer.out, answer.status], ["right\n", 0]);
  // A script that is not one of a package's may be the program.
  assert.equal((await launch(t, own.launcher, [inPath(t, 'exec /bin/echo wrapped "$@"')], ["a"])).out, "wrapped a\n");
});

test("a script that leads back to the launcher does not start it for ever", async (t) => {
  // As a version manager's, it does not name the launcher. At the fifth start it ends with 99.
  const again = (owner) => {
    const tool = path.join(folder(t), "tool");
    fs.symlinkSync(owner.launcher, tool);
    return inPath(t, `DEPTH=$((\${DEPTH:-0} + 1)); export DEPTH; [ $DEPTH -lt 5 ] || exit 99\nexec "${process.execPath}" "$FAKE" "$FILE" "${tool}" "$@"`);
  };
  const [flag, file] = pretend(t);
  const [bare, own] = [project(t), project(t, { platforms: ["linux-x64"] })];
  const fakes = { FAKE: flag, FILE: file };
  const missing = await launch(t, bare.launcher, [again(bare)], [], { env: fakes });
  assert.deepEqual([missing.status, missing.err], [69, `error: ${OMITTED}\n`]);
  const binary = path.join(again(own), "entrupy-sim");
  const answer = await launch(t, own.launcher, [], [], { env: { ...fakes, ENTRUPY_SIM_BINARY: binary } });
  assert.deepEqual([answer.status, answer.out], [0, "package\n"]);
});

test("a command that the program runs finds the program too", async (t) => {
  const { launcher } = project(t);
  const first = inPath(t, 'if [ "$1" = run ]; then shift; "$@"; else echo "first $*"; fi');
  const answer = await launch(t, launcher, [first], ["run", process.execPath, ...pretend(t), launcher, "--version"]);
  assert.deepEqual([answer.out, answer.err], ["first --version\n", ""]);
});

test("a platform without a package is named, and takes the program in PATH", async (t) => {
  const { launcher } = project(t, { platforms: ["linux-x64"] });
  const own = "Put an entrupy-sim that runs here in PATH, or set ENTRUPY_SIM_BINARY to its path";
  for (const [host, expected] of [
    [{ platform: "darwin", arch: "x64" }, `there is no program for darwin-x64; there are packages for darwin-arm64, linux-arm64, linux-x64. ${own}`],
    [{ platform: "win32", glibc: null }, `there is no program for win32-x64; there are packages for darwin-arm64, linux-arm64, linux-x64. ${own}`],
    [{ arch: "arm64", glibc: null }, `there is no program for linux-arm64 with musl, which Alpine has; the packages are for glibc. ${own}`]]) {
    assert.equal(await refusal(t, launcher, host), expected);
  }
  const answer = await launch(t, launcher, [inPath(t, "echo right")], [], { host: { platform: "darwin", arch: "x64" } });
  assert.deepEqual([answer.out, answer.status], ["right\n", 0]);
});

test("a node_modules of another platform is named, with npm's bug and the way out", async (t) => {
  const cause = `node_modules was copied from another machine, or package-lock.json was made there (${BUG})`;
  const copied = project(t, { platforms: ["darwin-arm64"], lock: lockOf(LOCKED) });
  assert.equal(await refusal(t, copied.launcher), `${MISSING}, but that of darwin-arm64 is: ${cause}. `
    + `In ${copied.made}, run \`rm -rf node_modules package-lock.json && npm install\`, or ${ELSEWHERE}`);
  const onMac = await refusal(t, project(t, { platforms: ["linux-x64"] }).launcher, { platform: "darwin", arch: "arm64", glibc: null });
  assert.ok(onMac.startsWith("the package @entrupy-sim/darwin-arm64, which has the program, is not installed, but that of linux-x64 is: "), onMac);
  // A global folder has the packages of others too.
  const shared = project(t, { platforms: ["darwin-arm64"], isGlobal: true });
  assert.equal(await refusal(t, shared.launcher), `${MISSING}, but that of darwin-arm64 is: ${cause}. Install entrupy-sim again, or ${ELSEWHERE}`);
  const answer = await launch(t, copied.launcher, [inPath(t, "echo right")]);
  assert.deepEqual([answer.out, answer.status], ["right\n", 0]);
});

test("a lock file of another platform is named, with npm's bug and the way out", async (t) => {
  for (const keys of [LOCKED, LOCKED.slice(0, 2)]) {
    const { made, launcher } = project(t, { lock: lockOf(keys) });
    assert.equal(await refusal(t, launcher), `${MISSING}: ${made}/package-lock.json does not have it, as when it was made on another platform `
      + `(${BUG}). In ${made}, run \`rm -rf node_modules package-lock.json && npm install\`, or ${ELSEWHERE}`);
  }
});

test("a package that was left out on purpose is named", async (t) => {
  const locks = [
    null, lockOf([...LOCKED, "node_modules/@entrupy-sim/linux-x64"]), lockOf([...LOCKED, "node_modules/a/node_modules/@entrupy-sim/linux-x64"]),
    // These say nothing about the package.
    lockOf(["", "node_modules/other"]), '{"lockfileVersion": 1, "dependencies": {}}', "no JSON", "null"];
  for (const lock of locks) assert.equal(await refusal(t, project(t, { lock }).launcher), OMITTED, lock);
});

test("a link to a clone is named", async (t) => {
  const clone = project(t, { place: "recipes" });
  const modules = path.join(folder(t), "node_modules");
  fs.mkdirSync(modules);
  fs.symlinkSync(clone.package, path.join(modules, "entrupy-sim"));
  assert.equal(await refusal(t, path.join(modules, "entrupy-sim/bin/entrupy-sim.js")),
    `${MISSING}: npm installs none for a link, and entrupy-sim is one to ${clone.package}. To use it, ${ELSEWHERE}`);
});

test("npm installs a clone without a registry, as the page says", async (t) => {
  const place = folder(t);
  const root = path.dirname(path.dirname(process.env.NPM_PY));
  fs.mkdirSync(path.join(place, "entrupy-sim/.build/debug"), { recursive: true });
  fs.mkdirSync(path.join(place, "shop"));
  fs.cpSync(path.join(root, "recipes/node"), path.join(place, "entrupy-sim/recipes/node"), { recursive: true });
  fs.symlinkSync(program, path.join(place, "entrupy-sim/.build/debug/entrupy-sim"));
  fs.writeFileSync(path.join(place, "shop/package.json"), "{}");
  const [, block] = fs.readFileSync("node.md", "utf8").match(/^## From a clone\n[^]*?^```sh\n([^]*?)^```/m);
  const test = 'import("entrupy-sim").then(({ start }) => start()).then((simulator) => simulator.stop())';
  const { ended } = begin("bash", ["-euo", "pipefail", "-c", `${block}\nnode --eval '${test}'`], {
    cwd: path.join(place, "shop"), env: plain({ npm_config_offline: "true", npm_config_audit: "false", npm_config_fund: "false" }) });
  const answer = await ended;
  assert.deepEqual([answer.status, answer.out.trim().split("\n").at(-1)], [0, version], answer.err);
  assert.ok(fs.lstatSync(path.join(place, "shop/node_modules/entrupy-sim")).isSymbolicLink());
});
