// The archives: equal from equal inputs, of the right platform, and refused elsewhere. NPM_PY is packaging/npm.py.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { folder, launcher, nodeAlone, plain, run, version } from "./support.mjs";

const maker = process.env.NPM_PY;
const make = (...args) => run("python3", ["-B", maker, ...args]);

/** The head of a program for Linux, and the name of its loader, if it has one. */
function elf(machine, loader) {
  const data = Buffer.alloc(64 + 56 + 64);
  data.write("\x7fELF\x02\x01", "latin1");
  data.writeUInt16LE(machine, 18);
  data.writeBigUInt64LE(64n, 32);
  data.writeUInt16LE(56, 54);
  data.writeUInt16LE(1, 56);
  data.writeUInt32LE(loader ? 3 : 1, 64);
  data.writeBigUInt64LE(120n, 72);
  data.writeBigUInt64LE(64n, 96);
  data.write(loader ?? "", 120);
  return data;
}

/** The head of a program for macOS. */
function mach(machine) {
  const data = Buffer.alloc(32);
  data.writeUInt32LE(0xfeedfacf, 0);
  data.writeUInt32LE(machine, 4);
  return data;
}

/** Writes a program and makes its package. Returns the manifest, or what is said. */
async function packed(t, platform, data) {
  const place = folder(t);
  fs.writeFileSync(path.join(place, "program"), data);
  const answer = await make("--program", path.join(place, "program"), platform, version, place);
  if (answer.status !== 0) return answer.err.trim();
  const file = answer.out.trim();
  assert.equal(path.basename(file), `entrupy-sim-${platform}-${version}.tgz`);
  await run("tar", ["-C", place, "-xzf", file]);
  const read = (name) => fs.readFileSync(path.join(place, "package", name));
  assert.deepEqual(read("bin/entrupy-sim"), data);
  assert.equal(fs.statSync(path.join(place, "package/bin/entrupy-sim")).mode & 0o777, 0o755);
  for (const name of ["LICENSE", "NOTICE", "THIRD-PARTY-NOTICES", "README.md"]) assert.ok(read(name).length > 50, name);
  return { ...JSON.parse(read("package.json")), file };
}

test("each platform has its metadata", async (t) => {
  for (const [platform, data, os, cpu, libc] of [
    ["linux-x64", elf(62, "/lib64/ld-linux-x86-64.so.2"), ["linux"], ["x64"], ["glibc"]],
    ["linux-x64", elf(62, "/lib/ld-musl-x86_64.so.1"), ["linux"], ["x64"], ["musl"]],
    ["linux-x64", elf(62), ["linux"], ["x64"], undefined],
    ["linux-arm64", elf(183, "/lib/ld-linux-aarch64.so.1"), ["linux"], ["arm64"], ["glibc"]],
    ["darwin-arm64", mach(0x0100000c), ["darwin"], ["arm64"], undefined]]) {
    const manifest = await packed(t, platform, data);
    assert.deepEqual([manifest.name, manifest.version, manifest.os, manifest.cpu, manifest.libc], [`@entrupy-sim/${platform}`, version, os, cpu, libc]);
  }
});

test("a program of another platform is refused", async (t) => {
  assert.match(await packed(t, "linux-arm64", elf(62)), /^npm\.py: \S+ is a program for linux-x64, not one for linux-arm64$/);
  assert.match(await packed(t, "linux-x64", mach(0x0100000c)), /is a program for darwin-arm64, not one for linux-x64$/);
  assert.match(await packed(t, "linux-x64", Buffer.from("#!/bin/sh\n")), /is not a program, not one for linux-x64$/);
  assert.match(await packed(t, "win32-x64", elf(62)), /^npm\.py: there is no package @entrupy-sim\/win32-x64; recipes\/node\/package\.json has /);
  const answer = await make("9.9.9", folder(t));
  assert.match(answer.err, new RegExp(`^npm\\.py: recipes/node/package\\.json states the version ${version}, not 9\\.9\\.9\n$`));
  assert.notEqual((await make("--program", "x")).status, 0);
});

test("equal inputs make equal archives", async (t) => {
  const [one, two] = [folder(t), folder(t)];
  for (const place of [one, two]) {
    await make(version, place);
    fs.writeFileSync(path.join(place, "program"), elf(62));
    await make("--program", path.join(place, "program"), "linux-x64", version, place);
  }
  for (const name of [`entrupy-sim-${version}.tgz`, `entrupy-sim-linux-x64-${version}.tgz`]) {
    assert.ok(fs.readFileSync(path.join(one, name)).equals(fs.readFileSync(path.join(two, name))), name);
  }
});

test("npm refuses a package of another platform, and a package without it works with ENTRUPY_SIM_BINARY", async (t) => {
  const { file } = await packed(t, "darwin-arm64", mach(0x0100000c));
  const place = folder(t);
  const install = (...files) => run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...files], { cwd: place, env: plain() });
  const refused = await install(file);
  assert.notEqual(refused.status, 0);
  assert.match(refused.err, /EBADPLATFORM/);
  const [main] = Object.values(JSON.parse(fs.readFileSync("package.json", "utf8")).devDependencies).filter((name) => /entrupy-sim-\d/.test(name));
  const answer = await install(path.resolve(main.replace(/^file:/, "")));
  assert.equal(answer.status, 0, answer.err);
  assert.deepEqual(fs.readdirSync(path.join(place, "node_modules")).filter((name) => !name.startsWith(".")), ["entrupy-sim"]);
  const command = path.join(place, "node_modules/.bin/entrupy-sim");
  const missing = await run(command, ["--version"], { env: plain({ PATH: nodeAlone(t) }) });
  assert.equal(missing.status, 69);
  // Where npm cannot read the platform's package, its lock file leaves it out.
  assert.match(missing.err, /package-lock\.json does not have it, .*\/npm\/cli\/issues\/4828\)\. In \S+, run `rm -rf node_modules package-lock\.json && npm/);
  assert.equal((await run(command, ["--version"], { env: plain({ ENTRUPY_SIM_BINARY: launcher }) })).out.trim(), version);
});
