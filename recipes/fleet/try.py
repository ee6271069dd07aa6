#!/usr/bin/env python3
"""Tries the fleet: three servers behind nginx under load, one killed and replaced, one namespace moved.

    recipes/fleet/try.py PROGRAM

Everything listens on 127.0.0.1 and ends after at most two minutes.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ADDRESS = "http://127.0.0.1:8640"
JOBS = 24


def ask(method, path, body=None, headers=None):
    """Returns status and JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(ADDRESS + path, data=data, method=method, headers={
        **({"Content-Type": "application/json"} if data else {}), **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def send_raw(request_line, headers=("Host: 127.0.0.1:8640",), body=""):
    """Sends a request as it stands, which a client would tidy up. Returns status and JSON."""
    with socket.create_connection(("127.0.0.1", 8640), timeout=30) as connection:
        head = [request_line, *headers, "Connection: close", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        connection.sendall(("\r\n".join(head) + "\r\n\r\n" + body).encode())
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b"chunked" in head.lower():
        whole = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            whole, rest = whole + rest[:int(size, 16)], rest[int(size, 16) + 2:]
        rest = whole
    try:
        return int(head.split()[1]), json.loads(rest or b"null")
    except ValueError:
        return int(head.split()[1]), None


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")
    print(f"ok  {text}", flush=True)


def authorize(base, user):
    return ask("POST", f"{base}/v2/integrations/authorize-user", {
        "sdk_authorization_request": "r", "unique_user_id": user, "email": "user@example.com"},
        {"Authorization": "Token demo-api-token"})


class Job(threading.Thread):
    """A CI job: makes a namespace under its id and registers users in it until it is told to stop."""

    def __init__(self, number, stop):
        super().__init__(daemon=True)
        self.number, self.stop = number, stop
        self.base = f"/jobs/job-{number}"
        self.name = None
        self.acknowledged, self.unavailable, self.wrong = [], 0, []

    def run(self):
        status, made = ask("POST", self.base + "/_sim/namespaces", {"prefix": f"job{self.number}"})
        if status != 201:
            self.wrong.append((status, made))
            return
        self.name = made["name"]
        path = f"{self.base}/ns/{self.name}"
        ask("PATCH", path + "/_sim/settings", {"rate_limits": "off"})
        number = 0
        while not self.stop.is_set():
            number += 1
            user = f"fleet-user-{number}"
            try:
                status, answer = authorize(path, user)
            except OSError as error:
                self.wrong.append((0, str(error)))
                continue
            if status == 200:
                self.acknowledged.append(user)
            elif status in (502, 503):
                # A request may have been done although its answer was lost.
                self.unavailable += 1
                time.sleep(0.05)
            else:
                self.wrong.append((status, answer))


# Paths that do not say plainly which server they are for. A server would read each as something that nginx does not.
MISDIRECTED = [
    "/_sim/namespaces", "/_sim/namespaces?prefix=a", "/_sim/namespaces/", "/_sim/namespaces/?prefix=a", "//_sim/namespaces",
    "/_sim//namespaces", "/_sim/./namespaces", "/_sim/namespaces/.", "/%5fsim/namespaces", "/_sim/%6eamespaces", "/_sim/namespaces#a",
    "/_sim/namespaces/check%6fut", "/_sim/namespaces/Checkout", "http://127.0.0.1:8640/_sim/namespaces/",
    "/ns/NAME/_sim/namespaces", "/ns/NAME/_sim/namespaces/", "/ns/NAME//_sim/namespaces", "/ns/NAME/%5Fsim/namespaces",
    "/ns/NAME/_sim/n%61mespaces", "/n%73/NAME/_sim/users", "/ns/%4eAME/_sim/users", "/ns//NAME/_sim/users", "/ns/OTHER/../NAME/_sim/users",
    "/ns/OTHER/%2e%2E/NAME/_sim/users", "/ns/OTHER/..%2fNAME/_sim/users", "/ns/OTHER/.%2e%2FNAME/_sim/users", "/ns", "/ns/",
    "/jobs", "/jobs/", "/jobs//a/_sim/users", "/jobs/../_sim/users", "/jobs/a/../b/_sim/users", "/jobs/%61/_sim/users", "/jobs/a%2Fb/_sim/users",
    "/job%73/a/_sim/users", "/server-9/_sim/health", "/server-1", "/server-1/../server-2/_sim/health", "/server-%31/_sim/health",
    "/v2/..%2fserver-1/_sim/health", "/v2/..%2fjobs/a/_sim/health", "/server-1x/_sim/health", "/server-/_sim/health",
]


def namespaces_by_server():
    """The names on each server."""
    return [sorted(item["name"] for item in ask("GET", f"/server-{server}/_sim/namespaces")[1]["namespaces"]) for server in (1, 2, 3)]


def names_on_each_server():
    """Makes named namespaces until each server has one, each with a user of its name. Returns names by server."""
    homes, number = {}, 0
    while len(homes) < 3:
        number += 1
        name = f"shop-{number}"
        check_quietly(ask("PUT", f"/_sim/namespaces/{name}")[0] == 201, f"{name} is made")
        home = next(server for server, names in enumerate(namespaces_by_server(), 1) if name in names)
        if home not in homes:
            homes[home] = name
            authorize(f"/ns/{name}", f"user-of-{name}")
    return homes


def check_quietly(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def is_of(name, answer):
    """Whether an answer of `/_sim/users` is that of a namespace."""
    status, page = answer
    return status == 200 and any(user["username"] == f"DemoOrg-user-of-{name}" for user in page["users"])


def check_choices():
    """Every way to choose a namespace leads to the server that has it, or to a refusal."""
    homes = names_on_each_server()
    name, other = homes[2], homes[3]
    before = namespaces_by_server()
    for target in MISDIRECTED:
        target = target.replace("NAME", name).replace("OTHER", other)
        status, answer = send_raw(f"POST {target} HTTP/1.1", body="{}")
        check_quietly(status == 421 and answer["code"] == "misdirected_request", f"{target}: {status} {answer}")
    check(namespaces_by_server() == before,
          f"{len(MISDIRECTED)} paths that do not say plainly where they lead are refused, and made nothing")
    for name in homes.values():
        host, users = "Host: 127.0.0.1:8640", "/_sim/users"
        for line, headers in [
            (f"GET /ns/{name}{users} HTTP/1.1", [host]),
            (f"GET /ns/{name}{users} HTTP/1.0", []),
            (f"GET /ns/{name}{users} HTTP/1.1", [host, f"X-Sim-Namespace: {other}"]),
            (f"GET /ns/{name}{users} HTTP/1.1", [f"Host: {other}.localhost"]),
            (f"GET {users} HTTP/1.1", [host, f"X-Sim-Namespace: {name}"]),
            (f"GET {users} HTTP/1.0", [f"X-Sim-Namespace: {name}"]),
            (f"GET {users} HTTP/1.1", [host, f"x-sim-namespace:   {name}  "]),
            (f"GET {users} HTTP/1.1", [f"Host: {other}.localhost:8640", f"X-Sim-Namespace: {name}"]),
            (f"GET {users} HTTP/1.1", [host, f"X-Sim-Namespace: {name}", f"X_Sim_Namespace: {other}"]),
            (f"GET {users} HTTP/1.1", [f"Host: {name}.localhost:8640"]),
            (f"GET {users} HTTP/1.1", [f"Host: {name}.localhost"]),
            (f"GET {users} HTTP/1.1", [f"Host: {name.upper()}.LocalHost:8640"]),
            (f"GET {users} HTTP/1.1", [f"Host: {name}.localhost.:8640"]),
            (f"GET http://{name}.localhost:8640{users} HTTP/1.1", [f"Host: {other}.localhost:8640"]),
            (f"GET http://{name}.localhost{users} HTTP/1.1", [host]),
            (f"GET http://127.0.0.1:8640/ns/{name}{users} HTTP/1.1", [f"Host: {other}.localhost:8640"]),
        ]:
            answer = send_raw(line, headers)
            check_quietly(is_of(name, answer), f"{line} {headers}: {answer}")
        # Of two headers, one counts, for nginx and for the server.
        status, page = send_raw(f"GET {users} HTTP/1.1", [host, f"X-Sim-Namespace: {name}", f"X-Sim-Namespace: {other}"])
        check_quietly(is_of(name, (status, page)) or is_of(other, (status, page)) or status == 400, f"two headers: {status} {page}")
        # Only the server that has it refuses to make it again.
        for line in [f"PUT /_sim/namespaces/{name} HTTP/1.1", f"PUT /ns/{other}/_sim/namespaces/{name} HTTP/1.1"]:
            status, answer = send_raw(line, [host, f"X-Sim-Namespace: {other}"], "{}")
            check_quietly(status == 409 and "exists already" in answer["error"], f"{line}: {status} {answer}")
    check(True, "path, header, host and absolute addresses lead to the same server, whatever else a request names")
    status, made = ask("POST", "/jobs/one.job_1/_sim/namespaces", {})
    check_quietly(status == 201, f"a namespace of a job: {status} {made}")
    authorize(f"/jobs/one.job_1/ns/{made['name']}", f"user-of-{made['name']}")
    host = f"Host: {other}.localhost:8640"
    for path, headers in [(f"/ns/{made['name']}/_sim/users", [host]), ("/_sim/users", [host, f"X-Sim-Namespace: {made['name']}"])]:
        answer = send_raw(f"GET /jobs/one.job_1{path} HTTP/1.1", headers)
        check_quietly(is_of(made["name"], answer), f"{path} {headers}: {answer}")
    check_quietly(send_raw("GET /jobs/one.job_1?a=b HTTP/1.1")[0] in (302, 303, 307, 308, 404), "the base address of a job")
    escaped = "/v2/authentications/a%2Fb%20c"
    send_raw(f"GET /jobs/one.job_1/ns/{made['name']}{escaped}?q=%2F HTTP/1.1")
    _, journal = ask("GET", f"/jobs/one.job_1/ns/{made['name']}/_sim/requests")
    last = journal["requests"][-1] if journal["requests"][-1]["path"].startswith("/v2/authentications/") else journal["requests"][0]
    check(last["path"] == escaped and last["query"] == "q=%2F", f"a job decides, and its paths keep their escapes: {last['path']}")


def check_commands(program):
    """A command that fails says so, leaves no process behind, and ends none that is not of its fleet."""
    # Every character counts, and the name begins like an option.
    name = "-a b'\"\\$(touch hostile);é"
    with tempfile.TemporaryDirectory() as place, socket.socket() as taken:
        folder = pathlib.Path(place, name)
        second = folder / "server-2.pid"

        def run(*words, **variables):
            environment = {**os.environ, "ENTRUPY_SIM_BINARY": program, **variables}
            done = subprocess.run([HERE / "fleet", *words], env=environment, cwd=place, capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr

        def fails(text, *words, **variables):
            code, said = run(*words, **variables)
            check_quietly(code == 1 and text in said, f"{words} {variables}: {code} {said}")
            return said

        def nothing_is_left():
            left = [path.name for path in folder.glob("*") if path.suffix == ".pid" or path.name == "busy"]
            check_quietly(not left, f"left behind: {left}")
            for port in (8640, 8651, 8652):
                with socket.socket() as free:
                    check_quietly(free.connect_ex(("127.0.0.1", port)) != 0, f"port {port} is still in use")

        for port in ("70000", "65534", "0", "abc", "a[$(touch hostile)]"):
            fails("FLEET_PORT", "start", "2", name, FLEET_PORT=port)
        fails("8640", "start", "2", name, FLEET_PORT="8639")
        fails("FOLDER is empty", "start", "2", "")
        fails("cannot use", "start", "2", "a[b")
        fails("cannot be written", "start", "2", str(HERE / "fleet"))
        fails("there is no fleet", "stop", name)
        fails("there is no program", "start", "2", name, ENTRUPY_SIM_BINARY="./none")
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # It accepts, and is silent.
        taken.bind(("127.0.0.1", 8653))
        taken.listen(9)
        said = fails("port 8653 is in use", "start", "5", name)
        check_quietly("server-1 was ended" in said and "server-2 was ended" in said, said)
        nothing_is_left()
        check(True, "a fleet whose third server cannot start ends the others")
        slow = pathlib.Path(place, "slow")
        slow.write_text(f"#!/bin/sh\ncase $* in *server-2*) while sleep 1; do :; done ;; esac\nexec '{program}' \"$@\"\n")
        slow.chmod(0o755)
        started = subprocess.Popen([HERE / "fleet", "start", "2", name], env={**os.environ, "ENTRUPY_SIM_BINARY": str(slow)}, cwd=place,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        wait_until(second.exists, "second server")
        fails("another fleet command", "start", "2", name)
        os.killpg(started.pid, signal.SIGINT)
        said, _ = started.communicate(timeout=60)
        check_quietly(started.returncode == 130, f"after Ctrl-C: {started.returncode} {said}")
        nothing_is_left()
        check(True, "Ctrl-C ends what was started, and a second start at the same time is refused")
        # Read to its end: no process of the fleet holds the output.
        check_quietly(run("start", "2", name) == (0, f"2 servers behind {ADDRESS}\n"), "a hostile folder's name")
        stranger = subprocess.Popen(["sleep", "60"])
        try:
            fails("runs already", "start", "2", name)
            check_quietly(run("status", name)[0] == 0, "the fleet is not whole")
            for number in (1, 2):
                check_quietly(run("move", "default", str(number), "2", name)[0] == 1, "the namespace default is moved")
            check_quietly(ask("GET", "/server-2/_sim/clock")[0] == 200, "a move that failed has dropped another namespace")
            ask("PUT", "/server-1/_sim/namespaces/-half")
            slow.write_text(f"#!/bin/sh\n[ \"$1 $2\" != 'snapshot restore' ] || exit 1\nexec '{program}' \"$@\"\n")
            code, said = run("move", "-half", "1", "2", name, ENTRUPY_SIM_BINARY=str(slow))
            homes = [ask("GET", f"/server-{server}/ns/-half/_sim/clock")[0] for server in (1, 2)]
            check_quietly(code == 1 and homes == [200, 404], f"a move that failed half-way: {code} {homes} {said}")
            check_quietly(run("move", "-half", "1", "2", name)[0] == 0 and not list(folder.glob("moving*")), "a move after one that failed")
            fails("no server 3", "replace", "3", name)
            victim = int(second.read_text())
            os.kill(victim, signal.SIGSTOP)
            fails("server-2, process", "status", name)
            os.kill(victim, signal.SIGKILL)
            second.write_text(str(stranger.pid))
            fails("server-2 does not run", "status", name)
            fails("server 2 does not run", "move", "default", "1", "2", name)
            check_quietly(run("stop", name)[0] == 0 and stranger.poll() is None, "a stale pid file ends another program")
            nothing_is_left()
            (folder / "nginx.pid").write_text("-1")
            check_quietly(run("stop", name)[0] == 0 and stranger.poll() is None, "a pid file with -1")
        finally:
            run("stop", name)
            stranger.kill()
            stranger.wait()
        check_quietly(not list(pathlib.Path(place).rglob("hostile")), "an argument was run as a command")
        check(True, "a stale pid file ends no other program, and status names a server that is dead or silent")


def wait_until(holds, text):
    end = time.monotonic() + 30
    while not holds():
        check_quietly(time.monotonic() < end, f"no {text} within 30 s")
        time.sleep(0.05)


def main():
    program = os.path.abspath(sys.argv[1])
    environment = {**os.environ, "ENTRUPY_SIM_BINARY": program}
    check_commands(program)
    folder = tempfile.mkdtemp(prefix="entrupy-sim-fleet-")

    def fleet(*words):
        subprocess.run([HERE / "fleet", *map(str, words)], check=True, env=environment, stdout=subprocess.DEVNULL)

    fleet("start", 3, folder)
    try:
        check(ask("POST", "/_sim/namespaces", {})[0] == 421, "a namespace without a job is refused with a sentence")
        hostile = [("start", "a[$(touch hostile)]", folder), ("replace", "a[$(touch hostile)]", folder), ("move", "../x", "1", "2", folder),
                   ("move", "x", "a[$(touch hostile)]", "2", folder)]
        refused = [subprocess.run([HERE / "fleet", *words], env=environment, cwd=folder, capture_output=True).returncode for words in hostile]
        check(set(refused) == {1} and not pathlib.Path(folder, "hostile").exists(), "arguments of fleet are data")
        check_choices()
        there = namespaces_by_server()
        stop = threading.Event()
        jobs = [Job(number, stop) for number in range(JOBS)]
        for job in jobs:
            job.start()
        time.sleep(3)
        counts = [len(now) - len(before) for now, before in zip(namespaces_by_server(), there)]
        check(sum(counts) == JOBS and all(counts), f"{JOBS} jobs are spread over the servers: {counts}")
        victim = int(pathlib.Path(folder, "server-2.pid").read_text())
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        time.sleep(1)
        fleet("replace", 2, folder)
        down = time.monotonic() - killed
        time.sleep(3)
        stop.set()
        for job in jobs:
            job.join(60)
        check(not any(job.wrong for job in jobs), f"no other error than 503 {[job.wrong[0] for job in jobs if job.wrong][:1] or ''}")
        touched = sum(1 for job in jobs if job.unavailable)
        check(0 < touched <= counts[1], f"server 2 was away for {down:.1f} s: {touched} jobs of its {counts[1]} noticed, no other")
        total = 0
        for job in jobs:
            users, cursor = set(), ""
            while cursor is not None:
                _, page = ask("GET", f"{job.base}/ns/{job.name}/_sim/users?limit=100" + (f"&cursor={cursor}" if cursor else ""))
                users |= {user["username"].removeprefix("DemoOrg-") for user in page["users"]}
                cursor = page.get("next_cursor")
            missing = set(job.acknowledged) - users
            check(not missing, f"job {job.number}: all of {len(job.acknowledged)} acknowledged users are there") if missing else None
            total += len(job.acknowledged)
        check(total > 0, f"all {total} acknowledged users are there after SIGKILL")
        check(ask("PUT", "/_sim/namespaces/checkout")[0] in (200, 201), "a named namespace is made")
        authorize("/ns/checkout", "moved-user")
        home = next(server for server, names in enumerate(namespaces_by_server(), 1) if "checkout" in names)
        other = home % 3 + 1
        fleet("move", "checkout", home, other, folder)
        _, page = ask("GET", f"/server-{other}/ns/checkout/_sim/users")
        check(any(user["username"] == "DemoOrg-moved-user" for user in page["users"]), f"it moved from server {home} to {other}")
        print("the fleet holds")
    finally:
        fleet("stop", folder)
        subprocess.run(["rm", "-rf", folder], check=False)


main()
