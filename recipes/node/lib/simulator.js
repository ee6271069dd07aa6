"use strict";
// Starts a server or connects to one, and makes namespaces for tests.

const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { Control } = require("./client.js");
const { ExpectationError, SimulatorError } = require("./errors.js");
const { Failure, bundleFile, makePage, pageOf } = require("./failure.js");
const { Namespace, printNote } = require("./namespace.js");
const { nameRequests, running } = require("./names.js");
const { clearTimeout, setTimeout, sleep } = require("./real.js");
const { ProgramError, VERSION, findProgram, serverEnvironment, startProblem } = require("./program.js");
const { checkDefined, checkFlags, checkOptions, durationText, given, printable, query, seconds, short, shown } = require("./text.js");

/** The longest time, in seconds, that a server gets to stop. */
const STOP_SECONDS = 30;
const NAMESPACE_OPTIONS = ["prefix", "scenario", "seed", "frozenAt", "randomSeed", "ttl", "strict", "onNote", "test"];
const TEST_OPTIONS = [...NAMESPACE_OPTIONS, "ignoreMisuse", "verify"];
/** The options that must not be undefined by mistake: the test would be green without them. */
const MEANT_OPTIONS = ["prefix", "scenario", "seed", "frozenAt", "randomSeed", "ttl", "ignoreMisuse", "verify"];
const COMMON_OPTIONS = ["controlToken", "strict", "onNote", "artifacts", "audit"];

class Simulator {
  #control;
  #process;
  #options;
  #endNaming;
  /** The number of tests, whose clients the audit judges, and of namespaces that no test made, whose clients it does not. */
  #testCount = 0;
  #otherCount = 0;
  /** The number of tests that run. */
  #runningCount = 0;

  /** For this package: use start() or connect(). */
  constructor(url, { controlToken = null, process: child = null, ...options }) {
    this.url = url.replace(/\/+$/, "");
    this.controlToken = controlToken;
    this.version = VERSION;
    this.#process = child;
    this.#options = options;
    this.#control = new Control(this.url, controlToken, () => this.#why());
  }

