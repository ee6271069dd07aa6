"use strict";
// Where the program is: ENTRUPY_SIM_BINARY, or the package of this platform, which npm installs beside this one.

const fs = require("node:fs");
const path = require("node:path");

const own = require("../package.json");

/** The version of entrupy-sim that this package belongs to. */
const VERSION = own.version;
/** The platforms that have a package, as Node names them. */
const PLATFORMS = Object.keys(own.optionalDependencies).map((name) => name.slice("@entrupy-sim/".length));

/** A program that cannot be used: one sentence, and the exit code of the launcher. */
class ProgramError extends Error {
  constructor(text, exitCode, code) {
    super(text);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** The path of the program: `given`, else ENTRUPY_SIM_BINARY, else that of the platform's package. Throws ProgramError. */
function findProgram(given, origin = "binary") {
  for (const [place, name] of [[given, origin], [process.env.ENTRUPY_SIM_BINARY, "ENTRUPY_SIM_BINARY"]]) {
    // The launcher would start itself for ever.
    if (place && !isLauncher(String(place))) return checked(String(place), name);
  }
  const platform = `${process.platform}-${process.arch}`;
  const name = `@entrupy-sim/${platform}`;
  if (!PLATFORMS.includes(platform)) {
    throw new ProgramError(
      `there is no program for ${platform}; there are packages for ${PLATFORMS.join(", ")}. `
      + "Set ENTRUPY_SIM_BINARY to the path of an entrupy-sim that runs here", 69, "no_server");
  }
  let manifest;
  try {
    manifest = require.resolve(`${name}/package.json`);
  } catch {
    throw new ProgramError(
      `the package ${name}, which has the program, is not installed: install entrupy-sim without --omit=optional, `
      + "or set ENTRUPY_SIM_BINARY to the path of entrupy-sim", 69, "no_server");
  }
  const version = JSON.parse(fs.readFileSync(manifest, "utf8")).version;
  if (version !== VERSION) {
    throw new ProgramError(
      `${name} has version ${version}, and entrupy-sim ${VERSION}: install both in the same version`, 69, "no_server");
  }
  return checked(path.join(path.dirname(manifest), "bin", "entrupy-sim"), name);
}

/** Whether a path leads to the launcher of this package, as node_modules/.bin/entrupy-sim does. */
function isLauncher(place) {
  try {
    return fs.realpathSync(place) === fs.realpathSync(path.join(__dirname, "../bin/entrupy-sim.js"));
  } catch {
    return false;
  }
}

function checked(place, origin) {
  try {
    fs.accessSync(place, fs.constants.X_OK);
    if (fs.statSync(place).isFile()) return path.resolve(place);
  } catch {
    // The sentence below says it.
  }
  throw new ProgramError(`${origin}: ${place} is not a program: give the path of entrupy-sim`, 64, "usage");
}

/** Why a program that is there cannot be started, in one sentence. */
function startProblem(place, error) {
  const reason = error.code === "ENOENT"
    ? "this system lacks what it needs, such as glibc (Alpine has musl)"
    : error.code === "ENOEXEC" || error.errno === -8 ? "it is a program for another platform" : error.message;
  return `${place} cannot be started: ${reason}`;
}

/** The environment of a program that tests start: its settings are for servers that are started by hand. */
function serverEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(
    ([name]) => !name.startsWith("ENTRUPY_SIM_") || name === "ENTRUPY_SIM_LOG_LEVEL"));
}

module.exports = { ProgramError, VERSION, findProgram, serverEnvironment, startProblem };
