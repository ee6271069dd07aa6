"use strict";
// Where the program is: ENTRUPY_SIM_BINARY, the package of this platform, which npm installs beside this one, or PATH.

const fs = require("node:fs");
const path = require("node:path");

const own = require("../package.json");

/** The version of entrupy-sim that this package belongs to. */
const VERSION = own.version;
/** The platforms that have a package, as Node names them. */
const PLATFORMS = Object.keys(own.optionalDependencies).map((name) => name.slice("@entrupy-sim/".length));
const PLATFORM = `${process.platform}-${process.arch}`;
const FOLDER = path.dirname(__dirname);
const LAUNCHER = path.join(FOLDER, "bin", "entrupy-sim.js");
/** The variable with the process ID of the launcher, for what it starts. */
const LAUNCHER_VARIABLE = "ENTRUPY_SIM_LAUNCHER";
/** npm leaves optional dependencies of other platforms out of a lock file that it makes beside an existing node_modules. */
const LOCK_FILE_BUG = "https://github.com/npm/cli/issues/4828";

/** A program that cannot be used: one sentence, and the exit code of the launcher. */
class ProgramError extends Error {
  constructor(text, exitCode, code) {
    super(text);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** The path of the program: `given`, ENTRUPY_SIM_BINARY, that of the platform's package, or entrupy-sim in PATH. Throws ProgramError. */
function findProgram(given, origin = "binary") {
  // A script that leads back to the launcher would start it for ever.
  const isAgain = process.env[LAUNCHER_VARIABLE] === String(process.ppid);
  for (const [place, name] of [[given, origin], [isAgain ? null : process.env.ENTRUPY_SIM_BINARY, "ENTRUPY_SIM_BINARY"]]) {
    // The launcher itself is no answer either.
    if (place && !isLauncher(String(place))) return checked(String(place), name);
  }
  const found = programOfPackage() ?? (isAgain ? null : programInPath());
  if (found) return found;
  throw new ProgramError(absence(), 69, "no_server");
}

/** The program of the platform's package; null if that is not installed. Throws ProgramError. */
function programOfPackage() {
  const manifest = PLATFORMS.includes(PLATFORM) ? manifestOf(PLATFORM) : null;
  if (!manifest) return null;
  const version = JSON.parse(fs.readFileSync(manifest, "utf8")).version;
  if (version !== VERSION) {
    throw new ProgramError(
      `${packageOf(PLATFORM)} has version ${version}, and entrupy-sim ${VERSION}: install both in the same version`, 69, "no_server");
  }
  return checked(path.join(path.dirname(manifest), "bin", "entrupy-sim"), packageOf(PLATFORM));
}

/** The first entrupy-sim in the absolute folders of PATH that is not a launcher; null if there is none. */
function programInPath() {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, "entrupy-sim")).find((place) => isProgram(place) && !leadsToLauncher(place)) ?? null;
}

function packageOf(platform) {
  return `@entrupy-sim/${platform}`;
}

/** The path of an installed platform package's manifest; null if it is not installed. */
function manifestOf(platform) {
  try {
    return require.resolve(`${packageOf(platform)}/package.json`);
  } catch {
    return null;
  }
}

/** Why there is no program, and what to do. */
function absence() {
  const elsewhere = "put entrupy-sim in PATH, or set ENTRUPY_SIM_BINARY to its path";
  const another = "Put an entrupy-sim that runs here in PATH, or set ENTRUPY_SIM_BINARY to its path";
  if (!PLATFORMS.includes(PLATFORM)) return `there is no program for ${PLATFORM}; there are packages for ${PLATFORMS.join(", ")}. ${another}`;
  if (isMusl()) return `there is no program for ${PLATFORM} with musl, which Alpine has; the packages are for glibc. ${another}`;
  const missing = `the package ${packageOf(PLATFORM)}, which has the program, is not installed`;
  const project = projectFolder();
  const again = project && fs.existsSync(path.join(project, "package.json"))
    ? `In ${project}, run \`rm -rf node_modules package-lock.json && npm install\`` : "Install entrupy-sim again";
  const other = PLATFORMS.find(manifestOf);
  if (other) {
    return `${missing}, but that of ${other} is: node_modules was copied from another machine, or package-lock.json was made there `
      + `(${LOCK_FILE_BUG}). ${again}, or ${elsewhere}`;
  }
  if (!project) return `${missing}: npm installs none for a link, and entrupy-sim is one to ${FOLDER}. To use it, ${elsewhere}`;
  const lock = path.join(project, "package-lock.json");
  if (leavesOut(lock, packageOf(PLATFORM))) {
    return `${missing}: ${lock} does not have it, as when it was made on another platform (${LOCK_FILE_BUG}). ${again}, or ${elsewhere}`;
  }
  return `${missing}: npm leaves it out with --omit=optional and --no-optional. Install entrupy-sim without them, or ${elsewhere}`;
}

/** Whether Node uses musl, for which npm installs no package of glibc. */
function isMusl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}

/** The folder whose node_modules has this package; null if npm links to the package. */
function projectFolder() {
  const index = FOLDER.indexOf(`${path.sep}node_modules${path.sep}`);
  return index < 0 ? null : FOLDER.slice(0, index) || path.sep;
}

/** Whether a lock file has entrupy-sim, but not a package that it depends on. */
function leavesOut(lock, name) {
  let places;
  try {
    places = Object.keys(JSON.parse(fs.readFileSync(lock, "utf8")).packages);
  } catch {
    // There is none, or it is of another kind.
    return false;
  }
  const has = (wanted) => places.some((place) => place.endsWith(`node_modules/${wanted}`));
  return has(own.name) && !has(name);
}

/** Whether a path leads to the launcher of this package, as node_modules/.bin/entrupy-sim does. */
function isLauncher(place) {
  try {
    return fs.realpathSync(place) === fs.realpathSync(LAUNCHER);
  } catch {
    return false;
  }
}

/** Whether a file leads to the launcher of this or another copy: npm makes links to it, pnpm scripts that name it. */
function leadsToLauncher(place) {
  const name = path.basename(LAUNCHER);
  if (path.basename(fs.realpathSync(place)) === name) return true;
  const text = beginning(place);
  return text.startsWith("#!") && text.includes(name);
}

/** The first 16 KB of a file; empty if it may be executed, but not read. */
function beginning(place) {
  let file;
  try {
    file = fs.openSync(place);
    const data = Buffer.alloc(16384);
    return data.toString("latin1", 0, fs.readSync(file, data));
  } catch {
    return "";
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

function isProgram(place) {
  try {
    fs.accessSync(place, fs.constants.X_OK);
    return fs.statSync(place).isFile();
  } catch {
    return false;
  }
}

function checked(place, origin) {
  if (isProgram(place)) return path.resolve(place);
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

module.exports = { LAUNCHER_VARIABLE, ProgramError, VERSION, findProgram, serverEnvironment, startProblem };
