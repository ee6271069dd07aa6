// What the tests of the npm packages share. They run in a folder where both packages are installed: scripts/test-node.

import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const require = createRequire(import.meta.url);

/** The folder of the installed package. */
export const installed = path.dirname(require.resolve("entrupy-sim/package.json"));
/** The launcher, as npm links it. */
export const launcher = path.join(path.dirname(installed), ".bin", "entrupy-sim");
/** The program of the platform's package. */
export const program = path.join(path.dirname(installed), "@entrupy-sim", `${process.platform}-${process.arch}`, "bin", "entrupy-sim");
export const { version } = require("entrupy-sim/package.json");

export const SEARCH = "/v2/search/authentications";
export const AUTHORIZE = "/v2/integrations/authorize-user";

/** The environment of a shell in which nothing of the simulator is set. */
export function plain(more = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("ENTRUPY_SIM_") && name !== "NODE_TEST_CONTEXT");
  return { ...Object.fromEntries(kept), ...more };
}

/** A folder that is deleted with the test. */
export function folder(t) {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "entrupy-sim-node-"));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Writes an executable script, and returns its path. */
export function script(t, text) {
  const file = path.join(folder(t), "program");
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

/** A folder for PATH with a script that is called entrupy-sim. */
export function inPath(t, text) {
  const made = folder(t);
  fs.writeFileSync(path.join(made, "entrupy-sim"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return made;
}

/** A PATH with Node alone: the machine may have an entrupy-sim. */
export function nodeAlone(t) {
  const made = folder(t);
  fs.symlinkSync(process.execPath, path.join(made, "node"));
  return made;
}

/** Starts a program. `ended` has what it printed and how it ended; it is killed after five minutes. */
export function begin(command, args, { env = plain(), cwd, input = "" } = {}) {
  const child = spawn(command, args, { env, cwd });
  const said = { out: "", err: "" };
  child.stdout.on("data", (part) => { said.out += part; });
  child.stderr.on("data", (part) => { said.err += part; });
  child.stdin.on("error", () => {});
  if (input !== null) child.stdin.end(input);
  const late = setTimeout(() => child.kill("SIGKILL"), 300_000);
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => {
      clearTimeout(late);
      resolve({ ...said, status, signal });
    });
  });
  return { child, ended, said };
}

export function run(command, args, options) {
  return begin(command, args, options).ended;
}

/** Waits until something holds. */
export async function until(holds, what, milliseconds = 60_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`this did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    // What has ended and was not looked at yet is a zombie.
    return !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return error.code === "ENOENT" && process.platform === "darwin";
  }
}

/** What a back end does to log a user in. */
export function authorize(sim, user = "example-user", headers = {}) {
  return send(sim, "POST", AUTHORIZE, {
    sdk_authorization_request: "from-the-app", unique_user_id: user, email: `${user}@example.com` }, headers);
}

/** Sends a request as a back end. Returns the status; null without an answer. */
export async function send(sim, method, target, body, headers = {}) {
  try {
    const answer = await fetch(sim.url + target, {
      method, body: typeof body === "string" || body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body),
      headers: { "Content-Type": "application/json", Authorization: `Token ${sim.apiToken}`, ...headers } });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}

/** The message of the error that a call throws. */
export async function problem(call, name) {
  try {
    await call();
  } catch (error) {
    if (name && error.name !== name) throw error;
    if (error.message.includes("\n    at ")) throw new Error(`a stack in a message: ${error.message}`);
    return error.message;
  }
  throw new Error("nothing was thrown");
}

export const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/** A server that answers each connection with `reply(socket)` once the head of a request came; keeps what clients sent. */
export async function hostile(t, reply) {
  const requests = [];
  const sockets = new Set();
  const listener = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    let text = "";
    socket.on("data", (part) => {
      const before = text.includes("\r\n\r\n");
      text += part;
      if (before || !text.includes("\r\n\r\n")) return;
      requests.push(text);
      reply(socket, text);
    });
  });
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return { url: `http://127.0.0.1:${listener.address().port}`, requests, listener };
}

/** Answers each request by its method and path, as JSON or as it is. */
export function answering(routes) {
  return (socket, text) => {
    const [method, target] = text.split(" ");
    const found = routes[`${method} ${target.split("?")[0]}`] ?? { error: "no route" };
    const body = typeof found === "string" ? found : JSON.stringify(found);
    socket.end(`${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
  };
}
