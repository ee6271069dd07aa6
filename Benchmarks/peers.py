#!/usr/bin/env python3
"""Measures other servers that a team could use or write instead of this one, in one run on one machine.

    peers.py --binary dist/entrupy-sim --tools .build/bench --out docs/benchmarks/peers.json [--seconds 3] [--rounds 3]

nginx sends a file of 1.3 kB and shows the ceiling. A fake with FastAPI and SQLite (peers/fake.py), localstripe and moto (its
DynamoDB) are similar simulators and fakes. Each starts empty, and with 64 connections reads one object, reads a page of 25, and makes
objects. They are measured in turn, and the median of the rounds counts. Their work differs: each checks and stores different things.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import bench

HERE = pathlib.Path(__file__).resolve().parent


class Peer:
    """A running server and its three loads. Each has path, method, body and headers, or is `None` if the server has no such load."""

    def __init__(self, name, command, ready, environment=None):
        self.name = name
        self.url = f"http://127.0.0.1:{self.port}"
        started = time.perf_counter()
        self.process = subprocess.Popen(
            command, env=os.environ | (environment or {}), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(self.url + ready[0], headers=ready[1]), timeout=5).read()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                if self.process.poll() is not None or time.perf_counter() - started > 30:
                    sys.exit(f"{name} did not start: {command}")
                time.sleep(0.002)
        self.start_ms = (time.perf_counter() - started) * 1000
        self.loads = {}

    @staticmethod
    def free_port():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]

    def send(self, method, path, body=None, headers=None):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json"} | (headers or {}), method=method)
        answer = urllib.request.urlopen(request, timeout=30).read()
        return json.loads(answer) if answer else None

    def memory(self):
        """The resident memory of the process and its children, in MiB."""
        found = subprocess.run(["ps", "-o", "rss=", "--pid", str(self.process.pid), "--ppid", str(self.process.pid)],
                               capture_output=True, text=True).stdout.split()
        return sum(int(kilobytes) for kilobytes in found) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdin.close()

    def measure(self, what, seconds, folder):
        """The requests per second, `None` if the peer has no such load."""
        if what not in self.loads:
            return None
        method, path, body, headers = self.loads[what]
        environment = {"METHOD": method}
        if body is not None:
            file = folder / f"{self.name}-{what}"
            file.write_text(body if isinstance(body, str) else json.dumps(body))
            environment |= {"BODY_FILE": str(file), "TYPE": headers.get("Content-Type", "application/json")}
        flags = [flag for name, value in headers.items() if name != "Content-Type" for flag in ["-H", f"{name}: {value}"]]
        done = subprocess.run(
            ["wrk", "-t1", "-c64", f"-d{seconds}s", *flags, "-s", HERE / "wrk" / "fixed.lua", self.url + path],
            env=os.environ | environment, text=True, capture_output=True)
        rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
        bad = re.search(r"Non-2xx or 3xx responses: \d+", done.stdout)
        if not rate or bad:
            sys.exit(f"{self.name}, {what}: {done.stdout}{done.stderr}")
        return float(rate.group(1))


class Ours(Peer):
    def __init__(self, binary, folder):
        self.port = self.free_port()
        super().__init__("entrupy-sim", [
            binary, "serve", "--port", str(self.port), "--data-dir", str(folder / "ours"), "--rate-limits", "off",
            "--exit-with-parent"], ("/_sim/ready", {}))
        self.idle_mib = self.memory()
        partner = {"Authorization": f"Token {bench.API_TOKEN}", "Content-Type": "application/json"}
        signed = self.send("POST", "/v2/integrations/authorize-user", {
            "sdk_authorization_request": "bench", "unique_user_id": bench.USER, "email": "bench@example.com"}, partner)
        token = self.send("POST", "/sdk/login", {"signed_authorization_request": signed["signed_authorization_request"]})["token"]
        user = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        ids = self.send("POST", "/_sim/authentications", {
            "count": 10_000, "template": {"brand": "Nike", "style_name": "AJ1"}})["entrupy_ids"]
        self.loads = {
            "read": ("GET", f"/sdk/results/{ids[0]}", None, user),
            "page": ("POST", "/sdk/search", {"limit": 25, "filters": [{"key": "properties.brand.id", "value": "nike"}]}, user),
            "make": ("POST", "/sdk/captures", {"config_type": "debug", "item": bench.ITEM}, user),
        }


class Nginx(Peer):
    def __init__(self, folder):
        self.port = self.free_port()
        root = folder / "nginx"
        root.mkdir()
        (root / "item.json").write_text("x" * 1300)
        (root / "page.json").write_text("x" * 33_000)
        # Its workers must be able to enter a folder that only this user may read.
        user = "user root; " if os.geteuid() == 0 else ""
        (root / "nginx.conf").write_text(
            f"{user}daemon off; pid {root}/pid; error_log stderr crit; worker_processes 2; events {{}}\n"
            f"http {{ access_log off; server {{ listen 127.0.0.1:{self.port}; root {root}; keepalive_requests 10000000; }} }}\n")
        super().__init__("nginx, files", ["nginx", "-p", str(root), "-c", str(root / "nginx.conf")], ("/item.json", {}))
        self.idle_mib = self.memory()
        self.loads = {"read": ("GET", "/item.json", None, {}), "page": ("GET", "/page.json", None, {})}


class Fake(Peer):
    def __init__(self, tools, folder):
        self.port = self.free_port()
        super().__init__("FastAPI and SQLite", [
            tools / "uvicorn", "--app-dir", str(HERE / "peers"), "--port", str(self.port), "--log-level", "critical", "fake:app"
        ], ("/ready", {}), {"FAKE_DATABASE": str(folder / "fake.sqlite")})
        self.idle_mib = self.memory()
        headers = {"Content-Type": "application/json"}
        for _ in range(200):
            made = self.send("POST", "/items", {"brand": "nike"}, headers)
        self.loads = {
            "read": ("GET", f"/items/{made['id']}", None, {}), "page": ("POST", "/search", {"brand": "nike"}, headers),
            "make": ("POST", "/items", {"brand": "nike"}, headers),
        }


class Localstripe(Peer):
    def __init__(self, tools):
        self.port = self.free_port()
        headers = {"Authorization": "Bearer sk_test_12345", "Content-Type": "application/x-www-form-urlencoded"}
        super().__init__(
            "localstripe", [tools / "localstripe", "--port", str(self.port), "--from-scratch"], ("/v1/customers", headers))
        self.idle_mib = self.memory()
        for _ in range(200):
            made = self.send("POST", "/v1/customers", "email=bench%40example.com", headers)
        self.loads = {
            "read": ("GET", f"/v1/customers/{made['id']}", None, headers),
            "page": ("GET", "/v1/customers?limit=25", None, headers),
            "make": ("POST", "/v1/customers", "email=bench%40example.com", headers),
        }


class Moto(Peer):
    def __init__(self, tools):
        self.port = self.free_port()
        super().__init__("moto, DynamoDB", [tools / "moto_server", "-H", "127.0.0.1", "-p", str(self.port)], ("/moto-api/", {}))
        self.idle_mib = self.memory()

        def headers(action):
            return {
                "X-Amz-Target": f"DynamoDB_20120810.{action}", "Content-Type": "application/x-amz-json-1.0",
                "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
                                 "SignedHeaders=host, Signature=0"}

        self.send("POST", "/", {
            "TableName": "items", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}, headers("CreateTable"))

        def item(number):
            return {"TableName": "items", "Item": {"id": {"S": f"item-{number}"}, "text": {"S": "x" * 1000}}}

        for number in range(200):
            self.send("POST", "/", item(number), headers("PutItem"))
        self.loads = {
            "read": ("POST", "/", {"TableName": "items", "Key": {"id": {"S": "item-7"}}}, headers("GetItem")),
            "page": ("POST", "/", {"TableName": "items", "Limit": 25}, headers("Scan")),
            "make": ("POST", "/", item(7), headers("PutItem")),
        }


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--tools", required=True, help="a virtual environment with the peers in it")
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--seconds", type=int, default=3)
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    tools = pathlib.Path(options.tools).resolve() / "bin"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="entrupy-sim-peers-"))
    found = {}
    try:
        for _ in range(options.rounds):
            makers = [
                lambda: Ours(os.path.abspath(options.binary), folder), lambda: Nginx(folder), lambda: Fake(tools, folder),
                lambda: Localstripe(tools), lambda: Moto(tools),
            ]
            for make in makers:
                peer = make()
                try:
                    figures = found.setdefault(peer.name, {"start_ms": [], "idle_mib": [], "read": [], "page": [], "make": []})
                    figures["start_ms"].append(peer.start_ms)
                    figures["idle_mib"].append(peer.idle_mib)
                    for what in ["read", "page", "make"]:
                        figures[what].append(peer.measure(what, options.seconds, folder))
                finally:
                    peer.stop()
                print({name: value[-1] for name, value in figures.items()} | {"of": peer.name}, flush=True)
            for name in ["ours", "nginx"]:
                shutil.rmtree(folder / name, ignore_errors=True)
            for file in folder.glob("fake.sqlite*"):
                file.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    medians = {
        name: {what: None if None in values else statistics.median(values) for what, values in figures.items()}
        for name, figures in found.items()}
    pathlib.Path(options.out).write_text(json.dumps(medians, indent=2) + "\n")


if __name__ == "__main__":
    main()
