#!/usr/bin/env python3
"""Tries the fleet: three servers behind nginx under load, one killed and replaced, one namespace moved.

    recipes/fleet/try.py PROGRAM

Everything listens on 127.0.0.1 and ends after at most two minutes.
"""

import json
import os
import pathlib
import signal
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


def main():
    program = sys.argv[1]
    environment = {**os.environ, "ENTRUPY_SIM_BINARY": os.path.abspath(program)}
    folder = tempfile.mkdtemp(prefix="entrupy-sim-fleet-")

    def fleet(*words):
        subprocess.run([HERE / "fleet", *map(str, words)], check=True, env=environment, stdout=subprocess.DEVNULL)

    fleet("start", 3, folder)
    try:
        check(ask("POST", "/_sim/namespaces", {})[0] == 421, "a namespace without a job is refused with a sentence")
        stop = threading.Event()
        jobs = [Job(number, stop) for number in range(JOBS)]
        for job in jobs:
            job.start()
        time.sleep(3)
        counts = [len(ask("GET", f"/server-{number}/_sim/namespaces")[1]["namespaces"]) - 1 for number in (1, 2, 3)]
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
        home = next(number for number in (1, 2, 3) if any(
            item["name"] == "checkout" for item in ask("GET", f"/server-{number}/_sim/namespaces")[1]["namespaces"]))
        other = home % 3 + 1
        fleet("move", "checkout", home, other, folder)
        _, page = ask("GET", f"/server-{other}/ns/checkout/_sim/users")
        check(any(user["username"] == "DemoOrg-moved-user" for user in page["users"]), f"it moved from server {home} to {other}")
        print("the fleet holds")
    finally:
        fleet("stop", folder)
        pid = pathlib.Path(folder, "nginx.pid")
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)
        subprocess.run(["rm", "-rf", folder], check=False)


main()
