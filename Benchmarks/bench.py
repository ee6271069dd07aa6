#!/usr/bin/env python3
"""Measures the release binary and writes docs/benchmarks.md, its figures as JSON and its plots.

    bench.py --binary .build/release/entrupy-sim [--rounds 3] [--seconds 2] [--items 1000000] [--out docs/benchmarks]

Everything is measured in one run on one machine, with the load (wrk) on the same cores. The figure of a route is its requests per
second as a ratio to the plain-text route of the same process. Each round measures all routes in turn, and the median of the rounds
counts. A single answer that is not 2xx stops the whole run with an error, so no figure includes failures.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import isolation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from simulator import API_TOKEN, Client, Simulator, picture  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
CONNECTIONS = [1, 16, 64]
USER = "sim-test-user"
ITEM = {"brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5", "customer_item_id": "bench"}


class Server(Simulator):
    """A running server, with methods for single requests."""

    def __init__(self, binary, *flags):
        super().__init__(binary, "--random-seed", "7", "--rate-limits", "off", *flags)
        self.send = Client(self).must

    def memory(self):
        """The resident memory in MiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def milliseconds(text):
    number, unit = re.match(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


def wrk(server, connections, seconds, path="/", script="fixed.lua", **environment):
    """The requests per second and latencies of one load. `ok` is false if any answer was not 2xx."""
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", HERE / "wrk" / script, server.url + path],
        env=os.environ | {key: str(value) for key, value in environment.items()}, text=True, capture_output=True)
    output = done.stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    if done.returncode != 0 or not rate:
        sys.exit(f"wrk failed: {output}{done.stderr}")
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", output) or re.search(r"Socket errors.*", output)
    return {
        "per_second": float(rate.group(1)),
        "p50": milliseconds(re.search(r"^\s+50%\s+(\S+)", output, re.M).group(1)),
        "p99": milliseconds(re.search(r"^\s+99%\s+(\S+)", output, re.M).group(1)),
        "problem": bad.group(0) if bad else "EXHAUSTED" if "EXHAUSTED" in output else None,
    }


