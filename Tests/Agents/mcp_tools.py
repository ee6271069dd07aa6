#!/usr/bin/env python3
"""Drives `entrupy-sim mcp` with the official client of the Model Context Protocol, over stdio and HTTP, in both versions.

    mcp_tools.py --binary PROGRAM [--only NAME]

Needs the packages mcp and httpx2, which `make test-mcp` installs. Each tool is used for what an agent has it for, with a client of the
platform beside it that is really broken, late or refused. Then comes what a client may do wrong.
"""
import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from simulator import Client as Caller, Simulator, log_in  # noqa: E402

from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

VERSION = "2026-07-28"
TOOLS = {"start_case", "set_result", "break_next", "move_clock", "what_happened", "why", "diff", "check", "drop"}
# 2,000 tokens, at four bytes each.
MOST_BYTES = 8000
BINARY = None


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("ENTRUPY_SIM_")}


@contextlib.contextmanager
def http_server(*flags):
    """`entrupy-sim mcp --http`, and the URL that it prints."""
    process = subprocess.Popen(
        [BINARY, "mcp", "--http", "127.0.0.1:0", *flags], stdout=subprocess.PIPE, text=True, env=environment())
    try:
        url = process.stdout.readline().strip()
        check(re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", url), f"it printed {url!r}")
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        check(process.wait(timeout=20) == 0, f"SIGINT ended it with {process.returncode}")
        process.stdout.close()


def over_stdio(mode, *flags):
    return Client(stdio_client(StdioServerParameters(command=BINARY, args=["mcp", *flags], env=environment())), mode=mode)


async def use(client, name, **arguments):
    """The result of a tool that must succeed."""
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    check(not result.is_error, f"{name} {arguments}: {text}")
    check(len(text.encode()) < MOST_BYTES, f"{name} answered {len(text.encode())} bytes")
    check(json.loads(text) == result.structured_content, f"{name}: the text is another answer than the structure")
    return result.structured_content


async def refused(client, name, **arguments):
    """The error and the way out of a tool that must fail."""
    result = await client.call_tool(name, arguments)
    check(result.is_error, f"{name} {arguments} succeeded: {result.content[0].text[:300]}")
    answer = result.structured_content
    check(answer["error"] and answer["way_out"], f"{name}: {answer}")
    return answer["error"], answer["way_out"]


class App:
    """The code under test: a client of the platform, which knows the base URL and the API token alone."""

    def __init__(self, case):
        self.base, self.api_token = case["base_url"], case["api_token"]
        self.token = None

    def __call__(self, method, path, body=None, token=None):
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {token or self.token}"} if token or self.token else {}
        headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def log_in(self):
        status, answer = self("POST", "/v2/integrations/authorize-user", {
            "sdk_authorization_request": "agents", "unique_user_id": "agents-user", "email": "agents@example.com",
            "first_name": "A", "last_name": "B"}, token=self.api_token)
        check(status == 200, answer)
        status, answer = self("POST", "/sdk/login", {"signed_authorization_request": answer["signed_authorization_request"]})
        check(status == 200, answer)
        self.token = answer["token"]

    def capture(self, sku):
        status, capture = self("POST", "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Any", "customer_item_id": sku}})
        check(status == 201, capture)
        picture = (pathlib.Path(__file__).resolve().parents[2] / "demo" / "sneaker.jpg").read_bytes()
        for step in capture["steps"]:
            if step["required"]:
                check(self("PUT", f"/sdk/captures/{capture['capture_id']}/images/{step['region_id']}", picture)[0] == 200, "upload")
        return capture["capture_id"]

    def submit(self, capture):
        return self("POST", f"/sdk/captures/{capture}/submit")


