#!/usr/bin/env node
"use strict";
// Runs the program with this process's arguments, input and output. Passes signals on, and ends as it ends.

const fs = require("node:fs");
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { LAUNCHER_VARIABLE, findProgram, startProblem } = require("../lib/program.js");

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT"];
/** The signals that a terminal sends to all processes in its foreground, so to the program too. */
const OF_TERMINALS = ["SIGINT", "SIGQUIT"];

/** Prints an error as the program does: a sentence, and with --json an envelope on standard output. */
function fail(text, exitCode, code) {
  const end = process.argv.indexOf("--");
  if (process.argv.slice(2, end < 0 ? undefined : end).includes("--json")) {
    fs.writeSync(1, `${JSON.stringify({ code, details: [], error: text, request_id: "", sdk_error: null })}\n`);
  }
  fs.writeSync(2, `error: ${text}\n`);
  process.exit(exitCode);
}

/** Whether a terminal that sends a signal to this process sends it to the program too. */
function isInForeground() {
  try {
    // After the name in parentheses: state, parent, process group, session, terminal, its foreground group.
    const fields = fs.readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /s, "").split(" ");
    return fields[2] === fields[5];
  } catch {
    return Boolean(process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY);
  }
}

function main() {
  let program;
  try {
    program = findProgram();
  } catch (error) {
    if (error.exitCode === undefined) throw error;
    fail(error.message, error.exitCode, error.code);
  }
  let child;
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      if (!(OF_TERMINALS.includes(signal) && isInForeground())) child?.kill(signal);
    });
  }
  try {
    child = spawn(program, process.argv.slice(2), { stdio: "inherit", env: { ...process.env, [LAUNCHER_VARIABLE]: process.pid } });
  } catch (error) {
    fail(startProblem(program, error), 69, "no_server");
  }
  child.on("error", (error) => fail(startProblem(program, error), 69, "no_server"));
  child.on("exit", (status, signal) => {
    if (signal === null) process.exit(status);
    // A shell sees which signal it was.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
  });
}

main();
