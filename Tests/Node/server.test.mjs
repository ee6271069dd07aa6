// start() and connect(): what starts, what ends with the process, and servers and programs that are not what they should be.

import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { test } from "node:test";
import { connect, Namespace, start, VERSION } from "entrupy-sim";
import { answering, begin, folder, HEAD, hostile, isAlive, plain, problem, program, run, script, until, version } from "./support.mjs";

/** A module that starts a server, prints its address, and goes on with `rest`. */
const starting = (rest) => ["--input-type=module", "--eval", `
  import { start } from "entrupy-sim";
  const simulator = await start();
  const info = await (await fetch(simulator.url + "/_sim/info")).json();
  process.stdout.write(JSON.stringify({ url: simulator.url, dir: info.data_dir }) + "\\n");
  ${rest}`];

async function answers(url) {
  try {
    return (await fetch(`${url}/_sim/health`)).ok;
  } catch {
    return false;
  }
}

test("a server is started in memory, and stopped", async () => {
  const simulator = await start();
  assert.match(simulator.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([simulator.version, VERSION, simulator.controlToken], [version, version, null]);
  assert.equal((await (await fetch(`${simulator.url}/_sim/info`)).json()).data_dir, null);
  await simulator.stop();
  await simulator.stop();
  assert.ok(!await answers(simulator.url));
  assert.equal(await problem(() => simulator.makeNamespace()), "the server was stopped: call start() again");
});

test("a server does not outlive the process that started it, in whatever way that ends", async () => {
  for (const [rest, signal] of [["", null], ["process.exit(3);", null], ["setInterval(() => {}, 1000);", "SIGKILL"],
    ["setInterval(() => {}, 1000);", "SIGTERM"], ["throw new Error('a failure');", null]]) {
    const { child, ended, said } = begin(process.execPath, starting(rest), { cwd: process.cwd() });
    const { url } = JSON.parse(await until(() => said.out.includes("\n") && said.out, `the server is open: ${said.err}`));
    if (signal) child.kill(signal);
    const end = await ended;
    // It did not wait for the server: without anything to do it ends.
    assert.equal(end.signal, signal, rest);
    await until(async () => !await answers(url), `the server ends after ${rest}${signal}`);
  }
});

test("ENTRUPY_SIM_URL leads to a server that runs, and stop() leaves it", async (t) => {
  const simulator = await start({ arguments: ["--control-token", "a-control-token"] });
  t.after(() => simulator.stop());
  assert.equal(simulator.controlToken, "a-control-token");
  const sim = await simulator.makeNamespace();
  for (const address of [simulator.url, `${simulator.url}/`, sim.url]) {
    const other = await run(process.execPath, starting("await simulator.stop();").concat(), {
      env: plain({ ENTRUPY_SIM_URL: address, ENTRUPY_SIM_CONTROL_TOKEN: "a-control-token" }), cwd: process.cwd() });
    assert.equal(JSON.parse(other.out).url, simulator.url, other.err);
  }
  assert.ok(await answers(simulator.url));
  assert.equal((await connect(new URL(sim.url), { controlToken: "a-control-token" })).url, simulator.url);
  const text = await problem(() => connect(simulator.url, { controlToken: "wrong-token" }), "SimulatorError");
  assert.match(text, /requires its control token: set ENTRUPY_SIM_CONTROL_TOKEN/);
});

test("arguments are those of serve", async (t) => {
  const data = path.join(folder(t), "data");
  const simulator = await start({ arguments: ["--data-dir", data, "--rate-limits", "off"] });
  t.after(() => simulator.stop());
  assert.ok(fs.existsSync(data));
  const sim = await simulator.makeNamespace();
  assert.equal((await sim.settings()).rate_limits, "off");
});

test("settings for servers that are started by hand do not count", async () => {
  const answer = await run(process.execPath, starting(""), {
    env: plain({ ENTRUPY_SIM_PORT: "1", ENTRUPY_SIM_DATA_DIR: "/no/such/folder", ENTRUPY_SIM_RECORD: "/no/such/file" }), cwd: process.cwd() });
  assert.equal(answer.status, 0, answer.err);
  assert.equal(JSON.parse(answer.out).dir, null);
});

test("a port that is taken is named", async (t) => {
  const { listener } = await hostile(t, () => {});
  const { port } = listener.address();
  const text = await problem(() => start({ arguments: ["--port", port] }), "SimulatorError");
  assert.match(text, new RegExp(`entrupy-sim did not start: .*${port}.*in use`, "s"));
});

test("what serve refuses is said", async () => {
  assert.match(await problem(() => start({ arguments: ["--rate-limits", "some"] })), /did not start: .*rate-limits/s);
});

test("a program that is not entrupy-sim is named", async (t) => {
  const cases = [
    ["exit 0", /program did not start: it printed nothing$/], ["echo broken >&2; exit 2", /program did not start: broken$/],
    ["echo hello; exec sleep 20", /program is not entrupy-sim \S+: it printed 'hello'$/],
    ["echo '{}'; exec sleep 20", /program is not entrupy-sim \S+: it printed '{}'$/],
    ["kill -9 $$", /program did not start: it printed nothing$/]];
  for (const [text, expected] of cases) {
    assert.match(await problem(() => start({ binary: script(t, text) }), "SimulatorError"), expected);
  }
  assert.match(await problem(() => start({ binary: "/no/such/program" })), /^binary: \/no\/such\/program is not a program: give the path/);
});

test("a start that takes too long is ended", async (t) => {
  const pids = path.join(folder(t), "pid");
  const slow = script(t, `echo $$ > ${pids}; exec sleep 60`);
  const text = await problem(() => start({ binary: slow, startWithin: "500ms" }), "SimulatorError");
  assert.match(text, /did not start within 500ms: it printed nothing\. startWithin gives it longer$/);
  const pid = Number(fs.readFileSync(pids, "utf8"));
  await until(() => !isAlive(pid), "the program ends");
  // One that is slow, but not too slow, is waited for.
  const late = script(t, `sleep 1; exec ${program} "$@"`);
  const simulator = await start({ binary: late });
  await simulator.stop();
});

test("a program or server of another version is named", async (t) => {
  for (const [info, words] of [[{ version: "0.9.1" }, "0.9.1"], [{ version: 3 }, "of an unknown version"], [{}, "of an unknown version"]]) {
    const { url } = await hostile(t, answering({ "GET /_sim/info": info }));
    const expected = `is entrupy-sim ${words}, this package needs ${version}: update the one that is behind`;
    assert.equal(await problem(() => connect(url), "SimulatorError"), `the server at ${url} ${expected}`);
    const binary = script(t, `echo '{"url": "${url}"}'; exec sleep 20`);
    assert.equal(await problem(() => start({ binary })), `${binary} ${expected}`);
  }
  // A fix of the same minor version is none.
  const { url } = await hostile(t, answering({ "GET /_sim/info": { version: version.replace(/\d+$/, "99") } }));
  await connect(url);
});

test("a server that died in the middle of a test is named, with its last words", async (t) => {
  const pid = path.join(folder(t), "pid");
  const simulator = await start({ binary: script(t, `echo $$ > ${pid}; exec ${program} "$@"`) });
  const sim = await simulator.makeNamespace();
  process.kill(Number(fs.readFileSync(pid, "utf8")), "SIGKILL");
  await until(async () => (await problem(() => sim.clock.state())).startsWith("the server that start() started has ended"), "it ends");
  assert.match(await problem(() => sim.clock.state()), /^the server that start\(\) started has ended by SIGKILL: /);
  await assert.rejects(() => simulator.test({}, () => {})(), /the server that start\(\) started has ended by SIGKILL/);
  await simulator.stop();
});

test("a namespace that is gone is explained", async (t) => {
  const simulator = await start();
  t.after(() => simulator.stop());
  const sim = await simulator.makeNamespace();
  await sim.delete();
  await sim.delete();
  for (const call of [() => sim.clock.advance("1h"), () => sim.requests(), () => sim.expectRequest("POST", "/sdk/login", { times: 0 }),
    () => sim.wait("request:held"), () => sim.bundle(), () => sim.fault({ status: 503 })]) {
    assert.match(await problem(call, "SimulatorError"), /^there is no namespace "test-\w+".*The namespace was deleted, or its time to live is over$/);
  }
  await sim.verifyRules();
  // A test may delete its own.
  await simulator.withNamespace(async (own) => own.delete());
});

test("wrong options are errors, with the one that is meant", async (t) => {
  const simulator = await start();
  t.after(() => simulator.stop());
  const sim = await simulator.makeNamespace();
  const cases = [
    [() => start({ prot: 1 }), /^start does not know the option prot: it takes /],
    [() => start({ argument: [] }), /did you mean arguments\?$/],
    [() => start({ url: simulator.url, arguments: ["--port", "1"] }), /^arguments and url exclude each other/],
    [() => start({ arguments: "--port 1" }), /^arguments must be a list of words/],
    [() => start({ startWithin: "soon" }), /^'soon' is not a duration such as 90s/],
    [() => start({ audit: "never" }), /^audit must be "error" or "warning", got never$/],
    [() => connect("nowhere"), /^nowhere is not an http or https URL$/],
    [() => connect("ftp://127.0.0.1"), /is not an http or https URL$/],
    [() => connect("http://127.0.0.1:9"), /^no server answers at http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\): start one with/],
    [() => simulator.makeNamespace({ frozen_at: "2026" }), /did you mean frozenAt\?$/],
    [() => simulator.makeNamespace({ frozenAt: "soon" }), /soon/],
    [() => simulator.makeNamespace({ scenario: "no-such" }), /no-such/],
    [() => simulator.makeNamespace({ scenario: "cases/absent.yaml" }), /^the scenario cases\/absent\.yaml cannot be read from /],
    [() => simulator.makeNamespace({ seed: "absent.yaml" }), /^the seed data absent\.yaml cannot be read from /],
    [() => simulator.withNamespace({}), /^withNamespace takes options and a function/],
    [() => simulator.test({ sed: "empty" }, () => {}), /did you mean seed\?$/],
    [() => sim.outcome("unknown", { customer_item_id: "x" }), /did you mean customerItemId\?$/],
    [() => sim.outcome("unknwon"), /unknwon/],
    [() => sim.fault({ status: 503 }, { route: "sdk/search" }), /^the route 'sdk\/search' matches no request: write the path/],
    [() => sim.fault({ status: 503 }, { route: "/ns/a/sdk/search" }), /matches no request/],
    [() => sim.fault({ stats: 503 }), /stats/],
    [() => sim.clock.advance(), /^advance takes a duration/],
    [() => sim.clock.advance("sometime"), /sometime/],
    [() => sim.clock.advance({ by: "1h" }), /does not know the option by: it takes to$/],
    [() => sim.items({ limit: 0 }), /^limit must be a whole number of at least 1, got 0$/],
    [() => sim.settings({ quotas: 3 }), /quota/],
    [() => sim.fetch("http://127.0.0.1:9/"), /^fetch takes a path/],
    [() => sim.release(null, { status: 503 }), /are for one held request/]];
  for (const [call, expected] of cases) assert.match(await problem(async () => call(), "SimulatorError"), expected);
});

