#!/usr/bin/env python3
"""Runs many test runs at once on one server, each in its own namespace. No run may see another.

    parallel.py --binary .build/release/entrupy-sim [--runs 200]

Each run makes a namespace with the same random seed and a frozen clock, breaks one of its own requests, takes three items from
login to result, and checks its journal, its search and its counts. Equal runs must get equal ids.
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from simulator import Client, Simulator, log_in, picture  # noqa: E402

ITEMS = 3
REGIONS = ["front", "back", "logo", "hardware", "serial_number", "material"]


def check(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r} instead of {wanted!r}")


def run(server, number):
    """Does one test run and returns the ids of its items."""
    root = Client(server)
    made = root.must("POST", "/_sim/namespaces", {
        "prefix": "run", "ttl": "10m", "random_seed": 7, "clock": {"freeze": "2026-01-05T09:00:00Z"}})
    client = Client(server, "/ns/" + made["name"])
    client.must("POST", "/_sim/faults", {"match": {"route": "/sdk/session"}, "effect": {"status": 503}, "times": 1})
    token = log_in(client, "the-same-user")
    check(client("GET", "/sdk/session", token=token)[0], 503, "the fault's answer")
    check(client("GET", "/sdk/session", token=token)[0], 200, "the answer after it")
    ids = []
    for item in range(ITEMS):
        capture = client.must("POST", "/sdk/captures", {"item": {
            "brand": "Chanel", "product_category": "luxury", "customer_item_id": f"item-{item}"}}, token)
        for region in REGIONS:
            client.must("PUT", f"/sdk/captures/{capture['capture_id']}/images/{region}", picture(region), token)
        ids.append(client.must("POST", f"/sdk/captures/{capture['capture_id']}/submit", {}, token)["entrupy_id"])
    client.must("POST", "/_sim/clock/advance", {"by": "5s"})
    for entrupy_id in ids:
        result = client.must("GET", f"/sdk/results/{entrupy_id}", token=token)
        check(result["status"]["result"]["id"], "authentic", f"the result of {entrupy_id}")
    verified = client.must("POST", "/_sim/requests/verify", {
        "match": {"route": "/sdk/captures/*/submit", "method": "POST", "status": "2xx"}, "times": ITEMS})
    check(verified["verified"], True, "the journal")
    counts = client.must("GET", "/_sim/info")["namespace"]["counts"]
    check((counts["authentications"], counts["captures"], counts["users"]), (ITEMS, ITEMS, 2), "the counts")
    root.must("DELETE", f"/_sim/namespaces/{made['name']}")
    root.close()
    client.close()
    return ids


def most_memory(pid):
    """The peak memory of a process, if the system reports it."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "an unknown amount of memory"
    return next(f"{int(line.split()[1]) // 1024} MiB" for line in text.splitlines() if line.startswith("VmHWM"))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--runs", type=int, default=200)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Simulator(options.binary, "--data-dir", os.path.join(directory, "data"))
        started = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.runs) as pool:
            futures = [pool.submit(run, server, number) for number in range(options.runs)]
            failures = [str(future.exception()) for future in futures if future.exception()]
        took = time.monotonic() - started
        left = [info["name"] for info in Client(server).must("GET", "/_sim/namespaces")["namespaces"]]
        memory = most_memory(server.process.pid)
        server.stop()
    if failures:
        sys.exit(f"{len(failures)} of {options.runs} runs failed, the first: {failures[0]}")
    check(left, ["default"], "the namespaces that are left")
    check(len({tuple(future.result()) for future in futures}), 1, "how many different ids equal runs got")
    print(f"{options.runs} runs at once in {took:.1f} s, every one alone, all with the same ids; "
          f"at most {memory}")


if __name__ == "__main__":
    main()
