#!/usr/bin/env python3
"""Measures the console's pages over a large namespace and a full journal, and while requests come fast.

    pages.py --binary .build/release/entrupy-sim [--items 100000] [--entries 10000] [--rate 1000]

Prints one line for each page: the median and the slowest of 20 answers in milliseconds, its size, and the ratio of the median to a
session read by the same client in the same run. Then the same for the live view beside `--rate` requests a second.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from simulator import Client, Simulator, log_in  # noqa: E402

TIMES = 20


def measure(client, path, token=None):
    """The times of TIMES answers in milliseconds, and the size of one."""
    times, size = [], 0
    for _ in range(TIMES):
        started = time.perf_counter()
        status, data = client("GET", path, token=token)
        times.append(1000 * (time.perf_counter() - started))
        assert status == 200, f"{path}: {status}"
        size = len(data)
    return times, size


class Load:
    """Sends so many requests a second from four connections."""

    def __init__(self, server, token, rate):
        self.is_over, self.count = False, 0
        self.threads = [threading.Thread(target=self.run, args=(Client(server), token, rate / 4)) for _ in range(4)]

    def run(self, client, token, rate):
        started, sent = time.perf_counter(), 0
        while not self.is_over:
            client.must("GET", "/sdk/session", token=token)
            sent += 1
            self.count += 1
            ahead = sent / rate - (time.perf_counter() - started)
            if ahead > 0:
                time.sleep(ahead)

    def __enter__(self):
        self.started = time.perf_counter()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        self.rate = self.count / (time.perf_counter() - self.started)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Simulator(arguments.binary, "--data-dir", directory, "--rate-limits", "off")
        try:
            client = Client(server)
            token = log_in(client, "example-user-id")
            client.must("POST", "/_sim/authentications", {"count": arguments.items, "template": {
                "brand": "Gucci", "result": "unknown", "customer_item_id": "bag-{n}"}})
            item = client.must("GET", "/_sim/authentications?limit=1")["authentications"][0]["entrupy_id"]
            for _ in range(arguments.entries):
                client.must("GET", "/sdk/session", token=token)
            base = statistics.median(measure(client, "/sdk/session", token)[0])
            print(f"{'a session, for comparison':44} {base:8.2f} ms")
            pages = ["", "?q=status:4xx", "?q=route:/sdk/s*", "/items", "/items?result=unknown", "/items?result=authentic", "/items?text=bag-9",
                     f"/items/{item}", "/timeline", "/users", "/rules", "/namespaces", "/settings", "/news?since=0.0"]

            def show(name, path):
                times, size = measure(client, "/_sim/console" + path)
                median = statistics.median(times)
                print(f"{name:44} {median:8.2f} ms, slowest {max(times):8.2f} ms, {size / 1000:6.1f} kB, {median / base:6.1f} times", flush=True)

            for path in pages:
                show(path or "the live view", path)
            with Load(server, token, arguments.rate) as load:
                time.sleep(1)
                show("the live view under load", "")
                show("the news under load", "/news?since=0.0")
            print(f"(load: {load.rate:.0f} requests a second)")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