// MARK: Servers that never end, never begin, or lead elsewhere

/** A namespace of a hostile server; nothing else makes one without asking it. */
function client(url, silence = 30) {
  return new Namespace("default", url, { token: "ctl-secret", limits: { silence, work: silence, size: 1 << 20 } });
}

/** Fails unless a silence is noticed as it is. A busy machine may itself be late, so the times grow. */
async function expectSilence(url, call, expected) {
  const said = [];
  for (const [silence, text] of [[0.5, "500ms"], [5, "5s"], [20, "20s"]]) {
    said.push(await problem(() => call(client(url, silence))));
    if (said.at(-1).includes(expected.replace("TIME", text))) return;
  }
  assert.fail(`none is "${expected}": ${said.join("\n")}`);
}

const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const endless = (head, part) => (socket) => {
  socket.write(head);
  const more = () => { while (!socket.destroyed && socket.write(part)); };
  socket.on("drain", more);
  more();
};

test("a server that never answers did not answer in time", async (t) => {
  for (const reply of [() => {}, endless("", "HTTP/1.1 100 Continue\r\n\r\n")]) {
    const { url } = await hostile(t, reply);
    await expectSilence(url, (sim) => sim.clock.state(), "did not answer within TIME");
    await expectSilence(url, (sim) => sim.clock.advance("1h"), "did not answer within TIME");
  }
});