  /** Why the server that was started here does not answer; empty if that is not known. */
  async #why() {
    // Its connections end before its end is known.
    await Promise.race([this.#process?.ended, sleep(250)]);
    return this.#process?.problem ?? "";
  }

  /** For this package: checks that the server is one that this package knows, and names the requests of tests to it. */
  static async open(url, { program, ...options }) {
    const simulator = new Simulator(url, options);
    const info = await simulator.#control.object("GET", "/_sim/info");
    const version = typeof info.version === "string" ? info.version : "";
    if (minor(version) !== minor(VERSION)) {
      throw new SimulatorError(
        `${program ?? `the server at ${url}`} is entrupy-sim ${version || "of an unknown version"}, this package needs ${VERSION}: `
        + "update the one that is behind");
    }
    simulator.version = version;
    simulator.#endNaming = nameRequests(simulator.url);
    return simulator;
  }

  async makeNamespace(options = {}) {
    checkOptions("makeNamespace", options, NAMESPACE_OPTIONS);
    checkMeant("makeNamespace", options);
    const { prefix = "test", scenario, seed, frozenAt, randomSeed, ttl = "30m" } = options;
    const strict = options.strict ?? this.#options.strict;
    const isFile = seed !== undefined && seed !== null && !["standard", "empty"].includes(seed);
    const data = isFile ? await readYAML(seed, "seed data") : null;
    const isPath = typeof scenario === "string" && /[/\\]|\.ya?ml$/.test(scenario);
    const document = isPath ? await readYAML(scenario, "scenario") : null;
    const made = await this.#control.object("POST", "/_sim/namespaces", given({
      prefix, seed: isFile ? "empty" : seed, random_seed: randomSeed, ttl,
      clock: frozenAt !== undefined && scenario === undefined ? { freeze: frozenAt } : undefined,
    }), { isLong: true });
    if (typeof made.name !== "string") throw this.#control.notUnderstood("a new namespace has no name");
    const namespace = new Namespace(made.name, this.url, {
      token: this.controlToken, strict, onNote: options.onNote ?? this.#options.onNote,
      test: options.test ?? running.getStore()?.name ?? null, why: () => this.#why(),
    });
    try {
      if (data !== null) await namespace.control("POST", "/_sim/seed", data, { contentType: "application/yaml" });
      if (scenario !== undefined) {
        await Namespace.startScenario(namespace, scenario, document);
        if (frozenAt !== undefined) await namespace.clock.freeze(frozenAt);
      }
    } catch (error) {
      await namespace.delete();
      throw error;
    }
    const store = running.getStore();
    if (store) {
      store.made.push(namespace);
      Namespace.onLosing(namespace, store.judge);
    } else {
      this.#otherCount += 1;
    }
    return namespace;
  }

  test(options, body) {
    const [given, run] = typeof options === "function" ? [{}, options] : [options, body];
    checkOptions("test", given, TEST_OPTIONS);
    checkMeant("test", given);
    if (typeof run !== "function") throw new SimulatorError(`test takes options and a function, got ${short(run)}`);
    const simulator = this;
    // Without parameters: Jest hands a callback to functions that have one, and waits for it.
    const made = async function () {
      const [context] = arguments;
      return simulator.#run({ ...given, test: given.test ?? nameOf(context) }, (sim) => run.apply(this, [sim, ...arguments]), context?.signal);
    };
    // Where a test awaits or returns it, nothing would run.
    return Object.defineProperty(made, "then", {
      value: (_, reject) => reject(new SimulatorError(
        "simulator.test() gives the function of a test, which nothing has called: write test(name, simulator.test(…)), or inside of a test "
        + "await simulator.withNamespace(…)")),
    });
  }

  async withNamespace(options, body) {
    const [given, run] = typeof options === "function" ? [{}, options] : [options, body];
    checkOptions("withNamespace", given, TEST_OPTIONS);
    checkMeant("withNamespace", given);
    if (typeof run !== "function") throw new SimulatorError(`withNamespace takes options and a function, got ${short(run)}`);
    return this.#run(given, run);
  }

  async #run({ ignoreMisuse, verify = true, ...options }, body, signal) {
    this.#testCount += 1;
    const name = options.test ?? null;
    let own = null;
    let isOver = false;
    let isVerified = !verify;
    // What was found before a namespace lost it.
    const lost = [];
    const judge = async (namespace, isDeletion) => {
      if (isOver) return;
      try {
        if (namespace === own && isDeletion && !isVerified) {
          isVerified = true;
          await Namespace.verifyScenario(own);
        }
        await this.#judge(namespace, ignoreMisuse);
      } catch (error) {
        lost.push(error);
      }
    };
    const store = { name, made: [], judge, calls: [] };
    this.#runningCount += 1;
    let isRunning = true;
    const stopCounting = () => {
      if (isRunning) this.#runningCount -= 1;
      isRunning = false;
    };
    return running.run(store, async () => {
      try {
        own = await this.makeNamespace(options);
      } catch (error) {
        stopCounting();
        throw error;
      }
      Namespace.deferNotes(own);
      let givenUp = null;
      // A runner that gave up no longer looks at the error.
      const giveUp = () => {
        stopCounting();
        givenUp = this.#explain(own, store.made, name, "").then(
          (lines) => process.stderr.write(`entrupy-sim: the test ${name ?? ""} was aborted\n${lines.map((line) => `  ${line}\n`).join("")}`));
      };
      if (signal?.aborted) giveUp();
      signal?.addEventListener("abort", giveUp, { once: true });
      let isPassed = false;
      try {
        const result = await body(own);
        isOver = true;
        for (const error of [...lost, ...unawaited(store.calls)]) throw error;
        for (const namespace of store.made) {
          await namespace.verifyRules();
          if (namespace === own && !isVerified) await Namespace.verifyScenario(own);
          await this.#judge(namespace, ignoreMisuse);
        }
        isPassed = true;
        return result;
      } catch (error) {
        isOver = true;
        signal?.removeEventListener("abort", giveUp);
        if (!isSkip(error) && !givenUp) addToError(error, await this.#explain(own, store.made, name, String(error?.message ?? "")));
        throw error;
      } finally {
        signal?.removeEventListener("abort", giveUp);
        // What is saved is of the moment when the runner gave up.
        await givenUp?.catch(() => {});
        if (isPassed && !givenUp) await this.#removeBundle(name);
        // The test may have stopped the server. The namespace ends by its time to live.
        await own.delete().catch(() => {});
        stopCounting();
      }
    });
  }

  /** Judges the clients of a namespace, where the run asks for it. Of one that is gone, `verifyRules()` has said so. */
  async #judge(namespace, ignore) {
    if (!this.#options.audit) return;
    try {
      await namespace.expectNoMisuse({ failingAt: this.#options.audit, ignore: ignore ?? {} });
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }

  /** The lines about a test that failed: what its namespaces saw, and where the bundle is. */
  async #explain(own, made, name, message) {
    const lines = [];
    let isReachable = true;
    for (const namespace of [own, ...made.filter((other) => other !== own).slice(-2)]) {
      if (!isReachable) break;
      const failure = new Failure(namespace, message);
      lines.push(...await failure.lines());
      isReachable = failure.isReachable;
    }
    if (this.#options.artifacts && name !== null) {
      lines.push(...isReachable ? await this.#save(own, name) : ["no bundle: the server does not answer"]);
    }
    return lines;
  }

  async #save(namespace, name) {
    const place = bundleFile(this.#options.artifacts, name);
    try {
      await namespace.saveBundle(place);
    } catch (error) {
      return [printable(`the bundle cannot be saved: ${error.message}`)];
    }
    const shownPlace = (file) => path.relative(process.cwd(), file).startsWith("..") ? file : path.relative(process.cwd(), file);
    const lines = [printable(`the bundle, which holds tokens, is ${shownPlace(place)}`)];
    try {
      return [printable(`the page is ${shownPlace(await makePage(path.resolve(place), this.#options.binary))}`), ...lines];
    } catch (error) {
      // One of an earlier failure would be taken for this one's.
      await fs.promises.rm(pageOf(place), { force: true });
      return [...lines, printable(`it has no page: ${error.message}`)];
    }
  }

  async #removeBundle(name) {
    if (!this.#options.artifacts || name === null) return;
    const place = bundleFile(this.#options.artifacts, name);
    try {
      for (const file of [pageOf(place), place]) await fs.promises.rm(file, { force: true });
    } catch (error) {
      this.#options.onNote(`the bundle of an earlier failure cannot be removed: ${error.message}`);
    }
  }

  coverage(options = {}) {
    checkOptions("coverage", options, ["prefix"]);
    return this.#control.object("GET", `/_sim/coverage${query(options)}`, undefined, { list: "axes" });
  }

  async stop() {
    this.#endNaming?.();
    const count = this.#runningCount;
    const unjudged = this.#unjudged();
    if (unjudged && !this.#options.strict) this.#options.onNote(unjudged);
    await this.#process?.stop();
    if (count) {
      throw new SimulatorError(
        `stop() was called while ${count} test${count === 1 ? "" : "s"} ran, whose result does not count: write await simulator.withNamespace(…)`);
    }
    if (unjudged && this.#options.strict) throw new ExpectationError(unjudged);
  }

  /** What the audit did not judge, once; null if nothing. An audit that judged nothing must not look like one that found nothing. */
  #unjudged() {
    if (!this.#options.audit || this.#testCount && !this.#otherCount) return null;
    const count = this.#otherCount;
    [this.#testCount, this.#otherCount] = [1, 0];
    return count
      ? `audit: the clients of ${count} namespace${count === 1 ? "" : "s"} were not judged: makeNamespace() made them outside of test() and withNamespace()`
      : "audit: no client was judged: no test ran with test() or withNamespace()";
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}

/** Throws if an option that a test needs is undefined, null or empty, or `verify` is neither true nor false. */
function checkMeant(caller, options) {
  const meant = Object.fromEntries(MEANT_OPTIONS.filter((name) => Object.hasOwn(options, name)).map((name) => [name, options[name]]));
  checkDefined(caller, meant);
  checkFlags(caller, meant, ["verify"]);
  for (const [name, value] of Object.entries(meant)) {
    if (value === "") throw new SimulatorError(`${caller}: ${name} must not be empty: leave it out if it does not matter`);
  }
}

/** The errors of calls for which nothing has waited when their test ended. */
function unawaited(calls) {
  const found = calls.filter(({ promise, mustEnd, isOver }) => !promise.isAwaited || mustEnd && !isOver);
  // The test fails already.
  for (const { promise } of found) promise.catch(() => {});
  return found.map(({ error }) => error);
}

function minor(version) {
  return version.split(".").slice(0, 2).join(".");
}

/** The server process of start(). Its pipe tells it when this process ends, in whatever way. */
class ServerProcess {
  #child;
  #log = "";
  #isStopping = false;

  constructor(child) {
    this.#child = child;
    /** Why the server does not answer, if it has ended by itself. */
    this.problem = "";
    this.ended = new Promise((resolve) => {
      child.once("exit", (status, signal) => {
        if (!this.#isStopping) {
          const end = signal ? `by ${signal}` : `with ${status}`;
          this.problem = `the server that start() started has ended ${end}: ${lastLine(this.#log) || "it printed nothing"}`;
        } else {
          this.problem = "the server was stopped: call start() again";
        }
        resolve();
      });
      child.once("error", resolve);
    });
    // What it prints must not fill a pipe, and its last words are of interest.
    child.stderr.on("data", (part) => { this.#log = (this.#log + part).slice(-4000); });
    for (const pipe of child.stdio) pipe.on("error", () => {});
  }

  get log() {
    return this.#log.trim();
  }

  /** The first line of standard output. Throws SimulatorError if there is none in time. */
  async firstLine(program, within) {
    const child = this.#child;
    let text = "";
    const line = await new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new SimulatorError(
          `${program} did not start within ${durationText(within)}: ${this.log || "it printed nothing"}. startWithin gives it longer`));
      }, seconds(within) * 1000);
      const end = (act) => {
        clearTimeout(late);
        act();
      };
      child.once("error", (error) => end(() => reject(new SimulatorError(startProblem(program, error)))));
      child.stdout.on("data", (part) => {
        if (text.includes("\n")) return;
        text += part;
        if (text.includes("\n") || text.length > 100_000) end(() => resolve(text.split("\n")[0]));
      });
      child.once("close", () => end(() => reject(new SimulatorError(
        `${program} did not start: ${this.log || text.trim() || "it printed nothing"}`))));
    });
    // The process that runs the tests may end while the server runs.
    child.unref();
    for (const pipe of child.stdio) pipe.unref();
    return line;
  }

  async stop() {
    const child = this.#child;
    this.#isStopping = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill("SIGTERM");
    let late;
    const isLate = new Promise((resolve) => { late = setTimeout(() => resolve(true), STOP_SECONDS * 1000); });
    if (await Promise.race([this.ended, isLate])) child.kill("SIGKILL");
    clearTimeout(late);
    await this.ended;
  }

  kill() {
    this.#isStopping = true;
    this.#child.kill("SIGKILL");
  }
}

function lastLine(text) {
  return text.trim().split("\n").at(-1);
}

function commonOptions(caller, options) {
  const audit = options.audit ?? (process.env.ENTRUPY_SIM_AUDIT || null);
  if (![null, false, "error", "warning"].includes(audit)) {
    throw new SimulatorError(`${options.audit === undefined ? "ENTRUPY_SIM_AUDIT" : "audit"} must be "error" or "warning", got ${short(audit)}`);
  }
  return {
    audit: audit || null, binary: options.binary, strict: options.strict ?? false, onNote: options.onNote ?? printNote,
    artifacts: options.artifacts ?? (process.env.ENTRUPY_SIM_ARTIFACTS || ".entrupy-sim"),
  };
}

async function connect(url, options = {}) {
  checkOptions("connect", options, [...COMMON_OPTIONS, "binary"]);
  if (typeof url !== "string" && !(url instanceof URL)) throw new SimulatorError(`connect takes the server's address, got ${short(url)}`);
  return Simulator.open(String(url).split("/ns/")[0], {
    ...commonOptions("connect", options), controlToken: options.controlToken ?? (process.env.ENTRUPY_SIM_CONTROL_TOKEN || null) });
}

async function start(options = {}) {
  checkOptions("start", options, [...COMMON_OPTIONS, "url", "binary", "arguments", "startWithin"]);
  const { url, arguments: given = [], startWithin = "60s", ...common } = options;
  if (!Array.isArray(given) || given.some((word) => !["string", "number"].includes(typeof word))) {
    throw new SimulatorError(`arguments must be a list of words for "serve", got ${short(given)}`);
  }
  seconds(startWithin);
  const address = url ?? process.env.ENTRUPY_SIM_URL;
  if (address) {
    if (given.length && url) throw new SimulatorError("arguments and url exclude each other: no server is started");
    if (given.length) (options.onNote ?? printNote)(`arguments have no effect: the server at ${address} (ENTRUPY_SIM_URL) runs already`);
    return connect(address, common);
  }
  const kept = commonOptions("start", options);
  let program;
  try {
    program = findProgram(options.binary);
  } catch (error) {
    if (error instanceof ProgramError) throw new SimulatorError(error.message);
    throw error;
  }
  const words = given.map(String);
  const names = new Set(words.map((word) => word.split("=", 1)[0]));
  const command = [
    "serve", "--ready-json", "--exit-with-parent", ...names.has("--port") ? [] : ["--port", "0"],
    ...names.has("--data-dir") || names.has("--in-memory") || names.has("--bundle") ? [] : ["--in-memory"],
    ...words.filter((word) => !["--ready-json", "--exit-with-parent"].includes(word))];
  let child;
  try {
    child = spawn(program, command, { env: serverEnvironment(), stdio: ["pipe", "pipe", "pipe"] });
  } catch (error) {
    throw new SimulatorError(startProblem(program, error));
  }
  const server = new ServerProcess(child);
  const line = await server.firstLine(program, startWithin);
  try {
    let ready;
    try {
      ready = JSON.parse(line);
      new URL(ready.url);
    } catch {
      throw new SimulatorError(`${program} is not entrupy-sim ${VERSION}: it printed ${shown(line.slice(0, 80))}`);
    }
    return await Simulator.open(ready.url, {
      ...kept, program, process: server, controlToken: ready.control_token ?? options.controlToken ?? null });
  } catch (error) {
    server.kill();
    throw error;
  }
}

async function readYAML(file, what) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await fs.promises.readFile(file));
  } catch (error) {
    if (error instanceof TypeError && error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw new SimulatorError(`the ${what} ${file} is not UTF-8: save it as UTF-8`);
    }
    throw new SimulatorError(`the ${what} ${file} cannot be read from ${process.cwd()}: give the path of a YAML file`);
  }
}

/** The name of a test, with its file, from what the runner hands to it; null if that is not known. */
function nameOf(context) {
  let file;
  let name;
  if (context?.task && typeof context.task.name === "string") {
    // Vitest.
    const names = [];
    for (let task = context.task; task && task !== context.task.file; task = task.suite) names.unshift(task.name);
    [name, file] = [names.join(" > "), context.task.file?.filepath ?? context.task.file?.name];
  } else if (typeof context?.name === "string" && typeof context.diagnostic === "function") {
    // node:test, which runs each file in a process of its own.
    [name, file] = [context.fullName ?? context.name, context.filePath ?? process.argv[1]];
  } else {
    // Jest, and runners with the same global.
    let state;
    try {
      state = globalThis.expect?.getState?.();
    } catch {
      // Outside of a test.
    }
    [name, file] = [state?.currentTestName, state?.testPath];
  }
  if (!name) return null;
  return file ? `${path.relative(process.cwd(), file)} > ${name}` : name;
}

/** Runners skip a test by an error, which is no failure. */
function isSkip(error) {
  return error?.code === "VITEST_PENDING";
}

/** Whether a failure has named the page of the documentation. */
let isExplained = false;

/** Adds what happened to the error of a test, so that it is shown wherever the error is. */
function addToError(error, lines) {
  const shownLines = isExplained ? lines : [...lines, "what these lines mean: docs/node.md#when-a-test-fails"];
  isExplained = true;
  const text = `\n\nentrupy-sim:\n${shownLines.map((line) => `  ${line}`).join("\n")}`;
  const isShown = error instanceof Error || (error !== null && typeof error === "object" && typeof error.message === "string");
  if (isShown) {
    const before = String(error.message);
    const stack = typeof error.stack === "string" ? error.stack : null;
    try {
      error.message = before + text;
      if (error.message === before + text) {
        if (stack !== null && before && stack.includes(before)) error.stack = stack.replace(before, () => before + text);
        else if (stack !== null) error.stack = stack.replace(/(\n +at )|$/, (frame) => text + frame);
        return;
      }
    } catch {
      // A frozen error is printed below.
    }
  }
  process.stderr.write(`${text.trimStart()}\n`);
}

module.exports = { ExpectationError, Simulator, connect, start };