class Bench:
    """The namespaces, and a load for each route."""

    def __init__(self, server, folder, items):
        self.server = server
        self.folder = folder
        self.lists = 0
        for name, count in [("million", items), ("small", 10_000)]:
            server.send("PUT", f"/_sim/namespaces/{name}", {"random_seed": 7})
            started = time.perf_counter()
            made = server.send("POST", f"/ns/{name}/_sim/authentications", {
                "count": count // 2, "template": {"brand": "Nike", "style_name": "AJ1", "customer_item_id": "n-{n}"}})
            made["entrupy_ids"] += server.send("POST", f"/ns/{name}/_sim/authentications", {
                "count": count - count // 2, "template": {
                    "brand": "Adidas", "result": "unknown", "style_name": "AJ1", "customer_item_id": "a-{n}"}
            })["entrupy_ids"]
            if name == "million":
                self.generation = time.perf_counter() - started
                self.ids = made["entrupy_ids"]
                self.file("ids", "\n".join(self.ids))
                self.file("numbers", "\n".join(f"n-{number}" for number in range(1, 1001)))
        self.token = {name: self.login(name) for name in ["million", "small"]}
        self.file("search", json.dumps({"limit": 25, "filters": [
            {"key": "properties.brand.id", "value": "nike"}, {"key": "status.result.id", "value": "authentic"}]}))
        self.file("capture", json.dumps({"config_type": "debug", "item": ITEM}))
        self.file("authorize", json.dumps({
            "sdk_authorization_request": "bench", "unique_user_id": USER, "email": "bench@example.com"}))
        self.file("small.jpg", picture(size=300))
        self.file("large.jpg", picture(size=200_000))
        capture = server.send("POST", "/ns/million/sdk/captures", {"config_type": "debug", "item": ITEM},
                              self.token["million"])
        self.capture = f"/ns/million/sdk/captures/{capture['capture_id']}/images/{capture['steps'][0]['region_id']}"
        self.regions = [step["region_id"] for step in capture["steps"]]

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def login(self, namespace):
        signed = self.server.send("POST", f"/ns/{namespace}/v2/integrations/authorize-user", {
            "sdk_authorization_request": "bench", "unique_user_id": USER, "email": "bench@example.com"}, API_TOKEN)
        return self.server.send("POST", f"/ns/{namespace}/sdk/login", {
            "signed_authorization_request": signed["signed_authorization_request"]})["token"]

    def list(self):
        """The name of a list that a load fills."""
        self.lists += 1
        return self.folder / f"list-{self.lists}"

    def loads(self):
        """Each route's name and its load, a function from connections and seconds to figures."""
        token, folder = self.token, self.folder

        def fixed(path, namespace=None, **environment):
            return lambda c, s: wrk(
                self.server, c, s, (f"/ns/{namespace}" if namespace else "") + path,
                **({"TOKEN": token[namespace]} if namespace else {}), **environment)

        def result(c, s):
            return wrk(
                self.server, c, s, script="each.lua", TARGET="/ns/million/sdk/results/{}", LIST=folder / "ids",
                TOKEN=token["million"])

        def without_journal(c, s):
            settings = "/ns/million/_sim/settings"
            self.server.send("PATCH", settings, {"journal": {"entries": 0}})
            try:
                return result(c, s)
            finally:
                self.server.send("PATCH", settings, {"journal": None})

        return {
            "plain text": fixed("/_sim/ping"),
            "session": fixed("/sdk/session", "small"),
            "configuration": fixed("/sdk/config", "small"),
            "configuration, 304": fixed("/sdk/config", "small", TAG="*"),
            "result by id": result,
            "result by id, no journal": without_journal,
            "search, 1,000,000 items": fixed("/sdk/search", "million", METHOD="POST", BODY_FILE=folder / "search"),
            "search, 10,000 items": fixed("/sdk/search", "small", METHOD="POST", BODY_FILE=folder / "search"),
            "item search, 10,000 items": fixed("/sdk/items/search", "small", METHOD="POST"),
            **{f"item by id, v{version}": lambda c, s, version=version: wrk(
                self.server, c, s, script="each.lua", TARGET=f"/ns/million/v{version}/authentications/{{}}",
                LIST=folder / "ids", TOKEN=API_TOKEN, VERSION="1.4") for version in [1, 2]},
            "lookup, v2": lambda c, s: wrk(
                self.server, c, s, script="each.lua", TARGET="/ns/million/v2/lookup/authentications/{}",
                LIST=folder / "numbers", TOKEN=API_TOKEN),
            **{f"search of 1,000,000, v{version}": lambda c, s, version=version: wrk(
                self.server, c, s, f"/ns/million/v{version}/search/authentications", METHOD="POST",
                BODY_FILE=folder / "search", TOKEN=API_TOKEN, VERSION="1.4") for version in [1, 2]},
            "capture start": fixed("/sdk/captures", "small", METHOD="POST", BODY_FILE=folder / "capture"),
            "upload of 200 kB": lambda c, s: wrk(
                self.server, c, s, script="upload.lua", TARGET=self.capture, TOKEN=token["million"],
                BODY_FILE=folder / "large.jpg", RUN=time.monotonic_ns()),
            "submit": self.submit,
            "login": self.log_in,
        }

    def submit(self, connections, seconds):
        ready = self.list()
        wrk(self.server, 32, 3 * seconds if connections > 1 else seconds, script="captures.lua", LIST=ready,
            BASE="/ns/small", TOKEN=self.token["small"], BODY_FILE=self.folder / "capture", REGIONS=" ".join(self.regions),
            IMAGE=self.folder / "small.jpg")
        return wrk(self.server, connections, 1, script="each.lua", METHOD="POST", LIST=ready, ONCE=1,
                   TARGET="/ns/small/sdk/captures/{}/submit", TOKEN=self.token["small"])

    def log_in(self, connections, seconds):
        signed = self.list()
        wrk(self.server, 32, 2 * seconds if connections > 1 else seconds, script="collect.lua", LIST=signed,
            TARGET="/ns/small/v2/integrations/authorize-user", TOKEN=API_TOKEN, BODY_FILE=self.folder / "authorize",
            FIELD="signed_authorization_request")
        return wrk(self.server, connections, 1, script="each.lua", METHOD="POST", LIST=signed, ONCE=1,
                   TARGET="/ns/small/sdk/login", BODY='{"signed_authorization_request":"{}"}')


def journal_cost(bench, pairs=8):
    """Measures reads of a result with and without the journal, at 64 connections. They alternate each second, because machines drift."""
    loads = bench.loads()
    ratios = []
    for number in range(pairs):
        order = ["result by id", "result by id, no journal"]
        found = {name: loads[name](64, 1) for name in (order if number % 2 else reversed(order))}
        problems = [result["problem"] for result in found.values() if result["problem"]]
        if problems:
            sys.exit(f"the journal's cost: {problems}")
        ratios.append(found[order[0]]["per_second"] / found[order[1]]["per_second"])
    return statistics.median(ratios)


def snapshot_costs(server, times=20):
    """The milliseconds to save and fork the seeded namespace, and the seconds for the large one."""
    def took(*request):
        started = time.perf_counter()
        server.send(*request)
        return time.perf_counter() - started

    server.send("PUT", "/_sim/namespaces/seeded", {})
    costs = {"save": [], "fork": []}
    for number in range(times):
        costs["save"].append(took("PUT", "/ns/seeded/_sim/snapshots/base") * 1000)
        costs["fork"].append(
            took("POST", "/ns/seeded/_sim/snapshots/base/fork", {"namespace": f"seeded-{number}"}) * 1000)
    for number in range(times):
        server.send("DELETE", f"/_sim/namespaces/seeded-{number}")
    large = "/ns/million/_sim/snapshots/large"
    result = {name: {"median": statistics.median(values), "worst": max(values)} for name, values in costs.items()}
    result["large_s"] = {
        "save": took("PUT", large), "fork": took("POST", large + "/fork", {"namespace": "forked"}),
        "restore": took("POST", large + "/restore")}
    server.send("DELETE", "/_sim/namespaces/forked")
    server.send("DELETE", large)
    return result


def deliveries(bench, binary):
    """The webhooks per second to a receiver that answers at once: another server, of which a fault answers one route."""
    receiver = Server(binary, "--in-memory")
    receiver.send("POST", "/_sim/faults", {"match": {"route": "/v2/search/authentications"}, "effect": {"status": 204}})
    server = bench.server
    try:
        server.send("POST", "/ns/million/_sim/clock/freeze")
        server.send("POST", "/ns/million/v2/webhooks", {
            "url": receiver.url + "/v2/search/authentications", "secret_key": "bench"}, API_TOKEN)
        before = server.send("GET", "/ns/million/_sim/webhook-deliveries?limit=1")["deliveries"]
        started = time.perf_counter()
        sent = 0
        for index in range(3000):
            server.send("POST", "/ns/million/_sim/webhooks/trigger", {
                "event": "session.updated", "entrupy_id": bench.ids[index % len(bench.ids)]})
            sent += 1
        settled = server.send("POST", "/ns/million/_sim/clock/advance", {"by": 0, "max_wall": "5m"})
        took = time.perf_counter() - started
        left = server.send("GET", "/ns/million/_sim/webhook-deliveries?limit=100&status=retrying")["deliveries"]
        if before or left or not settled["reached"]:
            sys.exit(f"webhooks were not delivered: {left[:1]}")
        return sent / took
    finally:
        receiver.stop()


def first_answer(binary, *flags, times=15):
    """The milliseconds from the start of the process to its first answer."""
    found = []
    for _ in range(times):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        started = time.perf_counter()
        process = subprocess.Popen(
            [binary, "serve", "--port", str(port), "--random-seed", "7", "--exit-with-parent", *flags],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                    client.sendall(b"GET /_sim/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    if b" 200 " in client.recv(100):
                        break
            except OSError:
                pass
            if process.poll() is not None or time.perf_counter() - started > 30:
                sys.exit("the server did not answer")
            time.sleep(0.0003)
        found.append((time.perf_counter() - started) * 1000)
        process.stdin.close()
        process.wait(60)
    return {"median": statistics.median(found), "worst": max(found)}


def namespace_costs(server, times=50):
    """The milliseconds to make, reset and delete a namespace."""
    costs = {"make": [], "reset": [], "drop": []}
    for number in range(times):
        for name, method, path, body in [
            ("make", "PUT", f"/_sim/namespaces/bench-{number}", {}), ("reset", "POST", f"/ns/bench-{number}/_sim/reset", None),
            ("drop", "DELETE", f"/_sim/namespaces/bench-{number}", None),
        ]:
            started = time.perf_counter()
            server.send(method, path, body)
            costs[name].append((time.perf_counter() - started) * 1000)
    return {name: {"median": statistics.median(values), "worst": max(values)} for name, values in costs.items()}


def thousand_namespaces(binary, folder):
    """The memory of one process with a thousand namespaces, each used once."""
    server = Server(binary, "--data-dir", str(folder / "thousand"))
    idle = server.memory()
    started = time.perf_counter()
    for number in range(1000):
        server.send("PUT", f"/_sim/namespaces/n-{number}", {})
        server.send("POST", f"/ns/n-{number}/v2/integrations/authorize-user", {
            "sdk_authorization_request": "bench", "unique_user_id": USER, "email": "bench@example.com"}, API_TOKEN)
    result = {"idle": idle, "memory": server.memory(), "seconds": time.perf_counter() - started}
    server.stop()
    return result


def machine():
    """The machine and software of the measurement."""
    model = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    swift = subprocess.run(["swift", "--version"], text=True, capture_output=True).stdout
    return {
        "processor": model.group(1).strip() if model else platform.processor(), "cores": os.cpu_count(),
        "memory_gib": round(int(memory.group(1)) / 1024**2), "system": platform.platform(),
        "swift": (re.search(r"Swift version \S+", swift) or [""])[0],
    }


def program():
    """The date of the measurement, and the version and commit of what is measured."""
    root = pathlib.Path(__file__).parent.parent
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=root, text=True, capture_output=True).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(), "version": (root / "VERSION").read_text().strip(), "commit": commit or "unknown"}


def measure(options):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="entrupy-sim-bench-", dir=options.scratch))
    try:
        size = pathlib.Path(options.binary).stat().st_size / 1e6
        figures = {"machine": machine(), "program": program(), "binary_mb": size, "items": options.items, "rounds": options.rounds}
        # A recent build may still be writing to the disk, and server starts would wait for it.
        os.sync()
        print("starting empty", flush=True)
        figures["start_empty_ms"] = first_answer(options.binary, "--data-dir", str(folder / "empty"))
        server = Server(options.binary, "--data-dir", str(folder / "data"))
        time.sleep(1)
        figures["memory_idle_mib"] = server.memory()
        print(f"making {options.items} items", flush=True)
        bench = Bench(server, folder, options.items)
        figures["generation_s"] = bench.generation
        figures["memory_items_mib"] = server.memory()
        loads = bench.loads()
        rounds = {name: {connections: [] for connections in CONNECTIONS} for name in loads}
        for number in range(options.rounds):
            for name, load in loads.items():
                for connections in CONNECTIONS:
                    result = load(connections, options.seconds)
                    if result["problem"]:
                        sys.exit(f"{name} at {connections} connections: {result['problem']}")
                    rounds[name][connections].append(result)
                    print(f"round {number + 1}, {name}, {connections}: {result['per_second']:.0f}/s", flush=True)
        figures["memory_after_load_mib"] = server.memory()
        figures["journal_ratio"] = journal_cost(bench)
        figures["snapshots"] = snapshot_costs(server)
        figures["deliveries_per_second"] = deliveries(bench, options.binary)
        figures["namespaces_ms"] = namespace_costs(server)
        server.stop()
        times = {"rounds": 5, "seconds": 10} if options.rounds > 1 else {"rounds": 1, "seconds": 1}
        figures["webhook_isolation"] = isolation.measure(options.binary, **times)
        figures["routes"] = summary(rounds)
        figures["start_million_ms"] = first_answer(options.binary, "--data-dir", str(folder / "data"))
        figures["thousand_namespaces"] = thousand_namespaces(options.binary, folder)
        return figures
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def summary(rounds):
    """The median of the rounds, and the ratio to plain text in the same round."""
    routes = {}
    for name, by_connections in rounds.items():
        routes[name] = {}
        for connections, results in by_connections.items():
            plain = rounds["plain text"][connections]
            routes[name][str(connections)] = {
                "per_second": statistics.median(result["per_second"] for result in results),
                "ratio": statistics.median(
                    result["per_second"] / base["per_second"] for result, base in zip(results, plain)),
                "p50_ms": statistics.median(result["p50"] for result in results),
                "p99_ms": statistics.median(result["p99"] for result in results),
            }
    return routes


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--items", type=int, default=1_000_000)
    arguments.add_argument("--scratch", help="where data goes; the system's temporary folder unless told otherwise")
    arguments.add_argument("--out", help="where figures.json goes, beside what report.py makes of it")
    options = arguments.parse_args()
    figures = measure(options)
    if options.out:
        out = pathlib.Path(options.out)
        out.mkdir(parents=True, exist_ok=True)
        (out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    import report
    print(report.table(figures))


if __name__ == "__main__":
    main()