async def work(client):
    """Every tool, as an agent would use it to test an app."""
    names = {tool.name for tool in (await client.list_tools()).tools}
    check(names == TOOLS, names)
    case = await use(client, "start_case", namespace="agents-work", freeze_at="2026-01-05T09:00:00Z", settings={"result": {"delay": "3h"}})
    check(case["state"]["clock"] == "2026-01-05T09:00:00.000000Z frozen", case)
    try:
        app = App(case)
        app.log_in()
        mark = (await use(client, "what_happened", namespace="agents-work"))["state"]["mark"]

        # A broken submit, once.
        broken = await use(client, "break_next", namespace="agents-work", route="/sdk/captures/*/submit", status=503)
        check(len(broken["state"]["faults"]) == 1, broken)
        await use(client, "set_result", namespace="agents-work", result="unknown", customer_item_id="late-*", after="2h")
        capture = app.capture("late-1")
        check(app.submit(capture)[0] == 503, "the fault")
        # Retry-After asks for a second, which the audit looks at.
        await use(client, "move_clock", namespace="agents-work", by="1s")
        status, item = app.submit(capture)
        check(status == 200, item)
        seen = await use(client, "what_happened", namespace="agents-work", since=mark)
        check(any("/submit 503 by the fault" in line for line in seen["requests"]), seen["requests"])
        check(any("item.submitted" in line for line in seen["events"]), seen["events"])
        check(not any("/sdk/login" in line for line in seen["requests"]), "the mark was not heeded")

        # The result comes with the clock.
        moved = await use(client, "move_clock", namespace="agents-work", by="2h")
        check(any("result." in line and item["entrupy_id"] in line for line in moved["events"]), moved)
        check(moved["state"]["clock"] == "2026-01-05T11:00:01.000000Z frozen", moved["state"])
        explained = await use(client, "why", namespace="agents-work", id=item["entrupy_id"])
        check(any("decided: unknown, after 2h" in line for line in explained["steps"]), explained)
        check(any("/submit -> 503" in line for line in explained["steps"]), "the refused submission is a step of the item's history")
        check(any("without it the namespace's default decides" in line for line in explained["would_differ"]), explained)
        check(any("result.set" in line for line in explained["steps"][-2:]), "the end of the chain was left out")
        await use(client, "set_result", namespace="agents-work", entrupy_id=item["entrupy_id"], result="authentic")
        check(app("GET", f"/v2/authentications/{item['entrupy_id']}", token=app.api_token)[1], "the item")

        # Nothing is lost against the state before, and the item is new.
        different = await use(client, "diff", namespace="agents-work", **{"from": "namespace:default"})
        check(not different["equal"] and any(line.startswith("added item") for line in different["objects"]), different)

        # What it did is judged.
        verdict = await use(client, "check", namespace="agents-work", expect=[
            {"match": {"route": "/sdk/captures/*/submit", "status": 503}, "times": 1},
            {"sequence": [{"route": "/sdk/login", "status": 200}, {"route": "/sdk/captures", "status": 201}]}])
        check(verdict["passed"] and verdict["expectations"] == ["0: met", "1: met"], verdict)
        verdict = await use(client, "check", namespace="agents-work", expect=[{"match": {"route": "/sdk/login"}, "times": 7}])
        check(not verdict["passed"] and "not met" in verdict["expectations"][0], verdict)
        app("GET", "/sdk/session?token=abc")
        verdict = await use(client, "check", namespace="agents-work")
        check(not verdict["passed"] and any("token-in-url" in line for line in verdict["findings"]), verdict)
        check((await use(client, "check", namespace="agents-work", audit=False))["passed"], "the audit was not left out")

        await use(client, "break_next", namespace="agents-work", clear=True)
    finally:
        dropped = await use(client, "drop", namespace="agents-work")
        check("agents-work" not in dropped["namespaces"], dropped)


