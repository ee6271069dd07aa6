#!/usr/bin/env python3
"""Measures the time of long answers, and how long other requests of the same namespace wait meanwhile.

    waits.py --binary dist/entrupy-sim [--entries 10000] [--namespaces 5000] [--connections 200]

Reads a journal of `--entries` entries as an HTTP archive and in a bundle, and audits one with as many long queries. Has `--connections`
connections send 500 requests each at once. Lists, restarts and deletes `--namespaces` namespaces.
Prints one line for each figure: seconds for the answers, milliseconds for the longest wait of another request.
"""
import argparse
import pathlib
import shutil
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from simulator import API_TOKEN, Client, Simulator, log_in  # noqa: E402


def took(body):
    started = time.perf_counter()
    body()
    return time.perf_counter() - started


class Waits:
    """Requests a session repeatedly, and records the longest wait in milliseconds."""

    def __init__(self, server, token, base=""):
        self.client, self.token = Client(server, base), token
        self.worst, self.count, self.isOver = 0, 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.isOver:
            self.worst = max(self.worst, 1000 * took(lambda: self.client.must("GET", "/sdk/session", token=self.token)))
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.isOver = True
        self.thread.join()
        self.client.close()


def journal(binary, entries):
    server = Simulator(binary, "--in-memory", "--rate-limits", "off")
    client = Client(server)
    client.must("PATCH", "/_sim/settings", {"journal": {"entries": entries, "bytes": 64_000_000}})
    token = log_in(client, "waits-test-user")
    for number in range(entries // 2):
        client.must("GET", "/sdk/session", token=token)
        client.must("POST", "/sdk/captures", {
            "item": {"brand": "Nike", "style_name": "Air Jordan 1", "customer_item_id": f"sku-{number}"}}, token)
    with Waits(server, token) as alone:
        time.sleep(1)
    print(f"nothing else: {alone.count} requests, worst wait {alone.worst:.1f} ms")
    for name, path in [("archive", "/_sim/requests?format=har"), ("bundle", "/_sim/bundle")]:
        for _ in range(3):
            size = []
            with Waits(server, token) as waits:
                seconds = took(lambda: size.append(len(client("GET", path)[1])))
            print(
                f"{name} of {entries} entries: {seconds:.2f} s, {size[0] / 1e6:.1f} MB; "
                f"{waits.count} requests meanwhile, worst wait {waits.worst:.1f} ms")
    server.stop()


def audit(binary, entries):
    """The audit of a namespace whose clients sent long queries with names that nobody reads, and the waits in another namespace."""
    server = Simulator(binary, "--in-memory", "--rate-limits", "off")
    root = Client(server)
    root.must("PUT", "/_sim/namespaces/audited", {})
    client = Client(server, "/ns/audited")
    client.must("PATCH", "/_sim/settings", {"journal": {"entries": entries, "bytes": 64_000_000}})
    long = "a" * 2500
    for number in range(entries):
        client("GET", f"/v2/authentications/A{number % 100}?x={number}{long}&p{number}=1", token=API_TOKEN)
    with Waits(server, log_in(root, "waits-test-user")) as waits:
        seconds = took(lambda: client.must("GET", "/_sim/audit"))
    print(f"audit of {entries} long queries: {seconds:.2f} s; {waits.count} requests meanwhile, worst wait {waits.worst:.1f} ms")
    server.stop()


def pipelined(binary, connections):
    """How long a request waits, and one on a new connection, while others send hundreds before their first answer."""
    server = Simulator(binary, "--in-memory", "--rate-limits", "off")
    request = f"GET /_sim/clock HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode() * 500

    def flood():
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(request)
            answers, rest = 0, b""
            while answers < 500:
                received = rest + connection.recv(1 << 20)
                answers += received.count(b"HTTP/1.1 200")
                # One may arrive in two parts.
                rest = received[-len("HTTP/1.1 20"):]

    fresh = []

    def connect():
        while any(thread.is_alive() for thread in threads):
            fresh.append(1000 * took(lambda: Client(server).must("GET", "/_sim/clock")))

    threads = [threading.Thread(target=flood) for _ in range(connections)]
    with Waits(server, log_in(Client(server), "waits-test-user")) as waits:
        for thread in threads:
            thread.start()
        connect()
    print(f"{connections} connections with 500 requests each: worst wait {waits.worst:.0f} ms, on a new connection {max(fresh):.0f} ms")
    server.stop()


def namespaces(binary, count):
    directory = tempfile.mkdtemp(prefix="entrupy-sim-waits-")
    flags = ["--data-dir", directory]
    try:
        server = Simulator(binary, *flags)
        client = Client(server)
        print(f"{count} namespaces made: {took(lambda: [client.must('PUT', f'/_sim/namespaces/n-{n}') for n in range(count)]):.1f} s")
        print(f"list: {took(lambda: client.must('GET', '/_sim/namespaces')):.2f} s")
        print(f"stop: {took(server.stop):.2f} s")
        for how in ["stop", "kill"]:
            started = time.perf_counter()
            server = Simulator(binary, *flags)
            print(f"start after {how}: {time.perf_counter() - started:.2f} s")
            client = Client(server)
            print(f"list: {took(lambda: client.must('GET', '/_sim/namespaces')):.2f} s")
            if how == "stop":
                server.kill()
        print(f"delete by prefix: {took(lambda: client.must('DELETE', '/_sim/namespaces?prefix=n-')):.2f} s")
        print(f"left: {len(client.must('GET', '/_sim/namespaces')['namespaces'])}")
        server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--binary", required=True)
    options.add_argument("--entries", type=int, default=10_000)
    options.add_argument("--namespaces", type=int, default=5_000)
    options.add_argument("--connections", type=int, default=200)
    options = options.parse_args()
    if options.entries:
        journal(options.binary, options.entries)
        audit(options.binary, options.entries)
    if options.connections:
        pipelined(options.binary, options.connections)
    if options.namespaces:
        namespaces(options.binary, options.namespaces)


if __name__ == "__main__":
    main()