test("a server that stops in its answer is named", async (t) => {
  for (const text of [`${HEAD}Content-Length: 10\r\n\r\n`, `${CHUNKED}5\r\n[1,`]) {
    const { url } = await hostile(t, (socket) => socket.write(text));
    await expectSilence(url, (sim) => sim.clock.state(), "sent nothing for TIME, and its answer is not complete");
  }
});

test("an answer that never ends is refused", async (t) => {
  for (const reply of [endless(CHUNKED, `10000\r\n${"1".repeat(65536)}\r\n`), endless(`${HEAD}\r\n`, " ".repeat(65536))]) {
    const sim = client((await hostile(t, reply)).url);
    assert.match(await problem(() => sim.clock.state()), /is larger than 1 MB$/);
    assert.match(await problem(() => sim.bundle({ maxBytes: 4_000_000 })), /is larger than 4 MB$/);
    const place = folder(t);
    assert.match(await problem(() => sim.saveBundle(path.join(place, "a.tar"), { maxBytes: 4_000_000 })), /is larger than 4 MB$/);
    assert.deepEqual(fs.readdirSync(place), []);
  }
});

test("half an answer is no answer", async (t) => {
  for (const text of [`${HEAD}Content-Length: 10\r\n\r\n[1`, `${CHUNKED}5\r\n[1`, `${CHUNKED}2\r\n[1\r\n`]) {
    const sim = client((await hostile(t, (socket) => socket.end(text))).url);
    assert.match(await problem(() => sim.clock.state()), /was lost before its answer was complete$/);
  }
  const { url } = await hostile(t, (socket) => socket.destroy());
  assert.match(await problem(() => client(url).clock.state()), /was lost before its answer \(ECONNRESET\)$/);
  const junk = await hostile(t, (socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
  assert.match(await problem(() => client(junk.url).clock.state()), /does not answer with HTTP \(.*\): check the address$/);
});

test("an answer that is not JSON, or not what it should be, is named", async (t) => {
  for (const body of ["<html>", "[1", "", "3", "null", '"text"', "[".repeat(100_000), "{}"]) {
    const reply = (socket) => socket.end(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`);
    const sim = client((await hostile(t, reply)).url);
    for (const call of [() => sim.requests(), () => sim.held(), () => sim.items(), () => sim.audit(), () => sim.expectWebhook({ times: 0 })]) {
      assert.match(await problem(call, "SimulatorError"), /does not answer like entrupy-sim \S+ \(.*\): check its version/);
    }
  }
  // A page of another program.
  const page = await hostile(t, (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"));
  assert.match(await problem(() => client(page.url).requests()), /does not answer like entrupy-sim/);
  assert.match(await problem(() => connect(page.url)), /does not answer like entrupy-sim/);
});

test("an error that is no envelope is an error all the same", async (t) => {
  for (const body of ["[".repeat(100_000), '{"error": {}, "details": 3}', '{"error": [], "details": [1]}', "\xff", ""]) {
    const reply = (socket) => socket.end(`HTTP/1.1 500 No\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const sim = client((await hostile(t, reply)).url);
    await assert.rejects(() => sim.clock.state(), { name: "SimulatorError", status: 500, message: "GET /_sim/clock: the server answered 500" });
  }
});

test("no redirect is followed, and the token stays", async (t) => {
  const other = await hostile(t, (socket) => socket.end(`${HEAD}Content-Length: 2\r\n\r\n{}`));
  for (const status of [301, 302, 303, 307, 308]) {
    const moved = await hostile(t, (socket) => socket.end(
      `HTTP/1.1 ${status} Moved\r\nLocation: ${other.url}/\r\nContent-Length: 0\r\n\r\n`));
    const sim = client(moved.url);
    for (const call of [() => sim.clock.state(), () => sim.reset(), () => sim.bundle(), () => sim.wait("item:x:result"),
      () => connect(moved.url, { controlToken: "ctl-secret" })]) {
      assert.ok((await problem(call)).includes(`redirects to '${other.url}/', and redirects are not followed`));
    }
    assert.ok(moved.requests.every((text) => /X-Sim-Control-Token: ctl-secret/i.test(text)));
  }
  assert.deepEqual(other.requests, []);
});

test("an answer that drips is read to its end", async (t) => {
  const { url } = await hostile(t, async (socket) => {
    socket.write(`${HEAD}Content-Length: 30\r\n\r\n`);
    for (const byte of `{${" ".repeat(28)}}`) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      socket.write(byte);
    }
  });
  // Longer than the limit in all; each pause is a small part of it.
  assert.deepEqual(await client(url, 1).clock.state(), {});
});

test("a silent event stream is not an event that is late", async (t) => {
  const { url } = await hostile(t, (socket) => socket.write(`${CHUNKED}3\r\n:\n\n\r\n`));
  await expectSilence(url, (sim) => sim.wait("item:x:result", { within: 60 }), "sent nothing for TIME");
  const ended = await hostile(t, (socket) => socket.end(`${CHUNKED}3\r\n:\n\n\r\n`));
  assert.match(await problem(() => client(ended.url).wait("item:x:result")), /was lost before its answer was complete/);
});

/** A way to a server that says when an event stream has begun. */
async function streaming(t, address) {
  let began;
  const beginning = new Promise((resolve) => { began = resolve; });
  const { hostname, port } = new URL(address);
  const listener = net.createServer((socket) => {
    const server = net.connect(Number(port), hostname);
    for (const side of [socket, server]) side.on("error", () => {});
    socket.pipe(server).pipe(socket);
    server.on("data", (part) => { if (part.includes("event: open")) began(); });
  });
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  t.after(() => listener.close());
  return { url: `http://127.0.0.1:${listener.address().port}`, beginning };
}

test("a wait succeeds with its event alone", async (t) => {
  for (const event of ["item:5ISJEYOQ:result", "webhook:session.completed", "request:held"]) {
    const simulator = await start({ artifacts: false });
    t.after(() => simulator.stop());
    for (const [end, text] of [[(sim) => sim.delete(), "the namespace NAME was deleted"], [() => simulator.stop(), "the server at URL stopped"]]) {
      const sim = await simulator.makeNamespace();
      const { url, beginning } = await streaming(t, simulator.url);
      const waited = problem(() => new Namespace(sim.name, url).wait(event, { within: "10m" }), "SimulatorError");
      await beginning;
      await end(sim);
      assert.equal(await waited, `${event} did not happen: ${text.replace("NAME", sim.name).replace("URL", url)}`);
    }
    assert.match(await problem(() => simulator.makeNamespace()), /the server was stopped/);
  }
});

test("the event of a wait is known however it comes", async (t) => {
  const chunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`;
  for (const [parts, text] of [
    [["retry: 1\n\neve", "nt: state\ndata: {}\n\n"], null], [["\nevent: state", "\ndata: {}\n\n"], null],
    [[": a\n\nevent: webhook\ndata: event: state\n\n"], /did not happen: the server at \S+ stopped$/],
    [["\nevent: world.del", "eted\ndata: {}\n\n"], /did not happen: the namespace default was deleted$/]]) {
    const { url } = await hostile(t, async (socket) => {
      socket.write(CHUNKED);
      for (const part of parts) {
        socket.write(chunk(part));
        // Each part is read on its own.
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      socket.end("0\r\n\r\n");
    });
    if (text) assert.match(await problem(() => client(url, 5).wait("item:x:result"), "SimulatorError"), text);
    else await client(url, 5).wait("item:x:result");
  }
  assert.match(await problem(() => client("http://127.0.0.1:9").wait(undefined)), /^wait takes the name of an event, got undefined$/);
});