async def mistakes(client):
    """What an agent may ask wrongly: each answer says what was wrong and what to do."""
    error, way_out = await refused(client, "what_happened", namespace="never-made")
    check("never-made" in error and "start_case" in way_out, (error, way_out))
    error, way_out = await refused(client, "what_happened", namespace="a b")
    check("a-z, 0-9 and -" in error, error)
    error, _ = await refused(client, "what_happened")
    check("namespace is missing" in error, error)
    error, way_out = await refused(client, "start_case", scenari="late-result")
    check("did you mean scenario" in error and "scenario_yaml" in way_out, (error, way_out))
    error, way_out = await refused(client, "start_case", namespace="x1", scenario="late-resul")
    check("late-resul" in error and "did you mean late-result?" in way_out, (error, way_out))
    error, _ = await refused(client, "start_case", namespace="x1", scenario_yaml="name: [")
    check("line 2" in error, error)
    error, _ = await refused(client, "start_case", namespace="x1", settings={"result": {"dela": "3h"}})
    check("dela" in error, error)
    error, _ = await refused(client, "what_happened", namespace="x1")
    check("x1" in error, "a case that failed to start is there")
    case = await use(client, "start_case", namespace="agents-wrong")
    try:
        error, way_out = await refused(client, "start_case", namespace="agents-wrong")
        check("agents-wrong" in error, error)
        await use(client, "start_case", namespace="agents-wrong", replace=True)
        for name, arguments, word in [
                ("set_result", {"result": "authentik"}, "authentic"), ("set_result", {}, "result is missing"),
                ("set_result", {"entrupy_id": "NOPE", "result": "authentic"}, "NOPE"),
                ("set_result", {"entrupy_id": "NOPE", "times": 2}, "times"),
                ("break_next", {"status": 503}, "route"), ("break_next", {"route": "/sdk/**"}, "one of status"),
                ("break_next", {"route": "/sdk/**", "status": 99}, "200 to 599"),
                ("break_next", {"route": "/sdk/**", "effect": {"explode": True}}, "explode"),
                ("move_clock", {}, "by and to"), ("move_clock", {"by": "2 parsecs"}, "by"),
                ("move_clock", {"by": "1h", "to": "next"}, "by and to"),
                ("what_happened", {"since": "yesterday"}, "mark"), ("what_happened", {"limit": 51}, "1 to 50"),
                ("why", {"id": "req_none"}, "req_none"), ("diff", {"from": "snapshot:none"}, "none"), ("check", {"expect": [{"tims": 1}]}, "expect[0]: tims"),
                ("check", {"expect": [1]}, "objects"), ("drop", {"namespace": "default"}, "default")]:
            error, _ = await refused(client, name, **{"namespace": "agents-wrong", **arguments})
            check(word in error, f"{name} {arguments}: {error}")
        state = (await use(client, "what_happened", namespace="agents-wrong"))["state"]
        check(not state.get("faults") and not state.get("results"), state)
        moved = await use(client, "move_clock", namespace="agents-wrong", to="next")
        check("nothing is due" in moved["note"], moved)
        try:
            await client.call_tool("start_cas", {})
            check(False, "an unknown tool was called")
        except Exception as error:  # noqa: BLE001 - the client's own error type
            check("start_case" in str(error), error)
        check(case["base_url"].endswith("/ns/agents-wrong"), case)
    finally:
        await use(client, "drop", namespace="agents-wrong")


async def much(client):
    """Answers stay short, however much there is."""
    case = await use(client, "start_case", namespace="agents-much")
    app = App(case)
    for number in range(60):
        app("GET", f"/sdk/session/{'x' * 400}/{number}")
    for number in range(12):
        await use(client, "break_next", namespace="agents-much", route=f"/{'r' * 300}{number}", status=500, times=3)
    seen = await use(client, "what_happened", namespace="agents-much", limit=50)
    check("earlier" in seen and seen["left_out"]["requests"] > 0, {name: seen[name] for name in seen if name != "requests"})
    check(len(seen["state"]["faults"]) == 6 and "7 earlier" in seen["state"]["faults"][0], seen["state"]["faults"][0])
    await use(client, "drop", namespace="agents-much")


async def scenarios(client):
    """A case that begins as a scenario says, and is judged by what it expects."""
    case = await use(client, "start_case", namespace="agents-scenario", scenario="late-result")
    verdict = await use(client, "check", namespace="agents-scenario", audit=False)
    check(not verdict["passed"] and verdict["scenario"]["name"] == "late-result", verdict)
    check(case["state"]["results"], case)
    await use(client, "drop", namespace="agents-scenario")


async def every_version_and_transport():
    for mode in ("auto", "legacy"):
        async with over_stdio(mode) as client:
            check(client.protocol_version == (VERSION if mode == "auto" else "2025-11-25"), client.protocol_version)
            check(client.server_info.name == "entrupy-sim" and "start_case" in client.instructions, client.instructions)
            for part in (work, mistakes, much, scenarios):
                await part(client)
        with http_server() as url:
            async with Client(url, mode=mode) as client:
                check(client.protocol_version == (VERSION if mode == "auto" else "2025-11-25"), client.protocol_version)
                for part in (work, mistakes):
                    await part(client)


async def a_server_that_runs():
    """With --url the tools work on that server, and what others did there is seen."""
    simulator = Simulator(BINARY, "--in-memory", "--control-token", "agents-secret")
    try:
        async with over_stdio("auto", "--url", simulator.url, "--control-token", "agents-secret") as client:
            caller = Caller(simulator)
            log_in(caller, "agents-user")
            seen = await use(client, "what_happened", namespace="default")
            check(any("/sdk/login 200" in line for line in seen["requests"]), seen)
        async with over_stdio("auto", "--url", simulator.url) as client:
            error, _ = await refused(client, "what_happened", namespace="default")
            check("control token" in error, error)
    finally:
        simulator.stop()
    async with over_stdio("auto", "--url", simulator.url) as client:
        error, way_out = await refused(client, "start_case")
        check(simulator.url.split("//")[1] in error and "entrupy-sim serve" in way_out, (error, way_out))


async def cases_at_the_same_time():
    """Two agents and twenty cases on one server of tools; none sees another's."""
    with http_server() as url:
        async def one(number):
            async with Client(url) as client:
                case = await use(client, "start_case", namespace=f"agents-{number}")
                for _ in range(number % 3 + 1):
                    await asyncio.to_thread(App(case), "GET", "/sdk/session")
                seen = await use(client, "what_happened", namespace=f"agents-{number}")
                check(len(seen["requests"]) == number % 3 + 1, seen["requests"])
        await asyncio.gather(*(one(number) for number in range(20)))


def lines(*messages, wait=30):
    """What the program answers by stdio, and how it ends. Messages are bytes, or JSON."""
    sent = b"".join(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n" for message in messages)
    done = subprocess.run([BINARY, "mcp"], input=sent, stdout=subprocess.PIPE, timeout=wait, env=environment())
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def request(number, method, params=None, modern=True):
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**(params or {}), **({"_meta": meta} if modern else {})}}


async def wrong_messages():
    """Whatever comes by stdio, the next message is answered."""
    answers, code = lines(
        b"not json\n", b"[]\n", b"\n", b"{}\n", {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": []}, {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
        request(4, "tools/call", {"name": "nothing"}), request(5, "tools/call", {"name": "drop", "arguments": []}),
        b'{"a":"' + b"x" * 10_000_000 + b'"}\n', b"[" * 100_000 + b"\n", b"\xff\xfe\n",
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "nothing/known"},
        {"jsonrpc": "2.0", "id": "six", "method": "ping"}, b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}')
    check(code == 0, f"it ended with {code}")
    errors = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
    check(sorted(errors, key=str) == sorted([
        (None, -32700), (None, -32600), (None, -32600), (1, -32600), (None, -32600), (2, -32600), (3, -32601), (4, -32602), (5, -32602),
        (None, -32600), (None, -32700), (None, -32700)], key=str), errors)
    check([answer["id"] for answer in answers if "result" in answer] == ["six", 7], answers[-3:])
    too_long = next(answer for answer in answers if "at most" in answer.get("error", {}).get("message", ""))
    check("4 MB" in too_long["error"]["message"], too_long)

    wrong = request(1, "tools/list")
    wrong["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    answers, _ = lines(wrong)
    check(answers[0]["error"]["code"] == -32022 and answers[0]["error"]["data"]["supported"] == [VERSION], answers)


async def ends_without_a_word():
    """A client that goes, by closing or by kill, leaves no process behind."""
    def children(pid):
        found = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True)
        return [int(line) for line in found.stdout.split()]

    for ending in ("close", "kill", "output"):
        process = subprocess.Popen([BINARY, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        process.stdin.write(json.dumps(request(1, "tools/call", {"name": "start_case"})).encode() + b"\n")
        process.stdin.flush()
        check(b'"base_url' in process.stdout.readline(), "no case")
        servers = children(process.pid)
        check(len(servers) == 1, servers)
        if ending == "kill":
            process.kill()
        elif ending == "close":
            process.stdin.close()
        else:
            process.stdout.close()
            for number in range(3):
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(json.dumps(request(number, "tools/list")).encode() + b"\n")
                    process.stdin.flush()
        process.wait(timeout=20)
        deadline = time.monotonic() + 20
        while pathlib.Path(f"/proc/{servers[0]}").exists() and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        check(not pathlib.Path(f"/proc/{servers[0]}").exists(), f"its server runs on after {ending}")
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


async def its_server_dies():
    """The own simulator dies: the next call says so, the one after it works again."""
    process = subprocess.Popen([BINARY, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())

    def call(number, name, **arguments):
        process.stdin.write(json.dumps(request(number, "tools/call", {"name": name, "arguments": arguments})) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())["result"]

    call(1, "start_case", namespace="gone")
    server = int(subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, text=True).stdout)
    os.kill(server, signal.SIGKILL)
    while "Z" not in pathlib.Path(f"/proc/{server}/stat").read_text().split(")")[1] if pathlib.Path(f"/proc/{server}").exists() else False:
        await asyncio.sleep(0.02)
    answer = call(2, "what_happened", namespace="gone")
    check(answer["isError"] and "start_case" in answer["structuredContent"]["way_out"], answer)
    check(not call(3, "start_case", namespace="gone")["isError"], "no other server was started")
    process.stdin.close()
    check(process.wait(timeout=20) == 0, process.returncode)
    process.stdout.close()


def post(url, body, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, given), timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


async def wrong_requests():
    """HTTP: other origins, hosts, methods, headers that disagree, bodies without measure."""
    modern = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}
    with http_server() as url:
        listing = request(1, "tools/list")
        check(post(url, listing, **modern)[0] == 200, "the right one")
        check(post(url, listing, **modern, Origin="https://evil.example")[0] == 403, "another origin")
        origin = url.rsplit("/", 1)[0]
        check(post(url, listing, **modern, Origin="http://localhost:3000")[0] == 403, "another page of this machine")
        check(post(url, listing, **modern, Origin=origin)[0] == 200, "its own origin")
        check(post(url, listing, **modern, Origin=origin, **{"Sec-Fetch-Site": "same-origin"})[0] == 200, "its own page")
        check(post(url, listing, **modern, **{"Sec-Fetch-Site": "cross-site"})[0] == 403, "a page without an origin")
        check(post(url, listing, **{**modern, "Content-Type": "text/plain"})[0] == 415, "a type that pages may send")
        check(post(url, listing, **{**modern, "Content-Type": "application/json; charset=utf-8"})[0] == 200, "with a charset")
        host, port = url.split("/")[2].split(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            data = json.dumps(listing).encode()
            client.sendall(f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nHost: evil.example\r\nContent-Type: application/json\r\n"
                           f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
            check(client.recv(65536).startswith(b"HTTP/1.1 400 "), "two hosts")
        check(post(url, listing, **modern, Host="evil.example")[0] == 403, "another host")
        for headers in ({}, {"MCP-Protocol-Version": VERSION}, {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call"},
                        {"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/list"}):
            status, body = post(url, listing, **headers)
            check(status == 400 and json.loads(body)["error"]["code"] == -32020, (headers, status, body))
        call = request(2, "tools/call", {"name": "drop", "arguments": {"namespace": "none-here"}})
        status, body = post(url, call, **{**modern, "Mcp-Method": "tools/call", "Mcp-Name": "start_case"})
        check(status == 400 and json.loads(body)["error"]["code"] == -32020, body)
        status, body = post(url, request(3, "tools/nothing"), **{**modern, "Mcp-Method": "tools/nothing"})
        check(status == 404 and json.loads(body)["error"]["code"] == -32601, body)
        check(post(url, b"{", **modern)[0] == 400 and post(url, b"[]", **modern)[0] == 400, "no message")
        check(post(url, b'"' + b"x" * 10_000_000 + b'"', **modern)[0] == 413, "too large")
        check(post(url, {"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202, "a notification")
        status, body = post(url, request(4, "initialize", {"protocolVersion": "2025-11-25"}, modern=False))
        check(status == 200 and json.loads(body)["result"]["protocolVersion"] == "2025-11-25", body)
        try:
            urllib.request.urlopen(url, timeout=10)
            check(False, "GET was answered")
        except urllib.error.HTTPError as error:
            check(error.code == 405 and error.headers["Allow"] == "POST", error)
        port = url.split(":")[2].split("/")[0]
        second = subprocess.run([BINARY, "mcp", "--http", f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=20, env=environment())
        check(second.returncode == 1 and "cannot be listened on" in second.stderr, second)
    for words, text in ((["--http", "8700"], "HOST:PORT"), (["--url", "nowhere"], "http or https URL"), (["--http", "0.0.0.0:0"], "--control-token")):
        done = subprocess.run([BINARY, "mcp", *words], capture_output=True, text=True, timeout=20, env=environment(), stdin=subprocess.DEVNULL)
        check(done.returncode == 64 and text in done.stderr, done)


async def cancelled():
    """A tool whose client no longer wants the answer stops: what it waits for is closed, over both transports."""
    call = request(7, "tools/call", {"name": "drop", "arguments": {"namespace": "waits"}})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"

        def accepted():
            """The connection that the tool opens, once its request has come. One that is cancelled before goes back to the pool."""
            asked, _ = silent.accept()
            asked.settimeout(20)
            check(asked.recv(65536).startswith(b"DELETE /_sim/namespaces/waits "), "the tool asked for something else")
            return asked

        def ends_unanswered(asked):
            """Whether the connection is closed, although nobody answered on it."""
            while asked.recv(65536):
                pass
            return True

        with http_server("--url", address) as url:
            host, port = url.split("/")[2].split(":")
            body = json.dumps(call).encode()
            head = (f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: {VERSION}\r\n"
                    f"Mcp-Method: tools/call\r\nMcp-Name: drop\r\nContent-Length: {len(body)}\r\n\r\n")
            with socket.create_connection((host, int(port)), timeout=20) as client:
                client.sendall(head.encode() + body)
                asked = accepted()
            with asked:
                check(await asyncio.to_thread(ends_unanswered, asked), "HTTP")
        process = subprocess.Popen(
            [BINARY, "mcp", "--url", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.flush()
        with accepted() as asked:
            process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}\n')
            process.stdin.flush()
            check(await asyncio.to_thread(ends_unanswered, asked), "stdio")
        process.stdin.close()
        check(process.stdout.read() == b"", "a cancelled request was answered")
        check(process.wait(timeout=20) == 0, process.returncode)


TESTS = [
    every_version_and_transport, cancelled, a_server_that_runs, cases_at_the_same_time, wrong_messages, ends_without_a_word, its_server_dies, wrong_requests]


def main():
    global BINARY
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--only")
    options = parser.parse_args()
    BINARY = str(pathlib.Path(options.binary).resolve())
    chosen = [test for test in TESTS if options.only in (None, test.__name__)]
    if not chosen:
        sys.exit(f"there is no test {options.only}; there are {', '.join(test.__name__ for test in TESTS)}")
    failed = 0
    for test in chosen:
        started = time.monotonic()
        try:
            asyncio.run(asyncio.wait_for(test(), timeout=300))
            print(f"ok      {test.__name__} ({time.monotonic() - started:.1f} s)")
        except BaseException as error:  # noqa: BLE001 - groups of exceptions too
            if isinstance(error, KeyboardInterrupt):
                raise
            failed += 1
            print(f"FAILED  {test.__name__}")
            traceback.print_exc()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
